package property

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// description is what a .def file describes, inherited parts included. Pointers are nil where neither the file nor what it
// inherits says anything.
type description struct {
	position
	state               visit
	properties          []*Property
	cell, base, client  []*Method
	levels              []DetailLevel
	volatile            *Volatile
	appeal              *float32
	persistent          *bool
	detailed            *bool
	manual              *bool
	hasCell             *bool
	hasBase             *bool
	hasClient           *bool
	ownProperties       map[string]bool
	ownMethods          [3]map[string]bool // cell, base, client
	declaredProps       []*Property
	declaredMethods     [3][]*Method
	declaredLevels      []DetailLevel
	parents, interfaces []*element
}

// describe reads a .def file and what it inherits. It returns nil if the file cannot be read; what else is wrong has been
// reported, and the rest of the file is still checked.
func (l *loader) describe(file string, from position, path string, isInterface bool) *description {
	if x := l.described[file]; x != nil {
		if x.state == reading {
			l.fault(from, path, "cycle: "+file+" inherits from itself", "remove one Parent or Interface of the cycle")
			return nil
		}
		if x.position.line == 0 {
			return nil // could not be read, reported then
		}
		return x
	}
	if len(l.described) >= MaxFiles {
		l.fault(from, path, fmt.Sprintf("more than %d files", MaxFiles), "merge some")
		return nil
	}
	x := &description{state: reading}
	l.described[file] = x
	defer func() { x.state = read }()
	root := l.open(file, from, path, "create it, or correct the name")
	if root == nil {
		return nil
	}
	x.position = root.position
	l.parseDef(x, root, isInterface)
	l.inherit(x)
	return x
}

// parseDef reads what the file itself says.
func (l *loader) parseDef(x *description, root *element, isInterface bool) {
	l.noText(root, root.name)
	seen := make(map[string]bool)
	for _, e := range root.children {
		l.once(seen, e, root.name)
		if isInterface && (e.name == "Parent" || e.name == "Volatile" || e.name == "AppealRadius" || e.name == "Distribution") {
			l.fault(e.position, e.name, "an interface cannot have it", "move it to the types that implement the interface")
			continue
		}
		l.parseSection(x, e)
	}
}

func (l *loader) parseSection(x *description, e *element) {
	switch e.name {
	case "Parent":
		if e.text != "" || len(e.children) > 0 {
			x.parents = append(x.parents, e)
		}
	case "Implements", "Interfaces":
		l.noText(e, e.name)
		for _, c := range e.children {
			if c.name != "Interface" && c.name != "Type" {
				l.unknown(c, e.name)
				continue
			}
			x.interfaces = append(x.interfaces, c)
		}
	case "Properties":
		l.noText(e, e.name)
		for _, c := range e.children {
			x.declaredProps = append(x.declaredProps, l.parseProperty(c, e.name+"/"+c.name))
		}
	case "CellMethods":
		x.declaredMethods[0] = l.parseMethods(e)
	case "BaseMethods":
		x.declaredMethods[1] = l.parseMethods(e)
	case "ClientMethods":
		x.declaredMethods[2] = l.parseMethods(e)
	case "LoDLevels", "DetailLevels":
		x.declaredLevels = append(x.declaredLevels, l.parseLevels(e)...)
	case "Volatile":
		x.volatile = l.parseVolatile(e)
	case "AppealRadius":
		f := l.metres(e, e.name)
		x.appeal = &f
	case "Distribution":
		l.parseDistribution(x, e)
	case "Persistent":
		x.persistent = l.flag(e)
	case "ShouldSendDetailedVolatilePosition":
		x.detailed = l.flag(e)
	case "IsManualAoI":
		x.manual = l.flag(e)
	case "TempProperties", "NetworkCompression", "ExplicitDatabaseID":
		// For the original's scripts, network and database; fields of a Go script are local by their tag.
	case "Components":
		if len(e.children) > 0 {
			l.fault(e.position, e.name, "components are not supported", "make each an interface")
		}
	default:
		l.fault(e.position, e.name, "unknown element", "remove it, or correct its name")
	}
}

