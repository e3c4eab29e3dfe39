package cellapp

import (
	"bytes"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/balance"
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
)

func addr(n int) mercury.Address {
	return mercury.Address{At: netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(n)}), 1000), Salt: uint32(n)}
}

// sent is a message that the app gave its transport.
type sent struct {
	to       mercury.Address
	reliable bool
	id       wire.ID
	body     []byte
}

// transport is a scripted mercury.Transport: every channel is open at once, and nothing leaves it.
type transport struct {
	t       testing.TB
	peers   []mercury.Address // by channel id - 1
	closed  map[mercury.ChannelID]bool
	sent    []sent
	dialled []mercury.Address
	waiting map[mercury.Address]int // bytes of queueLimit
}

// queueLimit is how many bytes may wait on a channel.
const queueLimit = 1 << 20

func (x *transport) Queued(ch mercury.ChannelID) (bytes, limit int) {
	to, _ := x.Peer(ch)
	return x.waiting[to], queueLimit
}

func (x *transport) Self() mercury.Address { return addr(1) }

func (x *transport) channel(to mercury.Address) mercury.ChannelID {
	for i, p := range x.peers {
		if p == to && !x.closed[mercury.ChannelID(i+1)] {
			return mercury.ChannelID(i + 1)
		}
	}
	x.peers = append(x.peers, to)
	return mercury.ChannelID(len(x.peers))
}

func (x *transport) Dial(to mercury.Address) mercury.ChannelID {
	x.dialled = append(x.dialled, to)
	return x.channel(to)
}

func (x *transport) keep(ch mercury.ChannelID, reliable bool, msg []byte) error {
	if _, ok := x.Peer(ch); !ok {
		return mercury.ErrNoChannel
	}
	id, body, err := wire.Split(msg)
	if err != nil {
		x.t.Error(err)
	}
	x.sent = append(x.sent, sent{x.peers[ch-1], reliable, id, slices.Clone(body)})
	return nil
}

func (x *transport) Send(ch mercury.ChannelID, msg []byte) error { return x.keep(ch, true, msg) }
func (x *transport) SendUnreliable(ch mercury.ChannelID, msg []byte) (int, error) {
	return 0, x.keep(ch, false, msg)
}
func (*transport) Pause(mercury.ChannelID)                       {}
func (*transport) Resume(mercury.ChannelID)                      {}
func (x *transport) MaxUnreliable(mercury.ChannelID) int         { return 900 }
func (x *transport) Close(ch mercury.ChannelID)                  { x.closed[ch] = true }
func (x *transport) Abort(ch mercury.ChannelID)                  { x.closed[ch] = true }
func (x *transport) Standing(mercury.ChannelID) mercury.Standing { return mercury.Trusted }
func (x *transport) Peer(ch mercury.ChannelID) (mercury.Address, bool) {
	if ch == 0 || int(ch) > len(x.peers) || x.closed[ch] {
		return mercury.Address{}, false
	}
	return x.peers[ch-1], true
}

// to takes out what was sent to an address.
func (x *transport) to(a mercury.Address) (list []sent) {
	x.sent = slices.DeleteFunc(x.sent, func(s sent) bool {
		if s.to == a {
			list = append(list, s)
		}
		return s.to == a
	})
	return list
}

func ids(list []sent) (n []wire.ID) {
	for _, s := range list {
		n = append(n, s.id)
	}
	return n
}

type Walker struct {
	*space.Real
	Hp property.Uint32
}

func testScripts(t testing.TB) *space.Scripts {
	t.Helper()
	schema, err := property.NewSchema(&property.Definition{Name: "Walker", HasCell: true, HasBase: true, HasClient: true, Properties: []*property.Property{
		{Name: "hp", Type: property.Scalar(property.KindUint32), Flags: property.AllClients},
		{Name: "diary", Type: property.Scalar(property.KindString), Flags: property.CellPublic, Default: property.StringValue(strings.Repeat("dear diary ", 400))},
	}, ClientMethods: []*property.Method{{Name: "say", Args: []property.Arg{{Type: property.Scalar(property.KindString)}}}}, Compression: property.Compression{Internal: "ZIP_BEST_SPEED"}})
	if err != nil {
		t.Fatal(err)
	}
	s := space.NewScripts(schema)
	space.Register[Walker](s, "Walker")
	return s
}

