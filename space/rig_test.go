package space

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/balance"
	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/entity/placement"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space/cluster/status"
	"github.com/cellscape/cellscape/space/internal/hosting"
)

// Properties of the test type.
const (
	hpProp    = iota // everyone sees it
	tradeProp        // other cells see it
	manaProp         // other cells and the own client see it
	diaryProp        // the script's own
	stockProp        // a list; other cells see it
	purseProp        // a list; other cells and the own client see it
	bagProp          // a list that everyone sees
	chestProp        // the first of six large ones that the own client sees
)

// Cell methods of the test type.
const (
	hitMethod = iota
	ownMethod
	allMethod
	boomMethod
	markMethod
	payMethod
)

func testSchema(t testing.TB) *property.Schema { return schemaOf(t, property.Compression{}) }

// schemaOf has an Avatar of the compression, with more properties.
func schemaOf(t testing.TB, c property.Compression, more ...*property.Property) *property.Schema {
	t.Helper()
	u32, text := property.Scalar(property.KindUint32), property.Scalar(property.KindString)
	arg := []property.Arg{{Name: "n", Type: u32}}
	list, err := property.NewArray(u32, 0)
	if err != nil {
		t.Fatal(err)
	}
	s, err := property.NewSchema(
		&property.Definition{
			Name: "Avatar", HasCell: true, HasBase: true, HasClient: true, Compression: c,
			Properties: append([]*property.Property{
				{Name: "hp", Type: u32, Flags: property.AllClients},
				{Name: "trade", Type: u32, Flags: property.CellPublic},
				{Name: "mana", Type: u32, Flags: property.CellPublicAndOwn},
				{Name: "diary", Type: property.Scalar(property.KindString), Flags: property.CellPrivate},
				{Name: "stock", Type: list, Flags: property.CellPublic},
				{Name: "purse", Type: list, Flags: property.CellPublicAndOwn},
				{Name: "bag", Type: list, Flags: property.AllClients},
				{Name: "chest1", Type: text, Flags: property.OwnClient},
				{Name: "chest2", Type: text, Flags: property.OwnClient},
				{Name: "chest3", Type: text, Flags: property.OwnClient},
				{Name: "chest4", Type: text, Flags: property.OwnClient},
				{Name: "chest5", Type: text, Flags: property.OwnClient},
				{Name: "chest6", Type: text, Flags: property.OwnClient},
			}, append(more, &property.Property{Name: "data", Type: property.Scalar(property.KindString), Flags: property.CellPrivate})...),
			CellMethods: []*property.Method{
				{Name: "hit", Args: arg},
				{Name: "own", Args: arg, Exposed: property.ExposedOwn},
				{Name: "all", Args: arg, Exposed: property.ExposedAll},
				{Name: "boom"},
				{Name: "mark", Args: arg},
				{Name: "pay", Args: arg, Returns: []property.Arg{{Name: "left", Type: u32}, {Name: "by", Type: text}}},
			},
			BaseMethods:   []*property.Method{{Name: "report", Args: arg}},
			ClientMethods: []*property.Method{{Name: "say", Args: arg}, {Name: "show", Args: []property.Arg{{Type: property.Scalar(property.KindString)}}}, {Name: "whisper", Args: arg, DetailDistance: 60}},
		},
		&property.Definition{Name: "Rock", HasCell: true, HasClient: true},
		&property.Definition{Name: "Account", HasBase: true},
		&property.Definition{Name: "Tower", HasCell: true, HasClient: true, AppealRadius: 60},
		&property.Definition{Name: "Beacon", HasCell: true, HasClient: true, ManualAoI: true, CellMethods: []*property.Method{{Name: "shine", Args: arg}}},
	)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Avatar is the script of the tests. What happens to it goes into its diary, a property, so that it
// shows what a move or a restore keeps.
type Avatar struct {
	*Real
	Hp      property.Uint32
	Trade   property.Uint32
	Mana    property.Uint32
	Diary   property.String
	Data    property.String
	Stock   property.Slice[uint32]
	Purse   property.Slice[uint32]
	Bag     property.Slice[uint32]
	hook    func(*Avatar, string) `cellscape:"local"`
	seen    func(bool)            `cellscape:"local"`
	marks   uint32                `cellscape:"local"`
	spawned []property.Mailbox    `cellscape:"local"`

	moving func(from, to property.Vector3) (property.Vector3, bool) `cellscape:"local"`
	ask    func(*entity.Destination) error                          `cellscape:"local"`
	leave  func()                                                   `cellscape:"local"`
	end    func()                                                   `cellscape:"local"`
}

// OnAlighted notes who was thrown off what.
func (a *Avatar) OnAlighted(vehicle entity.ID) { a.note("off %d", vehicle) }

func (a *Avatar) note(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	a.Diary.Set(a.Diary.Get() + s + ";")
	if a.hook != nil {
		a.hook(a, s)
	}
}

func (a *Avatar) Hit(n uint32)                { a.note("hit %d", n) }
func (a *Avatar) Own(who entity.ID, n uint32) { a.note("own %d by %d", n, who) }
func (a *Avatar) All(who entity.ID, n uint32) { a.note("all %d by %d", n, who) }
func (a *Avatar) Boom()                       { a.Hp.Set(99); panic("boom") }
func (a *Avatar) OnCreated()                  { a.note("created") }
func (a *Avatar) OnRestored()                 { a.note("restored"); a.act(inRestored) }
func (a *Avatar) OnDestroy() {
	if a.end != nil {
		a.end()
	}
}
func (a *Avatar) OnLeavingCell()         { a.note("leaving"); a.act(inLeaving) }
func (a *Avatar) OnLeftCell()            { a.note("left"); a.act(inLeft) }
func (a *Avatar) OnEnteringCell()        { a.note("entering"); a.act(inEntering) }
func (a *Avatar) OnEnteredCell()         { a.note("entered"); a.act(inEntered) }
func (a *Avatar) OnClient(attached bool) { a.note("client %v", attached) }
func (a *Avatar) OnSpaceData(d entity.SpaceDatum) {
	a.Data.Set(a.Data.Get() + fmt.Sprintf("data %d/%d %.9s %v;", d.Key, d.ID, d.Value, d.Removed))
}
func (a *Avatar) Pay(n uint32) (uint32, string, error) {
	a.note("pay %d for %v", n, a.Call().Source)
	switch n {
	case 13:
		return 0, "", &entity.GameError{Code: 13, Text: "bad luck"}
	case 14:
		return 0, "", errDeaf
	case 15:
		return 0, strings.Repeat("x", flow.MaxArguments), nil
	case 16:
		a.Destroy()
	case 17:
		panic("out of money")
	}
	return 100 - n, "avatar", nil
}
func (a *Avatar) Mark(n uint32) { a.marks += n }

// textOf is what an error says, nothing for none.
func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func (a *Avatar) OnBase(b entity.BaseReply) {
	a.note("base %d is %d %s", b.User, b.Base.Entity, textOf(b.Err))
}
func (a *Avatar) OnName(n entity.NameReply) {
	a.note("name %d %s is %d's %s", n.User, n.Name, n.Holder.Entity, textOf(n.Err))
}
func (a *Avatar) OnSpawned(s SpawnReply) {
	if s.Err != nil {
		a.note("spawn %d: %v", s.User, s.Err)
		return
	}
	a.note("spawned %d", s.User)
	a.spawned = append(a.spawned, s.Entity)
}
func (a *Avatar) OnPaid(p entity.Reply) {
	var left uint32
	var by string
	if p.User == 17 {
		panic("unlucky")
	}
	if err := p.Scan(&left, &by); err != nil {
		a.note("%s of %v: %v", p.Method, p.Target, err)
		return
	}
	a.note("%s of %v: %d left by %s, user %d", p.Method, p.Target, left, by, p.User)
}
func (a *Avatar) OnWitnessed(on bool) {
	if a.seen != nil { // not into the diary: it hangs on who else is there
		a.seen(on)
	}
}
func (a *Avatar) OnMoving(from, to property.Vector3) (property.Vector3, bool) {
	if a.moving != nil {
		return a.moving(from, to)
	}
	return to, true
}
func (a *Avatar) OnTeleport(to *entity.Destination, user int64) error {
	a.note("teleport %d", user)
	if a.ask != nil {
		return a.ask(to)
	}
	return nil
}
func (a *Avatar) OnSpaceEnd() {
	a.note("space ends")
	if a.leave != nil {
		a.leave()
	}
}
func (a *Avatar) OnTeleported(user int64) { a.note("teleported %d", user) }
func (a *Avatar) OnTeleportFailed(user int64, err *placement.TeleportError) {
	a.note("stays %d: %s", user, err.Code)
}
func (a *Avatar) OnTimer(c entity.Callback)   { a.note("timer %d", c.User) }
func (a *Avatar) OnArrival(c entity.Callback) { a.note("arrival %d", c.User) }
func (a *Avatar) OnFailed(c entity.Callback) {
	a.note("failed %d: %t", c.User, errors.Is(c.Err, ErrNotHere))
}
func (a *Avatar) OnTrap(x Trapped)       { a.cell.out.(*testApp).trapped(a, x) }
func (a *Avatar) OnBomb(entity.Callback) { panic("bomb") }

// The hooks of a real's life in which an Avatar does what its trade says.
const (
	inLeaving uint32 = 1 + iota
	inLeft
	inEntering
	inEntered
	inRestored
)

// panics and destroys are what it does there, added to the hook.
const panics, destroys, changes = 100, 200, 300

func (a *Avatar) act(hook uint32) {
	switch a.Trade.Get() {
	case hook + panics:
		panic("by trade")
	case hook + destroys:
		a.Destroy()
	case hook + changes:
		a.Hp.Set(a.Hp.Get() + 1)
		_, _ = a.Bag.Append(hook), a.Stock.Append(hook)
	}
}

func testConfig() Config {
	return Config{AoIRadius: 100, Border: balance.Border{GhostDistance: 130}, ArtificialLoad: 1000}.WithDefaults()
}

const tickPeriod = 100 * time.Millisecond

func addr(n int) mercury.Address {
	return mercury.Address{At: netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(n)}), 1000), Salt: uint32(n)}
}

