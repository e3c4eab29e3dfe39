package client

import (
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/property"
)

// serverTree has server-only types, properties and methods before, between and after what clients
// know. clientTree is the same without them.
var serverTree = fstest.MapFS{
	"entities.xml": {Data: []byte(`<root>
		<ServerOnlyEntities> <Weather/> </ServerOnlyEntities>
		<ClientServerEntities> <Chest/> </ClientServerEntities>
		<ServerOnlyEntities> <Engine/> </ServerOnlyEntities>
		<ClientServerEntities> <Avatar/> </ClientServerEntities>
	</root>`)},
	"entity_defs/Weather.def": {Data: []byte(`<root> <Properties>
		<rain> <Type> FLOAT </Type> <Flags> ALL_CLIENTS </Flags> </rain>
	</Properties> </root>`)},
	"entity_defs/Engine.def": {Data: []byte(`<root/>`)},
	"entity_defs/Chest.def": {Data: []byte(`<root> <Properties>
		<lock> <Type> STRING </Type> <Flags> CELL_PRIVATE </Flags> </lock>
		<open> <Type> UINT8 </Type> <Flags> ALL_CLIENTS </Flags> </open>
	</Properties> </root>`)},
	"entity_defs/Avatar.def": {Data: []byte(`<root>
		<Properties>
			<debts>  <Type> INT64 </Type>  <Flags> CELL_PRIVATE </Flags> </debts>
			<health> <Type> INT32 </Type>  <Flags> ALL_CLIENTS </Flags> <Default> 100 </Default> </health>
			<ledger> <Type> STRING </Type> <Flags> BASE </Flags> </ledger>
			<mana>   <Type> INT32 </Type>  <Flags> OWN_CLIENT </Flags> </mana>
			<grudge> <Type> INT8 </Type>   <Flags> CELL_PUBLIC </Flags> </grudge>
			<gold>   <Type> INT32 </Type>  <Flags> BASE_AND_CLIENT </Flags> </gold>
			<title>  <Type> STRING </Type> <Flags> OTHER_CLIENTS </Flags> </title>
			<last>   <Type> INT8 </Type>   <Flags> CELL_PRIVATE </Flags> </last>
		</Properties>
		<CellMethods>
			<hidden> <Args> <n> INT8 </n> </Args> </hidden>
			<jump>   <Exposed> OWN_CLIENT </Exposed> </jump>
			<steal/>
			<greet>  <Exposed/> <Args> <text> STRING </text> </Args> </greet>
		</CellMethods>
		<BaseMethods>
			<credit> <Args> <n> INT64 </n> </Args> </credit>
			<buy>    <Exposed/> <Args> <text> STRING </text> </Args> </buy>
		</BaseMethods>
		<ClientMethods>
			<shake/>
			<chat> <Args> <text> STRING </text> </Args> </chat>
		</ClientMethods>
	</root>`)},
}

var clientTree = fstest.MapFS{
	"entities.xml": {Data: []byte(`<root> <Chest/> <Avatar/> </root>`)},
	"entity_defs/Chest.def": {Data: []byte(`<root> <Properties>
		<open> <Type> UINT8 </Type> <Flags> ALL_CLIENTS </Flags> </open>
	</Properties> </root>`)},
	"entity_defs/Avatar.def": {Data: []byte(`<root>
		<Properties>
			<health> <Type> INT32 </Type>  <Flags> ALL_CLIENTS </Flags> </health>
			<mana>   <Type> INT32 </Type>  <Flags> OWN_CLIENT </Flags> </mana>
			<gold>   <Type> INT32 </Type>  <Flags> BASE_AND_CLIENT </Flags> </gold>
			<title>  <Type> STRING </Type> <Flags> OTHER_CLIENTS </Flags> </title>
		</Properties>
		<CellMethods>
			<jump>  <Exposed> OWN_CLIENT </Exposed> </jump>
			<greet> <Exposed/> <Args> <text> STRING </text> </Args> </greet>
		</CellMethods>
		<BaseMethods>
			<buy> <Exposed/> <Args> <text> STRING </text> </Args> </buy>
		</BaseMethods>
		<ClientMethods>
			<shake/>
			<chat> <Args> <text> STRING </text> </Args> </chat>
		</ClientMethods>
	</root>`)},
}

