package property

import (
	"fmt"
	"slices"
)

// parseSetting reads a section that is a single value of the type.
func (l *loader) parseSetting(x *description, e *element) {
	switch e.name {
	case "Volatile":
		x.volatile = l.parseVolatile(x, e)
	case "UpdateScheme":
		x.scheme = l.parseScheme(e)
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
	case "IsManualAoI", "IsManualAOI": // the second is how older trees spell it
		x.manual = l.flag(e)
	case "ClientName":
		l.noChildren(e, e.name)
		x.clientName = &e.text // an empty one takes back the Parent's
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

// parseDistribution reads the sides of a type. If the element is there, the type has no side that
// it does not name. The original reads it like that. It speaks of the file's own type, not of what
// inherits from it.
func (l *loader) parseDistribution(x *description, e *element) {
	l.noText(e, e.name)
	l.once(e, e.name, "")
	x.hasCell, x.hasBase, x.hasClient = new(bool), new(bool), new(bool)
	sides := map[string]**bool{"Cell": &x.hasCell, "Base": &x.hasBase, "Client": &x.hasClient}
	for _, c := range e.children {
		side, known := sides[c.name]
		if !known {
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

// parseLevels reads <level> 20 <hyst> 4 </hyst> <label> NEAR </label> </level>, or <NEAR> <radius>
// 20 </radius> … </NEAR>.
func (l *loader) parseLevels(e *element) []DetailLevel {
	var levels []DetailLevel
	fromBorders := true
	l.noText(e, e.name)
	for _, c := range e.children {
		path := e.name + "/" + c.name
		level := DetailLevel{Label: c.name, Hysteresis: DefaultHysteresis}
		radius := c.child("radius")
		if radius == nil {
			level.Label, level.Radius, fromBorders = "", l.metres(c, path), false
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
	if fromBorders {
		addBorders(levels)
	}
	return levels
}

// addBorders makes distances from the watcher of the radii in KBEngine's form. That engine counts
// each but the first from where the ring before is left, and finds its rings by name, in whatever
// order they are written.
func addBorders(levels []DetailLevel) {
	order := []string{"NEAR", "MEDIUM", "FAR"}
	rank := func(level DetailLevel) int { return slices.Index(order, level.Label) }
	if !slices.ContainsFunc(levels, func(level DetailLevel) bool { return rank(level) < 0 }) {
		slices.SortStableFunc(levels, func(a, b DetailLevel) int { return rank(a) - rank(b) })
	}
	for i := 1; i < len(levels); i++ {
		levels[i].Radius += levels[i-1].Radius + levels[i-1].Hysteresis
	}
}

// settle does what only a tree of KBEngine's dialect means by saying nothing. There a type without
// Volatile is sent along at any distance. And NEAR, MEDIUM and FAR always exist, and reach
// everywhere as far as nothing is said of them.
func (l *loader) settle(d *Definition) {
	if d.Dialect != DialectKBEngine {
		return
	}
	if l.noVolatile[d.Name] && d.HasCell {
		d.Volatile = Volatile{Always(), Always(), Always(), Always()}
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
