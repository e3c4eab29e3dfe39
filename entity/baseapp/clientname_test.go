package baseapp

import (
	"testing"

	"github.com/cellscape/cellscape/property"
)

// asAvatar is a schema whose Avatar clients see as a Plain, which has no gold.
func asAvatar(t testing.TB) *property.Schema {
	t.Helper()
	from := testSchema(t).Type("Avatar")
	plain := &property.Definition{
		Name: "Plain", HasCell: true, HasBase: true, HasClient: true,
		Properties: []*property.Property{{Name: "health", Type: property.Scalar(property.KindInt32), Flags: property.AllClients, Default: property.Int(100)}},
	}
	seen := &property.Definition{
		Name: "Avatar", ClientName: "Plain", HasCell: true, HasBase: true, HasClient: true,
		Properties: from.Properties, CellMethods: from.CellMethods, BaseMethods: from.BaseMethods, ClientMethods: from.ClientMethods,
	}
	s, err := property.NewSchema(plain, seen)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A property of the base that clients do not know of this type changes like any other, and they are
// not told.
func TestPropertyThatTheClientTypeLacks(t *testing.T) {
	r := joinedRig(t, func(c *Config) { c.Schema = asAvatar(t) })
	r.schema = r.a.cfg.Schema
	made := r.login("ann")
	p := r.connect(1)
	p.attach(made.Token)
	p.wantHeard("[32 33]")
	v := r.script(made.ID)
	r.a.byID[made.ID].guard("test", func() { v.Gold.Set(42) })
	p.wantHeard()
	if b := r.a.byID[made.ID]; b == nil || b.failed || v.Gold.Get() != 42 {
		t.Fatalf("the base is gone: %s", r.logs.String())
	}
	if err := v.Client().Call("chat", "x"); err == nil {
		t.Error("a call was sent that the client does not know")
	}
}
