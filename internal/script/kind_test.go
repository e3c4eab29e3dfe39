package script

import (
	"reflect"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
)

// purse is what scripts of several types have in common, as a class that others inherit.
type purse struct {
	*entity.Base
	Gold property.Int32
}

// Spend is a base method of each.
func (p *purse) Spend(n int32) { p.Gold.Set(p.Gold.Get() - n) }

type (
	bank   struct{ purse }
	shop   struct{ bank }
	robber struct{ *purse }
	both   struct {
		bank
		Other struct{ *entity.Base } `cellscape:"local"`
	}
)

// A script may have its part in a struct that it embeds, but not where it has only a pointer.
func TestPartInCommon(t *testing.T) {
	i32 := property.Scalar(property.KindInt32)
	schema, err := property.NewSchema(&property.Definition{
		Name: "Bank", HasBase: true, Properties: []*property.Property{{Name: "gold", Type: i32, Flags: property.Base}},
		BaseMethods: []*property.Method{{Name: "spend", Args: []property.Arg{{Name: "n", Type: i32}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	k := Kind{
		Name: "script", Part: reflect.TypeFor[*entity.Base](), Side: property.BaseSide, Attribute: "hasBase",
		Has:     func(d *property.Definition) bool { return d.HasBase },
		Methods: func(d *property.Definition) []*property.Method { return d.BaseMethods },
	}
	for name, register := range map[string]func(*Registry, *Table){
		"once":  func(r *Registry, x *Table) { Register[bank](r, x, "Bank", nil) },
		"twice": func(r *Registry, x *Table) { Register[shop](r, x, "Bank", nil) },
		"local": func(r *Registry, x *Table) { Register[both](r, x, "Bank", nil) },
	} {
		t.Run(name, func(t *testing.T) {
			r, x := NewRegistry(schema), NewTable(&Registry{schema: schema}, k)
			if register(&r, &x); r.Err() != nil {
				t.Fatal(r.Err())
			}
			part := new(entity.Base)
			values := property.NewValues(schema.Types[0], property.BaseSide, nil)
			made := x.Of(schema.Types[0]).New(part, values)
			made.Interface().(interface{ Spend(int32) }).Spend(3)
			if values.Get(0).Int() != -3 {
				t.Errorf("gold %v, want -3", values.Get(0))
			}
			if made.Elem().FieldByName("Base").Interface() != part {
				t.Error("the part is not there")
			}
		})
	}
	r, x := NewRegistry(schema), NewTable(&Registry{schema: schema}, k)
	Register[robber](&r, &x, "Bank", nil)
	const want = "embeds *entity.Base in a *script.purse, which is nil at first; embed the struct itself"
	if r.Err() == nil || !strings.Contains(r.Err().Error(), want) {
		t.Errorf("a pointer: %v", r.Err())
	}
}
