package property

import (
	"fmt"
	"slices"
)

func (l *loader) parseMethods(e *element) []*Method {
	l.noText(e, e.name)
	methods := make([]*Method, 0, len(e.children))
	for _, c := range e.children {
		methods = append(methods, l.parseMethod(c, e.name+"/"+c.name, e.name))
	}
	return methods
}

func (l *loader) parseMethod(e *element, path, section string) *Method {
	m := &Method{Name: e.name, where: e.position}
	defer l.keepIn(&m.Kept, path+"/")()
	l.noText(e, path)
	l.once(e, path, "Arg") // the unnamed style repeats it
	var named, unnamed bool
	for _, c := range e.children {
		switch c.name {
		case "Arg":
			unnamed = true
			at := fmt.Sprintf("%s/Arg[%d]", path, len(m.Args))
			m.Args = append(m.Args, l.parseArg(c, at))
		case "Args":
			named = true
			m.Args = append(m.Args, l.parseArgs(c, path+"/Args")...)
		case "ReturnValues":
			m.Returns = l.parseArgs(c, path+"/ReturnValues")
		case "Exposed":
			m.Exposed = l.parseExposed(c, path, section)
		default:
			l.parseMethodSetting(m, c, path)
		}
	}
	if unnamed && named {
		l.fault(e.position, path, "both Arg and Args", "use Args, which names the arguments")
	}
	return m
}

func (l *loader) parseMethodSetting(m *Method, c *element, path string) {
	switch c.name {
	case "DetailDistance":
		l.noChildren(c, path+"/DetailDistance")
		m.DetailDistance = l.metres(c, path+"/DetailDistance")
	case "SendLatestOnly":
		m.SendLatestOnly = l.boolean(c, path)
	case "IsReliable":
		m.Unreliable = !l.boolean(c, path)
	case "VariableLengthHeaderSize":
		m.WarnBytes = l.warnBytes(c, path+"/VariableLengthHeaderSize")
	case "ReplayExposureLevel":
		m.ReplayExposure = l.parseReplay(c, path+"/ReplayExposureLevel")
	case "Utype":
		l.keep(c, path+"/Utype")
	default:
		l.unknown(c, path)
	}
}

// parseArg reads an argument of the unnamed style, which may be named all the same: <Arg> INT8
// <ArgName> n </ArgName> </Arg>.
func (l *loader) parseArg(e *element, path string) Arg {
	name := e.child("ArgName")
	if name == nil {
		return Arg{Type: placeholder(l.parseType(e, path, nil))}
	}
	l.noChildren(name, path+"/ArgName")
	bare := *e
	bare.children = slices.DeleteFunc(slices.Clone(e.children), func(c *element) bool { return c == name })
	return Arg{name.text, placeholder(l.parseType(&bare, path, nil))}
}

func (l *loader) parseArgs(e *element, path string) []Arg {
	l.noText(e, path)
	args := make([]Arg, 0, len(e.children))
	for _, c := range e.children {
		args = append(args, Arg{c.name, placeholder(l.parseType(c, path+"/"+c.name, nil))})
	}
	return args
}

// parseExposed reads who may call: an empty Exposed means everyone whom the side can serve.
func (l *loader) parseExposed(e *element, path, section string) Exposure {
	l.noChildren(e, path+"/Exposed")
	switch {
	case e.text == "" && section == "BaseMethods":
		return ExposedOwn
	case e.text == "" || e.text == "ALL_CLIENTS":
		return ExposedAll
	case e.text == "OWN_CLIENT":
		return ExposedOwn
	}
	l.fault(e.position, path+"/Exposed", fmt.Sprintf("%q is no exposure", shorten(e.text)), "leave it empty, or use ALL_CLIENTS or OWN_CLIENT")
	return NotExposed
}

func (l *loader) parseReplay(e *element, path string) ReplayExposure {
	l.noChildren(e, path)
	for i, name := range replayNames {
		if e.text == name {
			return ReplayExposure(i)
		}
	}
	l.fault(e.position, path, fmt.Sprintf("%q is no replay exposure", shorten(e.text)), "use NONE, OTHER_CLIENTS or ALL_CLIENTS")
	return ReplayOther
}
