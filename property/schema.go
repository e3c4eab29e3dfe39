package property

import "slices"

// Schema is the entity types of a game. It never changes once made, and any number of goroutines may read it.
type Schema struct {
	Types []*Definition // by ID
	// ClientDigest is of what clients can see or call. It is what a client's schema must agree on; an edit that concerns
	// servers only leaves it as it is.
	ClientDigest [16]byte
	// Digest is of everything. The processes of a cluster must agree on it.
	Digest [16]byte
	// Notices are oddities of an imported tree that are no faults: what was read differently from what the tree says.
	Notices Faults

	byName   map[string]*Definition
	byClient []*Definition
}

// Type returns the named type, or nil.
func (s *Schema) Type(name string) *Definition { return s.byName[name] }

// ByID returns the type of an ID, or nil.
func (s *Schema) ByID(id uint16) *Definition {
	if int(id) >= len(s.Types) {
		return nil
	}
	return s.Types[id]
}

// ByClientID returns the type of a ClientID, or nil.
func (s *Schema) ByClientID(id uint16) *Definition {
	if int(id) >= len(s.byClient) {
		return nil
	}
	return s.byClient[id]
}

// NewSchema makes a Schema of types described in Go. It checks them, copies them, and assigns to the copies what their
// fields call assigned: ids, indices, levels, defaults. Use the copies: s.Type("Avatar"). The caller's Definitions stay as
// they are. The error is a [Faults] with everything found, and no Schema comes with it.
func NewSchema(types ...*Definition) (*Schema, error) {
	r := newReport()
	s := build(types, r)
	if err := r.err(); err != nil {
		return nil, err
	}
	s.Notices = r.notices
	return s, nil
}

// build checks and compiles. What it returns is of use only if r holds no fault.
func build(types []*Definition, r *report) *Schema {
	s := &Schema{byName: make(map[string]*Definition, len(types))}
	if len(types) > MaxTypes {
		r.fault(position{}, "", "too many entity types", "split the game, or raise MaxTypes")
		return nil
	}
	for _, given := range types {
		if given == nil {
			r.fault(position{}, "", "a Definition is nil", "leave it out")
			continue
		}
		d := given.clone()
		if s.byName[d.Name] != nil {
			r.fault(d.where, d.Name, "entity type is declared twice", "remove one of the two")
			continue
		}
		s.byName[d.Name] = d
		s.Types = append(s.Types, d)
		checkDefinition(d, r)
	}
	if len(r.faults) > 0 {
		return nil
	}
	for i, d := range s.Types {
		d.ID, d.ClientID = uint16(i), NoClientID
		if d.HasClient {
			d.ClientID = uint16(len(s.byClient))
			s.byClient = append(s.byClient, d)
		}
		d.compile()
	}
	s.ClientDigest, s.Digest = s.clientDigest(), s.digest()
	return s
}

// clone copies what a Schema changes or must not see changed.
func (d *Definition) clone() *Definition {
	c := &Definition{
		Name: d.Name, Levels: slices.Clone(d.Levels), Volatile: d.Volatile, AppealRadius: d.AppealRadius,
		HasCell: d.HasCell, HasBase: d.HasBase, HasClient: d.HasClient,
		Persistent: d.Persistent, DetailedVolatile: d.DetailedVolatile, ManualAoI: d.ManualAoI, where: d.where,
	}
	for _, p := range d.Properties {
		if p == nil {
			p = &Property{}
		}
		q := *p
		c.Properties = append(c.Properties, &q)
	}
	c.CellMethods = cloneMethods(d.CellMethods)
	c.BaseMethods = cloneMethods(d.BaseMethods)
	c.ClientMethods = cloneMethods(d.ClientMethods)
	return c
}

func cloneMethods(methods []*Method) []*Method {
	var c []*Method
	for _, m := range methods {
		if m == nil {
			m = &Method{}
		}
		n := *m
		n.Args, n.Returns = slices.Clone(m.Args), slices.Clone(m.Returns)
		c = append(c, &n)
	}
	return c
}
