package client

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
	"github.com/cellscape/cellscape/property"
)

// Property indices of the test type, in the order of its declaration.
const (
	secret = iota // CELL_PRIVATE
	health        // ALL_CLIENTS
	mana          // OWN_CLIENT
	gold          // BASE_AND_CLIENT
	title         // OTHER_CLIENTS
)

func testSchema(t testing.TB) *property.Schema { return schemaOf(t, property.Compression{}) }

// schemaOf has an Avatar of the compression.
func schemaOf(t testing.TB, c property.Compression) *property.Schema {
	t.Helper()
	int32Type, text := property.Scalar(property.KindInt32), property.Scalar(property.KindString)
	say := []property.Arg{{Name: "text", Type: text}}
	// What clients do not know comes first, so that their numbers are not the server's.
	s, err := property.NewSchema(&property.Definition{Name: "Engine", HasCell: true, HasBase: true}, &property.Definition{
		Name: "Avatar", HasCell: true, HasBase: true, HasClient: true, Compression: c,
		Properties: []*property.Property{
			{Name: "secret", Type: int32Type, Flags: property.CellPrivate},
			{Name: "health", Type: int32Type, Flags: property.AllClients, Default: property.Int(100)},
			{Name: "mana", Type: int32Type, Flags: property.OwnClient},
			{Name: "gold", Type: int32Type, Flags: property.BaseAndClient},
			{Name: "title", Type: text, Flags: property.OtherClients},
		},
		CellMethods: []*property.Method{
			{Name: "hidden"},
			{Name: "jump", Exposed: property.ExposedOwn},
			{Name: "greet", Exposed: property.ExposedAll, Args: say},
		},
		BaseMethods:   []*property.Method{{Name: "credit", Args: say}, {Name: "buy", Exposed: property.ExposedOwn, Args: say}},
		ClientMethods: []*property.Method{{Name: "chat", Args: say}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const (
	me  entity.ID = 1<<32 + 1
	foe entity.ID = 1<<32 + 7
)

// rig is a client whose servers are played by the test.
type rig struct {
	t      testing.TB
	net    *mercurytest.Stage
	schema *property.Schema
	c      *Client
	now    time.Duration
	events []string
	diff   []string
	kept   []string // tickets
	// The server's own view.
	own, others *property.Values
}

func newRig(t testing.TB) *rig { return rigOf(t, testSchema(t)) }

// rigOf is a rig whose client has the given definitions, with an Avatar as in testSchema in them.
func rigOf(t testing.TB, schema *property.Schema) *rig {
	r := &rig{t: t, net: mercurytest.NewStage(mercurytest.Host(9, 1)), schema: schema}
	note := func(format string, args ...any) { r.events = append(r.events, fmt.Sprintf(format, args...)) }
	c, err := New(Config{
		Transport: r.net, Schema: r.schema, LoginApp: mercurytest.Host(1, 0).At, User: "ann", Password: "pw", Tickets: keeper{r},
		Events: Events{
			Waiting:    func(position, of int) { note("waiting %d/%d", position, of) },
			LoggedIn:   func() { note("logged in") },
			BasePlayer: func(p *Replica) { note("base player %v gold %v", p.ID, p.Props.Get(gold)) },
			CellPlayer: func(p *Replica) { note("cell player at %v mana %v", p.Position, p.Props.Get(mana)) },
			CellGone:   func(p *Replica) { note("cell gone") },
			Reset:      func() { note("reset") },
			Entered:    func(e *Replica) { note("enter %v health %v", e.ID, e.Props.Get(health)) },
			Left:       func(e *Replica) { note("left %v", e.ID) },
			Moved:      func(e *Replica) { note("moved %v to %v", e.ID, e.Position) },
			PropertyChanged: func(e *Replica, c *property.Change) {
				note("%v.%s = %v", e.ID, e.Def.Properties[c.Index].Name, c.New)
			},
			Called:    func(e *Replica, m *property.Method, args []property.Value) { note("%v.%s(%v)", e.ID, m.Name, args) },
			SpaceData: func(d entity.SpaceDatum) { note("space data %d = %s", d.Key, d.Value) },
			Audited:   func(diff []string) { r.diff = diff; note("audited %d", len(diff)) },
			Closed:    func(err error) { note("closed: %v", err) },
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	r.c = c
	def := r.schema.Type("Avatar")
	r.own = property.NewValues(def, property.OwnClientSide, nil)
	r.others = property.NewValues(def, property.OtherClientSide, nil)
	return r
}

// appendValue and appendOwn say the whole value of a property.
func appendValue(b []byte, i int, v *property.Values) []byte { return v.AppendClientValue(b, i) }

func appendOwn(b []byte, id protocol.ID, i int, v *property.Values) []byte {
	b, mark := protocol.Begin(b, id)
	return protocol.End(protocol.AppendChange(b, v, &property.Change{Index: i, New: v.Get(i)}), mark)
}

// keeper writes down the tickets that the client keeps, and how many channels it had dialled by
// then.
type keeper struct{ r *rig }

func (k keeper) Keep(_ time.Duration, to mercury.Address, ticket []byte) {
	k.r.kept = append(k.r.kept, fmt.Sprintf("%s for %v after %d dials", ticket, to, len(k.r.net.Dials)))
}

// open ticks the client until it has dialled, and opens its newest channel.
func (r *rig) open() {
	r.t.Helper()
	r.c.Tick(r.now)
	peer, ok := r.net.Peer(r.c.ch)
	if !ok {
		r.t.Fatal("the client has no channel")
	}
	r.c.Opened(r.now, r.c.ch, peer)
}

func (r *rig) say(bundle []byte)    { r.c.Message(r.now, r.c.ch, true, bundle) }
func (r *rig) whisper(msg []byte)   { r.c.Message(r.now, r.c.ch, false, msg) }
func (r *rig) cell(n uint64) []byte { return protocol.AppendBundle(nil, n) }

// attach brings the client to where it waits for the proxy.
func (r *rig) attach() {
	r.t.Helper()
	r.open()
	ok := protocol.LoginOK{Doors: []protocol.Door{{Network: protocol.UDP, Address: mercurytest.Host(2, 22)}}, Token: protocol.Token{1, 2, 3}}
	r.say(ok.Append(nil))
	r.open()
}

// play brings the client into the world, at (1, 0, 1).
func (r *rig) play() {
	r.t.Helper()
	r.attach()
	_ = r.own.Load(gold, property.Int(5))
	_ = r.own.Load(mana, property.Int(3))
	base := protocol.BasePlayer{ID: me, Props: r.own.AppendStream(nil, property.OwnClientBaseStream)}
	r.say(base.Append((&protocol.Attached{}).Append(nil)))
	r.say(r.cellPlayer().Append(r.cell(1)))
	r.net.Sent, r.events = nil, nil
}

// meeting is a client that plays, and to whom bundle 5 has shown foe.
func meeting(t testing.TB) *rig {
	t.Helper()
	r := newRig(t)
	r.play()
	r.say(r.enter(foe, 0).Append(r.cell(5)))
	return r
}

func (r *rig) cellPlayer() *protocol.CellPlayer {
	return &protocol.CellPlayer{
		Space: 1, Position: property.Vector3{X: 1, Z: 1}, Forced: 1, Control: true, Props: r.own.AppendStream(nil, property.OwnClientCellStream),
	}
}

// enter is an Enter of an entity with the others' health.
func (r *rig) enter(id entity.ID, x float32) *protocol.Enter {
	return &protocol.Enter{
		ID: id, Alias: uint32(id - foe), Position: property.Vector3{X: x}, Props: appendValue(nil, health, r.others),
	}
}

func (r *rig) wantEvents(want ...string) {
	r.t.Helper()
	if fmt.Sprintf("%q", r.events) != fmt.Sprintf("%q", want) {
		r.t.Errorf("events\n got %q\nwant %q", r.events, want)
	}
	r.events = nil
}

// wantMalformed checks that the session ended for a malformed message.
func (r *rig) wantMalformed() {
	r.t.Helper()
	if r.c.State() != Closed || !errors.Is(r.c.Err(), protocol.ErrMalformed) || r.c.Stats().Malformed != 1 {
		r.t.Fatalf("state %v, error %v, %d malformed", r.c.State(), r.c.Err(), r.c.Stats().Malformed)
	}
	if n := len(r.events); n == 0 || r.events[n-1] != "closed: "+r.c.Err().Error() {
		r.t.Fatalf("last events %q", r.events)
	}
}

func place(id entity.ID, x float32) *protocol.Place {
	return &protocol.Place{ID: id, Position: property.Vector3{X: x}}
}

var _ mercury.Handler = (*Client)(nil)