// rig is a CellApp with a scripted world around it: a manager, a BaseApp at addr(3) and another
// CellApp at addr(2).
type rig struct {
	t   testing.TB
	net *transport
	app *CellApp
	now time.Duration
	mgr mercury.ChannelID
}

var manager = netip.MustParseAddrPort("10.0.0.9:1000")

func newRig(t testing.TB) *rig {
	t.Helper()
	r := &rig{t: t, net: &transport{t: t, closed: map[mercury.ChannelID]bool{}}, now: time.Second}
	app, err := New(Config{Transport: r.net, Manager: manager, Scripts: testScripts(t), Chance: rand.New(rand.NewPCG(1, 2)),
		Space: space.Config{ArtificialLoad: 1000}})
	if err != nil {
		t.Fatal(err)
	}
	app.routes.Spent = spoil
	r.app = app
	return r
}

func (r *rig) tick(n int) {
	for range n {
		r.now += DefaultTick
		r.app.Tick(r.now)
	}
}

func (r *rig) from(a mercury.Address, m wire.Message) {
	r.give(r.net.channel(a), m)
}

func (r *rig) manage(m wire.Message) { r.give(r.mgr, m) }

// give passes a message to the app, and then overwrites its bytes.
func (r *rig) give(ch mercury.ChannelID, m wire.Message) {
	b := wire.Encode(nil, m)
	r.app.Message(r.now, ch, true, b)
	clear(b)
}

func (r *rig) join() {
	r.t.Helper()
	r.tick(1)
	if len(r.net.dialled) != 1 || r.net.dialled[0].At != manager {
		r.t.Fatalf("dialled %v", r.net.dialled)
	}
	r.mgr = r.net.channel(r.net.dialled[0])
	r.app.Opened(r.now, r.mgr, mercury.Address{At: manager, Salt: 9})
	r.manage(&wire.Welcome{Number: 4, Allocator: 6, Term: 1, GameTime: time.Hour})
	r.manage(&wire.Members{Apps: []wire.AppRef{
		{Role: wire.CellApp, App: addr(2)}, {Role: wire.BaseApp, App: addr(3)}, {Role: wire.CellApp, App: addr(4)}, {Role: wire.CellApp, App: addr(5)},
	}})
}

func leaf(app, cell int) bsp.Leaf {
	a := addr(app)
	return bsp.Leaf{Cell: bsp.CellID{Term: 1, N: uint32(cell)}, App: a.At, Salt: a.Salt, Created: true}
}

// tree is this app's cell 1 to the left of x = 0 and the other app's cell 2.
func tree(t testing.TB, version uint32) *bsp.Tree {
	t.Helper()
	x := bsp.New(bsp.Version{Term: 1, N: version}, leaf(1, 1))
	if err := x.Split(bsp.CellID{Term: 1, N: 1}, bsp.AxisX, 0, leaf(2, 2), true); err != nil {
		t.Fatal(err)
	}
	return x
}

func (r *rig) addCell(version uint32) {
	r.t.Helper()
	r.manage(&wire.AddCell{Space: 1, Cell: bsp.CellID{Term: 1, N: 1}, Tree: tree(r.t, version).Append(nil),
		Data: []space.DataEntry{{Number: uint64(version), Key: 5, Value: []byte{byte(version)}}}, Info: []byte("info")})
}

func (r *rig) create(id entity.ID, x float32) {
	d := r.app.cfg.Scripts.Schema().Type("Walker")
	parts := migrate.AppendFirst(nil, property.Vector3{X: x}, property.Vector3{}, property.NewValues(d, property.CellSide, nil), nil)
	r.from(addr(3), &migrate.Create{ID: id, Space: 1, Order: entity.Order{Incarnation: 1}, Base: addr(3), Parts: parts})
}

func (r *rig) world() {
	r.join()
	r.addCell(1)
	r.create(7, -5)
	r.tick(3)
}