func cellID(n int) bsp.CellID { return bsp.CellID{Term: 1, N: uint32(n)} }

func leaf(n int) bsp.Leaf {
	a := addr(n)
	return bsp.Leaf{Cell: cellID(n), App: a.At, Salt: a.Salt, Created: true}
}

// packet is a message between two apps.
type packet struct {
	from, to mercury.Address
	m        hosting.Message
}

// testApp is a CellApp with one cell, and the cell's Outbox.
type testApp struct {
	*rig
	self       mercury.Address
	cell       Hosted
	population *Population
	count      status.Counters
	dead       []mercury.Address
	room       int              // what ClientRoom says
	deaf       bool             // ClientPacket fails
	longest    int              // message that SendWhole takes; 0 for any
	packed     bool             // others wait before what SendWhole would send
	unfit      int              // SendWhole did not take
	own        load.Meter       // messages that no cell claims
	ended      []entity.SpaceID // asked for
}

func (a *testApp) Send(to mercury.Address, m hosting.Message) {
	if to.IsZero() || a.Dead(to) {
		return
	}
	a.queue = append(a.queue, packet{a.self, to, clone(a.t, m)})
}

func (a *testApp) SendWhole(to mercury.Address, m hosting.Message) error {
	switch {
	case a.packed:
		a.unfit++
		return mercury.ErrFull
	case a.longest > 0 && len(m.Append(nil)) > a.longest:
		a.unfit++
		return mercury.ErrMessageTooLong
	}
	a.Send(to, m)
	return nil
}

