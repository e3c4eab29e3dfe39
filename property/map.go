package property

import (
	"iter"
	"sort"
)

// Map is a property of type MAP as a field of a script's struct; see [ElementType] for what K and V
// may be. Errors are those of [Values.Splice].
type Map[K, V ElementType] struct{ part }

// Len returns the number of pairs.
func (m *Map[K, V]) Len() int { return m.bound().Len() / 2 }

// Get returns the value of a key. ok is false for a key that is not there or cannot be.
func (m *Map[K, V]) Get(k K) (x V, ok bool) {
	i, ok, err := m.key(k)
	if err != nil || !ok {
		return x, false
	}
	return fromValue[V](&m.at.list()[i+1]), true
}

// All yields the pairs by ascending key, as they are at the call, whatever changes meanwhile.
func (m *Map[K, V]) All() iter.Seq2[K, V] {
	list := m.bound().list()
	return func(yield func(K, V) bool) {
		for i := 0; i < len(list); i += 2 {
			if !yield(fromValue[K](&list[i]), fromValue[V](&list[i+1])) {
				return
			}
		}
	}
}

// Set gives a key a value.
func (m *Map[K, V]) Set(k K, x V) error {
	i, ok, err := m.key(k)
	switch {
	case err != nil:
		return err
	case ok:
		return m.values.SetAt(m.index, append(m.path[:len(m.path):len(m.path)], i+1), toValue(x))
	}
	return m.values.Splice(m.index, m.path, i, i, toValue(k), toValue(x))
}

// Delete removes a key; one that is not there is no error.
func (m *Map[K, V]) Delete(k K) error {
	i, ok, err := m.key(k)
	if err != nil || !ok {
		return err
	}
	return m.values.Splice(m.index, m.path, i, i+2)
}

// Value returns the whole map: keys and values in turn.
func (m *Map[K, V]) Value() Value { return *m.bound() }

// SetValue replaces the whole map; the pairs may come in any order.
func (m *Map[K, V]) SetValue(val Value) error { m.bound(); return m.set(val) }

// key finds where a key is or belongs.
func (m *Map[K, V]) key(k K) (i int, ok bool, err error) {
	list := m.bound().list()
	fitted, err := m.t.key.Fit(toValue(k))
	if err != nil {
		return 0, false, m.values.inProperty(m.index, err)
	}
	i, ok = m.find(list, fitted)
	return i, ok, nil
}

// find returns the position of a key's pair in list, or where it belongs.
func (m *Map[K, V]) find(list []Value, k Value) (i int, ok bool) {
	n := len(list) / 2
	p := sort.Search(n, func(p int) bool { return compareKeys(&list[2*p], &k) >= 0 })
	return 2 * p, p < n && compareKeys(&list[2*p], &k) == 0
}

func (m *Map[K, V]) accepts(t *DataType) bool {
	return t.kind == KindMap && acceptsKind[K](t.key.kind) && acceptsKind[V](t.elem.kind)
}
