package property

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Numbers for clients: fixed sizes first, the smaller the earlier, then the others, each group as
// declared.
func TestClientIndexBySize(t *testing.T) {
	arg := func(kinds ...Kind) (args []Arg) {
		for _, k := range kinds {
			args = append(args, Arg{Type: Scalar(k)})
		}
		return args
	}
	d := &Definition{Name: "A", HasCell: true, HasBase: true, HasClient: true}
	for _, p := range []struct {
		name string
		kind Kind
	}{{"text", KindString}, {"place", KindVec3}, {"one", KindInt8}, {"blob", KindBlob}, {"wide", KindInt64}, {"two", KindInt8}} {
		d.Properties = append(d.Properties, &Property{Name: p.name, Type: Scalar(p.kind), Flags: AllClients})
	}
	d.Properties = slices.Insert(d.Properties, 2, &Property{Name: "hidden", Type: Scalar(KindInt8)})
	d.CellMethods = []*Method{
		{Name: "say", Exposed: ExposedAll, Args: arg(KindInt8, KindString)}, {Name: "nine", Exposed: ExposedAll, Args: arg(KindInt64, KindInt8)},
		{Name: "secret"}, {Name: "eight", Exposed: ExposedOwn, Args: arg(KindInt32, KindInt32)}, {Name: "nothing", Exposed: ExposedAll}, {Name: "also", Exposed: ExposedAll, Args: arg(KindVec2)},
	}
	s, err := NewSchema(d)
	if err != nil {
		t.Fatal(err)
	}
	a := s.Types[0]
	var properties, methods []string
	for i := 0; a.ByClientIndex(i) != nil; i++ {
		properties = append(properties, a.ByClientIndex(i).Name)
	}
	for i := 0; a.ExposedCellMethod(i) != nil; i++ {
		methods = append(methods, a.ExposedCellMethod(i).Name)
	}
	if diff := cmp.Diff([]string{"one", "two", "wide", "place", "text", "blob"}, properties); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"nothing", "eight", "also", "nine", "say"}, methods); diff != "" {
		t.Error(diff)
	}
	// Streams keep the order of declaration.
	if got := a.Stream(OtherClientStream); !cmp.Equal(got, []int{0, 1, 3, 4, 5, 6}) {
		t.Errorf("stream %v", got)
	}
}

// seenAs is two types, of which clients take the second for the first.
func seenAs(t *testing.T) (base, derived *Definition, s *Schema) {
	t.Helper()
	i8, text := Scalar(KindInt8), Scalar(KindString)
	own := []*Property{{Name: "title", Type: text, Flags: AllClients}, {Name: "plan", Type: i8}, {Name: "hp", Type: i8, Flags: AllClients}, {Name: "mana", Type: i8, Flags: OwnClient}, {Name: "gold", Type: i8, Flags: BaseAndClient}}
	given := &Definition{Name: "Guard", HasCell: true, HasBase: true, HasClient: true, Properties: own,
		CellMethods: []*Method{{Name: "greet", Exposed: ExposedAll, Args: []Arg{{Type: text}}}, {Name: "ask", Exposed: ExposedAll}}, ClientMethods: []*Method{{Name: "bow"}, {Name: "cry"}}}
	boss := &Definition{Name: "Boss", ClientName: "Guard", HasCell: true, HasBase: true, HasClient: true,
		Properties:    append(slices.Clone(own), &Property{Name: "rage", Type: i8, Flags: AllClients}),
		CellMethods:   append([]*Method{{Name: "taunt", Exposed: ExposedAll}}, given.CellMethods...),
		BaseMethods:   []*Method{{Name: "bribe", Exposed: ExposedOwn}},
		ClientMethods: []*Method{{Name: "roar"}, {Name: "bow"}, {Name: "cry"}}}
	s, err := NewSchema(boss, given) // in the list before the type that it appears as
	if err != nil {
		t.Fatal(err)
	}
	return s.Type("Guard"), s.Type("Boss"), s
}

// A client holds the Guard's definition and nothing of the Boss: every number and every stream must
// mean the same.
func TestClientName(t *testing.T) {
	guard, boss, s := seenAs(t)
	if boss.ClientID != guard.ClientID || s.ByClientID(boss.ClientID) != guard || s.ByClientID(1) != nil || boss.ID != 0 || guard.ID != 1 {
		t.Errorf("ids: boss %d/%d, guard %d/%d", boss.ID, boss.ClientID, guard.ID, guard.ClientID)
	}
	for i := 0; i < 6; i++ {
		want, got := guard.ByClientIndex(i), boss.ByClientIndex(i)
		if (want == nil) != (got == nil) || want != nil && (want.Name != got.Name || got.ClientIndex != i) {
			t.Errorf("client index %d is %v of the boss, %v of the guard", i, got, want)
		}
		m, n := guard.ExposedCellMethod(i), boss.ExposedCellMethod(i)
		if (m == nil) != (n == nil) || m != nil && (m.Name != n.Name || n.ExposedIndex != i) {
			t.Errorf("exposed index %d is %v of the boss, %v of the guard", i, n, m)
		}
	}
	if boss.ExposedBaseMethod(0) != nil || boss.CellMethod("taunt").ExposedIndex != -1 || boss.Property("rage").ClientIndex != -1 {
		t.Error("clients can name what the guard lacks")
	}
	if boss.ClientMethod("roar") != nil || boss.ClientMethod("cry").Index != guard.ClientMethod("cry").Index {
		t.Errorf("client methods: %v", boss.ClientMethods)
	}
	if boss.Held(CellSide) == nil || NewValues(boss, GhostSide, nil).Holds(boss.Property("rage").Index) == false {
		t.Error("the servers lack what clients do not see")
	}
	for _, c := range []struct {
		from, to Side
		dom      Stream
	}{{CellSide, OtherClientSide, OtherClientStream}, {CellSide, OwnClientSide, OwnClientCellStream}, {BaseSide, OwnClientSide, OwnClientBaseStream}} {
		server, client := NewValues(boss, c.from, nil), NewValues(guard, c.to, nil)
		for n, i := range boss.Stream(c.dom) {
			v := Int(int64(n + 1))
			if boss.Properties[i].Name == "title" {
				v = StringValue("boss")
			}
			if err := server.Set(i, v); err != nil {
				t.Fatal(err)
			}
		}
		rest, err := client.ReadStream(server.AppendStream(nil, c.dom), c.dom)
		if err != nil || len(rest) > 0 {
			t.Fatalf("%v: %v, %d bytes left", c.dom, err, len(rest))
		}
		for _, i := range guard.Stream(c.dom) {
			name := guard.Properties[i].Name
			if got, want := client.Get(i), server.Get(boss.Property(name).Index); !Equal(got, want) {
				t.Errorf("%v: %s is %v at the client, %v at the server", c.dom, name, got, want)
			}
		}
	}
	// A client that was built without the Boss agrees.
	if alone, err := NewSchema(guard); err != nil || alone.ClientDigest != s.ClientDigest {
		t.Errorf("client digest of the guard alone differs (%v)", err)
	}
	if self, err := NewSchema(&Definition{Name: "A", ClientName: "A", HasCell: true, HasClient: true}); err != nil || self.Types[0].ClientName != "" {
		t.Errorf("a type that appears as itself: %v", err)
	}
}
