package property

import (
	"iter"
	"reflect"
)

// Slice is a property of type ARRAY or TUPLE as a field of a script's struct; see [ElementType] for
// what T may be. Of FIXED_DICTs it is an [Array]. A TUPLE changes only by Set. Errors are those of
// [Values.Splice].
type Slice[T ElementType] struct{ part }

// Len returns the number of elements.
func (l *Slice[T]) Len() int { return l.bound().Len() }

// At returns element i, 0 ≤ i < Len.
func (l *Slice[T]) At(i int) T { return fromValue[T](&l.bound().list()[i]) }

// All yields the elements as they are at the call, whatever changes meanwhile.
func (l *Slice[T]) All() iter.Seq2[int, T] {
	list := l.bound().list()
	return func(yield func(int, T) bool) {
		for i := range list {
			if !yield(i, fromValue[T](&list[i])) {
				return
			}
		}
	}
}

// Values returns a copy of the elements.
func (l *Slice[T]) Values() []T {
	list := make([]T, 0, l.Len())
	for _, x := range l.All() {
		list = append(list, x)
	}
	return list
}

// Set replaces all elements.
func (l *Slice[T]) Set(list []T) error { l.bound(); return l.set(List(toValues(list)...)) }

// SetAt replaces element i.
func (l *Slice[T]) SetAt(i int, x T) error {
	l.bound()
	return l.values.SetAt(l.index, append(l.path[:len(l.path):len(l.path)], i), toValue(x))
}

// Append adds elements at the end.
func (l *Slice[T]) Append(x ...T) error { return l.splice(l.Len(), l.Len(), x) }

// Insert adds elements before element i, 0 ≤ i ≤ Len.
func (l *Slice[T]) Insert(i int, x ...T) error { return l.splice(i, i, x) }

// Delete removes elements i to j, j not included.
func (l *Slice[T]) Delete(i, j int) error { return l.splice(i, j, nil) }

func (l *Slice[T]) splice(i, j int, x []T) error {
	l.bound()
	return l.values.Splice(l.index, l.path, i, j, toValues(x)...)
}

func (l *Slice[T]) accepts(t *DataType) bool {
	return (t.kind == KindArray || t.kind == KindTuple) && acceptsKind[T](t.elem.kind)
}

func toValues[T ElementType](x []T) []Value {
	list := make([]Value, len(x))
	for i := range x {
		list[i] = toValue(x[i])
	}
	return list
}

// Array is a property of type ARRAY of FIXED_DICT as a field of a script's struct. S is a struct of
// handles that embeds [Dict]. Errors are those of [Values.Splice].
type Array[S any] struct {
	part
	state *arrayState[S]
}

// arrayState is shared by the copies of an Array.
type arrayState[S any] struct{ elems []*S }

// Len returns the number of elements.
func (a *Array[S]) Len() int { return a.bound().Len() }

// At returns handles of element i, 0 ≤ i < Len. They mean the place: after a Delete before it they
// show another element. They are made once for each place; from then on At allocates nothing.
func (a *Array[S]) At(i int) *S {
	_ = a.bound().list()[i]
	for len(a.state.elems) <= i {
		a.state.elems = append(a.state.elems, nil)
	}
	if a.state.elems[i] == nil {
		s := new(S)
		bindDict(reflect.ValueOf(s).Elem(), a.values, a.index, append(a.path[:len(a.path):len(a.path)], i), a.t.elem)
		a.state.elems[i] = s
	}
	return a.state.elems[i]
}

// All yields handles of all elements, as many as there are when it comes to them. A loop that
// deletes the element it is at leaves out the next one: go from the end, or over the elements of
// Value, which stay as they were.
func (a *Array[S]) All() iter.Seq2[int, *S] {
	return func(yield func(int, *S) bool) {
		for i := 0; i < a.Len() && yield(i, a.At(i)); i++ {
		}
	}
}

// Value returns the whole array.
func (a *Array[S]) Value() Value { return *a.bound() }

// SetValue replaces all elements.
func (a *Array[S]) SetValue(val Value) error { a.bound(); return a.set(val) }

// Append adds elements at the end: each a [List] of the dict's fields in their order.
func (a *Array[S]) Append(elements ...Value) error { return a.Insert(a.Len(), elements...) }

// Insert adds elements before element i, 0 ≤ i ≤ Len.
func (a *Array[S]) Insert(i int, elements ...Value) error {
	a.bound()
	return a.values.Splice(a.index, a.path, i, i, elements...)
}

// Delete removes elements i to j, j not included.
func (a *Array[S]) Delete(i, j int) error {
	a.bound()
	return a.values.Splice(a.index, a.path, i, j)
}

func (a *Array[S]) bind(v *Values, index int, path []int) {
	a.part.bind(v, index, path)
	a.state = new(arrayState[S])
}

func (a *Array[S]) accepts(t *DataType) bool {
	return t.kind == KindArray && t.elem.kind == KindFixedDict
}

// element is the type that CheckFields looks into.
func (a *Array[S]) element() reflect.Type { return reflect.TypeFor[S]() }
