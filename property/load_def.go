package property

import "fmt"

// role is what a .def file describes.
type role uint8

const (
	aType role = iota
	anInterface
	aComponent
	aService
)

// description is what a .def file describes, inherited parts included.
type description struct {
	position
	settings
	state              visit
	properties         []*Property
	cell, base, client []*Method
	components         []Component
	parents            []string // Parent, its Parent and so on
	temp               []string
	kept               []Kept
	own                declared
}

// settings are single values of a type. nil is where neither the file nor what it inherits says
// anything.
type settings struct {
	levels                                   []DetailLevel
	volatile                                 *Volatile
	appeal                                   *float32
	scheme                                   *UpdateScheme
	persistent, explicitID, detailed, manual *bool
	hasCell, hasBase, hasClient              *bool
	clientName                               *string
	compression                              *Compression
}

// declared is what a file says itself.
type declared struct {
	parents, interfaces []*element
	properties          []*Property
	methods             [3][]*Method // cell, base, client
	components          []componentUse
	levels              []DetailLevel
	temp                []string
}

// describe reads a .def file and what it inherits. It returns nil if the file cannot be read; what
// else is wrong has been reported, and the rest of the file is still checked.
func (l *loader) describe(file string, from position, path string, as role) *description {
	if x := l.described[file]; x != nil {
		if x.state == reading {
			l.fault(from, path, "cycle: "+l.root+file+" inherits from itself", "remove one Parent or Interface of the cycle")
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
	root := l.open(file, from, path, missingFileRemedy)
	if root == nil {
		return nil
	}
	x.position = root.position
	l.parseDef(x, root, as)
	l.inherit(x)
	return x
}

// parseDef reads what the file itself says.
func (l *loader) parseDef(x *description, root *element, as role) {
	l.noText(root, root.name)
	l.noAttributesBelow(root)
	l.once(root, root.name, "")
	for _, e := range root.children {
		if e.name == "CellEvents" { // of KBEngine's own example
			l.notice(e.position, e.name, "it is not read, by the original neither: no event of it exists", "remove it, or make them CellMethods")
			continue
		}
		what, remedy := as.refuses(e.name)
		if what != "" {
			l.fault(e.position, e.name, what+" cannot have it", remedy)
			continue
		}
		l.evidence.note(dialectOfElement(e.name), e.name, e.position)
		l.parseSection(x, e)
	}
}

// refuses says whether a file of that role has no place for a section that other files have; what
// is "" if it has.
func (as role) refuses(section string) (what, remedy string) {
	switch as {
	case anInterface:
		switch section {
		case "Parent", "ClientName", "Distribution":
			return "an interface", "move it to the types that implement the interface"
		}
	case aComponent:
		switch section {
		case "Properties", "CellMethods", "BaseMethods", "ClientMethods":
		default:
			return "a component", "move it to the types that have the component, or make the component an interface"
		}
	case aService:
		if section != "Methods" {
			return "a service", "a service has Methods only: make it an entity type if it needs more"
		}
	}
	if section == "Methods" && as != aService {
		return "an entity type", "use CellMethods, BaseMethods or ClientMethods"
	}
	return "", ""
}

func (l *loader) parseSection(x *description, e *element) {
	switch e.name {
	case "Parent":
		l.noChildren(e, e.name)
		if e.text != "" {
			x.own.parents = append(x.own.parents, e)
		}
	case "Implements", "Interfaces":
		x.own.interfaces = append(x.own.interfaces, l.parseInterfaces(e)...)
	case "Properties":
		l.noText(e, e.name)
		for _, c := range e.children {
			x.own.properties = append(x.own.properties, l.parseProperty(c, e.name+"/"+c.name))
		}
	case "CellMethods":
		x.own.methods[0] = l.parseMethods(e)
	case "BaseMethods", "Methods":
		x.own.methods[1] = l.parseMethods(e)
	case "ClientMethods":
		x.own.methods[2] = l.parseMethods(e)
	case "Components":
		x.own.components = l.parseComponents(x, e)
	case "LoDLevels", "DetailLevels":
		x.own.levels = append(x.own.levels, l.parseLevels(e)...)
	case "TempProperties":
		x.own.temp = l.parseTempProperties(e)
	default:
		l.parseSetting(x, e)
	}
}

func (l *loader) parseInterfaces(e *element) (interfaces []*element) {
	l.noText(e, e.name)
	for _, c := range e.children {
		switch c.name {
		case "Interface", "Type", "interface", "type": // all four are KBEngine's
			l.noChildren(c, e.name+"/"+c.name)
			interfaces = append(interfaces, c)
		default:
			l.unknown(c, e.name)
		}
	}
	return interfaces
}

// parseTempProperties reads names; what the original would say of their types means nothing without
// a script to hold them.
func (l *loader) parseTempProperties(e *element) (names []string) {
	l.noText(e, e.name)
	l.once(e, e.name, "")
	for _, c := range e.children {
		path := e.name + "/" + c.name
		l.noText(c, path)
		l.noChildren(c, path)
		names = append(names, c.name)
	}
	return names
}
