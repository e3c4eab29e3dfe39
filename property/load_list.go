package property

import "fmt"

// readEntities reads the list of entity types and what it names.
func (l *loader) readEntities() []*Definition {
	root := l.open(entitiesFile, position{}, "", "list the entity types there")
	if root == nil {
		return nil
	}
	l.noText(root, root.name)
	l.noAttributes(root, root.name)
	client := l.impliedClient(root)
	var types []*Definition
	for _, e := range root.children {
		switch e.name {
		case "ClientServerEntities", "ServerOnlyEntities":
			l.noText(e, e.name)
			l.noAttributes(e, e.name)
			l.evidence.note(dialectOfElement(e.name), e.name, e.position)
			for _, c := range e.children {
				types = append(types, l.readEntity(c, e.name+"/"+c.name, e.name == "ClientServerEntities"))
			}
		default:
			types = append(types, l.readEntity(e, e.name, client(e.name)))
		}
	}
	return types
}

// impliedClient returns whether a type has a client side that the list does not say anything of.
// Where any type says hasClient, one that does not has none. Where client scripts lie beside the
// list, a type without one has none.
func (l *loader) impliedClient(root *element) func(name string) bool {
	for _, e := range root.children {
		for _, a := range e.attrs {
			if a.Name.Local == "hasClient" {
				return func(string) bool { return false }
			}
		}
	}
	if !l.exists(clientScriptsDir) {
		return func(string) bool { return true }
	}
	return func(name string) bool {
		file := clientScriptsDir + "/" + name + ".py"
		return checkName(name) == nil && (l.exists(file) || l.exists(file+"c"))
	}
}

// readEntity reads the type that an element of the list names.
func (l *loader) readEntity(e *element, path string, client bool) *Definition {
	d := &Definition{Name: e.name, HasCell: true, HasBase: true, HasClient: client, Persistent: true, where: e.position}
	l.noText(e, path)
	l.noChildren(e, path)
	sides := map[string]*bool{"hasCell": &d.HasCell, "hasBase": &d.HasBase, "hasClient": &d.HasClient}
	stated := make(map[string]bool, len(e.attrs)) // the parser takes an attribute twice, though XML has it once
	for _, a := range e.attrs {
		if stated[a.Name.Local] {
			l.fault(e.position, path, fmt.Sprintf("attribute %q is given twice", shorten(a.Name.Local)), removeOneRemedy)
			continue
		}
		stated[a.Name.Local] = true
		side, known := sides[a.Name.Local]
		if !known {
			l.fault(e.position, path, fmt.Sprintf("unknown attribute %q", shorten(a.Name.Local)), "use hasCell, hasBase and hasClient")
			continue
		}
		l.evidence.note(DialectKBEngine, a.Name.Local, e.position)
		value, ok := parseBool(a.Value)
		if !ok {
			l.fault(e.position, path, fmt.Sprintf("%s is %q", a.Name.Local, shorten(a.Value)), "state true or false")
		}
		*side = value
	}
	if checkName(d.Name) != nil {
		return d // the check of all types reports it; it must not become part of a path
	}
	if x := l.describe(defsDir+d.Name+defSuffix, e.position, path, aType); x != nil {
		x.fill(d)
		l.noVolatile[d.Name] = x.volatile == nil
	}
	return d
}

// readServices reads the list of services, if there is one, and their definitions. It tells no dialect: only
// BigWorld had it, but whoever wants a service here has to write one. (A tree of KBEngine's with a service
// was told at each start to write one dialect throughout, and its BLOBs could be read as BigWorld's.)
func (l *loader) readServices() []*Definition {
	if !l.exists(servicesFile) {
		return nil
	}
	root := l.open(servicesFile, position{}, "", missingFileRemedy)
	if root == nil {
		return nil
	}
	l.noText(root, root.name)
	l.noAttributes(root, root.name)
	var services []*Definition
	for _, e := range root.children {
		l.noText(e, e.name)
		l.noChildren(e, e.name)
		l.noAttributes(e, e.name)
		d := &Definition{Name: e.name, HasBase: true, Service: true, where: e.position}
		if checkName(d.Name) == nil {
			if x := l.describe(serviceDefsDir+d.Name+defSuffix, e.position, e.name, aService); x != nil {
				d.where, d.BaseMethods = x.position, x.base
			}
		}
		services = append(services, d)
	}
	return services
}

// readUserObjects tells of user data objects. They are points and links that a world editor puts
// into spaces; a process here has nothing that would hold them.
func (l *loader) readUserObjects() {
	if !l.exists(userObjectsFile) {
		return
	}
	root := l.open(userObjectsFile, position{}, "", missingFileRemedy)
	if root == nil {
		return
	}
	l.evidence.note(DialectBigWorld, userObjectsFile, root.position)
	for _, e := range root.children {
		l.notice(e.position, e.name, "user data object is not loaded: spaces hold entities and nothing else", "make it an entity type, and refer to it by ENTITY_ID")
	}
}