func TestJoin(t *testing.T) {
	r := newRig(t)
	if r.app.Joined() || r.app.Dismissed() {
		t.Error("joined, or dismissed, before anything")
	}
	r.join()
	list := r.net.to(mercury.Address{At: manager})
	var m wire.Join
	if len(list) != 1 || list[0].id != wire.JoinID || m.Parse(list[0].body) != nil || m.Role != wire.CellApp || m.Digest != r.app.cfg.Scripts.Schema().Digest {
		t.Errorf("it said %v %+v", ids(list), m)
	}
	if !r.app.Joined() || r.app.Number() != 4 {
		t.Error("not joined")
	}
	r.manage(&wire.Welcome{Number: 5, Allocator: 8, Term: 1}) // a manager's news: keep the ids
	if r.app.Number() != 5 {
		t.Error("the number did not change")
	}
	if id, err := (*outbox)(r.app).NewID(); err != nil || uint64(id)>>32 != 6 {
		t.Errorf("id %v, %v", id, err)
	}
	r.tick(20)
	if got := ids(r.net.to(mercury.Address{At: manager})); !slices.Contains(got, wire.ReportID) || !slices.Contains(got, wire.CellsReportID) {
		t.Errorf("it reports %v", got)
	}
	r.app.Closed(r.now, r.mgr, mercury.ErrTimeout)
	r.tick(20)
	if len(r.net.dialled) != 2 {
		t.Errorf("dialled %v", r.net.dialled)
	}
}

func TestNoIDsBeforeWelcome(t *testing.T) {
	r := newRig(t)
	if _, err := (*outbox)(r.app).NewID(); err == nil {
		t.Error("an id without an allocator")
	}
	r.tick(1)
	r.mgr = r.net.channel(r.net.dialled[0])
	r.manage(&wire.Welcome{Number: 4, Allocator: 0})
	if r.app.Joined() || r.app.Counters().Refused != 1 {
		t.Error("joined without an allocator")
	}
}

func TestTickIsNotDue(t *testing.T) {
	r := newRig(t)
	next := r.app.Tick(r.now)
	if next != r.now+DefaultTick || r.app.Tick(r.now+1) != next || r.app.report.Ticks != 1 {
		t.Errorf("next %v, %d ticks", next, r.app.report.Ticks)
	}
}

func TestAddCell(t *testing.T) {
	r := newRig(t)
	r.join()
	created := func() (n int) {
		for _, s := range r.net.to(mercury.Address{At: manager}) {
			if s.id == wire.CellCreatedID {
				n++
			}
		}
		return n
	}
	r.addCell(2)
	r.addCell(2)
	if n := len(slices.Collect(r.app.Cells())); n != 1 || created() != 2 {
		t.Errorf("%d cells", n)
	}
	c := r.app.cell(1)
	r.addCell(3)
	r.addCell(1) // late: confirmed, but older
	if c.Tree().Version().N != 3 || created() != 2 {
		t.Errorf("version %v", c.Tree().Version())
	}
	// Its old leaf was removed, and the manager gave it another one.
	other := bsp.New(bsp.Version{Term: 1, N: 4}, leaf(1, 8))
	r.manage(&wire.AddCell{Space: 1, Cell: bsp.CellID{Term: 1, N: 8}, Tree: other.Append(nil)})
	if c.ID().N != 8 || created() != 1 {
		t.Errorf("it is cell %v", c.ID())
	}
	r.manage(&wire.AddCell{Space: 1, Cell: bsp.CellID{Term: 1, N: 1}, Tree: other.Append(nil)})
	if c.ID().N != 8 || created() != 0 || r.app.Counters().Refused != 1 {
		t.Error("a cell that is not in the tree is confirmed")
	}
	r.manage(&wire.AddCell{Space: 2, Cell: bsp.CellID{Term: 1, N: 9}, Tree: []byte{1, 2, 3}})
	if r.app.cell(2) != nil || r.app.Counters().Refused != 2 {
		t.Error("a cell of a tree that cannot be read")
	}
}

func TestOnlyTheManagerOrders(t *testing.T) {
	r := newRig(t)
	r.world()
	before := r.app.Counters().Refused
	orders := []wire.Message{
		&wire.Welcome{Number: 9, Allocator: 9, Term: 9}, &wire.Refused{Reason: "x"}, &wire.Dismissed{Term: 9}, &wire.AppDead{Role: wire.BaseApp, App: addr(3)},
		&wire.Freeze{On: true}, &wire.AddCell{Space: 3, Tree: tree(t, 1).Append(nil)}, &wire.Geometry{Space: 1, Tree: tree(t, 9).Append(nil)},
		&wire.SpaceData{Space: 1, Entry: space.DataEntry{Number: 99}},
	}
	for _, m := range orders {
		r.from(addr(2), m)
	}
	if n := r.app.Counters().Refused - before; n != uint64(len(orders)) {
		t.Errorf("%d of %d refused", n, len(orders))
	}
	if r.app.Dismissed() || r.app.population.Frozen() || r.app.cell(3) != nil || r.app.cell(1).Tree().Version().N != 1 || r.app.cell(1).Reals() != 1 {
		t.Error("a stranger gave orders")
	}
}