// passedOn is a message as it is passed on.
type passedOn struct {
	hosting.Message
	past entity.Order
}

func (a *testApp) PassOn(way hosting.Way, m hosting.Message) {
	if way.To.IsZero() || a.Dead(way.To) {
		return
	}
	a.queue = append(a.queue, packet{a.self, way.To, passedOn{clone(a.t, m), way.Order}})
}

func (a *testApp) Level(to mercury.Address) mercury.Level { return a.rig.levels[to] }

func (a *testApp) ClientPacket(_ mercury.Address, id entity.ID, _ entity.Order, _ uint32, p []byte) error {
	if a.deaf {
		return errDeaf
	}
	a.places[id] = append(a.places[id], slices.Clone(p))
	return nil
}

var errDeaf = errors.New("the channel to the proxy takes nothing")

func (a *testApp) ClientRoom(mercury.Address) int { return a.room }

func (a *testApp) SetSpaceData(space entity.SpaceID, d entity.SpaceDatum) {
	a.dataNumber++
	for _, x := range a.apps {
		c := x.population.cell(space)
		if c == nil {
			continue
		}
		Hosted{c}.TakeData(DataEntry{Number: a.dataNumber, Key: d.Key, ID: d.ID, Removed: d.Removed, Value: d.Value})
	}
}

