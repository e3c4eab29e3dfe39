package property

import (
	"iter"
	"slices"
)

// Part is a change of a part of a property, as clients read it.
type Part struct {
	Number EventNumber
	// Client is the change as [Values.AppendClientChange] wrote it. Do not change it.
	Client []byte

	index  int
	before EventNumber // stamp of the property before the change
}

// partLog is the last changes of parts of properties, ascending. The changes of one property in it
// follow each other without a gap: a change of the whole, and the limit, drop all that is older.
// The log only saves bytes. A watcher whose row is not there is owed the whole property, so the log
// need not travel.
type partLog struct {
	list  []Part
	bytes int
}

func (l *partLog) add(n, before EventNumber, v *Values, c *Change) {
	if p := v.def.Properties[c.Index]; !c.Nested() || p.SendLatestOnly || p.Unreliable || p.ClientIndex < 0 {
		l.forget(c.Index)
		return
	}
	p := Part{Number: n, Client: v.AppendClientChange(nil, c), index: c.Index, before: before}
	l.list, l.bytes = append(l.list, p), l.bytes+len(p.Client)
	over := 0
	for bytes := l.bytes; len(l.list)-over > MaxParts || bytes > MaxPartBytes; over++ {
		bytes -= len(l.list[over].Client)
	}
	l.drop(over)
}

// forget drops the row of a property.
func (l *partLog) forget(index int) {
	if len(l.list) == 0 {
		return
	}
	l.list = slices.DeleteFunc(l.list, func(p Part) bool {
		if p.index == index {
			l.bytes -= len(p.Client)
		}
		return p.index == index
	})
}

func (l *partLog) trim(n EventNumber) {
	i := 0
	for i < len(l.list) && l.list[i].Number <= n {
		i++
	}
	l.drop(i)
}

func (l *partLog) drop(n int) {
	for _, p := range l.list[:n] {
		l.bytes -= len(p.Client)
	}
	l.list = slices.Delete(l.list, 0, n)
}

// Parts yields the changes of parts of property i numbered above n, oldest first, if they are all
// that a watcher lacks who has the value of that time. If they are not, or if they take size bytes
// or more, ok is false, and the whole value is owed. The history must not change meanwhile.
func (h *History) Parts(i int, n EventNumber, size int) (parts iter.Seq[Part], ok bool) {
	bytes, first := 0, -1
	for k := range h.parts.list {
		p := &h.parts.list[k]
		if p.index != i || p.Number <= n {
			continue
		}
		if first < 0 {
			if first = k; p.before > n {
				return nil, false
			}
		}
		bytes += len(p.Client)
	}
	if first < 0 || bytes >= size {
		return nil, false
	}
	return func(yield func(Part) bool) {
		for _, p := range h.parts.list[first:] {
			if p.index == i && !yield(p) {
				return
			}
		}
	}, true
}
