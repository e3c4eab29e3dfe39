package property

import (
	"fmt"
	"strings"
)

// These are settings that a definition may state and that nothing acts on yet. They are read,
// checked, and kept in the Schema and in its digests. A notice tells of each, once for each file
// and element. When a process acts on a setting, its line here goes. TestSettingsAct compares these
// lines with what the code of the module reads, in both directions.

// idle is a setting that nothing acts on.
type idle struct {
	field   string // in Go
	element string // in a tree
	not     string // what does not happen
	remedy  string
}

const laterOn = "leave it for later, and do not rely on it"

// idleOf is an idle setting, and tells what asks for it.
type idleOf[T any] struct {
	idle
	asks func(*T) bool
}

func idleDefinitions() []idleOf[Definition] {
	return []idleOf[Definition]{
		{idle{"Definition.ExplicitDatabaseID", "ExplicitDatabaseID", "the store gives every entity its database id", laterOn},
			func(d *Definition) bool { return d.ExplicitDatabaseID }},
		{idle{"Definition.TempProperties", "TempProperties", "the names are not looked at", "tag what a script may lose on a move `cellscape:\"local\"`"},
			func(d *Definition) bool { return len(d.TempProperties) > 0 }},
	}
}

func idleProperties() []idleOf[Property] {
	return []idleOf[Property]{
		{idle{"Property.Editable", "Editable", "no process of a server edits a property; it is kept for tools", "leave it for the tools that read it, or remove it"}, func(p *Property) bool { return p.Editable }},
	}
}

// idleType is of the data type of a property, and of what is within it.
func idleTypes() []idleOf[DataType] {
	return []idleOf[DataType]{
		{idle{"DataType.PersistAsBlob", "persistAsBlob", "all that is not indexed is kept in one form already", "leave it for later"}, func(t *DataType) bool { return t.asBlob }},
	}
}

func idleFields() []idleOf[DictField] {
	return []idleOf[DictField]{
		{idle{"DictField.DatabaseLength", "DatabaseLength", "what is within a value is kept in any length", "leave it for later"}, func(f *DictField) bool { return f.DatabaseLength != 0 }},
	}
}

// idleReport collects what is told of a file together.
type idleReport struct {
	found []*idleFound
	by    map[idleKey]*idleFound
	told  map[idlePlace]bool
}

type idleKey struct{ file, field, element string }

type idlePlace struct {
	at    position
	owner string // the type, for what is described in Go
	path  string
}

// idleFound is one setting of one file: where it is first, and how many more times.
type idleFound struct {
	idle
	at   position
	path string
	more int
}

// noticeIdle tells of everything in a schema that asks for what does not happen.
func (s *Schema) noticeIdle(r *report) {
	x := &idleReport{by: make(map[idleKey]*idleFound), told: make(map[idlePlace]bool)}
	for _, d := range s.Types {
		x.definition(d)
	}
	for _, d := range s.Services {
		x.definition(d)
	}
	for _, f := range x.found {
		more := ""
		if f.more > 0 {
			more = fmt.Sprintf(" (and so for %d more in this file)", f.more)
		}
		r.notice(f.at, f.path, fmt.Sprintf("it is read and not acted by yet: %s%s", f.not, more), f.remedy)
	}
}

func (x *idleReport) definition(d *Definition) {
	for _, s := range idleDefinitions() {
		if s.asks(d) {
			x.tell(s.idle, d.where, d, s.element)
		}
	}
	x.kept(d.Kept, d.where, d, "")
	for _, p := range d.Properties {
		path := "Properties/" + p.Name
		for _, s := range idleProperties() {
			if s.asks(p) {
				x.tell(s.idle, p.where, d, path+"/"+s.element)
			}
		}
		x.kept(p.Kept, p.where, d, path+"/")
		x.dataType(p.Type, p.where, d, path+"/Type")
	}
	base := "BaseMethods"
	if d.Service {
		base = "Methods"
	}
	for _, m := range []struct {
		section string
		list    []*Method
	}{{"CellMethods", d.CellMethods}, {base, d.BaseMethods}, {"ClientMethods", d.ClientMethods}} {
		for _, n := range m.list {
			x.kept(n.Kept, n.where, d, m.section+"/"+n.Name+"/")
		}
	}
}

// dataType goes into a type, whose depth is bounded.
func (x *idleReport) dataType(t *DataType, at position, d *Definition, path string) {
	if t == nil {
		return
	}
	for _, s := range idleTypes() {
		if s.asks(t) {
			x.tell(s.idle, at, d, path+"/"+s.element)
		}
	}
	x.dataType(t.key, at, d, path+"/key")
	x.dataType(t.elem, at, d, path+"/of")
	for i := range t.fields {
		f := &t.fields[i]
		in := path + "/" + f.Name
		for _, s := range idleFields() {
			if s.asks(f) {
				x.tell(s.idle, at, d, in+"/"+s.element)
			}
		}
		x.dataType(f.Type, at, d, in)
	}
}

// kept tells of elements that have no meaning on a server.
func (x *idleReport) kept(list []Kept, at position, d *Definition, prefix string) {
	for _, k := range list {
		x.tell(idle{"Definition.Kept", lastElement(k.Element), "no process of a server has a use for it; it is kept for tools", "leave it for the tools that read it, or remove it"}, at, d, prefix+k.Element)
	}
}

func lastElement(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// tell notes a setting. What several types have by one element of a parent or interface is one.
func (x *idleReport) tell(s idle, at position, d *Definition, path string) {
	place := idlePlace{at: at, path: path}
	key := idleKey{at.file, s.field, s.element}
	if at.file == "" {
		place.owner = d.Name
	}
	if x.told[place] {
		return
	}
	x.told[place] = true
	if f := x.by[key]; f != nil {
		f.more++
		return
	}
	f := &idleFound{idle: s, at: at, path: path}
	x.by[key] = f
	x.found = append(x.found, f)
}
