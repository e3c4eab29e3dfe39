package store

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cellscape/cellscape/property"
)

// Action is what a step does to the tables.
type Action uint8

// The actions. A step without one changes only what the rows are read as.
const (
	NoAction   Action = iota
	AddType           // a table, with all of its columns
	DropType          // the table, with all of its rows
	AddColumn         // filled from the data of the rows
	DropColumn        //
	AddIndex          // of a column that is there; unique if the column is Unique
	DropIndex         //
)

// Step is one change of what a store keeps.
type Step struct {
	Type        string
	What        string // what it does, for people
	Destructive bool   // it forgets something that is stored

	Action Action
	Column string // its name; "" for a step of the whole type
}

// String tells the step.
func (s Step) String() string {
	if s.Destructive {
		return s.Type + ": " + s.What + " [destructive]"
	}
	return s.Type + ": " + s.What
}

// Plan is the steps from what a store keeps to what a Schema asks for, in their order. It is empty
// if they are the same.
type Plan []Step

// Destructive returns the steps that forget something.
func (p Plan) Destructive() Plan {
	return slices.DeleteFunc(slices.Clone(p), func(s Step) bool { return !s.Destructive })
}

// String lists the steps, one a line.
func (p Plan) String() string {
	var b strings.Builder
	for _, s := range p {
		b.WriteString(s.String() + "\n")
	}
	return b.String()
}

// Allow returns ErrDestructive, with what stands against it, if the plan must not be carried out.
func (p Plan) Allow(destructive bool) error {
	if bad := p.Destructive(); len(bad) > 0 && !destructive {
		return fmt.Errorf("%w: %s", ErrDestructive, strings.ReplaceAll(strings.TrimSpace(bad.String()), "\n", "; "))
	}
	return nil
}

// description is what a store remembers of a type.
type description struct {
	Properties []propertyDescription `json:"properties,omitempty"`
	Columns    []columnDescription   `json:"columns,omitempty"`
}

type propertyDescription struct {
	Name string `json:"name"`
	Side string `json:"side"`
	shape
}

type columnDescription struct {
	Name   string `json:"name"`
	Class  Class  `json:"class"`
	Unique bool   `json:"unique,omitempty"`
	// Identifier is not in descriptions of before it was noted, nor is the length of a Text or Binary,
	// in bytes or Characters.
	Identifier bool `json:"identifier,omitempty"`
	Length     int  `json:"length,omitempty"`
	Characters bool `json:"characters,omitempty"`
}

func (t *Type) describe() *description {
	d := &description{}
	for i := range t.Columns {
		c := &t.Columns[i]
		e := columnDescription{Name: c.Name, Class: c.Class, Unique: c.Unique, Identifier: c.Identifier}
		if c.Class == Text || c.Class == Binary {
			e.Length, e.Characters = c.Length, c.inCharacters()
		}
		d.Columns = append(d.Columns, e)
	}
	if t.def == nil {
		return d
	}
	for _, p := range sortedProperties(t.def) {
		side := "cell"
		if p.Flags&property.OnBase != 0 {
			side = "base"
		}
		d.Properties = append(d.Properties, propertyDescription{p.Name, side, *shapeOf(p.Type, 0)})
	}
	return d
}

// Description is what a store has to remember of the type, to be given to PlanFrom later. Equal types
// have equal descriptions.
func (t *Type) Description() []byte {
	b, err := json.Marshal(t.describe())
	if err != nil {
		return nil // cannot be: it has only strings, numbers and truth values
	}
	return b
}

// PlanFrom returns the steps to this Schema from the descriptions that a store remembers, by the
// names of the types. The error is ErrCorrupt.
func (s *Schema) PlanFrom(stored map[string][]byte) (Plan, error) {
	names := make([]string, 0, len(stored)+len(s.Types))
	for _, t := range s.Types {
		names = append(names, t.Name)
	}
	// order does not show: they are sorted
	for name := range stored {
		names = append(names, name)
	}
	slices.Sort(names)
	var plan Plan
	for _, name := range slices.Compact(names) {
		t, b := s.Type(name), stored[name]
		switch {
		case t == nil:
			plan = append(plan, Step{Type: name, What: "drop the type with all of its rows", Destructive: true, Action: DropType})
			continue
		case b == nil:
			plan = append(plan, Step{Type: name, What: "add the type", Action: AddType})
			continue
		}
		old := &description{}
		if err := json.Unmarshal(b, old); err != nil {
			return nil, fmt.Errorf("%w: description of %s: %w", ErrCorrupt, name, err)
		}
		d := t.describe()
		plan = append(plan, planProperties(name, old, d)...)
		plan = append(plan, planIdentifier(name, old, d)...)
		plan = append(plan, planLengths(name, old, d)...)
		plan = append(plan, planColumns(name, old, d)...)
	}
	return plan, nil
}