func (l *loader) flag(e *element) *bool {
	b := l.boolean(e, "")
	return &b
}

func (l *loader) parseDistribution(x *description, e *element) {
	l.noText(e, e.name)
	for _, c := range e.children {
		b := l.boolean(c, e.name)
		switch c.name {
		case "Cell":
			x.hasCell = &b
		case "Base":
			x.hasBase = &b
		case "Client":
			x.hasClient = &b
		default:
			l.unknown(c, e.name)
		}
	}
}

// parseVolatile reads distances; an empty element means always, an absent one never.
func (l *loader) parseVolatile(e *element) *Volatile {
	v := &Volatile{}
	l.noText(e, e.name)
	seen := make(map[string]bool)
	for _, c := range e.children {
		l.once(seen, c, e.name)
		to := map[string]*float32{"position": &v.Position, "yaw": &v.Yaw, "pitch": &v.Pitch, "roll": &v.Roll}[c.name]
		switch {
		case c.name == "optimized": // a setting of another engine's compression
		case to == nil:
			l.unknown(c, e.name)
		case c.text == "":
			*to = Always()
		default:
			*to = l.metres(c, e.name+"/"+c.name)
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
		seen := make(map[string]bool)
		for _, f := range c.children {
			l.once(seen, f, path)
			switch {
			case f.name == "radius":
				level.Radius = l.metres(f, path+"/radius")
			case f.name == "hyst":
				level.Hysteresis = l.metres(f, path+"/hyst")
			case f.name == "label" && radius == nil:
				level.Label = f.text
			default:
				l.unknown(f, path)
			}
		}
		levels = append(levels, level)
	}
	return levels
}

// metres reads an element's text as a distance; whether it is a sensible one is checked with the whole type.
func (l *loader) metres(e *element, path string) float32 {
	f, err := strconv.ParseFloat(e.text, 32)
	if err != nil || f-f != 0 {
		l.fault(e.position, path, fmt.Sprintf("%q is not a distance", shorten(e.text)), "state metres")
		return 1
	}
	return float32(f)
}

// inherit joins Parent, interfaces and the file's own declarations, in that order.
func (l *loader) inherit(x *description) {
	x.ownProperties = names(x.declaredProps, propertyKey)
	for i := range x.ownMethods {
		x.ownMethods[i] = names(x.declaredMethods[i], methodKey)
	}
	for _, e := range x.parents {
		if from := l.inherited(e, "Parent", defsDir, false); from != nil {
			l.take(x, from)
			x.inheritSettings(from)
		}
	}
	for _, e := range x.interfaces {
		if from := l.inherited(e, "Implements/"+e.name, interfacesDir, true); from != nil {
			l.take(x, from)
			if x.levels == nil {
				x.levels = from.levels
			}
		}
	}
	x.properties = override(x.properties, x.declaredProps, propertyKey)
	x.cell = override(x.cell, x.declaredMethods[0], methodKey)
	x.base = override(x.base, x.declaredMethods[1], methodKey)
	x.client = override(x.client, x.declaredMethods[2], methodKey)
	if x.declaredLevels != nil {
		x.levels = x.declaredLevels
	}
}

// inherited describes the file that a Parent or Interface element names.
func (l *loader) inherited(e *element, path, dir string, isInterface bool) *description {
	if err := checkName(e.text); err != nil {
		l.fault(e.position, path, err.Error(), nameRemedy)
		return nil
	}
	return l.describe(dir+e.text+defSuffix, e.position, path, isInterface)
}

// inheritSettings takes what the parent says and the file does not.
func (x *description) inheritSettings(from *description) {
	x.levels = from.levels
	if x.volatile == nil {
		x.volatile = from.volatile
	}
	if x.appeal == nil {
		x.appeal = from.appeal
	}
	for _, b := range []struct{ to, from **bool }{
		{&x.persistent, &from.persistent}, {&x.detailed, &from.detailed}, {&x.manual, &from.manual},
		{&x.hasCell, &from.hasCell}, {&x.hasBase, &from.hasBase}, {&x.hasClient, &from.hasClient},
	} {
		if *b.to == nil {
			*b.to = *b.from
		}
	}
}

// take adds the members of a parent or interface. The same member by two ways is one; two members of one name are a fault,
// unless the file declares the name itself and so decides.
func (l *loader) take(x, from *description) {
	x.properties = join(x.properties, from.properties, propertyKey, func(first, second *Property) {
		if !x.ownProperties[second.Name] {
			l.conflict(x, "Properties/"+second.Name, first.where, second.where)
		}
	})
	for i, m := range []struct {
		into    *[]*Method
		from    []*Method
		section string
	}{{&x.cell, from.cell, "CellMethods"}, {&x.base, from.base, "BaseMethods"}, {&x.client, from.client, "ClientMethods"}} {
		*m.into = join(*m.into, m.from, methodKey, func(first, second *Method) {
			if !x.ownMethods[i][second.Name] {
				l.conflict(x, m.section+"/"+second.Name, first.where, second.where)
			}
		})
	}
}

func (l *loader) conflict(x *description, path string, first, second position) {
	l.fault(x.position, path, fmt.Sprintf("inherited both from %s:%d and from %s:%d", first.file, first.line, second.file, second.line),
		"rename one of the two, or declare it here")
}

func propertyKey(p *Property) string { return p.Name }
func methodKey(m *Method) string     { return m.Name }

func names[T any](list []T, key func(T) string) map[string]bool {
	m := make(map[string]bool, len(list))
	for _, e := range list {
		m[key(e)] = true
	}
	return m
}

// join appends to into what it does not have, and reports different members of one name. Neither list is changed.
func join[T comparable](into, from []T, key func(T) string, conflict func(first, second T)) []T {
	have := make(map[string]T, len(into))
	for _, e := range into {
		have[key(e)] = e
	}
	into = slices.Clip(into)
	for _, e := range from {
		first, ok := have[key(e)]
		switch {
		case !ok:
			into = append(into, e)
		case first != e:
			conflict(first, e)
		}
	}
	return into
}

// override puts own members in place of inherited ones of their name, or at the end. A name declared twice stays twice:
// the check of the type reports it.
func override[T any](inherited, own []T, key func(T) string) []T {
	at := make(map[string]int, len(inherited))
	for i, e := range inherited {
		at[key(e)] = i
	}
	list := slices.Clone(inherited)
	for _, e := range own {
		if i, ok := at[key(e)]; ok {
			list[i] = e
			delete(at, key(e))
			continue
		}
		list = append(list, e)
	}
	return list
}

// placeholder stands for a type that could not be read, so that the rest of the definition is still checked. A report with
// its fault never yields a Schema.
func placeholder(t *DataType) *DataType {
	if t == nil {
		return Scalar(KindInt8)
	}
	return t
}

func (l *loader) parseProperty(e *element, path string) *Property {
	p := &Property{Name: e.name, Flags: EditorOnly, where: e.position}
	l.noText(e, path)
	seen := make(map[string]bool)
	for _, c := range e.children {
		l.once(seen, c, path)
		l.parsePropertyElement(p, c, path)
	}
	if !seen["Flags"] {
		l.fault(e.position, path, "property has no Flags", "add <Flags> with one of "+flagList())
	}
	if !seen["Type"] {
		l.fault(e.position, path, "property has no Type", "add <Type> TYPE </Type>")
	}
	if d := e.child("Default"); d != nil && p.Type != nil {
		if v, ok := l.parseDefault(p.Type, d, path+"/Default"); ok {
			p.Default = v // else a fault was reported, and the type's default lets the check go on
		}
	}
	p.Type = placeholder(p.Type)
	return p
}

func (l *loader) parsePropertyElement(p *Property, c *element, path string) {
	switch c.name {
	case "Type":
		p.Type = l.parseType(c, path+"/Type", nil)
	case "Flags":
		flags, ok := ParseFlags(c.text)
		if !ok {
			l.fault(c.position, path+"/Flags", fmt.Sprintf("unknown flag %q", shorten(c.text)), "use one of "+flagList())
			return
		}
		p.Flags = flags
	case "Persistent":
		p.Persistent = l.boolean(c, path)
	case "Identifier":
		p.Identifier = l.boolean(c, path)
	case "Indexed":
		if u := c.child("Unique"); u != nil {
			p.Indexed, p.Unique = true, l.boolean(u, path+"/Indexed")
			return
		}
		p.Indexed = l.boolean(c, path)
	case "Unique":
		p.Unique = l.boolean(c, path)
	case "Index":
		p.Indexed, p.Unique = true, c.text == "UNIQUE"
		if c.text != "UNIQUE" && c.text != "INDEX" {
			l.fault(c.position, path+"/Index", fmt.Sprintf("%q is no index", shorten(c.text)), "use UNIQUE or INDEX")
		}
	case "DatabaseLength":
		n, err := strconv.ParseUint(c.text, 10, 31)
		if err != nil {
			l.fault(c.position, path+"/DatabaseLength", fmt.Sprintf("%q is not a length", shorten(c.text)), "state bytes")
		}
		p.DatabaseLength = int(n)
	case "DetailLevel":
		p.Detail = c.text
	case "SendLatestOnly":
		p.SendLatestOnly = l.boolean(c, path)
	case "IsReliable":
		p.Unreliable = !l.boolean(c, path)
	case "Default": // read when the type is known
	case "Editable", "Widget", "VariableLengthHeaderSize", "ExposedForReplay", "Utype":
		// For a world editor, a wire format and a recorder that are not this library's.
	default:
		l.unknown(c, path)
	}
}

func (l *loader) parseMethods(e *element) []*Method {
	var methods []*Method
	l.noText(e, e.name)
	for _, c := range e.children {
		methods = append(methods, l.parseMethod(c, e.name+"/"+c.name))
	}
	return methods
}

func (l *loader) parseMethod(e *element, path string) *Method {
	m := &Method{Name: e.name, where: e.position}
	l.noText(e, path)
	seen := make(map[string]bool)
	for _, c := range e.children {
		if c.name == "Arg" {
			seen["Arg"] = true // the unnamed style repeats it
			m.Args = append(m.Args, Arg{Type: placeholder(l.parseType(c, fmt.Sprintf("%s/Arg[%d]", path, len(m.Args)), nil))})
			continue
		}
		l.once(seen, c, path)
		switch c.name {
		case "Args":
			m.Args = append(m.Args, l.parseArgs(c, path+"/Args")...)
		case "ReturnValues":
			m.Returns = l.parseArgs(c, path+"/ReturnValues")
		case "Exposed":
			m.Exposed = l.parseExposed(c, path)
		case "DetailDistance":
			m.DetailDistance = l.metres(c, path+"/DetailDistance")
		case "SendLatestOnly":
			m.SendLatestOnly = l.boolean(c, path)
		case "IsReliable":
			m.Unreliable = !l.boolean(c, path)
		case "VariableLengthHeaderSize", "ReplayExposureLevel", "Utype":
		default:
			l.unknown(c, path)
		}
	}
	if seen["Arg"] && seen["Args"] {
		l.fault(e.position, path, "both Arg and Args", "use Args, which names the arguments")
	}
	return m
}

func (l *loader) parseArgs(e *element, path string) []Arg {
	var args []Arg
	l.noText(e, path)
	for _, c := range e.children {
		args = append(args, Arg{c.name, placeholder(l.parseType(c, path+"/"+c.name, nil))})
	}
	return args
}

// parseExposed reads who may call: an empty Exposed means everyone whom the side can serve.
func (l *loader) parseExposed(e *element, path string) Exposure {
	switch {
	case e.text == "" && strings.HasPrefix(path, "BaseMethods/"):
		return ExposedOwn
	case e.text == "" || e.text == "ALL_CLIENTS":
		return ExposedAll
	case e.text == "OWN_CLIENT":
		return ExposedOwn
	}
	l.fault(e.position, path+"/Exposed", fmt.Sprintf("%q is no exposure", shorten(e.text)), "leave it empty, or use ALL_CLIENTS or OWN_CLIENT")
	return NotExposed
}
