package model_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/property/model"
)

// load loads a tree of one type A.
func load(def []byte, o property.Options) (*property.Schema, error) {
	return property.LoadWith(fstest.MapFS{
		"entities.xml":      {Data: []byte("<root> <A/> </root>")},
		"entity_defs/A.def": {Data: def},
	}, o)
}

func Example() {
	s, err := load([]byte("<root> <Properties> <hp> <Type> UINT8 </Type> <Flags> ALL_CLIENTS </Flags> </hp> </Properties> </root>"), property.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	hp := model.Of(s).Types[0].Properties[0]
	hp.ExposedForReplay = false
	text, err := json.Marshal(hp)
	fmt.Println(string(text), err)
	// Output: {"name":"hp","index":0,"clientIndex":0,"flags":"ALL_CLIENTS","type":"UINT8","default":"0","level":0} <nil>
}

// A USER_TYPE shows what the store keeps for it.
func TestUserType(t *testing.T) {
	s, err := load([]byte(`<root> <Properties> <p> <Type> USER_TYPE <implementedBy> clock.inst </implementedBy> </Type>
		<Flags> BASE </Flags> </p> </Properties> </root>`), property.Options{Survey: true})
	if err != nil {
		t.Fatal(err)
	}
	m := model.Of(s)
	if shape := m.Types[0].Properties[0].Shape; shape.ImplementedBy != "clock.inst" || shape.StoreType.Type != "BLOB" {
		t.Errorf("%+v", shape)
	}
	if len(m.NeedCodec) != 1 || m.NeedCodec[0].Name != "clock.inst" {
		t.Errorf("%+v", m.NeedCodec)
	}
}

// Distances without limit, from Go, have a form in JSON.
func TestDistances(t *testing.T) {
	a := property.Always()
	s, err := property.NewSchema(&property.Definition{Name: "A", HasCell: true, HasClient: true,
		Volatile:      property.Volatile{Position: a, Yaw: a, Pitch: a, Roll: 3},
		ClientMethods: []*property.Method{{Name: "m", DetailDistance: a}}})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(model.Of(s).Types[0].Volatile)
	if want := `{"position":"always","yaw":"always","pitch":"always","roll":3}`; err != nil || string(text) != want {
		t.Errorf("%s, %v", text, err)
	}
	if _, err := json.Marshal(model.Of(s)); err != nil {
		t.Error(err)
	}
}

func TestNoTypes(t *testing.T) {
	s, err := property.NewSchema()
	if err != nil {
		t.Fatal(err)
	}
	if m := model.Of(s); m.Types == nil {
		t.Error("types is null in JSON")
	}
}

// Whatever loads has a model that JSON can say.
func FuzzOf(f *testing.F) {
	f.Add([]byte("<root> <Volatile> <position/> </Volatile> </root>"))
	f.Add([]byte("<root> <LoDLevels> <level> 20 <label> NEAR </label> </level> </LoDLevels> </root>"))
	f.Add([]byte("<root> <Properties> <p> <Type> ANY </Type> <Flags> BASE </Flags> <Default> 1e308 </Default> </p> </Properties> </root>"))
	f.Fuzz(func(t *testing.T, def []byte) {
		s, err := load(def, property.Options{Survey: true})
		if err != nil {
			return
		}
		if _, err := json.Marshal(model.Of(s)); err != nil {
			t.Fatal(err)
		}
	})
}
