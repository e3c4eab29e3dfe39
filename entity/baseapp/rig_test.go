package baseapp

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/entity/placement"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/property"
)

// fakeTransport records what an app does with its channels; the test plays the other ends.
type fakeTransport struct {
	at    mercury.Address // its own; self if zero
	last  mercury.ChannelID
	peers map[mercury.ChannelID]mercury.Address
	ended map[mercury.ChannelID]bool
	dials []mercury.ChannelID
	sent  []sentMessage
	// lacks is how much less than a whole packet fits a message now.
	lacks int
	// waiting is how many bytes wait for a peer.
	waiting map[mercury.Address]int
	// count is how many messages were sent while it forgets them.
	forgets bool
	count   int
}

type sentMessage struct {
	to       mercury.Address
	ch       mercury.ChannelID
	reliable bool
	msg      []byte
}

func address(n byte, salt uint32) mercury.Address {
	return mercury.Address{At: netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, n}), 20000), Salt: salt}
}

var (
	self       = address(1, 11)
	cellAppMgr = address(2, 12)
	baseAppMgr = address(3, 13)
	appX       = address(4, 14)
	appY       = address(5, 15)
	appZ       = address(6, 16)
	appW       = address(7, 17) // another BaseApp
)

func (f *fakeTransport) accept(peer mercury.Address) mercury.ChannelID {
	f.last++
	f.peers[f.last] = peer
	return f.last
}

func (f *fakeTransport) Self() mercury.Address {
	if f.at.IsZero() {
		return self
	}
	return f.at
}

func (f *fakeTransport) Dial(to mercury.Address) mercury.ChannelID {
	for _, ch := range f.dials {
		if f.peers[ch] == to && !f.ended[ch] {
			return ch
		}
	}
	ch := f.accept(to)
	f.dials = append(f.dials, ch)
	return ch
}

func (f *fakeTransport) Send(ch mercury.ChannelID, msg []byte) error { return f.record(ch, true, msg) }

func (f *fakeTransport) SendUnreliable(ch mercury.ChannelID, msg []byte) (int, error) {
	return 0, f.record(ch, false, msg)
}

// queueLimit is how many bytes may wait on a channel.
const queueLimit = 1 << 20

func (f *fakeTransport) Queued(ch mercury.ChannelID) (bytes, limit int) {
	return f.waiting[f.peers[ch]], queueLimit
}

func (f *fakeTransport) record(ch mercury.ChannelID, reliable bool, msg []byte) error {
	to, ok := f.Peer(ch)
	if !ok {
		return mercury.ErrNoChannel
	}
	if f.forgets {
		f.count++
		return nil
	}
	f.sent = append(f.sent, sentMessage{to, ch, reliable, bytes.Clone(msg)})
	return nil
}

func (*fakeTransport) Pause(mercury.ChannelID)               {}
func (*fakeTransport) Resume(mercury.ChannelID)              {}
func (f *fakeTransport) MaxUnreliable(mercury.ChannelID) int { return 900 - f.lacks }

func (f *fakeTransport) Close(ch mercury.ChannelID) { f.ended[ch] = true }
func (f *fakeTransport) Abort(ch mercury.ChannelID) { f.ended[ch] = true }

func (f *fakeTransport) Standing(mercury.ChannelID) mercury.Standing { return mercury.Trusted }

func (f *fakeTransport) Peer(ch mercury.ChannelID) (mercury.Address, bool) {
	a, ok := f.peers[ch]
	return a, ok && !f.ended[ch]
}

// avatar is the script of the player type.
type avatar struct {
	*entity.Base
	Gold   property.Int32
	Secret property.Int32
	log    *[]string                `cellscape:"local"`
	do     map[string]func(*avatar) `cellscape:"local"`
	keep   bool                     `cellscape:"local"`
	rig    *rig                     `cellscape:"local"`
}

func (v *avatar) note(format string, args ...any) {
	what := fmt.Sprintf(format, args...)
	*v.log = append(*v.log, what)
	if f := v.do[what]; f != nil {
		f(v)
	}
}

