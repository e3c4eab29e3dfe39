package script_test

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/argument"
	"github.com/cellscape/cellscape/internal/script"
	"github.com/cellscape/cellscape/property"
)

func typeOf(t *property.DataType, err error) *property.DataType {
	if err != nil {
		panic(err)
	}
	return t
}

// structured is a type whose method takes arguments with parts.
func structured(t testing.TB) *property.Definition {
	t.Helper()
	list := typeOf(property.NewArray(property.Scalar(property.KindInt32), 0))
	m := &property.Method{Name: "take", Args: []property.Arg{
		{Name: "list", Type: list},
		{Name: "lists", Type: typeOf(property.NewTuple(list, 0))},
		{Name: "ranks", Type: typeOf(property.NewMap(property.Scalar(property.KindString), property.Scalar(property.KindUint8)))},
		{Name: "free", Type: property.Scalar(property.KindAny)},
		{Name: "who", Type: property.Scalar(property.KindMailbox)},
	}}
	s, err := property.NewSchema(&property.Definition{Name: "A", HasCell: true, HasBase: true, CellMethods: []*property.Method{m}})
	if err != nil {
		t.Fatal(err)
	}
	return s.Types[0]
}

type taker struct{ got string }

func (s *taker) Take(list []int32, lists [][]int32, ranks map[string]uint8, free any, who property.Mailbox) {
	s.got = fmt.Sprintln(list, lists, ranks, free, who.Entity, entity.MailboxKind(who.Kind))
}

type asValues struct{ got string }

func (s *asValues) Take(list property.Value, lists []property.Value, ranks map[string]property.Value, free, who property.Value) {
	s.got = fmt.Sprint(list, lists, ranks, free, entity.MailboxKind(who.Mailbox().Kind))
}

type notTaker struct{}

// spreadTaker has a variadic method for one that takes a list.
type spreadTaker struct{}

func (spreadTaker) Take(lists ...int32) {}

// A variadic method would be called with the list as one element of it.
func TestBindRefusesVariadicMethods(t *testing.T) {
	list, err := property.NewArray(property.Scalar(property.KindInt32), 0)
	if err != nil {
		t.Fatal(err)
	}
	d := []*property.Method{{Name: "take", Args: []property.Arg{{Type: list}}}}
	if _, err := script.BindMethods(reflect.TypeFor[spreadTaker](), d, false); err == nil || !strings.Contains(err.Error(), "Take: it is variadic") {
		t.Errorf("%v", err)
	}
}

func (notTaker) Take(list []int16, lists []int32, ranks map[string]int8, free string, who entity.Mailbox) {
}

// Lists, maps, free values and mailboxes go as the Go types that a programmer has at hand, and
// arrive as those.
func TestStructuredArguments(t *testing.T) {
	d := structured(t)
	base := entity.NewBase(nil, 9, property.NewValues(d, property.BaseSide, nil), nil)
	for _, c := range []struct {
		args []any
		want string
	}{
		{[]any{[]int{1, -2}, [][]int32{{3}, nil}, map[string]uint8{"b": 2, "a": 1}, map[string]any{"x": 1}, base},
			"[1 -2] [[3] []] map[a:1 b:2] map[x:1] 9 base"},
		{[]any{[]int32(nil), [][]int32{}, map[string]int{}, nil, entity.Mailbox{ID: 7, Kind: entity.CellMailbox, Def: d}},
			"[] [] map[] <nil> 7 cell"},
		{[]any{property.List(property.Int(5)), []property.Value{property.List()}, property.List(property.StringValue("k"), property.Uint(3)), "text",
			property.Mailbox{Entity: 8, Kind: uint8(entity.CellViaBase)}}, "[5] [[]] map[k:3] text 8 cell via base"},
		{[]any{[]int{}, [][]int{}, map[string]int{}, 1.5, entity.Mailbox{}}, "[] [] map[] 1.5 0 no mailbox"},
		{[]any{[]uint{1}, [][]int{}, map[string]uint{"a": 2}, uint(3), entity.Mailbox{}}, "[1] [] map[a:2] 3 0 no mailbox"},
	} {
		b, err := argument.Append(nil, d.CellMethods[0], c.args)
		if err != nil {
			t.Errorf("%v: %v", c.args, err)
			continue
		}
		s := &taker{}
		methods, err := script.BindMethods(reflect.TypeOf(s), d.CellMethods, true)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := methods.Call(new(script.Parameters), reflect.ValueOf(s), 0, 0, b); err != nil || strings.TrimSpace(s.got) != c.want {
			t.Errorf("%v arrived as %s, %v; want %s", c.args, s.got, err, c.want)
		}
	}
}

func TestStructuredArgumentsAsValues(t *testing.T) {
	d, s := structured(t), &asValues{}
	methods, err := script.BindMethods(reflect.TypeOf(s), d.CellMethods, true)
	if err != nil {
		t.Fatal(err)
	}
	b, err := argument.Append(nil, d.CellMethods[0], []any{[]int{1}, [][]int{{2}}, map[string]int{"a": 3}, true, entity.Mailbox{ID: 7, Kind: entity.ClientMailbox, Def: d}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := methods.Call(new(script.Parameters), reflect.ValueOf(s), 0, 0, b); err != nil || s.got != "[1] [[2]] map[a:3] true client" {
		t.Errorf("%s, %v", s.got, err)
	}
}

func TestStructuredArgumentsRefused(t *testing.T) {
	d := structured(t)
	good := []any{[]int{1}, [][]int{}, map[string]int{}, nil, entity.Mailbox{}}
	for _, c := range []struct {
		at   int
		arg  any
		want string
	}{
		{0, 7, "argument 1 (list): a int is not a list"},
		{0, []string{"x"}, "argument list: "},
		{1, []int{1}, "argument 2 (lists): element 0: a int is not a list"},
		{1, [][]any{{struct{}{}}}, "argument 2 (lists): element 0: element 0: a struct {} is not a property value"},
		{2, []int{1}, "argument 3 (ranks): a []int is not a map"},
		{2, map[string]int{"a": 256}, "argument 3 (ranks): "},
		{2, map[int]int{1: 1}, "argument 3 (ranks): "},
		{2, map[string]any{"a": nil}, "value of key a: a <nil> is not a property value"},
		{2, map[float64]int{math.NaN(): 1}, "argument 3 (ranks): "},
		{3, struct{}{}, "argument 4 (free): "},
		{4, 7, "argument 5 (who): a int is not a mailbox"},
		{4, nil, "argument 5 (who): a <nil> is not a mailbox"},
	} {
		args := append([]any(nil), good...)
		args[c.at] = c.arg
		if _, err := argument.Append(nil, d.CellMethods[0], args); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.arg, err, c.want)
		}
	}
	_, err := script.BindMethods(reflect.TypeFor[notTaker](), d.CellMethods, true)
	for _, want := range []string{
		"argument 1 (list): the definition says ARRAY<INT32>, which is []int32 in Go, not []int16",
		"argument 2 (lists): the definition says TUPLE<ARRAY<INT32>>, which is [][]int32 in Go, not []int32",
		"argument 3 (ranks): the definition says MAP<STRING UINT8>, which is map[string]uint8 in Go, not map[string]int8",
		"argument 4 (free): the definition says ANY, which is interface {} in Go, not string",
		"argument 5 (who): the definition says MAILBOX, which is property.Mailbox in Go, not entity.Mailbox",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no fault says %q in %v", want, err)
		}
	}
}