// The cells share the app's compressor: a type that asks for it needs fewer bytes than its diary
// has.
func TestCellsCompress(t *testing.T) {
	r := newRig(t)
	r.world()
	list := r.net.to(addr(2))
	if len(list) != 1 || len(list[0].body) > 1000 {
		t.Errorf("%d messages, the first of %d bytes", len(list), len(list[0].body))
	}
}

func TestEntityLife(t *testing.T) {
	r := newRig(t)
	r.world()
	base := ids(r.net.to(addr(3)))
	if len(base) < 2 || base[0] != wire.CurrentID || base[1] != wire.FlowID {
		t.Errorf("the base got %v", base)
	}
	if got := ids(r.net.to(addr(2))); len(got) != 1 || got[0] != wire.GhostStateID {
		t.Errorf("the neighbour got %v", got)
	}
	// A move across the line causes a handoff, and later moves are passed on.
	r.app.population.Freeze(false)
	c := r.app.cell(1)
	for v := range c.Views() {
		if err := v.Script().(*Walker).SetPosition(property.Vector3{X: 50}); err != nil {
			t.Fatal(err)
		}
	}
	r.tick(3)
	if got := ids(r.net.to(addr(2))); !slices.Contains(got, wire.OnloadID) || c.Handoffs() != 1 || c.Reals() != 0 {
		t.Errorf("the neighbour got %v", got)
	}
	r.from(addr(3), &wire.ClientMove{ID: 7, ClientRest: flow.ClientRest{Session: 1, Sequence: 1, Incarnation: 1}})
	got := r.net.to(addr(2))
	if len(got) != 1 || got[0].id != wire.OnwardID || got[0].reliable {
		t.Fatalf("the neighbour got %v", ids(got))
	}
	var on wire.Onward
	if err := on.Parse(got[0].body); err != nil || wire.ID(on.Message[0]) != wire.ClientMoveID || on.Past != (entity.Order{Incarnation: 1, Hop: 1}) {
		t.Errorf("it was passed on as %+v: %v", on, err)
	}
	// One that has come here by that hop, or by a later one, goes no further.
	r.from(addr(2), &on)
	if got := r.net.to(addr(2)); len(got) > 0 {
		t.Errorf("the neighbour got back %v", ids(got))
	}
	r.from(addr(2), &migrate.OnloadAck{ID: 7, Order: entity.Order{Incarnation: 1, Hop: 1}})
	if c.Handoffs() != 0 {
		t.Error("the ack was not heard")
	}
}

func TestWithoutACell(t *testing.T) {
	r := newRig(t)
	r.join()
	r.create(7, 0)
	var lost migrate.Lost
	got := r.net.to(addr(3))
	if len(got) != 1 || got[0].id != wire.CellLostID || lost.Parse(got[0].body) != nil || lost.Reason != "this CellApp has no cell of the space" {
		t.Errorf("the base got %v %+v", ids(got), lost)
	}
	r.from(addr(2), &migrate.Onload{ID: 8, Space: 1, Order: entity.Order{Incarnation: 1, Hop: 3}, Base: addr(3)})
	if got := ids(r.net.to(addr(2))); len(got) != 1 || got[0] != wire.OnloadAckID {
		t.Errorf("the origin got %v", got)
	}
	if got := ids(r.net.to(addr(3))); len(got) != 1 || got[0] != wire.CellLostID || r.app.Counters().Refused != 1 {
		t.Errorf("the base got %v", got)
	}
	r.from(addr(2), &ghost.Update{})
	r.from(addr(2), &ghost.Delete{})
	r.from(addr(2), &ghost.Audit{})
	if n := r.app.Counters(); n.StaleGhosts != 1 || n.GhostsDiffer != 1 {
		t.Errorf("counters %+v", n)
	}
}

