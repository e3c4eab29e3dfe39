package property

import "slices"

// NewSchema makes a Schema of types and services described in Go. It checks them, copies them, and
// assigns to the copies what their fields call assigned: ids, indices, levels, defaults. Use the
// copies: s.Type("Avatar"). The caller's Definitions stay as they are. The error is a [Faults] with
// everything found, and no Schema comes with it.
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
	s := &Schema{byName: make(map[string]*Definition, len(types)), services: make(map[string]*Definition)}
	if len(types) > MaxTypes {
		r.fault(position{}, "", "too many entity types", "split the game, or raise MaxTypes")
		return nil
	}
	for _, given := range types {
		if given == nil {
			r.fault(position{}, "", "a Definition is nil", "leave it out")
			continue
		}
		s.add(given.clone(), r)
	}
	for _, d := range s.Types {
		s.checkClientName(d, r)
	}
	if len(r.faults) > 0 {
		return nil
	}
	s.compile()
	s.noticeIdle(r)
	return s
}

// add checks a definition and puts it where it belongs.
func (s *Schema) add(d *Definition, r *report) {
	if s.byName[d.Name] != nil || s.services[d.Name] != nil {
		what := "entity type"
		if d.Service || s.services[d.Name] != nil {
			what = "service"
		}
		r.fault(d.where, d.Name, what+" is declared twice", "remove one of the two")
		return
	}
	checkDefinition(d, r)
	if d.Service {
		s.services[d.Name] = d
		s.Services = append(s.Services, d)
		return
	}
	s.byName[d.Name] = d
	s.Types = append(s.Types, d)
}

// compile assigns what checked definitions are given. A type that clients see as another comes
// after that one.
func (s *Schema) compile() {
	for i, d := range s.Types {
		d.ID, d.ClientID = uint16(i), NoClientID
		if d.HasClient && d.ClientName == "" {
			d.ClientID = uint16(len(s.byClient))
			s.byClient = append(s.byClient, d)
		}
		if d.ClientName == "" {
			d.compile(nil)
		}
	}
	for _, d := range s.Types {
		if d.ClientName != "" {
			as := s.byName[d.ClientName]
			if d.HasClient {
				d.ClientID = as.ClientID
			}
			d.compile(as)
		}
	}
	for i, d := range s.Services {
		d.ID, d.ClientID = uint16(len(s.Types)+i), NoClientID
		d.compile(nil)
	}
	s.ClientDigest, s.Digest = s.clientDigest(), s.digest()
}

// clone copies what a Schema changes or must not see changed.
func (d *Definition) clone() *Definition {
	c := &Definition{
		Name: d.Name, ClientName: d.ClientName, Components: slices.Clone(d.Components), Levels: slices.Clone(d.Levels),
		Volatile: d.Volatile, AppealRadius: d.AppealRadius, UpdateScheme: d.UpdateScheme,
		HasCell: d.HasCell, HasBase: d.HasBase, HasClient: d.HasClient,
		Persistent: d.Persistent, statesPersistent: d.statesPersistent, ExplicitDatabaseID: d.ExplicitDatabaseID, DetailedVolatile: d.DetailedVolatile,
		ManualAoI: d.ManualAoI, Service: d.Service,
		TempProperties: slices.Clone(d.TempProperties), Compression: d.Compression,
		Dialect: d.Dialect, Kept: slices.Clone(d.Kept), where: d.where, parents: d.parents,
	}
	if c.ClientName == c.Name {
		c.ClientName = "" // clients see every type as itself
	}
	c.Properties = cloneAll(d.Properties, func(p *Property) { p.Kept = slices.Clone(p.Kept) })
	for _, m := range []struct{ to, from *[]*Method }{
		{&c.CellMethods, &d.CellMethods}, {&c.BaseMethods, &d.BaseMethods}, {&c.ClientMethods, &d.ClientMethods},
	} {
		*m.to = cloneAll(*m.from, func(m *Method) {
			m.Args, m.Returns, m.Kept = slices.Clone(m.Args), slices.Clone(m.Returns), slices.Clone(m.Kept)
		})
	}
	return c
}

// cloneAll copies what the pointers point to into one block; nil becomes a zero one, which the
// check reports.
func cloneAll[T any](list []*T, deepen func(*T)) []*T {
	if len(list) == 0 {
		return nil
	}
	block, pointers := make([]T, len(list)), make([]*T, len(list))
	for i, x := range list {
		if x != nil {
			block[i] = *x
			deepen(&block[i])
		}
		pointers[i] = &block[i]
	}
	return pointers
}
