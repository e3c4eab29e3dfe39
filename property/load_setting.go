package property

import "fmt"

// parseSetting reads a section that is a single value of the type.
func (l *loader) parseSetting(x *description, e *element) {
	switch e.name {
	case "Volatile":
		x.volatile = l.parseVolatile(x, e)
	case "AppealRadius":
		l.noChildren(e, e.name)
		f := l.metres(e, e.name)
		x.appeal = &f
	case "Distribution":
		l.parseDistribution(x, e)
	case "Persistent":
		x.persistent = l.flag(e)
	case "ExplicitDatabaseID":
		x.explicitID = l.flag(e)
	case "ShouldSendDetailedVolatilePosition":
		x.detailed = l.flag(e)
	case "IsManualAoI":
		x.manual = l.flag(e)
	case "ClientName":
		l.noChildren(e, e.name)
		if e.text != "" {
			x.clientName = &e.text
		}
	case "NetworkCompression":
		x.compression = l.parseCompression(e)
	default:
		l.fault(e.position, e.name, unknownElement, unknownRemedy)
	}
}

func (l *loader) flag(e *element) *bool {
	b := l.boolean(e, "")
	return &b
}

func (l *loader) parseDistribution(x *description, e *element) {
	l.noText(e, e.name)
	l.once(e, e.name, "")
	for _, c := range e.children {
		var side **bool
		switch c.name {
		case "Cell":
			side = &x.hasCell
		case "Base":
			side = &x.hasBase
		case "Client":
			side = &x.hasClient
		default:
			l.unknown(c, e.name)
			continue
		}
		b := l.boolean(c, e.name)
		*side = &b
	}
}

// parseVolatile reads distances; an empty element means always, an absent one never.
func (l *loader) parseVolatile(x *description, e *element) *Volatile {
	v := &Volatile{}
	l.noText(e, e.name)
	l.once(e, e.name, "")
	for _, c := range e.children {
		path := e.name + "/" + c.name
		var to *float32
		switch c.name {
		case "position":
			to = &v.Position
		case "yaw":
			to = &v.Yaw
		case "pitch":
			to = &v.Pitch
		case "roll":
			to = &v.Roll
		case "optimized": // a setting of another engine's compression
			restore := l.keepIn(&x.kept, "")
			l.keep(c, path)
			restore()
			continue
		default:
			l.unknown(c, e.name)
			continue
		}
		l.noChildren(c, path)
		if *to = Always(); c.text != "" {
			*to = l.metres(c, path)
		}
	}
	return v
}

// parseLevels reads <level> 20 <hyst> 4 </hyst> <label> NEAR </label> </level>, or <NEAR> <radius> 20 </radius> … </NEAR>.
func (l *loader) parseLevels(e *element) []DetailLevel {
	var levels []DetailLevel
	l.noText(e, e.name)
	for _, c := range e.children {
		path := e.name + "/" + c.name
		level := DetailLevel{Label: c.name, Hysteresis: DefaultHysteresis}
		radius := c.child("radius")
		if radius == nil {
			level.Label, level.Radius = "", l.metres(c, path)
		} else {
			l.noText(c, path)
		}
		l.once(c, path, "")
		for _, f := range c.children {
			switch {
			case f.name == "radius":
				level.Radius = l.metres(f, path+"/radius")
			case f.name == "hyst":
				level.Hysteresis = l.metres(f, path+"/hyst")
			case f.name == "label" && radius == nil:
				level.Label = f.text
			default:
				l.unknown(f, path)
				continue
			}
			l.noChildren(f, path+"/"+f.name)
		}
		levels = append(levels, level)
	}
	return levels
}

// settleLevels takes a label that a tree of KBEngine's dialect may use without declaring it: there NEAR, MEDIUM and FAR
// always exist, and reach everywhere as far as nothing is said of them.
func (l *loader) settleLevels(d *Definition) {
	if d.Dialect != DialectKBEngine {
		return
	}
	for i, p := range d.Properties {
		known := p.Detail == "FAR" || len(d.Levels) == 0 && (p.Detail == "NEAR" || p.Detail == "MEDIUM")
		for _, level := range d.Levels {
			known = known && level.Label != p.Detail
		}
		if !known {
			continue
		}
		q := *p // p may be of other types too
		q.Detail = ""
		d.Properties[i] = &q
		l.notice(p.where, "Properties/"+p.Name+"/DetailLevel", fmt.Sprintf("%s declares no detail level %s; it reaches everywhere", d.Name, p.Detail), "declare it in DetailLevels, or remove the element")
	}
}