func TestVerdicts(t *testing.T) {
	r := newRig(t)
	r.world()
	r.manage(&wire.AppDead{Role: wire.CellApp, App: addr(1)}) // about itself, which only Dismissed may say
	r.manage(&wire.AppDead{Role: wire.CellApp, App: addr(2)})
	r.net.to(addr(2))
	ch := r.net.channel(addr(2))
	r.app.Opened(r.now, ch, addr(2))
	if _, ok := r.net.Peer(ch); ok {
		t.Error("a dead start may come back")
	}
	before := r.app.Counters()
	r.from(addr(2), &ghost.Delete{})
	if r.app.Counters() != before || len(r.net.to(addr(2))) != 0 {
		t.Error("it talks with the dead")
	}
	r.manage(&wire.AppDead{Role: wire.BaseApp, App: addr(3)})
	if r.app.cell(1).Reals() != 0 {
		t.Error("an entity outlives its base")
	}
}

// Space data that is set while the manager is away reaches it when it is back: the newest value of
// each key.
func TestSpaceDataWaits(t *testing.T) {
	r := newRig(t)
	r.world()
	r.app.Closed(r.now, r.mgr, mercury.ErrTimeout)
	out := r.app.outbox()
	for _, v := range []string{"old", "new"} {
		out.SetSpaceData(1, entity.SpaceDatum{Key: 7, Value: []byte(v)})
	}
	if r.app.said.Waiting() != 1 {
		t.Fatalf("%d values wait", r.app.said.Waiting())
	}
	for key := range uint16(app.MaxSaid + 10) {
		out.SetSpaceData(2, entity.SpaceDatum{Key: key})
	}
	if r.app.said.Waiting() != app.MaxSaid || r.app.Counters().Errors == 0 {
		t.Errorf("%d values wait, %d errors", r.app.said.Waiting(), r.app.Counters().Errors)
	}
	r.app.said.SayLate()
	r.app.said.Answered(app.MaxSaid)
	if n := r.app.said.Waiting(); n != 1 {
		t.Errorf("%d values wait, the last was not answered", n)
	}
	r.app.said.Late()
	r.app.said.Answered(app.MaxSaid + 1)
	if n := r.app.said.Waiting(); n != 1 {
		t.Errorf("%d values wait: what an earlier channel brought was taken for an answer", n)
	}
	r.app.said.SayLate()
	r.app.said.Answered(app.MaxSaid + 1)
	if r.app.said.Waiting() != 0 {
		t.Error("they still wait")
	}
}

func TestFreezeAndAudit(t *testing.T) {
	r := newRig(t)
	r.world()
	r.net.to(addr(2))
	r.manage(&wire.Freeze{On: true})
	if got := r.net.to(addr(2)); len(got) != 0 {
		t.Errorf("a first freeze says %v", ids(got))
	}
	r.manage(&wire.Freeze{On: true})
	if got := ids(r.net.to(addr(2))); len(got) != 1 || got[0] != wire.GhostAuditID {
		t.Errorf("the neighbour got %v", got)
	}
	r.manage(&wire.Freeze{})
	if r.app.population.Frozen() {
		t.Error("still frozen")
	}
}

func TestDismissed(t *testing.T) {
	r := newRig(t)
	r.world()
	r.manage(&wire.Dismissed{Term: 1, Reason: "slow"})
	r.net.sent = nil
	if !r.app.Dismissed() || len(r.app.cells) != 0 || r.here(7) {
		t.Error("it keeps what it had")
	}
	r.tick(30)
	r.create(8, -5)
	r.addCell(9)
	r.app.Closed(r.now, r.mgr, mercury.ErrPeerClosed)
	r.tick(30)
	if len(r.net.sent) != 0 || len(r.app.cells) != 0 {
		t.Errorf("a dismissed app says %v", ids(r.net.sent))
	}
}

func TestConfigFaults(t *testing.T) {
	_, err := New(Config{Tick: -1, Space: space.Config{AoIRadius: 1000, Border: balance.Border{GhostDistance: 550}}})
	want := []string{
		"cellapp: Transport is nil; set it to the runner's transport",
		"cellapp: Manager is not an address; set it to the address where the CellAppMgr listens",
		"cellapp: Chance is nil; set it to a seeded *rand.Rand",
		"cellapp: Scripts is nil; make one with space.NewScripts",
		"cellapp: Tick -1ns and ReportPeriod 0s must not be negative; zero means the default",
		"space: Border.GhostDistance 550 m is too short: AoIRadius + AoIHysteresis + Border.Band + TopSpeed × CheckPeriod = 1021 m; leave it zero, raise it or lower AoIRadius",
	}
	if err == nil || err.Error() != strings.Join(want, "\n") {
		t.Errorf("faults:\n%v\nwant:\n%s", err, strings.Join(want, "\n"))
	}
	s := testScripts(t)
	space.Register[Walker](s, "Nobody")
	c := Config{Transport: &transport{}, Manager: manager, Scripts: s, Chance: rand.New(rand.NewPCG(1, 1))}
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), `no entity type "Nobody"`) {
		t.Errorf("faults of scripts are not told: %v", err)
	}
}