func (a *testApp) DestroySpace(id entity.SpaceID) { a.ended = append(a.ended, id) }

// LocateArea is answered at once, as the trees of the apps have it.
func (a *testApp) LocateArea(gateway uint64, in entity.SpaceID, area bsp.Rect) {
	var apps []mercury.Address
	for _, x := range a.apps {
		if c := x.population.cell(in); c != nil && !a.Dead(x.self) {
			if _, rect, there := c.tree.Leaf(c.id); there && rect.Overlaps(area) {
				apps = append(apps, x.self)
			}
		}
	}
	a.population.LocatedArea(gateway, in, apps)
}

func (a *testApp) Locate(id entity.ID, in entity.SpaceID, at property.Vector3) {
	if a.locate != nil {
		a.locate(a, id, in, at)
	}
}

func (a *testApp) Whereis(near, asker entity.ID) bool {
	b := a.bases[near]
	if b == nil || a.Dead(b.app) {
		return false
	}
	a.population.Whereabouts(near, asker, b.app, false)
	return true
}

func (a *testApp) NewID() (entity.ID, error) {
	if a.noIDs {
		return 0, errors.New("no more ids")
	}
	a.lastID++
	return a.lastID, nil
}

func (a *testApp) Dead(app mercury.Address) bool { return slices.Contains(a.dead, app) }

// Home is the base's app, for all that were made by bases.
func (a *testApp) Home(id entity.ID) (app mercury.Address, base bool) {
	if at, is := a.homes[id]; is {
		return at, true
	}
	if a.bases[id] != nil {
		return a.rig.base, true
	}
	return mercury.Address{}, false
}

// parser is a message that can be received.
type parser interface {
	hosting.Message
	Parse([]byte) error
}

// clone sends a message through its own encoding, as a transport does.
func clone(t testing.TB, m hosting.Message) hosting.Message {
	t.Helper()
	b := m.Append(nil)
	c := blank(m)
	if err := c.Parse(b); err != nil {
		t.Fatalf("%T: %v", m, err)
	}
	return c
}

// blank is an empty message of the type of m.
func blank(m hosting.Message) parser {
	return reflect.New(reflect.TypeOf(m).Elem()).Interface().(parser)
}

// testBase is the base part of one entity, scripted.
type testBase struct {
	order   entity.Order
	app     mercury.Address
	out     flow.Sender
	in      flow.Receiver
	got     [][]byte // payloads of the flow
	backup  *flow.Backup
	offers  []*migrate.Offer
	lost    []*migrate.Lost
	session uint32
	deaf    bool // does not ack
	life    uint32
	// unsettled says that no copy of the base has what it handles.
	unsettled bool
	uploads   uint64 // calls of the client
}

// gone reports whether the cell part has ended.
func (b *testBase) gone() bool {
	return slices.ContainsFunc(b.got, func(p []byte) bool { return flow.Payload(p[0]) == flow.GonePayload })
}

