package script_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/argument"
	"github.com/cellscape/cellscape/internal/script"
	"github.com/cellscape/cellscape/property"
)

func method(name string, exposed property.Exposure, kinds ...property.Kind) *property.Method {
	m := &property.Method{Name: name, Exposed: exposed}
	for i, k := range kinds {
		m.Args = append(m.Args, property.Arg{Name: fmt.Sprint("a", i+1), Type: property.Scalar(k)})
	}
	return m
}

// avatar is a type with a method of every argument type.
func avatar(t testing.TB) *property.Definition {
	t.Helper()
	list, err := property.NewArray(property.Scalar(property.KindInt32), 0)
	if err != nil {
		t.Fatal(err)
	}
	bag := method("fillBag", property.NotExposed)
	bag.Args = []property.Arg{{Name: "items", Type: list}}
	s, err := property.NewSchema(&property.Definition{
		Name: "Avatar", HasCell: true, HasBase: true, HasClient: true,
		CellMethods: []*property.Method{
			method("numbers", property.NotExposed, property.KindInt8, property.KindInt16, property.KindInt32, property.KindInt64,
				property.KindUint8, property.KindUint16, property.KindUint32, property.KindUint64, property.KindFloat32, property.KindFloat64),
			method("others", property.NotExposed, property.KindBool, property.KindString, property.KindUnicodeString, property.KindBlob,
				property.KindVec2, property.KindVec3, property.KindVec4, property.KindEntityID),
			bag,
			method("wear", property.ExposedOwn, property.KindUint16),
			method("wave", property.ExposedAll),
		},
		BaseMethods:   []*property.Method{method("pay", property.ExposedOwn, property.KindUint32)},
		ClientMethods: []*property.Method{method("say", property.NotExposed, property.KindString)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s.Types[0]
}

type cellScript struct{ log []string }

func (s *cellScript) note(name string, args []any) {
	s.log = append(s.log, fmt.Sprintf("%s%v", name, args))
}

func (s *cellScript) Numbers(a int8, b int16, c int32, d int64, e uint8, f uint16, g uint32, h uint64, i float32, j float64) {
	s.note("numbers", []any{a, b, c, d, e, f, g, h, i, j})
}
func (s *cellScript) Others(a bool, b, c string, d []byte, e property.Vector2, f property.Vector3, g property.Vector4, h entity.ID) {
	s.note("others", []any{a, b, c, d, e, f, g, h})
}
func (s *cellScript) FillBag(items property.Value) {
	s.note("fillBag", []any{items})
}
func (s *cellScript) Wear(caller entity.ID, item uint16) { s.note("wear", []any{caller, item}) }
func (s *cellScript) Wave(caller entity.ID)              { s.note("wave", []any{caller}) }

// direct is a Caller that calls a script at once.
type direct struct {
	methods *script.Methods
	script  *cellScript
	source  entity.ID
}

func (d direct) CallMethod(q entity.Request) error {
	index, args := q.Method, q.Args
	_, err := d.methods.Call(new(script.Parameters), reflect.ValueOf(d.script), index, d.source, args)
	return err
}

func TestCallEveryType(t *testing.T) {
	def := avatar(t)
	avatar := &cellScript{}
	methods, err := script.BindMethods(reflect.TypeFor[*cellScript](), def.CellMethods, true)
	if err != nil {
		t.Fatal(err)
	}
	box := entity.Mailbox{ID: 5, Kind: entity.CellMailbox, Def: def, Via: direct{methods, avatar, 1<<32 | 9}}
	calls := []struct {
		name string
		args []any
		want string
	}{
		{"numbers", []any{int8(-1), int16(-2), int32(-3), int64(-4), uint8(5), uint16(6), uint32(7), uint64(1 << 63), float32(0.5), 0.25},
			"numbers[-1 -2 -3 -4 5 6 7 9223372036854775808 0.5 0.25]"},
		{"numbers", []any{1, 2, 3, 4, 5, 6, 7, 8, 9.0, float32(10)}, "numbers[1 2 3 4 5 6 7 8 9 10]"},
		{"others", []any{true, "raw", "ünï", []byte{1, 2}, property.Vector2{X: 1, Y: 2}, property.Vector3{X: 1, Y: 2, Z: 3},
			property.Vector4{X: 1, Y: 2, Z: 3, W: 4}, entity.ID(7)}, "others[true raw ünï [1 2] {1 2} {1 2 3} {1 2 3 4} 0.7]"},
		{"fillBag", []any{property.List(property.Int(1), property.Int(-2))}, "fillBag[[1 -2]]"},
		{"wear", []any{uint16(3)}, "wear[1.9 3]"},
		{"wave", nil, "wave[1.9]"},
	}
	for _, c := range calls {
		if err := box.Call(c.name, c.args...); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if d := cmp.Diff([]string{c.want}, avatar.log); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
		avatar.log = nil
	}
}

// call is the error of a call.
func call(_ script.Results, err error) error { return err }

func TestCallFaults(t *testing.T) {
	def := avatar(t)
	avatar := &cellScript{}
	methods, err := script.BindMethods(reflect.TypeFor[*cellScript](), def.CellMethods, true)
	if err != nil {
		t.Fatal(err)
	}
	box := entity.Mailbox{ID: 5, Kind: entity.CellMailbox, Def: def, Via: direct{methods, avatar, 0}}
	for name, tt := range map[string]struct {
		got  error
		want error
	}{
		"unknown method":    {box.Call("fly"), entity.ErrNoMethod},
		"of another side":   {box.Call("pay", uint32(1)), entity.ErrNoMethod},
		"too few":           {box.Call("wear"), entity.ErrArguments},
		"out of range":      {box.Call("wear", 70000), entity.ErrArguments},
		"wrong type":        {box.Call("wear", "hat"), entity.ErrArguments},
		"no property value": {box.Call("wear", struct{}{}), entity.ErrArguments},
		"index too high":    {call(methods.Call(new(script.Parameters), reflect.ValueOf(avatar), 5, 0, nil)), entity.ErrNoMethod},
		"index negative":    {call(methods.Call(new(script.Parameters), reflect.ValueOf(avatar), -1, 0, nil)), entity.ErrNoMethod},
		"bytes missing":     {call(methods.Call(new(script.Parameters), reflect.ValueOf(avatar), 3, 0, []byte{1})), entity.ErrArguments},
		"bytes left over":   {call(methods.Call(new(script.Parameters), reflect.ValueOf(avatar), 3, 0, []byte{1, 2, 3})), entity.ErrArguments},
	} {
		if !errors.Is(tt.got, tt.want) {
			t.Errorf("%s: %v, want %v", name, tt.got, tt.want)
		}
	}
	if len(avatar.log) != 0 {
		t.Errorf("the script was called: %v", avatar.log)
	}
	base, client := box, box
	base.Kind, client.Kind = entity.BaseMailbox, entity.ClientMailbox
	if err := base.Call("wear", 1); !errors.Is(err, entity.ErrNoMethod) {
		t.Errorf("a cell method at the base: %v", err)
	}
	if err := client.Call("wear", 1); !errors.Is(err, entity.ErrNoMethod) {
		t.Errorf("a cell method at the client: %v", err)
	}
}

type faultyScript struct{}

func (faultyScript) Others(int)                 {}
func (faultyScript) FillBag(items []int16)      {}
func (faultyScript) Wear(item uint16, n uint16) {}
func (faultyScript) Wave(entity.ID) bool        { return true }

func TestBindNamesEveryFault(t *testing.T) {
	_, err := script.BindMethods(reflect.TypeFor[faultyScript](), avatar(t).CellMethods, true)
	if err == nil {
		t.Fatal("nothing found")
	}
	for _, want := range []string{
		"no Go method Numbers", "Others: takes 1 parameters", "FillBag: argument 1 (items)",
		"first parameter of an exposed cell method is the caller's entity.ID, not uint16", "Wave: takes 1 parameters and returns 1 values",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no fault about %q in:\n%v", want, err)
		}
	}
	// A base needs no hidden parameter: only its own client reaches it.
	if _, err := script.BindMethods(reflect.TypeFor[basePay](), avatar(t).BaseMethods, false); err != nil {
		t.Error(err)
	}
}

type basePay struct{}

func (basePay) Pay(uint32) {}

// Whatever bytes come, a call is an error or reaches the script.
func FuzzCall(f *testing.F) {
	def := avatar(f)
	methods, err := script.BindMethods(reflect.TypeFor[*cellScript](), def.CellMethods, true)
	if err != nil {
		f.Fatal(err)
	}
	for i, m := range def.CellMethods {
		f.Add(i, []byte{})
		if b, err := argument.Append(nil, m, nil); err == nil {
			f.Add(i, b)
		}
	}
	f.Add(3, []byte{1, 2})
	f.Fuzz(func(t *testing.T, index int, args []byte) {
		s := &cellScript{}
		_, err := methods.Call(new(script.Parameters), reflect.ValueOf(s), index, 1, args)
		if (err == nil) != (len(s.log) == 1) {
			t.Errorf("error %v, calls %v", err, s.log)
		}
	})
}

func BenchmarkCall(b *testing.B) {
	def := avatar(b)
	methods, err := script.BindMethods(reflect.TypeFor[*cellScript](), def.CellMethods, true)
	if err != nil {
		b.Fatal(err)
	}
	s := &cellScript{log: make([]string, 0, 1)}
	p, v := new(script.Parameters), reflect.ValueOf(s)
	b.ReportAllocs()
	for b.Loop() {
		s.log = s.log[:0]
		if _, err := methods.Call(p, v, 3, 1, []byte{1, 2}); err != nil {
			b.Fatal(err)
		}
	}
}
