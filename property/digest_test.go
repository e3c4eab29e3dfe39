package property

import (
	"reflect"
	"slices"
	"testing"
)

// digestTypes is a type with every field set, a type that clients see as it, and a service.
func digestTypes() []*Definition {
	item := must(NewFixedDict(false, DictField{Name: "kind", Type: Scalar(KindUint8), DatabaseLength: 3}, DictField{Name: "tag", Type: Scalar(KindString)}))
	d := &Definition{
		Name: "A", HasCell: true, HasBase: true, HasClient: true, Persistent: true, AppealRadius: 2, Volatile: Volatile{9, 8, 7, 6},
		Levels:         []DetailLevel{{"NEAR", 20, 4}, {"FAR", 90, 5}},
		TempProperties: []string{"timer"}, Components: []Component{{"bag", "Bag"}}, Compression: Compression{"ZIP_1", "ZIP_6"},
		Properties: []*Property{
			{Name: "hp", Type: Scalar(KindInt16), Flags: AllClients, Detail: "NEAR", Persistent: true, WarnBytes: 255},
			{Name: "bag.items", Component: "bag", Type: must(NewArray(item, 0)), Flags: OwnClient},
			{Name: "plan", Type: Scalar(KindInt8)},
		},
		CellMethods:   []*Method{{Name: "hit", Exposed: ExposedAll, Args: []Arg{{"x", Scalar(KindInt8)}}}, {Name: "think", Args: []Arg{{"x", Scalar(KindInt8)}}}},
		BaseMethods:   []*Method{{Name: "pay", Args: []Arg{{"x", Scalar(KindInt8)}}, Returns: []Arg{{"y", Scalar(KindInt8)}}}, {Name: "buy", Exposed: ExposedOwn}},
		ClientMethods: []*Method{{Name: "bang", DetailDistance: 5}},
	}
	return []*Definition{d, {Name: "B", HasCell: true}, {Name: "S", Service: true, HasBase: true, BaseMethods: []*Method{{Name: "look"}}}}
}

