package property

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// Where things are in a definition tree.
const (
	entitiesFile  = "entities.xml"
	defsDir       = "entity_defs/"
	interfacesDir = "entity_defs/interfaces/"
	defSuffix     = ".def"
)

// aliasFiles are read as far as they exist: BigWorld's name and KBEngine's, beside the list or beside the definitions.
var aliasFiles = [...]string{"alias.xml", "types.xml", defsDir + "alias.xml", defsDir + "types.xml"}

// Load reads a definition tree in the dialect of BigWorld or KBEngine:
//
//	entities.xml                     the list of entity types, whose order gives their ids
//	alias.xml, types.xml             names for data types; also in entity_defs/
//	entity_defs/<Name>.def           one type, or a Parent
//	entity_defs/interfaces/<I>.def   what several types implement
//
// A type has the properties and methods of its Parent first, then of its interfaces in order, then its own; one that it
// declares again keeps its place and takes the new form.
//
// All faults are found at once: the error is a [Faults], each naming file, line, element and remedy, and no Schema comes
// with it. What was read differently from what the tree says is in [Schema.Notices]. Sources: seed S1, seed S4 §6.1.6.
func Load(fsys fs.FS) (*Schema, error) {
	r := newReport()
	l := &loader{report: r, fsys: fsys, aliases: make(map[string]*alias), described: make(map[string]*description)}
	l.readAliases()
	s := build(l.readEntities(), r)
	if err := r.err(); err != nil {
		return nil, err
	}
	s.Notices = r.notices
	return s, nil
}

type loader struct {
	*report
	fsys      fs.FS
	aliases   map[string]*alias
	described map[string]*description // by file
	elements  int                     // of all composite types; see maxTreeElements
}

// open reads and parses a file that must be there; from is who asks for it. It returns nil when there is nothing to go on
// with, after reporting why.
func (l *loader) open(file string, from position, path, remedy string) *element {
	data, err := readFile(l.fsys, file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if from.file == "" {
			from.file, path = file, ""
		}
		l.fault(from, path, "there is no file "+file, remedy)
	case errors.Is(err, errTooLarge):
		l.fault(position{file: file}, "", fmt.Sprintf("file is larger than %d bytes", MaxFileSize), "split it with Parent or Implements")
	case err != nil:
		l.fault(position{file: file}, "", "cannot be read: "+err.Error(), "make it a readable file")
	default:
		return parseXML(file, data, l.report)
	}
	return nil
}

// readEntities reads the list of entity types and what it names.
func (l *loader) readEntities() []*Definition {
	root := l.open(entitiesFile, position{}, "", "list the entity types there")
	if root == nil {
		return nil
	}
	l.noText(root, root.name)
	implied := true
	for _, e := range root.children {
		for _, a := range e.attrs {
			// In the attribute dialect a type has a client only if it says so.
			implied = implied && a.Name.Local != "hasClient"
		}
	}
	var types []*Definition
	for _, e := range root.children {
		switch e.name {
		case "ClientServerEntities", "ServerOnlyEntities":
			l.noText(e, e.name)
			for _, c := range e.children {
				types = append(types, l.readEntity(c, e.name+"/"+c.name, e.name == "ClientServerEntities"))
			}
		default:
			types = append(types, l.readEntity(e, e.name, implied))
		}
	}
	return types
}

// readEntity reads the type that an element of the list names.
func (l *loader) readEntity(e *element, path string, client bool) *Definition {
	d := &Definition{Name: e.name, HasCell: true, HasBase: true, HasClient: client, where: e.position}
	for _, a := range e.attrs {
		side := map[string]*bool{"hasCell": &d.HasCell, "hasBase": &d.HasBase, "hasClient": &d.HasClient}[a.Name.Local]
		if side == nil {
			l.fault(e.position, path, fmt.Sprintf("unknown attribute %q", a.Name.Local), "use hasCell, hasBase and hasClient")
		} else if value, ok := parseBool(a.Value); !ok {
			l.fault(e.position, path, fmt.Sprintf("%s is %q", a.Name.Local, a.Value), "state true or false")
		} else {
			*side = value
		}
	}
	if checkName(d.Name) != nil {
		return d // the check of all types reports it; it must not become part of a path
	}
	x := l.describe(defsDir+d.Name+defSuffix, e.position, path, false)
	if x != nil {
		x.fill(d)
	}
	return d
}

// fill copies what a file describes into the type that the list names.
func (x *description) fill(d *Definition) {
	d.where.file, d.where.line = x.file, x.line
	d.Properties, d.CellMethods, d.BaseMethods, d.ClientMethods = x.properties, x.cell, x.base, x.client
	d.Levels = x.levels
	if x.volatile != nil {
		d.Volatile = *x.volatile
	}
	if x.appeal != nil {
		d.AppealRadius = *x.appeal
	}
	for _, b := range []struct {
		from *bool
		to   *bool
	}{
		{x.hasCell, &d.HasCell}, {x.hasBase, &d.HasBase}, {x.hasClient, &d.HasClient},
		{x.persistent, &d.Persistent}, {x.detailed, &d.DetailedVolatile}, {x.manual, &d.ManualAoI},
	} {
		if b.from != nil {
			*b.to = *b.from
		}
	}
}

// noText reports text where only elements mean something.
func (l *loader) noText(e *element, path string) {
	if e.text != "" {
		l.fault(e.position, path, fmt.Sprintf("text %q between elements", shorten(e.text)), "remove it")
	}
}

// unknown reports an element that the dialect does not have there.
func (l *loader) unknown(e *element, path string) {
	l.fault(e.position, path+"/"+e.name, "unknown element", "remove it, or correct its name")
}

// once reports an element that is given again in the same parent.
func (l *loader) once(seen map[string]bool, e *element, path string) {
	if seen[e.name] {
		l.fault(e.position, path+"/"+e.name, "element is given twice", "remove one of the two")
	}
	seen[e.name] = true
}

// boolean reads an element's text, false with a fault if it is neither true nor false.
func (l *loader) boolean(e *element, path string) bool {
	b, ok := parseBool(e.text)
	if !ok {
		l.fault(e.position, strings.TrimPrefix(path+"/"+e.name, "/"), fmt.Sprintf("%q is neither true nor false", shorten(e.text)), "state true or false")
	}
	return b
}

func parseBool(s string) (value, ok bool) {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "true", "1":
		return true, true
	case "false", "0":
		return false, true
	}
	return false, false
}

func shorten(s string) string {
	if len(s) > 60 {
		return strings.ToValidUTF8(s[:60], "") + "…"
	}
	return s
}