func (v *avatar) OnCreated()           { v.note("created") }
func (v *avatar) OnRestored()          { v.note("restored") }
func (v *avatar) OnEntitiesEnabled()   { v.note("enabled") }
func (v *avatar) OnGetCell()           { v.note("got cell") }
func (v *avatar) OnLoseCell()          { v.note("lost cell") }
func (v *avatar) OnDestroy()           { v.note("destroyed") }
func (v *avatar) Tock(entity.Callback) { v.note("tock") }
func (v *avatar) OnGift(p entity.Reply) {
	var left int32
	if err := p.Scan(&left); err != nil {
		v.note("%s of %v: %v", p.Method, p.Target, err)
		return
	}
	v.note("%s of %v: %d, user %d", p.Method, p.Target, left, p.User)
}
func (v *avatar) Give(n int32) (int32, error) {
	v.note("give %d for %v", n, v.Call().Source)
	if n < 0 {
		return 0, &entity.GameError{Code: 5, Text: "no"}
	}
	return 100 - n, nil
}
func (v *avatar) KeepWithoutClient() bool { return v.keep }
func (v *avatar) OnLogOnAttempt() Relogin {
	if f := v.rig.onAttempt; f != nil {
		return f(v)
	}
	if !v.HasClient() {
		return TakeOver
	}
	return v.rig.a.cfg.Relogin
}
func (v *avatar) Hidden()                   { v.note("hidden") }
func (v *avatar) Buy(what string, n int32)  { v.note("buy %s %d", what, n) }
func (v *avatar) OnAlarm(c entity.Callback) { v.note("alarm %d of %d", c.User, c.ID) }

// textOf is what an error says, nothing for none.
func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func (v *avatar) OnRoom(r entity.SpaceReply) {
	v.note("room %d is %d %s", r.User, r.Space, textOf(r.Err))
}
func (v *avatar) OnBase(r entity.BaseReply) {
	v.note("base %d is %d on %v %s", r.User, r.Base.Entity, r.Base.At, textOf(r.Err))
}
func (v *avatar) OnName(r entity.NameReply) {
	v.note("name %d %s is %d's %s", r.User, r.Name, r.Holder.Entity, textOf(r.Err))
}
func (v *avatar) OnNameLost(name string, holder property.Mailbox) {
	v.note("lost %s to %d", name, holder.Entity)
}
func (v *avatar) OnCell(r entity.CellReply) {
	if why := (*placement.CreateError)(nil); r.Err != nil && (!errors.As(r.Err, &why) || why == nil) {
		v.rig.t.Errorf("the reply has the error %#v", r.Err)
	}
	v.note("cell %d %v", r.User, r.Err)
}
func (v *avatar) OnThere(r entity.TeleportReply) {
	if why := (*placement.TeleportError)(nil); r.Err != nil && (!errors.As(r.Err, &why) || why == nil) {
		v.rig.t.Errorf("the reply has the error %#v", r.Err)
	}
	v.note("teleport %d %v", r.User, r.Err)
}
func (v *avatar) OnGiven(g entity.ClientGiven) {
	if g.Err != nil {
		v.note("not given to %v: %v", g.To, g.Err)
		return
	}
	v.note("given to %v", g.To)
}
func (v *avatar) OnPatch(d entity.DownloadEnd) { v.note("patch %d %v", d.ID, d.Err) }
func (v *avatar) OnClientDeath(code protocol.Code, reason string) {
	v.note("client death %d", code)
}

var _ = [...]any{Creator(&avatar{}), Restorer(&avatar{}), LogOnDecider(&avatar{}), ClientEnabler(&avatar{}), ClientDeathHandler(&avatar{}), Keeper(&avatar{}),
	CellGetter(&avatar{}), CellLoser(&avatar{}), Destroyer(&avatar{})}

var (
	_ mercury.Handler   = (*BaseApp)(nil)
	_ mercury.Transport = (*dialler)(nil)
)