// rig is a few CellApps and a BaseApp; messages wait until the test delivers them.
type rig struct {
	t          testing.TB
	scripts    *Scripts
	apps       []*testApp
	base       mercury.Address
	bases      map[entity.ID]*testBase
	queue      []packet
	lastWords  flow.LastWords             // of cell parts with bases
	refuses    map[entity.ID]entity.Order // newer reals are refused, since they show no title
	lies       bool                       // some app lies
	hold       func(packet) bool          // keep back what it says
	arrive     func(packet)               // hears what a CellApp is about to handle
	places     map[entity.ID][][]byte
	now        time.Duration
	noIDs      bool
	lastID     entity.ID
	dataNumber uint64
	levels     map[mercury.Address]mercury.Level // of the ways to apps
	locate     func(a *testApp, id entity.ID, in entity.SpaceID, at property.Vector3)
	baseHeard  uint64                        // what a base says to have heard of a real that it restores
	homes      map[entity.ID]mercury.Address // of bases that are not where the others are
	passOver   []flow.Culprit                // what it tells that real to pass over
	trapped    func(a *Avatar, x Trapped)
}

// newRig cuts the space into n cells by lines at x = 0, 400, 800 ...; app k has cell k.
func newRig(t testing.TB, n int, change ...func(*Config)) *rig {
	t.Helper()
	return newRigOf(t, testSchema(t), n, change...)
}

func newRigOf(t testing.TB, schema *property.Schema, n int, change ...func(*Config)) *rig {
	t.Helper()
	r := &rig{t: t, base: addr(100), bases: map[entity.ID]*testBase{}, places: map[entity.ID][][]byte{}, lastID: 1000}
	r.scripts = NewScripts(schema)
	Register[Avatar](r.scripts, "Avatar")
	RegisterController[countdown](r.scripts, "countdown")
	if err := r.scripts.Err(); err != nil {
		t.Fatal(err)
	}
	cfg := testConfig()
	for _, f := range change {
		f(&cfg)
	}
	if err := cfg.Validate(); err != nil {
		t.Fatal(err)
	}
	tree := bsp.New(bsp.Version{Term: 1, N: 1}, leaf(1))
	for k := 2; k <= n; k++ {
		if err := tree.Split(cellID(k-1), bsp.AxisX, float64(400*(k-2)), leaf(k), true); err != nil {
			t.Fatal(err)
		}
	}
	for k := 1; k <= n; k++ {
		a := &testApp{rig: r, self: addr(k), room: 900}
		a.population = NewPopulation(cfg, r.scripts, hosting.Env{
			Self: a.self, Out: a, Counters: &a.count,
			Chance: rand.New(rand.NewPCG(1, uint64(k))), Log: slog.New(slog.DiscardHandler),
			Compressor: new(property.Compressor),
		})
		a.cell = a.population.NewCell(0, 0, 1, cellID(k), tree, nil)
		r.apps = append(r.apps, a)
	}
	return r
}

func (r *rig) app(at mercury.Address) *testApp {
	for _, a := range r.apps {
		if a.self == at {
			return a
		}
	}
	return nil
}

// pump delivers until nothing is under way but what is held back.
func (r *rig) pump() {
	r.t.Helper()
	for range 100000 {
		i := slices.IndexFunc(r.queue, func(p packet) bool { return r.hold == nil || !r.hold(p) })
		if i < 0 {
			return
		}
		p := r.queue[i]
		r.queue = slices.Delete(r.queue, i, i+1)
		r.deliver(p)
	}
	r.t.Fatal("messages without end")
}