func planProperties(name string, old, d *description) (plan Plan) {
	step := func(destructive bool, format string, args ...any) {
		plan = append(plan, Step{Type: name, What: fmt.Sprintf(format, args...), Destructive: destructive})
	}
	for i := range old.Properties {
		p := &old.Properties[i]
		if q := d.property(p.Name); q == nil {
			step(true, "drop property %s: each row forgets it when it is written", p.Name)
		} else if why := q.forgets(p); why != "" {
			step(true, "%s", why)
		}
	}
	for _, q := range d.Properties {
		if !slices.ContainsFunc(old.Properties, func(p propertyDescription) bool { return q.Name == p.Name }) {
			step(false, "add property %s: rows have its default", q.Name)
		}
	}
	return plan
}

func (d *description) property(name string) *propertyDescription {
	i := slices.IndexFunc(d.Properties, func(p propertyDescription) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &d.Properties[i]
}

// forgets tells what of the values of a property is not there any more when it has become q, "" for
// nothing.
func (q *propertyDescription) forgets(p *propertyDescription) string {
	if p.Side != q.Side {
		return fmt.Sprintf("move property %s from the %s to the %s: what is stored is forgotten", p.Name, p.Side, q.Side)
	}
	if why := q.loses(&p.shape, p.Name); why != "" {
		return why + ": what does not fit becomes the default"
	}
	return ""
}

// planIdentifier says what a type loses with its Identifier, also if another property takes its
// place: the rows stay, but nobody finds them by it any more, such as a login, which then begins with
// a new one.
func planIdentifier(name string, old, d *description) Plan {
	is := func(c columnDescription) bool { return c.Identifier }
	i, k := slices.IndexFunc(old.Columns, is), slices.IndexFunc(d.Columns, is)
	if i < 0 || k >= 0 && d.Columns[k].Name == old.Columns[i].Name {
		return nil
	}
	was := old.Columns[i].Name
	what := was + " is the Identifier no more"
	if k >= 0 {
		what = d.Columns[k].Name + " is the Identifier in place of " + was
	}
	what += ": no row is found by " + was + ", and who logs in begins with a new one"
	return Plan{{Type: name, What: what, Destructive: true}}
}

// planLengths says which columns hold less than before. Whether they do is not known of a store whose
// descriptions lack the lengths.
func planLengths(name string, old, d *description) (plan Plan) {
	for i := range old.Columns {
		c := &old.Columns[i]
		k := slices.IndexFunc(d.Columns, func(e columnDescription) bool { return e.Name == c.Name })
		if k >= 0 && d.property(c.Name) != nil && !d.Columns[k].holds(c) {
			what := fmt.Sprintf("%s holds %s, no longer %s: what is longer becomes the default", c.Name, d.Columns[k].length(), c.length())
			plan = append(plan, Step{Type: name, What: what, Destructive: true})
		}
	}
	return plan
}

// holds reports whether all that the column c could hold is short enough for e.
func (e *columnDescription) holds(c *columnDescription) bool {
	most := c.Length
	if c.Characters && !e.Characters {
		most = min(most*utf8.UTFMax, MaxColumn)
	}
	return e.Length == 0 || e.Length >= most
}

func (e *columnDescription) length() string {
	if e.Characters {
		return fmt.Sprintf("%d characters", e.Length)
	}
	return fmt.Sprintf("%d bytes", e.Length)
}

func planColumns(name string, old, d *description) (plan Plan) {
	step := func(a Action, column, what string) {
		plan = append(plan, Step{Type: name, What: what + " " + column, Action: a, Column: column})
	}
	for _, c := range old.Columns {
		i := slices.IndexFunc(d.Columns, func(e columnDescription) bool { return e.Name == c.Name })
		switch {
		case i < 0 || !keepsColumn(old, d, &c, &d.Columns[i]):
			step(DropIndex, c.Name, "drop the index of")
			step(DropColumn, c.Name, "drop the column of")
		case d.Columns[i].Unique != c.Unique:
			step(DropIndex, c.Name, "drop the index of")
			step(AddIndex, c.Name, indexing(d.Columns[i].Unique))
		}
	}
	for _, e := range d.Columns {
		if !slices.ContainsFunc(old.Columns, func(c columnDescription) bool { return keepsColumn(old, d, &c, &e) }) {
			step(AddColumn, e.Name, "add a column, filled from the data, for")
			step(AddIndex, e.Name, indexing(e.Unique))
		}
	}
	return plan
}

// keepsColumn reports whether a column goes on as another one. What is in it must fit; a column of
// which that is not certain is made anew from the data, where what does not fit is the default.
func keepsColumn(old, d *description, c, e *columnDescription) bool {
	if e.Name != c.Name || e.Class != c.Class {
		return false
	}
	p, q := old.property(c.Name), d.property(e.Name)
	return p == nil || q == nil || q.forgets(p) == "" && e.holds(c)
}

func indexing(unique bool) string {
	if unique {
		return "index, and demand to be unique,"
	}
	return "index"
}
