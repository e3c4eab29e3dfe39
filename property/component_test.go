package property

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const componentTree = `-- scripts/entities.xml --
<root> <Farmer/> <Miller/> </root>
-- scripts/component_defs/Barn.def --
<root>
	<Properties>
		<seeds> <Type> INT32 </Type> <Flags> ALL_CLIENTS </Flags> <Default> 3 </Default> <Persistent> true </Persistent> <Indexed> true </Indexed> </seeds>
		<rats> <Type> INT8 </Type> <Flags> BASE </Flags> </rats>
	</Properties>
	<CellMethods> <open> <Exposed/> </open> </CellMethods>
	<ClientMethods> <creak/> </ClientMethods>
</root>
-- scripts/entity_defs/interfaces/Stores.def --
<root> <Components> <barn> <Type> Barn </Type> </barn> </Components> </root>
-- scripts/entity_defs/interfaces/Keeps.def --
<root> <Components> <barn> <Type> Barn </Type> </barn> </Components> </root>
-- scripts/entity_defs/Farmer.def --
<root>
	<Implements> <Interface> Stores </Interface> <Interface> Keeps </Interface> </Implements>
	<Components> <shed> <Type> Barn </Type> <Persistent> false </Persistent> </shed> </Components>
	<Properties> <hat> <Type> INT8 </Type> <Flags> ALL_CLIENTS </Flags> </hat> </Properties>
</root>
-- scripts/entity_defs/Miller.def --
<root> <Parent> Farmer </Parent> <Components> <barn> <Type> Barn </Type> <Persistent> false </Persistent> </barn> </Components> </root>
`

// A component's members are the type's, under its name; one that comes by two interfaces is one;
// they stream as others do.
func TestComponents(t *testing.T) {
	s := mustLoad(t, componentTree)
	var got []string
	for _, d := range s.Types {
		for _, p := range d.Properties {
			got = append(got, fmt.Sprintf("%s %s of %q persistent=%v indexed=%v client=%d", d.Name, p.Name, p.Component, p.Persistent, p.Indexed, p.ClientIndex))
		}
		for _, m := range append(d.CellMethods, d.ClientMethods...) {
			got = append(got, fmt.Sprintf("%s %s of %q exposed=%d", d.Name, m.Name, m.Component, m.ExposedIndex))
		}
		got = append(got, fmt.Sprint(d.Components))
	}
	want := []string{
		`Farmer barn.seeds of "barn" persistent=true indexed=true client=1`, `Farmer barn.rats of "barn" persistent=false indexed=false client=-1`,
		`Farmer hat of "" persistent=false indexed=false client=0`,
		`Farmer shed.seeds of "shed" persistent=false indexed=false client=2`, `Farmer shed.rats of "shed" persistent=false indexed=false client=-1`,
		`Farmer barn.open of "barn" exposed=0`, `Farmer shed.open of "shed" exposed=1`, `Farmer barn.creak of "barn" exposed=-1`, `Farmer shed.creak of "shed" exposed=-1`,
		"[{barn Barn} {shed Barn}]",
		`Miller barn.seeds of "barn" persistent=false indexed=false client=1`, `Miller barn.rats of "barn" persistent=false indexed=false client=-1`,
		`Miller hat of "" persistent=false indexed=false client=0`,
		`Miller shed.seeds of "shed" persistent=false indexed=false client=2`, `Miller shed.rats of "shed" persistent=false indexed=false client=-1`,
		`Miller barn.open of "barn" exposed=0`, `Miller shed.open of "shed" exposed=1`, `Miller barn.creak of "barn" exposed=-1`, `Miller shed.creak of "shed" exposed=-1`,
		"[{barn Barn} {shed Barn}]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	farmer := s.Type("Farmer")
	cell, client := NewValues(farmer, CellSide, nil), NewValues(farmer, OtherClientSide, nil)
	i := farmer.Property("shed.seeds").Index
	if err := cell.Set(i, Int(70000)); err != nil {
		t.Fatal(err)
	}
	if _, err := client.ReadStream(cell.AppendStream(nil, OtherClientStream), OtherClientStream); err != nil || client.Get(i).Int() != 70000 {
		t.Errorf("the client has %v (%v)", client.Get(i), err)
	}
}
