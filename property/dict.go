package property

// Dict makes a struct of handles a FIXED_DICT: embed it, and name the fields after those of the
// dict.
//
//	type Weapon struct {
//		property.Dict
//		Damage property.Int32
//		Name   property.String
//	}
//
//	type Avatar struct {
//		*space.Real
//		Weapon Weapon                 // a property of type FIXED_DICT
//		Bag    property.Array[Weapon] // one of type ARRAY of FIXED_DICT
//	}
//
//	avatar.Weapon.Damage.Set(12) // one change, of one field
type Dict struct{ part }

// part is a property or a part of one that has parts itself.
type part struct {
	at     *Value
	values *Values
	index  int
	path   []int
	t      *DataType
}

func (p *part) bind(v *Values, index int, path []int) {
	*p = part{values: v, index: index, path: path, t: v.def.Properties[index].Type}
	if len(path) == 0 {
		p.at = &v.vals[v.def.slot(v.side, index)]
		return
	}
	for _, k := range path {
		p.t = p.t.child(k)
	}
	p.at = &v.viewAt(index, path, p.t).v
}

// bound returns the present value.
func (p *part) bound() *Value {
	if p.at == nil {
		panic(unbound)
	}
	return p.at
}

func (p *part) set(val Value) error { return p.values.SetAt(p.index, p.path, val) }

// IsNone reports whether the dict is absent.
func (d *Dict) IsNone() bool { return d.bound().kind == isNone }

// Value returns the whole dict.
func (d *Dict) Value() Value { return *d.bound() }

// SetValue replaces the whole dict. Errors are those of [Values.SetAt].
func (d *Dict) SetValue(val Value) error { d.bound(); return d.set(val) }

// Clear makes the dict absent. The error is ErrValue if its type does not allow that.
func (d *Dict) Clear() error { return d.SetValue(Value{}) }

func (d *Dict) accepts(t *DataType) bool { return t.kind == KindFixedDict }