func loadTree(t *testing.T, tree fstest.MapFS) *property.Schema {
	t.Helper()
	s, err := property.Load(tree)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// server is one side of a session with the server's definitions.
type server struct {
	t          *testing.T
	def        *property.Definition
	cell, base *property.Values
}

func (s *server) set(v *property.Values, name string, to property.Value) (index int) {
	s.t.Helper()
	index = v.Definition().Property(name).Index
	if err := v.Set(index, to); err != nil {
		s.t.Fatal(err)
	}
	return index
}

// A client built before an edit of the definitions that concerns servers alone understands all that
// the server says after it, and is understood.
func TestClientWithoutServerOnlyDefinitions(t *testing.T) {
	full, part := loadTree(t, serverTree), loadTree(t, clientTree)
	if full.ClientDigest != part.ClientDigest || full.Digest == part.Digest {
		t.Fatalf("client digests %x and %x, digests %x and %x", full.ClientDigest, part.ClientDigest, full.Digest, part.Digest)
	}
	s := &server{t: t, def: full.Type("Avatar")}
	s.cell = property.NewValues(s.def, property.CellSide, nil)
	s.base = property.NewValues(s.def, property.BaseSide, nil)
	if s.def.ID == s.def.ClientID || s.def.ClientID != part.Type("Avatar").ClientID {
		t.Fatalf("the server's type %d is %d for clients, which have %d", s.def.ID, s.def.ClientID, part.Type("Avatar").ClientID)
	}

	r := rigOf(t, part)
	note := func(format string, args ...any) { r.events = append(r.events, fmt.Sprintf(format, args...)) }
	say := func(e *Replica, names ...string) (text string) {
		for _, n := range names {
			text += fmt.Sprintf(" %s=%v", n, e.Props.Get(e.Def.Property(n).Index))
		}
		return e.Def.Name + text
	}
	h := &r.c.cfg.Events
	h.BasePlayer = func(p *Replica) { note("base player %s", say(p, "gold")) }
	h.CellPlayer = func(p *Replica) { note("cell player %s", say(p, "health", "mana")) }
	h.Entered = func(e *Replica) {
		if e.Def.Name == "Chest" {
			note("enter %s", say(e, "open"))
			return
		}
		note("enter %s", say(e, "health", "title"))
	}

	r.attach()
	s.set(s.base, "ledger", property.StringValue("not for clients"))
	s.set(s.base, "gold", property.Int(5))
	s.set(s.cell, "debts", property.Int(-1))
	s.set(s.cell, "mana", property.Int(3))
	health := s.set(s.cell, "health", property.Int(80))
	title := s.set(s.cell, "title", property.StringValue("duke"))
	player := protocol.BasePlayer{ID: me, Type: s.def.ClientID, Props: s.base.AppendStream(nil, property.OwnClientBaseStream)}
	r.say(player.Append((&protocol.Attached{}).Append(nil)))
	cell := protocol.CellPlayer{Space: 1, Props: s.cell.AppendStream(nil, property.OwnClientCellStream)}
	r.say(cell.Append(r.cell(1)))
	r.wantEvents("logged in", "base player Avatar gold=5", "cell player Avatar health=80 mana=3")

	pairs := appendValue(appendValue(nil, health, s.cell), title, s.cell)
	r.say((&protocol.Enter{ID: foe, Type: s.def.ClientID, Props: pairs}).Append(r.cell(2)))
	chest := property.NewValues(full.Type("Chest"), property.CellSide, nil)
	open := s.set(chest, "open", property.Uint(1))
	r.say((&protocol.Enter{ID: foe + 1, Alias: 1, Type: chest.Definition().ClientID, Props: appendValue(nil, open, chest)}).Append(r.cell(3)))
	r.wantEvents(`enter Avatar health=80 title="duke"`, "enter Chest open=1")

	s.set(s.cell, "title", property.StringValue("king"))
	r.say((&protocol.Changes{ID: foe, Props: appendValue(nil, title, s.cell)}).Append(r.cell(4)))
	s.set(chest, "open", property.Uint(0))
	r.say((&protocol.Changes{ID: foe + 1, Props: appendValue(nil, open, chest)}).Append(r.cell(5)))
	r.say(appendOwn(r.cell(6), protocol.OwnPropertyID, s.set(s.cell, "mana", property.Int(9)), s.cell))
	r.say(appendOwn(nil, protocol.BasePropertyID, s.set(s.base, "gold", property.Int(8)), s.base))
	r.wantEvents(`1.7.title = "king"`, "1.8.open = 0", "1.1.mana = 9", "1.1.gold = 8")

	chat := s.def.ClientMethod("chat")
	args, err := chat.AppendArgs(nil, []property.Value{property.StringValue("hi")})
	if err != nil {
		t.Fatal(err)
	}
	r.say((&protocol.Call{ID: foe, Method: uint16(chat.Index), Args: args}).Append(r.cell(7)))
	r.wantEvents(`1.7.chat(["hi"])`)

	audit := protocol.Audit{Own: protocol.Expected{Place: protocol.Place{ID: me}, Type: s.def.ClientID},
		Entities: []protocol.Expected{{Place: protocol.Place{ID: foe}, Type: s.def.ClientID, Props: appendValue(nil, title, s.cell)},
			{Place: protocol.Place{ID: foe + 1}, Type: chest.Definition().ClientID, Props: appendValue(nil, open, chest)}}}
	for _, i := range s.def.Stream(property.OwnClientCellStream) {
		audit.Own.Props = appendValue(audit.Own.Props, i, s.cell)
	}
	r.say(audit.Append(r.cell(8)))
	if r.wantEvents("audited 0"); len(r.diff) != 0 {
		t.Errorf("differs: %q", r.diff)
	}
	s.wantCalls(r)
}

// wantCalls makes the client call what it may, and reads that as the server.
func (s *server) wantCalls(r *rig) {
	s.t.Helper()
	r.net.Sent = nil
	text := property.StringValue("hi")
	for _, err := range []error{r.c.Entity(me).Cell().Call("jump"), r.c.Entity(foe).Cell().Call("greet", text), r.c.Player().Base().Call("buy", text)} {
		if err != nil {
			s.t.Fatal(err)
		}
	}
	var got []string
	for _, msg := range r.net.Take(r.c.ch) {
		err := protocol.Messages(msg, func(id protocol.ID, body []byte) error {
			m, args, err := s.called(id, body)
			if err != nil {
				return err
			}
			values, err := m.ReadArgs(args)
			got = append(got, fmt.Sprint(m.Name, values))
			return err
		})
		if err != nil {
			s.t.Error(err)
		}
	}
	if want := `[jump[] greet["hi"] buy["hi"]]`; fmt.Sprint(got) != want {
		s.t.Errorf("the server heard %v, want %s", got, want)
	}
}

// called is the method that a message of the client means.
func (s *server) called(id protocol.ID, body []byte) (m *property.Method, args []byte, err error) {
	switch id {
	case protocol.CellCallID:
		var c protocol.CellCall
		err = c.Parse(body)
		m, args = s.def.ExposedCellMethod(int(c.Method)), c.Args
	case protocol.BaseCallID:
		var c protocol.BaseCall
		err = c.Parse(body)
		m, args = s.def.ExposedBaseMethod(int(c.Method)), c.Args
	}
	if err == nil && m == nil {
		err = fmt.Errorf("message %d names no method", id)
	}
	return m, args, err
}