func (r *rig) deliver(p packet) {
	if p.to == r.base {
		r.toBase(p)
		return
	}
	a := r.app(p.to)
	if a == nil || a.Dead(p.from) {
		return
	}
	if on, is := p.m.(passedOn); is {
		_ = a.population.Follow(on.past, func() error {
			r.deliver(packet{p.from, p.to, on.Message})
			return nil
		})
		return
	}
	c := a.cell
	c.watch.Open(&a.own)
	defer c.watch.Leave()
	if r.arrive != nil {
		r.arrive(p)
	}
	var err error
	switch m := p.m.(type) {
	case *flow.Message:
		a.population.HandleFlow(m, p.from)
	case *flow.Ack:
		a.population.HandleAck(m, p.from)
	case *flow.Inquiry:
		a.population.HandleInquiry(m)
	case *flow.Remainder:
		a.population.HandleRemainder(m)
	case *ghost.State:
		err = a.population.GhostState(m, p.from)
	case *ghost.Update:
		err = a.population.GhostUpdate(m, p.from)
	case *ghost.Delete:
		a.population.GhostDelete(m, p.from)
	case *ghost.Audit:
		err = a.population.GhostAudit(m, p.from)
	case *ghost.Query:
		err = a.population.GhostQuery(m, p.from)
	case *ghost.Watched:
		a.population.GhostWatched(m, p.from)
	case *ghost.Roll:
		a.population.GhostRoll(m, p.from)
	case *migrate.Onload:
		err = a.population.Onload(m, p.from)
	case *migrate.OnloadAck:
		err = a.population.OnloadAck(m, p.from)
	case *migrate.OnloadParty:
		err = a.population.OnloadParty(m, p.from)
	case *migrate.OnloadRefused:
		err = a.population.OnloadRefused(m, p.from)
	case *migrate.Create:
		a.population.Create(m, p.from)
	case *migrate.Refuse:
		a.population.Refuse(m, p.from)
	case *migrate.Probe:
		a.population.Probe(m)
	default:
		r.t.Fatalf("a CellApp got a %T", m)
	}
	if err != nil && (!r.lies || !errors.Is(err, errUntrue)) {
		r.t.Error(err)
	}
	a.population.Settle()
}

func (r *rig) toBase(p packet) {
	switch m := p.m.(type) {
	case *migrate.Current:
		if order, no := r.refuses[m.ID]; no && order.Before(m.Order) {
			r.queue = append(r.queue, packet{r.base, p.from, &migrate.Refuse{ID: m.ID, Order: m.Order}})
			return
		}
		if b := r.bases[m.ID]; b != nil && (b.order.Before(m.Order) || b.order == m.Order) {
			b.order, b.app = m.Order, p.from
			r.resend(m.ID)
		} else if b != nil {
			r.queue = append(r.queue, packet{r.base, p.from, &migrate.Refuse{ID: m.ID, Order: m.Order}})
		}
	case *flow.Message:
		if m.ToPart == entity.CellPart { // whoever sent it does not know where the real is
			b := r.bases[m.To]
			switch {
			case b == nil || b.gone():
				gone := flow.Ack{To: m.From, ToPart: m.FromPart, From: m.To, FromPart: m.ToPart, Incarnation: m.Incarnation, Gone: true}
				r.lastWords.Complete(&gone)
				r.queue = append(r.queue, packet{r.base, m.Reply, &gone})
			case r.app(b.app) != nil:
				r.queue = append(r.queue, packet{r.base, b.app, m})
			}
			return
		}
		b := r.bases[m.From]
		if b == nil || b.deaf {
			return
		}
		b.in.Accept(m.Incarnation, m.Low, m.Number, m.Payload, func(payload []byte) {
			b.got = append(b.got, slices.Clone(payload))
			if flow.Payload(payload[0]) == flow.BackupPayload {
				b.backup = new(flow.Backup)
				if err := b.backup.Parse(slices.Clone(payload[1:])); err != nil {
					r.t.Fatal(err)
				}
				b.out.Settle(r.now, b.backup.Handled.Number())
			}
			var gone flow.Gone
			if flow.Payload(payload[0]) == flow.GonePayload {
				if err := gone.Parse(payload[1:]); err != nil {
					r.t.Fatal(err)
				}
			}
			for _, x := range gone.Heard {
				r.lastWords.Keep(r.now, m.From, entity.CellPart, x)
			}
		})
		settled := b.in.Last()
		if b.unsettled {
			settled = 0
		}
		r.queue = append(r.queue, packet{r.base, m.Reply, &flow.Ack{
			To: m.From, ToPart: entity.CellPart, From: m.From, FromPart: entity.BasePart, Life: b.life,
			Incarnation: b.in.Incarnation(), Number: b.in.Last(), Settled: settled,
		}})
	case *flow.Ack:
		if m.ToPart == entity.CellPart { // whoever sent it does not know where the real is
			if b := r.bases[m.To]; b != nil && r.app(b.app) != nil {
				r.queue = append(r.queue, packet{r.base, b.app, m})
			}
			return
		}
		if b := r.bases[m.To]; b != nil && m.Life == b.order.Incarnation {
			b.out.Received(r.now, m.Number)
		}
	case *flow.Inquiry: // by the base's app, which passes it on
		if b := r.bases[m.Of]; b != nil && r.app(b.app) != nil {
			r.queue = append(r.queue, packet{r.base, b.app, m})
		}
	case *migrate.Offer:
		r.bases[m.ID].offers = append(r.bases[m.ID].offers, m)
	case *migrate.Lost:
		r.bases[m.ID].lost = append(r.bases[m.ID].lost, m)
	default:
		r.t.Fatalf("the base got a %T", m)
	}
}