// Every field of a definition, what an edit of it is, and which digests it must change. A
// server-only edit must not lock clients out; an edit that servers feel must show between servers;
// what only tools see must show to nobody.
func TestDigestOfEveryField(t *testing.T) {
	type edit struct {
		field          string // type.field, so that none can be forgotten
		server, client bool
		do             func(d []*Definition)
	}
	a := func(do func(d *Definition)) func([]*Definition) { return func(all []*Definition) { do(all[0]) } }
	p := func(i int, do func(p *Property)) func([]*Definition) {
		return func(all []*Definition) { do(all[0].Properties[i]) }
	}
	items := func(fields ...DictField) func([]*Definition) {
		return p(1, func(p *Property) { p.Type = must(NewArray(must(NewFixedDict(false, fields...)), 0)) })
	}
	kind, tag := DictField{Name: "kind", Type: Scalar(KindUint8), DatabaseLength: 3}, DictField{Name: "tag", Type: Scalar(KindString)}
	changed := func(f DictField, do func(*DictField)) DictField { do(&f); return f }
	edits := []edit{
		{"Definition.Name", true, true, a(func(d *Definition) { d.Name = "C" })},
		{"Definition.ID", false, false, a(func(d *Definition) { d.ID = 77 })}, // assigned
		{"Definition.ID", true, false, func(d []*Definition) { d[0], d[1] = d[1], d[0] }},
		{"Definition.ClientID", false, false, a(func(d *Definition) { d.ClientID = 77 })},
		{"Definition.ClientName", true, false, func(d []*Definition) { d[1].ClientName = "C" }},
		{"Definition.Properties", true, false, a(func(d *Definition) { d.Properties = d.Properties[:2] })},
		{"Definition.Properties", true, true, a(func(d *Definition) { d.Properties = d.Properties[1:] })},
		{"Definition.CellMethods", true, false, a(func(d *Definition) { d.CellMethods = d.CellMethods[:1] })},
		{"Definition.CellMethods", true, true, a(func(d *Definition) { d.CellMethods = d.CellMethods[1:] })},
		{"Definition.BaseMethods", true, false, a(func(d *Definition) { d.BaseMethods = d.BaseMethods[1:] })},
		{"Definition.BaseMethods", true, false, func(d []*Definition) { d[2].BaseMethods = nil }},
		{"Definition.ClientMethods", true, true, a(func(d *Definition) { d.ClientMethods = nil })},
		{"Definition.Components", true, false, a(func(d *Definition) { d.Components[0].Type = "Sack" })},
		{"Definition.Levels", true, false, a(func(d *Definition) { d.Levels[0].Radius = 21 })},
		{"Definition.Levels", true, false, a(func(d *Definition) { d.Levels[1].Hysteresis = 6 })},
		{"Definition.Levels", true, false, a(func(d *Definition) { d.Levels = d.Levels[:1] })},
		{"Definition.Volatile", true, false, a(func(d *Definition) { d.Volatile.Position = Always() })},
		{"Definition.Volatile", true, false, a(func(d *Definition) { d.Volatile.Roll = 0 })},
		{"Definition.AppealRadius", true, false, a(func(d *Definition) { d.AppealRadius = 0 })},
		{"Definition.UpdateScheme", true, false, a(func(d *Definition) { d.UpdateScheme = UpdateScheme{1, 9, 50} })},
		{"Definition.HasCell", true, false, func(d []*Definition) { d[1].HasCell, d[1].HasBase = false, true }},
		{"Definition.HasBase", true, false, func(d []*Definition) { d[1].HasBase = true }},
		{"Definition.HasClient", true, true, func(d []*Definition) { d[1].HasClient = true }},
		{"Definition.Persistent", true, false, a(func(d *Definition) { d.Persistent = false })},
		{"Definition.ExplicitDatabaseID", true, false, a(func(d *Definition) { d.ExplicitDatabaseID = true })},
		{"Definition.DetailedVolatile", true, false, a(func(d *Definition) { d.DetailedVolatile = true })},
		{"Definition.ManualAoI", true, false, a(func(d *Definition) { d.ManualAoI = true })},
		{"Definition.Service", true, false, func(d []*Definition) { d[1].Service, d[1].HasCell, d[1].HasBase = true, false, true }},
		{"Definition.TempProperties", true, false, a(func(d *Definition) { d.TempProperties = nil })},
		{"Definition.Compression", true, true, a(func(d *Definition) { d.Compression.External = "" })},
		{"Definition.Compression", true, false, a(func(d *Definition) { d.Compression.External = "ZIP_9" })},
		{"Definition.Compression", true, false, a(func(d *Definition) { d.Compression.Internal = "NONE" })},
		{"Definition.Dialect", false, false, a(func(d *Definition) { d.Dialect = DialectKBEngine })},
		{"Definition.Kept", false, false, a(func(d *Definition) { d.Kept = []Kept{{"x", "y"}} })},

		{"Property.Index", false, false, p(0, func(p *Property) { p.Index = 5 })},
		{"Property.Index", true, false, a(func(d *Definition) { d.Properties[1], d.Properties[2] = d.Properties[2], d.Properties[1] })},
		{"Property.ClientIndex", false, false, p(0, func(p *Property) { p.ClientIndex = 5 })},
		{"Property.FixedIndex", false, false, p(0, func(p *Property) { p.FixedIndex = 5 })},
		{"Property.Name", true, true, p(0, func(p *Property) { p.Name = "health" })},
		{"Property.Name", true, false, p(2, func(p *Property) { p.Name = "scheme" })},
		{"Property.Component", true, true, p(1, func(p *Property) { p.Component, p.Name = "", "items" })},
		{"Property.Type", true, true, p(0, func(p *Property) { p.Type = Scalar(KindInt32) })},
		{"Property.Type", true, false, p(2, func(p *Property) { p.Type = Scalar(KindInt32) })},
		{"Property.Flags", true, true, p(0, func(p *Property) { p.Flags = OtherClients })},
		{"Property.Flags", true, false, p(2, func(p *Property) { p.Flags = CellPublic })},
		{"Property.Default", true, false, p(0, func(p *Property) { p.Default = Int(4) })},
		{"Property.Detail", true, false, p(0, func(p *Property) { p.Detail = "FAR" })},
		{"Property.Level", false, false, p(0, func(p *Property) { p.Level = 2 })},
		{"Property.Persistent", true, false, p(0, func(p *Property) { p.Persistent = false })},
		{"Property.Identifier", true, false, p(0, func(p *Property) { p.Identifier = true })},
		{"Property.Indexed", true, false, p(0, func(p *Property) { p.Indexed = true })},
		{"Property.Unique", true, false, p(0, func(p *Property) { p.Unique = true })},
		{"Property.DatabaseLength", true, false, p(0, func(p *Property) { p.DatabaseLength = 4 })},
		{"Property.SendLatestOnly", true, false, p(0, func(p *Property) { p.SendLatestOnly = true })},
		{"Property.Unreliable", true, false, p(0, func(p *Property) { p.Unreliable = true })},
		{"Property.ExposedForReplay", true, false, p(2, func(p *Property) { p.ExposedForReplay = true })},
		{"Property.WarnBytes", true, false, p(0, func(p *Property) { p.WarnBytes = 0 })},
		{"Property.Editable", false, false, p(0, func(p *Property) { p.Editable = true })},
		{"Property.Kept", false, false, p(0, func(p *Property) { p.Kept = []Kept{{"x", "y"}} })},

		{"DictField.Name", true, true, items(changed(kind, func(f *DictField) { f.Name = "sort" }), tag)},
		{"DictField.Type", true, true, items(changed(kind, func(f *DictField) { f.Type = Scalar(KindUint16) }), tag)},
		{"DictField.Default", true, false, items(changed(kind, func(f *DictField) { f.Default = Uint(2) }), tag)},
		{"DictField.DatabaseLength", true, false, items(changed(kind, func(f *DictField) { f.DatabaseLength = 0 }), tag)},
		{"DictField.Transient", true, false, items(changed(kind, func(f *DictField) { f.Transient = true }), tag)},
		{"DictField.Transient", true, false, p(1, func(p *Property) { p.Type = p.Type.WithStorage(true) })}, // persistAsBlob
		{"DictField.Name", false, false, p(1, func(p *Property) { p.Type = p.Type.WithImplementedBy("x") })},

		{"Method.Index", false, false, a(func(d *Definition) { d.CellMethods[0].Index = 4 })},
		{"Method.Index", true, false, a(func(d *Definition) { slices.Reverse(d.CellMethods) })},
		{"Method.ExposedIndex", false, false, a(func(d *Definition) { d.CellMethods[0].ExposedIndex = 4 })},
		{"Method.Name", true, true, a(func(d *Definition) { d.ClientMethods[0].Name = "boom" })},
		{"Method.Name", true, false, a(func(d *Definition) { d.CellMethods[1].Name = "ponder" })},
		{"Method.Component", true, true, a(func(d *Definition) { d.CellMethods[0].Component, d.CellMethods[0].Name = "bag", "bag.hit" })},
		{"Method.Args", true, true, a(func(d *Definition) { d.CellMethods[0].Args = nil })},
		{"Method.Args", true, false, a(func(d *Definition) { d.CellMethods[1].Args = nil })},
		{"Method.Args", false, false, a(func(d *Definition) { d.CellMethods[0].Args[0].Name = "y" })},
		{"Method.Returns", true, false, a(func(d *Definition) { d.BaseMethods[0].Returns = nil })},
		{"Method.Returns", true, false, a(func(d *Definition) { d.CellMethods[0].Returns = []Arg{{"r", Scalar(KindInt8)}} })},
		{"Method.Exposed", true, true, a(func(d *Definition) { d.CellMethods[0].Exposed = ExposedOwn })},
		{"Method.DetailDistance", true, false, a(func(d *Definition) { d.ClientMethods[0].DetailDistance = 6 })},
		{"Method.SendLatestOnly", true, false, a(func(d *Definition) { d.ClientMethods[0].SendLatestOnly = true })},
		{"Method.Unreliable", true, false, a(func(d *Definition) { d.ClientMethods[0].Unreliable = true })},
		{"Method.ReplayExposure", true, false, a(func(d *Definition) { d.ClientMethods[0].ReplayExposure = ReplayAll })},
		{"Method.WarnBytes", true, false, a(func(d *Definition) { d.ClientMethods[0].WarnBytes = 9 })},
		{"Method.Kept", false, false, a(func(d *Definition) { d.ClientMethods[0].Kept = []Kept{{"x", "y"}} })},
	}
	base, err := NewSchema(digestTypes()...)
	if err != nil {
		t.Fatal(err)
	}
	had := make(map[string]bool)
	for i, e := range edits {
		had[e.field] = true
		types := digestTypes()
		before := base
		if e.field == "Definition.ClientName" { // of two equal types, of which one then appears as the other
			d := *types[0]
			d.Name = "C"
			types[1] = &d
			e.do = func(all []*Definition) { all[1].ClientName = "A" }
			e.client = true
			if before, err = NewSchema(types...); err != nil {
				t.Fatal(err)
			}
		}
		e.do(types)
		s, err := NewSchema(types...)
		if err != nil {
			t.Errorf("edit %d of %s: %v", i, e.field, err)
			continue
		}
		if changed := s.Digest != before.Digest; changed != e.server {
			t.Errorf("edit %d of %s: Digest changed: %v", i, e.field, changed)
		}
		if changed := s.ClientDigest != before.ClientDigest; changed != e.client {
			t.Errorf("edit %d of %s: ClientDigest changed: %v", i, e.field, changed)
		}
		// Equal client digests promise that every number a client uses means the same.
		if a, b := clientNumbers(before), clientNumbers(s); !e.client && !slices.Equal(a, b) {
			t.Errorf("edit %d of %s: numbers of clients were %v and are %v", i, e.field, a, b)
		}
	}
	for _, typ := range []reflect.Type{reflect.TypeFor[Definition](), reflect.TypeFor[Property](), reflect.TypeFor[Method](), reflect.TypeFor[DictField]()} {
		for i := range typ.NumField() {
			if f := typ.Field(i); f.IsExported() && !had[typ.Name()+"."+f.Name] {
				t.Errorf("no edit of %s.%s", typ.Name(), f.Name)
			}
		}
	}
}