// Strangers cannot fill the log with refused messages.
func TestRefusalsDoNotFillTheLog(t *testing.T) {
	r := newRig(t)
	var log bytes.Buffer
	r.app.log = slog.New(slog.NewTextHandler(&log, nil))
	garbage := func(n int) {
		for range n {
			r.app.Message(r.now, r.net.channel(addr(5)), true, []byte{200, 1})
		}
	}
	garbage(100)
	r.now += 2 * time.Second
	garbage(1)
	if n := r.app.Counters().Refused; n != 101 {
		t.Errorf("%d counted", n)
	}
	if got := log.String(); strings.Count(got, "message refused") != 2 || !strings.Contains(got, "unlogged=99") {
		t.Errorf("logged:\n%s", got)
	}
}

// TestClock checks that work is measured by differences, whatever the clock's zero.
func TestClock(t *testing.T) {
	r := newRig(t)
	work := 1000 * time.Hour
	r.app.ticks.Clock = func() time.Duration { work += 150 * time.Millisecond; return work }
	next := r.app.Tick(r.now)
	if r.app.report.Late != 1 || next <= r.now || next > r.now+time.Second {
		t.Errorf("late %d, next in %v", r.app.report.Late, next-r.now)
	}
}

// FuzzMessage gives a CellApp with a cell, a real and a ghost arbitrary messages from the manager,
// a BaseApp, another CellApp and a stranger.
func FuzzMessage(f *testing.F) {
	r := newRig(f)
	r.world()
	d := r.app.cfg.Scripts.Schema().Type("Walker")
	values := property.NewValues(d, property.CellSide, nil)
	core := migrate.AppendFirst(nil, property.Vector3{X: -5}, property.Vector3{}, values, nil)
	head := ghost.Head{ID: 9, Order: entity.Order{Incarnation: 1}, Sequence: 3}
	call := flow.MethodCall{}
	for from, list := range [][]wire.Message{
		{
			&wire.Welcome{Number: 1, Allocator: 4}, &wire.Welcome{Number: 1, Term: 2}, &wire.Refused{Reason: "no"}, &wire.Dismissed{}, &wire.Dismissed{Term: 1}, &wire.Freeze{On: true},
			&wire.AppDead{Role: wire.BaseApp, App: addr(3)}, &wire.AppDead{Role: wire.CellApp, App: addr(2)},
			&wire.AddCell{Space: 2, Cell: bsp.CellID{Term: 1, N: 5}, Tree: bsp.New(bsp.Version{}, leaf(1, 5)).Append(nil)},
			&wire.Geometry{Space: 1, Tree: bsp.New(bsp.Version{Term: 2}, leaf(2, 5)).Append(nil)}, &wire.SpaceData{Space: 1, Entry: space.DataEntry{Number: 9}},
			&wire.Geometry{Space: 1, Tree: delta(f, 1, 2)}, &wire.Geometry{Space: 1, Tree: delta(f, 2, 3)}, &wire.AddCell{Space: 2, Tree: delta(f, 1, 2)},
		}, {
			&migrate.Create{ID: 8, Space: 1, Order: entity.Order{Incarnation: 1}, Base: addr(3), Session: flow.Session{Number: 1, Room: 920}, Parts: core},
			&migrate.Refuse{ID: 7, Order: entity.Order{Incarnation: 1}}, &wire.ClientMove{ID: 7, ClientRest: flow.ClientRest{Sequence: 1}},
			&flow.Message{From: 7, FromPart: entity.BasePart, To: 7, ToPart: entity.CellPart, Incarnation: 1, Low: 1, Number: 1, Payload: []byte{byte(flow.DestroyPayload)}},
			&flow.Ack{To: 7, ToPart: entity.CellPart, From: 7, FromPart: entity.BasePart, Incarnation: 1, Number: 1},
		}, {
			&migrate.Onload{ID: 7, Space: 1, Order: entity.Order{Incarnation: 1, Hop: 1}, Parts: core}, &migrate.OnloadAck{ID: 7, Order: entity.Order{Incarnation: 1, Hop: 1}},
			&ghost.State{Head: head, Space: 1, Props: make([]byte, 1+4+1), History: make([]byte, 4)}, &ghost.Update{Head: head}, &ghost.Delete{Head: head}, &ghost.Audit{Head: head},
			&flow.Message{From: 9, FromPart: entity.CellPart, To: 7, ToPart: entity.CellPart, Incarnation: 1, Low: 1, Number: 1, Payload: call.Append(nil, flow.RemoteCallPayload)},
		},
	} {
		for _, m := range list {
			f.Add(uint8(from), wire.Encode(nil, m))
		}
	}
	f.Add(uint8(3), []byte{})
	f.Fuzz(func(t *testing.T, from uint8, msg []byte) {
		r := newRig(t)
		r.world()
		r.from(addr(2), &ghost.State{Head: ghost.Head{ID: 9, Order: entity.Order{Incarnation: 1}, Sequence: 1}, Space: 1, Props: make([]byte, 1+4+1), History: make([]byte, 4)})
		if r.app.cell(1).Ghosts() != 1 {
			t.Fatal("no ghost")
		}
		before := r.app.Counters().Refused
		ch := []mercury.ChannelID{r.mgr, r.net.channel(addr(3)), r.net.channel(addr(2)), r.net.channel(addr(8)), 99}[from%5]
		r.app.Message(r.now, ch, true, msg)
		if (len(msg) == 0 || msg[0] == 0 || msg[0] > byte(wire.FlowRemainderID)) && ch != 99 && r.app.Counters().Refused == before {
			t.Error("what is no message of a CellApp is not counted")
		}
		r.app.Message(r.now, ch, true, msg)
		r.tick(12)
		// A length in a message must not make the app send without end.
		if len(r.net.sent) > 1000 {
			t.Errorf("%d messages sent", len(r.net.sent))
		}
	})
}