// say puts a payload into the flow from an entity's base to its real.
func (r *rig) say(id entity.ID, payload []byte) {
	b := r.bases[id]
	n, err := b.out.Add(r.now, payload)
	if err != nil {
		r.t.Fatal(err)
	}
	r.transmit(id, n, payload)
}

func (r *rig) transmit(id entity.ID, n uint64, payload []byte) {
	b := r.bases[id]
	r.queue = append(r.queue, packet{r.base, b.app, &flow.Message{
		From: id, FromPart: entity.BasePart, To: id, ToPart: entity.CellPart,
		Low: b.out.Low(), Number: n, Reply: r.base, Payload: slices.Clone(payload),
	}})
}

func (r *rig) resend(id entity.ID) {
	r.bases[id].out.Each(r.now, func(n uint64, p []byte) { r.transmit(id, n, p) })
}

func (r *rig) call(id entity.ID, method int, args ...byte) {
	m := flow.MethodCall{Method: uint16(method), Args: args}
	r.say(id, m.Append(nil, flow.CallCellPayload))
}

func (r *rig) clientCall(id, target entity.ID, method int, args ...byte) {
	exposed := 99 // clients count the exposed methods only
	if d := r.scripts.Schema().Type("Avatar"); method < len(d.CellMethods) {
		exposed = d.CellMethods[method].ExposedIndex
	}
	b := r.bases[id]
	b.uploads++
	m := flow.ClientCall{Target: target, Session: 1, Number: b.uploads, Method: uint16(exposed), Args: args}
	r.say(id, m.Append(nil))
}

// create makes an Avatar with a base; it is delivered at once.
func (r *rig) create(id entity.ID, x float32, session uint32) *testApp {
	r.t.Helper()
	a := r.at(x)
	d := r.scripts.Schema().Type("Avatar")
	parts := migrate.AppendFirst(nil, property.Vector3{X: x}, property.Vector3{}, property.NewValues(d, property.CellSide, nil), nil)
	b := &testBase{order: entity.Order{Incarnation: 1}, app: a.self, session: session}
	r.bases[id] = b
	r.queue = append(r.queue, packet{r.base, a.self, &migrate.Create{ID: id, Type: d.ID, Space: 1, Order: b.order, Base: r.base, Session: flow.Session{Number: session, Room: 900}, Parts: parts}})
	r.pump()
	if r.real(id) == nil {
		r.t.Fatalf("no real of %d was made", id)
	}
	return a
}

// restore brings an entity back at x from a copy, in a new incarnation.
func (r *rig) restore(id entity.ID, x float32, parts []byte, handled flow.Mark) *testApp {
	r.t.Helper()
	b, a := r.bases[id], r.at(x)
	b.order = entity.Order{Incarnation: b.order.Incarnation + 1}
	b.app, b.in = a.self, flow.NewReceiver(b.order.Incarnation, 0)
	b.out.Rewind(handled.Number())
	r.queue = append(r.queue, packet{r.base, a.self, &migrate.Create{
		ID: id, Type: r.scripts.Schema().Type("Avatar").ID, Space: 1, Order: b.order, Base: r.base,
		Session: flow.Session{Number: b.session, Room: 900}, Handled: handled, Heard: r.baseHeard, Restored: true, Pass: r.passOver, Parts: parts,
	}})
	r.pump()
	return a
}

