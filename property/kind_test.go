package property

import (
	"reflect"
	"slices"
	"testing"
)

// Every kind has a row, and no row lacks anything that the compiler does not ask for.
func TestKinds(t *testing.T) {
	taken := make(map[string]Kind)
	for k := KindInt8; k < endOfKinds; k++ {
		row := kindTable[k]
		if row.form == nil || row.name == "" || row.handle == "" {
			t.Errorf("kind %d has no form, name or handle", k)
			continue
		}
		for _, name := range append(slices.Clone(row.also), row.name) {
			if got, ok := kindNamed(name); !ok || got != k || taken[name] != 0 {
				t.Errorf("%s names %v, not %v alone", name, got, k)
			}
			taken[name] = k
		}
		if _, ok := row.form.(wireForm); ok == (row.width > 0) {
			t.Errorf("%v has both a width and a form on the wire, or neither", k)
		}
		if row.def.IsNone() {
			continue
		}
		testScalarRow(t, k, row)
	}
}

func testScalarRow(t *testing.T, k Kind, row kindRow) {
	typ := Scalar(k)
	if typ.holds != row.def.kind || typ.minWire == 0 {
		t.Errorf("%v holds variant %d in %d bytes", k, typ.holds, typ.minWire)
	}
	if v, err := typ.Fit(row.def); err != nil || !Equal(v, row.def) {
		t.Errorf("the default of %v does not fit it: %v", k, err)
	}
	if b := typ.AppendTo(nil, row.def); len(b) < typ.minWire || len(b) > typ.most() || len(b) != typ.sizeOf(&row.def) {
		t.Errorf("the default of %v takes %d bytes, not %d to %d", k, len(b), typ.minWire, typ.most())
	}
	if _, err := NewMap(typ, typ); (err == nil) != row.key {
		t.Errorf("%v as the key of a MAP: %v", k, err)
	}
	if row.goType == nil {
		return
	}
	if !slices.Contains(handleTypes(), row.goType) {
		t.Errorf("no handle has the Go type %v of %v: see fromValue and toValue", row.goType, k)
	}
}

// handleTypes lists the Go types that come back through toValue and fromValue.
func handleTypes() (types []reflect.Type) {
	add := func(typ reflect.Type, same bool) {
		if same {
			types = append(types, typ)
		}
	}
	add(comesBack[int8](-3))
	add(comesBack[int16](-3))
	add(comesBack[int32](-3))
	add(comesBack[int64](-3))
	add(comesBack[uint8](3))
	add(comesBack[uint16](3))
	add(comesBack[uint32](3))
	add(comesBack[uint64](3))
	add(comesBack[float32](1.5))
	add(comesBack(1.5))
	add(comesBack(true))
	add(comesBack("a"))
	add(comesBack([]byte("a")))
	add(comesBack(Vector2{1, 2}))
	add(comesBack(Vector3{1, 2, 3}))
	add(comesBack(Vector4{1, 2, 3, 4}))
	add(comesBack(Mailbox{Entity: 1}))
	return types
}

func comesBack[T ElementType](x T) (reflect.Type, bool) {
	v := toValue(x)
	return reflect.TypeFor[T](), reflect.DeepEqual(fromValue[T](&v), x)
}