// What a CellApp knows of a dead one's reals goes before its word that it has mourned.
func TestMourns(t *testing.T) {
	r := newRig(t)
	r.world()
	r.net.to(addr(3))
	r.manage(&wire.AppDead{Role: wire.CellApp, App: addr(2)})
	got := r.net.to(addr(3))
	var m wire.Mourned
	if n := len(got); n == 0 || got[n-1].id != wire.MournedID || m.Parse(got[n-1].body) != nil || m.App != addr(2) {
		t.Errorf("the base got %v", ids(got))
	}
	r.manage(&wire.AppDead{Role: wire.BaseApp, App: addr(5)})
	if slices.Contains(ids(r.net.to(addr(3))), wire.MournedID) {
		t.Error("it mourns a BaseApp")
	}
}

// seer is a Lookout that notes where it is to look.
type seer map[uint64]netip.AddrPort

func (s seer) Probe(token uint64, at netip.AddrPort) { s[token] = at }

// A CellApp looks where the manager asks it to, and says what it found.
func TestLooks(t *testing.T) {
	r := newRig(t)
	r.manage(&wire.Look{Inquiry: 1, App: addr(2)}) // it has no Lookout
	s := seer{}
	r.app.looks.Lookout = s
	r.join()
	seen := func() (out []wire.Seen) {
		return sentTo[wire.Seen](r, toManager, wire.SeenID)
	}
	r.manage(&wire.Look{Inquiry: 7, App: addr(2)})
	if len(s) != 1 || s[1] != addr(2).At {
		t.Fatalf("it looks at %v", s)
	}
	r.app.Reached(r.now, 2, mercury.ReachClosed)
	if got := seen(); len(got) != 0 {
		t.Errorf("it says %v of what nobody asked", got)
	}
	r.app.Reached(r.now, 1, mercury.ReachSilent)
	r.app.Reached(r.now, 1, mercury.ReachOpen)
	if got := seen(); len(got) != 1 || got[0] != (wire.Seen{Inquiry: 7, App: addr(2), Reach: mercury.ReachSilent}) {
		t.Errorf("it says %v", got)
	}
}