// avatarType is the Avatar's id in testSchema.
const avatarType = 1

func testSchema(t testing.TB) *property.Schema {
	t.Helper()
	i32, text := property.Scalar(property.KindInt32), property.Scalar(property.KindString)
	// What clients do not know comes first, so that their numbers are not the server's.
	s, err := property.NewSchema(&property.Definition{Name: "Engine", HasBase: true, BaseMethods: []*property.Method{{Name: "start"}}}, &property.Definition{
		Name: "Avatar", HasCell: true, HasBase: true, HasClient: true,
		Properties: []*property.Property{
			{Name: "health", Type: i32, Flags: property.AllClients, Default: property.Int(100)},
			{Name: "wrath", Type: i32, Flags: property.CellPrivate},
			{Name: "gold", Type: i32, Flags: property.BaseAndClient, Persistent: true},
			{Name: "secret", Type: i32, Flags: property.Base},
			{Name: "title", Type: text, Flags: property.Base, Persistent: true},
		},
		CellMethods: []*property.Method{
			{Name: "hurt", Args: []property.Arg{{Name: "by", Type: i32}}},
			{Name: "jump", Exposed: property.ExposedOwn},
		},
		BaseMethods: []*property.Method{
			{Name: "hidden"},
			{Name: "buy", Exposed: property.ExposedOwn, Args: []property.Arg{{Name: "what", Type: text}, {Name: "n", Type: i32}}},
			{Name: "give", Args: []property.Arg{{Name: "n", Type: i32}}, Returns: []property.Arg{{Name: "left", Type: i32}}},
		},
		ClientMethods: []*property.Method{{Name: "chat", Args: []property.Arg{{Name: "text", Type: text}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// rig is a BaseApp in a cluster that the test plays.
type rig struct {
	untitled bool // CellApps show no titles
	t        testing.TB
	net      *fakeTransport
	a        *BaseApp
	now      time.Duration
	schema   *property.Schema
	events   []string
	do       map[string]func(*avatar)
	keep     bool
	// onAttempt answers for OnLogOnAttempt; nil leaves that to the setting.
	onAttempt func(*avatar) Relogin
	start     *Starter
	logs      bytes.Buffer

	managers, bases mercury.ChannelID
	from            map[mercury.Address]mercury.ChannelID
}

func newRig(t testing.TB, change ...func(*Config)) *rig {
	t.Helper()
	r := &rig{t: t, schema: testSchema(t), do: make(map[string]func(*avatar)), from: make(map[mercury.Address]mercury.ChannelID)}
	r.net = &fakeTransport{peers: make(map[mercury.ChannelID]mercury.Address), ended: make(map[mercury.ChannelID]bool)}
	chance := rand.New(rand.NewPCG(1, 2))
	cfg := Config{
		Transport: r.net, Manager: cellAppMgr.At, Schema: r.schema, PlayerType: "Avatar",
		Secrets: func(b []byte) {
			for i := range b {
				b[i] = byte(chance.Uint32())
			}
		},
		Start: func(s *Starter) { r.start = s },
		Log:   slog.New(slog.NewTextHandler(&r.logs, nil)),
	}
	cfg.BackupPeriod = -1 // most tests are not about copies
	for _, f := range change {
		f(&cfg)
	}
	cfg.Scripts = NewScripts(cfg.Schema)
	Register(cfg.Scripts, "Avatar", func() *avatar { return &avatar{log: &r.events, do: r.do, keep: r.keep, rig: r} })
	a, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	r.a = a
	return r
}

// joinedRig is a rig whose app has joined both managers.
func joinedRig(t testing.TB, change ...func(*Config)) *rig {
	t.Helper()
	r := newRig(t, change...)
	r.a.Tick(0)
	r.managers = r.open(cellAppMgr)
	r.say(r.managers, &wire.Welcome{Number: 7, Allocator: 5, BaseAppMgr: baseAppMgr})
	r.say(r.managers, &wire.Members{Apps: []wire.AppRef{
		{Role: wire.CellApp, App: appX}, {Role: wire.CellApp, App: appY}, {Role: wire.CellApp, App: appZ}, {Role: wire.BaseApp, App: appW},
	}, Allocators: []uint32{11, 12, 13, 14}})
	r.tick()
	r.bases = r.open(baseAppMgr)
	r.net.sent = nil
	return r
}

// open answers the app's dial of a manager.
func (r *rig) open(peer mercury.Address) mercury.ChannelID {
	r.t.Helper()
	for _, ch := range slices.Backward(r.net.dials) {
		if r.net.peers[ch].At == peer.At && !r.net.ended[ch] {
			r.net.peers[ch] = peer
			r.a.Opened(r.now, ch, peer)
			return ch
		}
	}
	r.t.Fatalf("the app has not dialled %v", peer)
	return 0
}

func (r *rig) say(ch mercury.ChannelID, m wire.Message) {
	r.a.Message(r.now, ch, true, wire.Encode(nil, m))
}

// tell is a message from a CellApp, over the channel that it dialled.
// tell lets a CellApp say something. What it says of a real it was given shows the title, unless
// r.untitled.
func (r *rig) tell(from mercury.Address, m wire.Message) {
	r.entitle(m)
	ch := r.from[from]
	if ch == 0 {
		ch = r.net.accept(from)
		r.from[from] = ch
		r.a.Opened(r.now, ch, from)
	}
	r.say(ch, m)
}

func (r *rig) tick() {
	r.now += DefaultTick
	r.a.Tick(r.now)
}

func (r *rig) pass(d time.Duration) {
	for end := r.now + d; r.now < end; {
		r.tick()
	}
}

// take returns and forgets what was sent to an app, decoded enough to compare.
func (r *rig) take(to mercury.Address) (out [][]byte) {
	r.net.sent = slices.DeleteFunc(r.net.sent, func(s sentMessage) bool {
		if s.to == to {
			out = append(out, s.msg)
		}
		return s.to == to
	})
	return out
}

// told returns the bodies of the messages of one kind to an app, in order, and forgets everything
// sent to it.
func told[M any, P interface {
	*M
	wire.Message
	Parse([]byte) error
}](r *rig, to mercury.Address) (out []M) {
	r.t.Helper()
	want := wire.IDOf(P(new(M)))
	for _, msg := range r.take(to) {
		id, body, err := wire.Split(msg)
		if err != nil {
			r.t.Fatal(err)
		}
		if id != want {
			continue
		}
		var m M
		if err := P(&m).Parse(body); err != nil {
			r.t.Fatal(err)
		}
		out = append(out, m)
	}
	return out
}

func one[T any](t testing.TB, list []T) T {
	t.Helper()
	if len(list) != 1 {
		t.Fatalf("%d of %T, want 1", len(list), list)
	}
	return list[0]
}

// parsed is a body as a message.
func parsed[M any, P interface {
	*M
	wire.Received
}](t testing.TB, body []byte) (m M) {
	t.Helper()
	if err := P(&m).Parse(body); err != nil {
		t.Fatal(err)
	}
	return m
}

// flow is what went to a cell part, as "number:payload".
func (r *rig) flow(to mercury.Address) (out []string) {
	r.t.Helper()
	for _, m := range told[flow.Message](r, to) {
		out = append(out, fmt.Sprintf("%d:%d", m.Number, m.Payload[0]))
	}
	return out
}

// spawn creates a base, with a cell part unless the test says else.
func (r *rig) spawn() (entity.ID, *avatar) {
	r.t.Helper()
	id, err := r.start.CreateBase("Avatar", nil)
	if err != nil {
		r.t.Fatal(err)
	}
	return id, r.script(id)
}

func (r *rig) script(id entity.ID) *avatar {
	r.t.Helper()
	s, ok := r.a.Script(id).(*avatar)
	if !ok {
		r.t.Fatalf("no base %v", id)
	}
	return s
}

func (r *rig) createCell(v *avatar) {
	r.t.Helper()
	if err := v.CreateCell(1, property.Vector3{X: 3, Z: 4}, property.Vector3{X: 1}, nil); err != nil {
		r.t.Fatal(err)
	}
}

// create brings a base's cell part to Creating on X.
func (r *rig) create(id entity.ID, v *avatar) migrate.Create {
	r.t.Helper()
	r.createCell(v)
	r.tick()
	return r.located(id, appX)
}

// located answers the Locate that was sent, and returns the Create that follows.
func (r *rig) located(id entity.ID, app mercury.Address) migrate.Create {
	r.t.Helper()
	one(r.t, told[wire.Locate](r, cellAppMgr))
	r.say(r.managers, &wire.Located{ID: id, Space: 1, App: app})
	return one(r.t, told[migrate.Create](r, app))
}

func (r *rig) current(from mercury.Address, id entity.ID, inc, hop uint32, handled flow.Mark) {
	r.tell(from, &migrate.Current{ID: id, Order: entity.Order{Incarnation: inc, Hop: hop}, Handled: handled})
}

// live brings a new base's cell part to life at 1/0 on X.
func (r *rig) live() (entity.ID, *avatar) {
	r.t.Helper()
	id, v := r.spawn()
	r.create(id, v)
	r.current(appX, id, 1, 0, 0)
	r.take(appX)
	r.take(cellAppMgr)
	return id, v
}

// up is a flow message of a cell part.
func (r *rig) up(from mercury.Address, id entity.ID, stream uint32, number uint64, payload []byte) {
	r.tell(from, &flow.Message{From: id, FromPart: entity.CellPart, To: id, ToPart: entity.BasePart,
		Incarnation: stream, Low: 1, Number: number, Reply: from, Payload: payload})
}

func bundle(session uint32, text string) []byte {
	m := flow.Bundle{Session: session, Bytes: []byte(text)}
	return m.Append(nil)
}

func backup(inc, hop uint32, saves, handled uint64, parts string) []byte {
	m := flow.Backup{Order: entity.Order{Incarnation: inc, Hop: hop}, Saves: saves, Handled: flow.Mark(handled), Space: 1, Parts: []byte(parts)}
	return m.Append(nil)
}

func (r *rig) view(id entity.ID) (BaseView, bool) {
	for v := range r.a.Bases() {
		if v.ID == id {
			return v, true
		}
	}
	return BaseView{}, false
}

func (r *rig) wantLink(id entity.ID, s linkState, inc, hop uint32, app mercury.Address) {
	r.t.Helper()
	b := r.a.byID[id]
	if b == nil {
		r.t.Fatalf("there is no base %v", id)
	}
	l, o := &b.link, entity.Order{Incarnation: inc, Hop: hop}
	if l.State() != s || l.Order() != o || l.App() != app {
		r.t.Errorf("base %v: %v at %v on %v, want %v at %v on %v", id, l.State(), l.Order(), l.App(), s, o, app)
	}
}

// wantEvents compares what the scripts heard, and forgets it.
func (r *rig) wantEvents(want ...string) {
	r.t.Helper()
	if !slices.Equal(r.events, want) {
		r.t.Errorf("the script heard %q, want %q", r.events, want)
	}
	r.events = nil
}

func (r *rig) wantRefuse(to mercury.Address, id entity.ID, o entity.Order) {
	r.t.Helper()
	if m := one(r.t, told[migrate.Refuse](r, to)); m.ID != id || m.Order != o {
		r.t.Errorf("refused %v at %v, want %v at %v", m.ID, m.Order, id, o)
	}
}

// player is a client's end.
type player struct {
	r  *rig
	ch mercury.ChannelID
}

// login makes a proxy for an account.
func (r *rig) login(account string) wire.ProxyMade {
	r.t.Helper()
	r.say(r.bases, &wire.MakeProxy{Request: 9, Account: account})
	r.holdProxy(account)
	return one(r.t, told[wire.ProxyMade](r, baseAppMgr))
}

// holdProxy has the login to an account answered, as if others held the copy of its proxy.
func (r *rig) holdProxy(account string) {
	if b := r.a.accounts[account]; b != nil {
		b.tellMade()
	}
}

func (r *rig) connect(n byte) player {
	from := address(100+n, uint32(n))
	ch := r.net.accept(from)
	r.a.Opened(r.now, ch, from)
	return player{r, ch}
}

func (p player) say(bundle []byte)     { p.r.a.Message(p.r.now, p.ch, true, bundle) }
func (p player) whisper(bundle []byte) { p.r.a.Message(p.r.now, p.ch, false, bundle) }

func (p player) attach(token [16]byte) {
	m := protocol.Attach{Token: token, Digest: p.r.schema.ClientDigest, Ready: true}
	p.say(m.Append(nil))
}

// heard returns what came, each message as its framed ids, and forgets it. What is settled is left out, and
// so is the mark of a bundle that goes ahead.
func (p player) heard() (out []string) {
	peer := p.r.net.peers[p.ch]
	for _, msg := range p.r.take(peer) {
		if protocol.ID(msg[0]) == protocol.SettledID {
			continue
		}
		msg = bytes.TrimPrefix(msg, protocol.AppendAhead(nil))
		var ids []protocol.ID
		if err := protocol.Messages(msg, func(id protocol.ID, _ []byte) error { ids = append(ids, id); return nil }); err != nil {
			out = append(out, string(msg))
			continue
		}
		out = append(out, fmt.Sprint(ids))
	}
	return out
}

func (p player) wantHeard(want ...string) {
	p.r.t.Helper()
	if got := p.heard(); !slices.Equal(got, want) {
		p.r.t.Errorf("the client heard %q, want %q", got, want)
	}
}

// wantRefused expects a refusal as the last message, and the end of the channel.
func (p player) wantRefused(code protocol.Code) {
	p.r.t.Helper()
	msgs := p.r.take(p.r.net.peers[p.ch])
	var m protocol.Refused
	if len(msgs) == 0 {
		p.r.t.Fatalf("not refused, want %v", code)
	}
	err := protocol.Messages(msgs[len(msgs)-1], func(id protocol.ID, body []byte) error {
		if id != protocol.RefusedID {
			return fmt.Errorf("message %d", id)
		}
		return m.Parse(body)
	})
	if err != nil || m.Code != code || !p.r.net.ended[p.ch] {
		p.r.t.Errorf("refused for %v (%v), channel ended %v; want %v", m.Code, err, p.r.net.ended[p.ch], code)
	}
}

// play logs an account in and attaches its client.
func (r *rig) play(account string) (player, entity.ID, *avatar) {
	r.t.Helper()
	made := r.login(account)
	if made.Code != 0 {
		r.t.Fatalf("no proxy: %v", protocol.Code(made.Code))
	}
	p := r.connect(1)
	p.attach(made.Token)
	p.wantHeard("[32 33]")
	return p, made.ID, r.script(made.ID)
}

// playLive is play with the cell part live at 1/0 on X.
func (r *rig) playLive() (player, entity.ID, *avatar) {
	r.t.Helper()
	p, id, v := r.play("ann")
	r.create(id, v)
	r.current(appX, id, 1, 0, 0)
	p.wantHeard("[35]")
	r.take(appX)
	r.events = nil
	return p, id, v
}

func (r *rig) entitle(m wire.Message) {
	if r.untitled {
		return
	}
	switch m := m.(type) {
	case *migrate.Current:
		m.Title = r.title(m.ID, m.Order.Incarnation)
	case *migrate.Offer:
		m.Title = r.title(m.ID, m.Order.Incarnation)
	case *migrate.Lost:
		m.Title = r.title(m.ID, m.Order.Incarnation)
	}
}

// title is that of an entity's incarnation; any will do if there is no such base.
func (r *rig) title(id entity.ID, incarnation uint32) migrate.Title {
	s := r.a.sealing.of(id)
	if b := r.a.byID[id]; b != nil {
		s = b.seal
	}
	return s.title(incarnation)
}
