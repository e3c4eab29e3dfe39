package property

import (
	"cmp"
	"math"
	"slices"
)

// compile fills what is derived from the exported fields. It runs once, on the Schema's own copy.
// as is the type as which clients see this one, compiled already, or nil.
func (d *Definition) compile(as *Definition) {
	d.byName = make(map[string]*Property, len(d.Properties))
	for i, p := range d.Properties {
		p.Index, p.ClientIndex, p.FixedIndex = i, -1, -1
		d.byName[p.Name] = p
	}
	d.cell, d.base, d.client = indexed(d.CellMethods), indexed(d.BaseMethods), indexed(d.ClientMethods)
	switch {
	case !d.HasClient:
	case as == nil:
		d.numberForClients()
	default:
		d.numberAs(as)
	}
	d.numberFixed()
	d.compileStreams()
	d.compileCompression(as)
	d.compiled = true
}

func indexed(methods []*Method) map[string]*Method {
	byName := make(map[string]*Method, len(methods))
	for i, m := range methods {
		m.Index, m.ExposedIndex = i, -1
		byName[m.Name] = m
	}
	return byName
}

// numberForClients gives client-visible properties and exposed methods the numbers that clients
// know them by: those of fixed size first, the smaller the earlier, then the others, each group in
// order of declaration. Fixed ones get the low numbers, which a partial change writes in few bits.
func (d *Definition) numberForClients() {
	for _, p := range d.Properties {
		if p.ClientVisible() {
			d.clientProps = append(d.clientProps, p)
		}
	}
	sortBySize(d.clientProps, func(p *Property) int { return p.Type.WireSize() })
	for i, p := range d.clientProps {
		p.ClientIndex = i
	}
	d.exposedCell, d.exposedBase = numberExposed(d.CellMethods), numberExposed(d.BaseMethods)
}

func numberExposed(methods []*Method) (exposed []*Method) {
	for _, m := range methods {
		if m.Exposed != NotExposed {
			exposed = append(exposed, m)
		}
	}
	sortBySize(exposed, (*Method).argsSize)
	for i, m := range exposed {
		m.ExposedIndex = i
	}
	return exposed
}

// argsSize returns how many bytes the arguments of every call take, or 0 if that varies. A method
// without arguments, whose calls always take none, is -1.
func (m *Method) argsSize() int {
	if len(m.Args) == 0 {
		return -1
	}
	sum := 0
	for _, a := range m.Args {
		n := a.Type.WireSize()
		if n == 0 {
			return 0
		}
		sum += n
	}
	return sum
}

// sortBySize sorts by size, 0 meaning that it varies and so last.
func sortBySize[T any](list []*T, size func(*T) int) {
	key := func(x *T) int {
		if n := size(x); n != 0 {
			return n
		}
		return math.MaxInt
	}
	slices.SortStableFunc(list, func(a, b *T) int { return cmp.Compare(key(a), key(b)) })
}

// numberAs takes the numbers of the type as which clients see this one. The check has made sure
// that every member that clients know is there.
func (d *Definition) numberAs(as *Definition) {
	for i, q := range as.clientProps {
		p := d.byName[q.Name]
		p.ClientIndex = i
		d.clientProps = append(d.clientProps, p)
	}
	number := func(of []*Method, mine map[string]*Method) (exposed []*Method) {
		for i, n := range of {
			m := mine[n.Name]
			m.ExposedIndex = i
			exposed = append(exposed, m)
		}
		return exposed
	}
	d.exposedCell, d.exposedBase = number(as.exposedCell, d.cell), number(as.exposedBase, d.base)
}

// numberFixed numbers the properties that clients see and that have a fixed size, those of each size
// from 0. They stand side by side.
func (d *Definition) numberFixed() {
	size, n := 0, 0
	for _, p := range d.clientProps {
		if p.Type.WireSize() == 0 {
			return
		}
		if p.Type.WireSize() != size {
			size, n = p.Type.WireSize(), 0
		}
		p.FixedIndex = n
		n++
	}
}

// compileStreams lists what each stream carries and each side holds. Clients hold what has a number
// for them.
func (d *Definition) compileStreams() {
	d.levels = make([][]int, len(d.Levels)+1)
	var slots []int16
	if n := len(d.Properties); n > 0 {
		slots = make([]int16, int(sides)*n)
	}
	for s := range sides {
		d.slots[s], slots = slots[:len(d.Properties):len(d.Properties)], slots[len(d.Properties):]
	}
	for i, p := range d.Properties {
		for dom := range domains {
			if dom.takes(p) && (p.ClientIndex >= 0 || !dom.toClient()) {
				d.streams[dom] = append(d.streams[dom], i)
			}
		}
		for s := range sides {
			d.slots[s][i] = -1
			if s.has(p) {
				d.slots[s][i] = int16(len(d.held[s]))
				d.held[s] = append(d.held[s], i)
			}
		}
		if OtherClientStream.takes(p) && p.ClientIndex >= 0 {
			if p.Unreliable {
				d.lossy = append(d.lossy, i)
			} else {
				d.levels[p.Level] = append(d.levels[p.Level], i)
			}
		}
	}
}
