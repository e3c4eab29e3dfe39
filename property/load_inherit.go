package property

import (
	"cmp"
	"fmt"
	"slices"
)

// inherit joins Parent, interfaces and the file's own declarations, in that order: what comes later
// counts.
func (l *loader) inherit(x *description) {
	var says []*description // whose settings count, the strongest last
	for _, e := range x.own.parents {
		if from := l.inherited(e, "Parent", defsDir, aType); from != nil {
			l.take(x, from)
			x.levels = from.levels
			inheritOne(&x.clientName, from.clientName)
			x.parents = append([]string{e.text}, from.parents...)
			x.inheritKept(from)
			says = append(says, from)
		}
	}
	taken := make(map[*description]bool, len(x.own.interfaces)) // a file may name an interface again and again
	for _, e := range x.own.interfaces {
		if from := l.inherited(e, "Implements/"+e.name, interfacesDir, anInterface); from != nil && !taken[from] {
			taken[from] = true
			l.take(x, from)
			x.levels = joinLevels(x.levels, from.levels)
			says = append(says, from)
		}
	}
	for _, from := range slices.Backward(says) {
		x.settings.inherit(&from.settings)
	}
	l.addComponents(x)
	x.properties = override(x.properties, x.own.properties, propertyKey)
	x.cell = override(x.cell, x.own.methods[0], methodKey)
	x.base = override(x.base, x.own.methods[1], methodKey)
	x.client = override(x.client, x.own.methods[2], methodKey)
	x.temp = union(x.temp, x.own.temp)
	x.levels = joinLevels(x.levels, x.own.levels)
	x.own = declared{}
}

// inherited describes the file that a Parent or Interface element names.
func (l *loader) inherited(e *element, path, dir string, as role) *description {
	if err := checkName(e.text); err != nil {
		l.fault(e.position, path, err.Error(), nameRemedy)
		return nil
	}
	return l.describe(dir+e.text+defSuffix, e.position, path, as)
}

// inherit takes what a parent or interface says and the file does not.
func (s *settings) inherit(from *settings) {
	inheritOne(&s.volatile, from.volatile)
	inheritOne(&s.appeal, from.appeal)
	inheritOne(&s.scheme, from.scheme)
	s.compression = inheritCompression(s.compression, from.compression)
	for _, b := range []struct {
		to   **bool
		from *bool
	}{
		{&s.persistent, from.persistent}, {&s.explicitID, from.explicitID}, {&s.detailed, from.detailed}, {&s.manual, from.manual},
	} {
		inheritOne(b.to, b.from)
	}
}

func inheritOne[T any](to **T, from *T) {
	if *to == nil {
		*to = from
	}
}

// inheritKept takes what the parent keeps of elements that the file does not have.
func (x *description) inheritKept(from *description) {
	for _, k := range from.kept {
		if !slices.ContainsFunc(x.kept, func(own Kept) bool { return own.Element == k.Element }) {
			x.kept = append(x.kept, k)
		}
	}
}

// take adds the members of a parent or interface. The same member by two ways is one. Of two
// members of one name the later counts, in the place of the earlier, as in the original; it is
// noted unless the file declares the name itself.
func (l *loader) take(x, from *description) {
	l.takeComponents(x, from.components)
	x.temp = union(x.temp, from.temp)
	x.properties = join(x.properties, from.properties, propertyKey, func(first, second *Property) {
		if !declares(x.own.properties, propertyKey, second.Name) {
			l.conflict(x, "Properties/"+second.Name, first.where, second.where)
		}
	})
	for i, m := range []struct {
		into    *[]*Method
		from    []*Method
		section string
	}{{&x.cell, from.cell, "CellMethods"}, {&x.base, from.base, "BaseMethods"}, {&x.client, from.client, "ClientMethods"}} {
		*m.into = join(*m.into, m.from, methodKey, func(first, second *Method) {
			if !declares(x.own.methods[i], methodKey, second.Name) {
				l.conflict(x, m.section+"/"+second.Name, first.where, second.where)
			}
		})
	}
}

func declares[T any](own []T, key func(T) string, name string) bool {
	return slices.ContainsFunc(own, func(m T) bool { return key(m) == name })
}

func (l *loader) conflict(x *description, path string, first, second position) {
	l.notice(x.position, path, fmt.Sprintf("inherited both from %v and from %v; the second counts", first, second),
		"rename one of the two, or declare it here")
}

func propertyKey(p *Property) string { return p.Name }
func methodKey(m *Method) string     { return m.Name }

// join appends to into what it does not have, and puts another member in place of one of its name,
// which it reports. Neither list is changed.
func join[T comparable](into, from []T, key func(T) string, conflict func(first, second T)) []T {
	if len(from) == 0 {
		return into
	}
	if len(into) == 0 {
		return slices.Clip(from)
	}
	at := make(map[string]int, len(into))
	for i, e := range into {
		at[key(e)] = i
	}
	into = append(make([]T, 0, len(into)+len(from)), into...)
	for _, e := range from {
		i, ok := at[key(e)]
		switch {
		case !ok:
			into = append(into, e)
		case into[i] != e:
			conflict(into[i], e)
			into[i] = e
		}
	}
	return into
}

// override puts own members in place of inherited ones of their name, or at the end. A name
// declared twice stays twice: the check of the type reports it.
func override[T any](inherited, own []T, key func(T) string) []T {
	if len(inherited) == 0 {
		return own
	}
	list := append(make([]T, 0, len(inherited)+len(own)), inherited...)
	if len(own) == 0 {
		return list
	}
	at := make(map[string]int, len(inherited))
	for i, e := range inherited {
		at[key(e)] = i
	}
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

// joinLevels adds detail levels to inherited ones, in place of those of their label, and orders
// them from near to far. A type adds rings to its parent's so, and a file lists them in any order:
// the original does both. A label that a file gives twice stays twice, for the check of the type to
// report.
func joinLevels(inherited, more []DetailLevel) []DetailLevel {
	if len(more) == 0 {
		return inherited
	}
	list := slices.Clone(override(inherited, more, func(l DetailLevel) string { return l.Label }))
	slices.SortStableFunc(list, func(a, b DetailLevel) int { return cmp.Compare(a.Radius, b.Radius) })
	return list
}

// union appends to names what it does not have.
func union(names, more []string) []string {
	if len(more) == 0 {
		return names
	}
	have := make(map[string]bool, len(names)+len(more))
	for _, n := range names {
		have[n] = true
	}
	names = slices.Clip(names)
	for _, n := range more {
		if !have[n] {
			have[n], names = true, append(names, n)
		}
	}
	return names
}

// fill copies what a file describes into the type that the list names.
func (x *description) fill(d *Definition) {
	d.where, d.parents = x.position, x.parents
	d.Properties, d.CellMethods, d.BaseMethods, d.ClientMethods = x.properties, x.cell, x.base, x.client
	d.Components, d.Levels, d.TempProperties, d.Kept = x.components, x.levels, x.temp, x.kept
	state(&d.Volatile, x.volatile)
	state(&d.AppealRadius, x.appeal)
	state(&d.UpdateScheme, x.scheme)
	state(&d.ClientName, x.clientName)
	state(&d.Compression, x.compression)
	state(&d.Persistent, x.persistent)
	d.statesPersistent = x.persistent != nil
	state(&d.ExplicitDatabaseID, x.explicitID)
	state(&d.DetailedVolatile, x.detailed)
	state(&d.ManualAoI, x.manual)
	state(&d.HasCell, x.hasCell)
	state(&d.HasBase, x.hasBase)
	state(&d.HasClient, x.hasClient)
}

// state sets what the file states.
func state[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}
