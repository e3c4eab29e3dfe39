package store

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cellscape/cellscape/property"
)

// Schema is the types that a store keeps.
type Schema struct {
	Types []*Type // by name
	// Notices tell what the definitions ask of a store in vain.
	Notices []string

	byName map[string]*Type
}

// Type is a type of rows.
type Type struct {
	Name    string
	Columns []Column // in the order of the properties

	def        *property.Definition // nil for a type that is not of entities
	identifier int                  // index of the column, or -1
}

// NewType returns a type of rows that are not entities: a service's own. Its name must have a dot, so
// that no entity type has it. Only the service knows what the Data are.
func NewType(name string, columns ...Column) (*Type, error) {
	if !strings.Contains(name, ".") || len(name) > MaxName {
		return nil, fmt.Errorf("%w: %q needs a dot, and at most %d bytes", ErrValue, name, MaxName)
	}
	t := &Type{Name: name, Columns: columns}
	return t, t.settle()
}

// NewSchema returns what of the definitions is to be kept, and types of other rows besides. The error
// is ErrValue, and tells everything that no store could keep.
func NewSchema(s *property.Schema, others ...*Type) (*Schema, error) {
	out := &Schema{Types: slices.Clone(others), byName: make(map[string]*Type)}
	var faults []error
	for _, d := range s.Types {
		if !d.Persistent {
			out.noticeAll(d, "entities of the type are not kept; make the type Persistent, too")
			continue
		}
		if !d.HasBase {
			out.noticeAll(d, "an entity is kept by its base, and the type has none")
		}
		t := &Type{Name: d.Name, def: d}
		for _, p := range d.Properties {
			c, ok := out.column(d, p)
			if ok {
				t.Columns = append(t.Columns, c)
			}
		}
		faults = append(faults, t.settle())
		out.Types = append(out.Types, t)
	}
	slices.SortFunc(out.Types, func(a, b *Type) int { return strings.Compare(a.Name, b.Name) })
	folded := make(map[string]string)
	for _, t := range out.Types {
		if other, ok := folded[strings.ToLower(t.Name)]; ok {
			faults = append(faults, fmt.Errorf("%w: the types %s and %s differ only in case, which is the same to a database; rename one", ErrValue, other, t.Name))
		}
		folded[strings.ToLower(t.Name)] = t.Name
		out.byName[t.Name] = t
	}
	return out, errors.Join(faults...)
}

// Type returns the named type, or nil.
func (s *Schema) Type(name string) *Type { return s.byName[name] }

// Identifier returns the column that Load finds rows by, or nil.
func (t *Type) Identifier() *Column {
	if t.identifier < 0 {
		return nil
	}
	return &t.Columns[t.identifier]
}

// Column returns the named column, or nil.
func (t *Type) Column(name string) *Column {
	for i := range t.Columns {
		if t.Columns[i].Name == name {
			return &t.Columns[i]
		}
	}
	return nil
}

// Definition returns the definition of an entity type, else nil.
func (t *Type) Definition() *property.Definition { return t.def }

// column returns the column of a property, if it has one.
func (s *Schema) column(d *property.Definition, p *property.Property) (Column, bool) {
	asks := p.Indexed || p.Unique || p.Identifier
	switch {
	case p.Persistent && p.Flags&property.EditorOnly != 0:
		s.notice(d, p, "Persistent", "no process has an editor's property; remove it")
		return Column{}, false
	case p.DatabaseLength != 0 && !asks:
		s.notice(d, p, "DatabaseLength", "only what is Indexed is a column; the rest has any length")
	}
	if p.Type.PersistAsBlob() {
		s.notice(d, p, "persistAsBlob", "everything that is not Indexed is in one form already; remove it")
	}
	if !asks {
		return Column{}, false
	}
	length := p.DatabaseLength
	if length > MaxColumn {
		s.notice(d, p, "DatabaseLength", fmt.Sprintf("a column has at most %d bytes", MaxColumn))
		length = MaxColumn
	}
	c, err := NewColumn(p.Name, p.Type, length)
	if err != nil {
		s.notice(d, p, "Indexed", fmt.Sprintf("a %v cannot be looked up by; remove it", p.Type.Kind()))
		return Column{}, false
	}
	c.Unique, c.Identifier, c.Default, c.index = p.Unique || p.Identifier, p.Identifier, p.Default, p.Index
	return c, true
}

// noticeAll tells of each property that is to be kept in vain.
func (s *Schema) noticeAll(d *property.Definition, why string) {
	for _, p := range d.Properties {
		if p.Persistent {
			s.notice(d, p, "Persistent", why)
		}
	}
}

func (s *Schema) notice(d *property.Definition, p *property.Property, element, why string) {
	s.Notices = append(s.Notices, fmt.Sprintf("%s.%s: %s has no effect: %s", d.Name, p.Name, element, why))
}

// settle checks the columns together.
func (t *Type) settle() error {
	t.identifier = -1
	folded := make(map[string]string)
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.typ == nil {
			return fmt.Errorf("%w: column %s of %s was not made by NewColumn", ErrValue, c.Name, t.Name)
		}
		if other, ok := folded[strings.ToLower(c.Name)]; ok {
			return fmt.Errorf("%w: the columns %s and %s of %s differ only in case, which is the same to a database; rename one", ErrValue, other, c.Name, t.Name)
		}
		folded[strings.ToLower(c.Name)] = c.Name
		if _, err := c.Fit(c.Default); err != nil {
			return fmt.Errorf("default of %s.%s: %w", t.Name, c.Name, err)
		}
		if !c.Identifier {
			continue
		}
		if t.identifier >= 0 {
			return fmt.Errorf("%w: %s has two identifiers, %s and %s; make one of them Unique instead", ErrValue, t.Name, t.Columns[t.identifier].Name, c.Name)
		}
		t.identifier, c.Unique = i, true
	}
	return nil
}

// sortedProperties are the persistent properties of a type by name.
func sortedProperties(d *property.Definition) []*property.Property {
	var list []*property.Property
	for _, p := range d.Properties {
		if p.Persistent && p.Flags&property.EditorOnly == 0 {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b *property.Property) int { return cmp.Compare(a.Name, b.Name) })
	return list
}