func (r *rig) at(x float32) *testApp {
	k := len(r.apps) - 1
	for r.apps[k].cell.space != 1 { // see addApp
		k--
	}
	l := r.apps[k].cell.tree.At(float64(x), 0)
	return r.app(appOf(l))
}

// tick lets time pass and delivers everything, n times.
func (r *rig) tick(n int) {
	r.t.Helper()
	for range n {
		r.now += tickPeriod
		for _, a := range r.apps {
			a.population.Tick(r.now, r.now, tickPeriod)
		}
		r.pump()
	}
}

// real is the one real of an entity; nil if there is none.
func (r *rig) real(id entity.ID) *Real {
	r.t.Helper()
	var found *Real
	for _, a := range r.apps {
		if rec := a.population.find(id); rec != nil && rec.real != nil {
			if found != nil {
				r.t.Fatalf("two reals of %d", id)
			}
			found = rec.real
		}
	}
	return found
}

func (r *rig) avatar(id entity.ID) *Avatar {
	r.t.Helper()
	x := r.real(id)
	if x == nil {
		r.t.Fatalf("no real of %d", id)
	}
	return x.script.Interface().(*Avatar)
}

// backUp has a cell part backed up, and is what its base has then.
func (r *rig) backUp(id entity.ID) *flow.Backup {
	r.t.Helper()
	r.real(id).backup()
	r.pump()
	return r.bases[id].backup
}

// waitsForNothing demands that a cell part waits for no answer.
func (r *rig) waitsForNothing(id entity.ID) {
	r.t.Helper()
	if n := r.real(id).requests.Len(); n != 0 {
		r.t.Errorf("%d answers are waited for", n)
	}
}

// flowing picks the messages of the flow from one entity to another.
func flowing(from, to entity.ID) func(packet) bool {
	return func(p packet) bool {
		m, is := p.m.(*flow.Message)
		return is && m.From == from && m.To == to
	}
}

func (r *rig) diary(id entity.ID, want string) {
	r.t.Helper()
	if got := r.avatar(id).Diary.Get(); got != want {
		r.t.Errorf("the diary of %d is\n %q, want\n %q", id, got, want)
	}
}

func (r *rig) ghost(app int, id entity.ID) *ghost.Ghost {
	if rec := r.apps[app-1].population.find(id); rec != nil {
		return rec.ghost
	}
	return nil
}

func (r *rig) move(id entity.ID, x float32) {
	r.t.Helper()
	if err := r.real(id).SetPosition(property.Vector3{X: x}); err != nil {
		r.t.Fatal(err)
	}
}

// calm demands a world at rest in which every ghost equals its real.
func (r *rig) calm() {
	r.t.Helper()
	r.tick(30)
	for _, a := range r.apps {
		if n := a.population.Pending(); n != 0 {
			r.t.Errorf("%v: %d things are still to be told", a.self, n)
		}
		a.cell.auditGhosts()
	}
	r.pump()
	for _, a := range r.apps {
		if a.count.GhostsDiffer != 0 || a.count.Errors != 0 {
			r.t.Errorf("%v: %d ghosts differ, %d errors", a.self, a.count.GhostsDiffer, a.count.Errors)
		}
	}
}

// bundles are the protocol messages that an entity's client got, by id, in order.
func (r *rig) bundles(id entity.ID) (list []protocol.ID, bodies [][]byte) {
	r.t.Helper()
	for _, p := range r.bases[id].got {
		if flow.Payload(p[0]) != flow.BundlePayload {
			continue
		}
		var m flow.Bundle
		if err := m.Parse(p[1:]); err != nil {
			r.t.Fatal(err)
		}
		err := protocol.Messages(m.Bytes, func(id protocol.ID, body []byte) error {
			if id != protocol.BundleID {
				list, bodies = append(list, id), append(bodies, body)
			}
			return nil
		})
		if err != nil {
			r.t.Fatal(err)
		}
	}
	return list, bodies
}

func arg(n byte) []byte { return []byte{n, 0, 0, 0} }
