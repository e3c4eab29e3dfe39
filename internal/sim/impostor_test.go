package sim

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/entity/placement"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/internal/gametime"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
	"github.com/cellscape/cellscape/mercury/secure"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cellapp"
	"github.com/cellscape/cellscape/space/cellappmgr"
	"github.com/cellscape/cellscape/space/cluster/status"
	"github.com/cellscape/cellscape/space/cluster/watch"
)

// impostor is a player's machine that speaks as if it were a process of the cluster. It knows
// everything that can be known: every entity, its order, its session, and who is where. But it has
// joined nothing, and the manager knows who has.
type impostor struct {
	r    *rig
	p    *Process
	next time.Duration
	n    int
	said map[wire.ID]int
	to   map[*Process]mercury.ChannelID
	// joined is the role that it has joined as; 0 for none.
	joined   wire.Role
	reportAt time.Duration
	gone     bool // it says nothing any more
	claims   bool // it claims to know the highest terms
}

// impostorPort is where the impostor is.
const impostorPort = portPlayers + 80

func (r *rig) impostor() *impostor { return r.impostorWith(nil) }

// impostorWith is an impostor who has these keys; nil for a player's.
func (r *rig) impostorWith(keys *secure.Config) *impostor {
	r.t.Helper()
	x := &impostor{r: r, said: map[wire.ID]int{}, to: map[*Process]mercury.ChannelID{}}
	x.p = r.add("player-impostor", impostorPort, func(*Process) (App, error) { return x, nil })
	x.p.keys = keys
	if err := x.p.start(); err != nil {
		r.t.Fatal(err)
	}
	return x
}

// Opened implements mercury.Handler.
func (x *impostor) Opened(_ time.Duration, ch mercury.ChannelID, peer mercury.Address) {
	if x.claims {
		x.claim(ch)
	}
	if x.joined != 0 && (peer.At == x.r.manager.at || peer.At == x.r.logins[0].at) {
		x.say(ch, &wire.Join{Speaks: wire.Spoken(), Role: x.joined, Digest: x.r.world.schema.Digest})
	}
}

// claim says over a channel that a manager of another term has welcomed it: of the highest, or of the present
// one or a later, one after the other.
func (x *impostor) claim(ch mercury.ChannelID) {
	term := uint32(cellappmgr.MaxTerm)
	if x.n%2 == 0 {
		term = min(term, x.r.terms+uint32(x.n/2%4))
	}
	x.n++
	x.said[wire.JoinID]++
	x.say(ch, &wire.Join{Speaks: wire.Spoken(), Role: wire.CellApp, Digest: x.r.world.schema.Digest, Term: term})
}

func (x *impostor) say(ch mercury.ChannelID, m wire.Message) {
	_ = x.p.ep.Send(ch, wire.Encode(nil, m))
}

// report says every second that it lives, and is at one with whom it has joined.
func (x *impostor) report(now time.Duration) {
	if x.joined == 0 || now < x.reportAt {
		return
	}
	x.reportAt = now + wire.ReportPeriod
	x.say(x.p.ep.Dial(mercury.Address{At: x.r.manager.at}), &wire.Report{})
	if x.joined != wire.CellApp {
		x.p.ep.Dial(mercury.Address{At: x.r.logins[0].at})
	}
}

// own are the messages that an app of a role may say of anything, or that cannot be told from
// the truth: a CellApp's word that it has a real of a newer hop is all that a ghost hears of it when
// the channel of who handed it over breaks. Ghosts follow such a lie, and so their clients see it;
// what reals and bases do is not to hang on it (see the docs of package space).
func own(r wire.Role) []wire.ID {
	switch r {
	case wire.CellApp:
		return []wire.ID{
			wire.ReportID, wire.DestroySpaceID, wire.SetSpaceDataID, wire.RetireAppID, wire.GhostStateID, wire.GhostAuditID, wire.ClientMoveID,
		}
	case wire.BaseApp:
		return []wire.ID{wire.ReportID, wire.DestroySpaceID, wire.SetSpaceDataID, wire.LocateID}
	case wire.LoginApp:
		return []wire.ID{wire.ReportID, wire.CreateProxyID}
	}
	return nil
}

// Closed implements mercury.Handler.
func (x *impostor) Closed(_ time.Duration, ch mercury.ChannelID, _ error) {
	for _, p := range x.r.procs { // in order: a map would be walked in random order
		if x.to[p] == ch {
			delete(x.to, p)
		}
	}
}

// Message implements mercury.Handler.
func (x *impostor) Message(time.Duration, mercury.ChannelID, bool, []byte) {}

// Tick says something to everybody.
func (x *impostor) Tick(now time.Duration) time.Duration {
	if x.claims && now >= x.next {
		x.next = now + 500*time.Millisecond
		for _, s := range x.r.seats {
			if ch := x.to[s.mgr]; ch != 0 {
				x.p.ep.Abort(ch)
			}
			x.to[s.mgr] = x.p.ep.Dial(mercury.Address{At: s.place})
		}
		return x.next
	}
	x.report(now)
	if now >= x.next && !x.gone {
		x.next = now + 20*time.Millisecond
		x.n++
		for _, p := range x.r.procs {
			switch {
			case p.takes("baseapp"):
				x.lie(p, x.toBaseApp())
			case p.takes("cellapp"):
				x.lie(p, x.toCellApp())
			case p.takes("dbapp"):
				x.lie(p, x.toDBApp())
			case p.takes("cellappmgr"), p.takes("baseappmgr"), p.takes("loginapp"):
				x.lie(p, x.toManager())
			}
		}
	}
	return max(x.next, now+20*time.Millisecond)
}

// lie says one of the messages, on a channel of its own or as the first of a new one, and now and
// then unreliably.
func (x *impostor) lie(p *Process, lies []wire.Message) {
	if len(lies) == 0 {
		return
	}
	m := lies[x.n%len(lies)]
	if x.joined != 0 && x.may(m) {
		return
	}
	if x.to[p] == 0 || x.n%50 == 0 {
		x.to[p] = x.p.ep.Dial(mercury.Address{At: p.at})
	}
	x.said[wire.IDOf(m)]++
	msg := wire.Encode(nil, m)
	if x.n%7 == 0 && len(msg) <= x.p.ep.MaxUnreliable(x.to[p]) {
		_, _ = x.p.ep.SendUnreliable(x.to[p], msg)
		return
	}
	_ = x.p.ep.Send(x.to[p], msg)
}

// may reports whether a message is one that x might say in earnest.
func (x *impostor) may(m wire.Message) bool {
	if f, ok := m.(*flow.Message); ok { // from one cell part to another, or passed on
		return x.joined == wire.CellApp && f.ToPart == entity.CellPart && f.FromPart == entity.CellPart
	}
	if a, ok := m.(*flow.Ack); ok {
		return x.joined == wire.CellApp && a.ToPart == entity.CellPart && a.FromPart == entity.CellPart
	}
	if c, ok := m.(*migrate.Create); ok && c.Base == x.p.Address() {
		_, on := x.r.base(c.ID)
		return on.ID == 0
	}
	return slices.Contains(own(x.joined), wire.IDOf(m))
}

// victim picks each base in its turn.
func (x *impostor) victim() (v baseapp.BaseView) {
	var all []baseapp.BaseView
	for b := range x.r.bases() {
		all = append(all, b.BaseView)
	}
	if len(all) > 0 {
		v = all[x.n/7%len(all)]
	}
	return v
}

// account is that of some player's proxy.
func (x *impostor) account() string {
	pl := x.r.players[x.n%len(x.r.players)]
	return fmt.Sprintf("%s.%d", pl.name, pl.logins)
}

// proxies claims the account of a player: with its base, with the base of another app, or with one
// that it might have made itself.
func (x *impostor) proxies(other entity.ID) *wire.Proxies {
	pl := x.r.players[x.n%len(x.r.players)]
	id := pl.id()
	return &wire.Proxies{Entries: []wire.Proxy{
		{Account: x.account(), ID: id, Life: 1 << 20, Origin: id, Turn: 1 << 20},
		{Account: x.account(), ID: other, Origin: id, Turn: 1 << 30}, {Account: x.account(), ID: 77, Origin: id, Turn: 1 << 30},
	}}
}

// orders are what only managers say, and what is about those who leave and who lead.
func (x *impostor) orders() []wire.Message {
	app := x.r.cellApps[x.n%len(x.r.cellApps)]
	return []wire.Message{
		&wire.Welcome{Number: 1, Allocator: 1, Term: 99}, &wire.Refused{Reason: "no"}, &wire.Dismissed{Term: 99, Reason: "go"},
		&wire.AppDead{Role: wire.CellApp, App: app.Address()}, &wire.Freeze{On: true},
		&wire.Members{Apps: []wire.AppRef{{Role: wire.CellApp, App: x.p.Address()}, {Role: wire.BaseApp, App: x.p.Address()}}},
		&wire.Leaving{Bases: 1}, &wire.Depart{Request: uint64(x.n)}, &wire.Departed{Request: uint64(x.n % 64)},
		&wire.EndWorld{Reason: "ha"}, &wire.WorldEnding{Stop: status.Stop{Step: "saved", Done: true}}, &wire.Stop{Number: 1 << 60, Step: wire.StopEnded, Reason: "ha"}, &wire.KeepSpace{Number: 1, KeptSpace: wire.KeptSpace{Space: theSpace}}, &wire.SpaceKept{Number: 1, Space: theSpace}, &wire.KeepOnly{Number: 1}, &wire.OnlyKept{Number: 1},
		&wire.BringSpace{Request: 1, KeptSpace: wire.KeptSpace{Space: 1<<24 + 9, Info: []byte("rubbish")}}, &wire.SpaceBrought{Request: 1}, &wire.BringBack{Request: 1, Type: "Rover", Row: 1}, &wire.BroughtBack{Request: 1},
		&wire.Depart{Request: uint64(x.n), Part: migrate.Part{Turn: 1 + uint64(x.n%4), Slices: 1<<migrate.Slices - 1, Below: entity.MaxID}},
		&wire.BasesMoved{App: x.r.baseApps[0].Address(), Number: 1 << 60, Allocator: 1, Rule: migrate.Rule{Version: 1 << 40, Covers: 1 << 60, Replicas: 1, List: []mercury.Address{x.p.Address()}},
			Part: migrate.Part{Turn: 1 << 40, Slices: 1<<migrate.Slices - 1, Below: entity.MaxID}},
		&wire.Shed{To: x.p.Address(), Bases: 1 << 20}, &wire.NameLost{Name: fmt.Sprintf("name %d", x.n%8), ID: x.victim().ID, Holder: x.r.id()},
		&wire.ReadWatch{Number: uint64(x.n), Role: wire.CellApp, App: 1, List: true}, &wire.SetWatch{Number: uint64(x.n), Role: wire.CellApp, App: 1, Path: "witness/bytes_per_tick", Text: "300"},
		&wire.Watched{Number: uint64(x.n % 16), Values: []watch.Value{{Path: "a", Text: "b"}}},
		&wire.LeaseAsk{Speaks: wire.Spoken(), Digest: x.r.world.schema.Digest, Term: 99, Round: 1}, &wire.LeaseVote{Term: 1 + uint32(x.n%4), Round: uint64(x.r.now), Granted: x.n%2 == 0, Highest: cellappmgr.MaxTerm},
	}
}

func (x *impostor) toBaseApp() []wire.Message {
	v := x.victim()
	newer := v.Order.NextHop()
	self := x.p.Address()
	gone := flow.Message{From: v.ID, FromPart: entity.CellPart, To: v.ID, ToPart: entity.BasePart, Incarnation: v.Order.Incarnation, Low: 1,
		Number: uint64(x.n), Reply: self, Payload: (&flow.Gone{}).Append(nil)}
	backup := flow.Backup{Order: newer, Saves: 1 << 40, Handled: 1 << 40, Space: theSpace, Parts: []byte("rubbish")}
	saved := gone
	saved.Payload = backup.Append(nil)
	shout := gone
	shout.Payload = (&flow.Bundle{Session: v.Session, Bytes: protocol.AppendCellGone(nil)}).Append(nil)
	passed := gone
	passed.ToPart, passed.From = entity.CellPart, v.ID+1
	return append(append(x.orders(), x.answers()...),
		&migrate.Current{ID: v.ID, Order: newer, Handled: 1 << 40}, &migrate.Lost{ID: v.ID, Order: v.Order, Reason: "ha"},
		&migrate.Lost{ID: v.ID, Order: newer, Reason: "ha"}, &migrate.Offer{ID: v.ID, Order: newer, Saves: 1 << 40, Space: theSpace, Parts: []byte("rubbish")},
		&gone, &saved, &shout, &passed,
		&flow.Ack{To: v.ID, ToPart: entity.BasePart, From: v.ID, FromPart: entity.CellPart, Life: v.Order.Incarnation, Number: 1 << 40},
		&wire.ClientPacket{ID: v.ID, Order: v.Order, Session: v.Session, Packet: []byte{byte(protocol.RefusedID), 1, 0}},
		&wire.MakeProxy{Request: 1, Account: "impostor"}, &wire.Relogin{Request: 1, Account: x.account()}, &wire.Outdone{Account: x.account(), ID: 77, Origin: v.ID, Turn: 1 << 30}, &wire.Located{ID: v.ID, Space: theSpace, App: self},
		&wire.Located{ID: v.ID, Space: theSpace, Gone: true}, &wire.SpaceCreated{Request: 1, Space: 7}, &wire.SpaceDestroyed{Request: 1},
		&migrate.BaseCopy{ID: v.ID, Number: 1 << 40, Cycle: 1 << 40, Parts: []byte("rubbish")}, &migrate.BaseCopyHeld{ID: v.ID, Number: v.Confirmed + 1},
		&wire.SpaceCopy{Space: theSpace, Gone: true}, &wire.SpaceCopy{Space: theSpace, Data: []space.DataEntry{{Number: 1 << 60, Key: tuneKey, Value: []byte("lie")}}},
		&wire.SpaceData{Space: theSpace, Entry: space.DataEntry{Number: 1 << 60, Key: tuneKey, Value: []byte("lie")}}, &wire.Look{Inquiry: 1, App: x.r.manager.Address()},
		&migrate.BaseGone{ID: v.ID}, &migrate.BaseForgotten{ID: v.ID}, &migrate.CopyMark{Cycle: 1 << 40, Version: 1}, &migrate.BackupRuleHeld{Version: 1},
		&migrate.BackupRule{Rule: migrate.Rule{Version: 1 << 40, Covers: 1 << 60, Replicas: 1, List: []mercury.Address{self}}},
		&wire.AppDead{Role: wire.BaseApp, App: x.r.baseApps[0].Address(), Number: 1 << 60, Rule: migrate.Rule{Version: 1 << 40, Replicas: 1, List: []mercury.Address{self}}},
	)
}

func (x *impostor) toCellApp() []wire.Message {
	v := x.victim()
	newer := v.Order.NextHop()
	self := x.p.Address()
	first := migrate.AppendFirst(nil, property.Vector3{X: 1}, property.Vector3{}, property.NewValues(x.r.world.schema.Type("Rover"), property.CellSide, nil), nil)
	call := flow.MethodCall{Method: 0, Args: []byte{9, 9, 9, 9}}
	m := flow.Message{From: v.ID, FromPart: entity.BasePart, To: v.ID, ToPart: entity.CellPart, Incarnation: v.Order.Incarnation, Low: 1,
		Number: uint64(x.n), Reply: self, Payload: call.Append(nil, flow.CallCellPayload)}
	end := m
	end.Payload = []byte{byte(flow.DestroyPayload)}
	head := ghost.Head{ID: v.ID, Order: newer, Sequence: 1 << 20}
	rover := x.r.world.schema.Type("Rover").ID
	space := entity.SpaceID(theSpace)
	return append(x.orders(),
		&migrate.Create{ID: v.ID, Type: rover, Space: space, Order: entity.Order{Incarnation: 99}, Base: self, Parts: first},
		&migrate.Create{ID: v.ID, Type: rover, Space: space, Order: entity.Order{Incarnation: 99}, Base: x.r.baseApps[0].Address(), Parts: first},
		&migrate.Refuse{ID: v.ID, Order: entity.Order{Incarnation: 99}}, &migrate.Onload{ID: v.ID, Type: rover, Space: space, Order: newer, Base: self, Parts: first},
		&migrate.OnloadAck{ID: v.ID, Order: newer}, &migrate.OnloadRefused{ID: v.ID, Order: v.Order, Code: placement.Full},
		&wire.Whereabouts{ID: v.ID, Asker: v.ID, App: self}, &wire.Located{ID: v.ID, Space: theSpace, App: self},
		&wire.LocatedArea{Gateway: 2, Space: theSpace, Apps: []mercury.Address{self}}, &ghost.State{Head: head, Type: rover, Space: theOther, Base: self}, &migrate.Probe{ID: v.ID, Order: v.Order, Base: self},
		&m, &end, &flow.Ack{To: v.ID, ToPart: entity.CellPart, From: v.ID, FromPart: entity.BasePart, Incarnation: v.Order.Incarnation, Number: 1 << 40},
		&wire.ClientMove{ID: v.ID, ClientRest: flow.ClientRest{Session: v.Session, Sequence: 1 << 30, Incarnation: v.Order.Incarnation, Forced: 1, Position: property.Vector3{X: 3, Z: 3}}},
		&ghost.State{Head: head, Type: rover, Space: space, Base: self}, &ghost.Update{Head: head, Position: property.Vector3{X: 9}},
		&ghost.Delete{Head: head}, &ghost.Query{Head: head, Asker: self}, &ghost.Audit{Head: head, Sum: 1},
		&ghost.Roll{Space: space, Calls: []ghost.Call{{Head: head, After: 1}}},
		&wire.RemovalAck{Space: space}, &wire.RemoveCell{Space: space, Ended: true}, &wire.Retired{Number: 1},
		&wire.SpaceData{Space: space, Entry: wire.SpaceDataEntry{Number: 1 << 60, Key: tuneKey, Value: []byte("lie")}},
		&wire.SpaceRate{Space: space, Clock: gametime.Clock{Number: 1 << 60}}, &wire.Look{Inquiry: 1, App: x.r.manager.Address()},
	)
}

func (x *impostor) toManager() []wire.Message {
	v := x.victim()
	return append(x.orders(),
		&wire.Report{}, &wire.Locate{ID: v.ID, Space: theSpace}, &wire.LocateArea{Gateway: 2, Space: theSpace, Area: bsp.Around(0, 0, 1e9)}, &wire.DestroySpace{Space: theSpace}, &wire.RetireApp{Reason: "ha"},
		&wire.SetSpaceData{Space: theSpace + 1, Key: tuneKey, Value: []byte("lie")}, &wire.CreateProxy{Request: 1, Account: "player1"},
		&wire.ProxyMade{Request: 1, ID: v.ID}, &wire.ProxyGone{Account: "player1", ID: v.ID},
		x.proxies(v.ID), &wire.Logins{Refused: true, Reason: "ha"}, &wire.RejoinEnd{},
		&wire.SpaceCopy{Space: theSpace, Data: []space.DataEntry{{Number: 1, Key: tuneKey, Value: []byte("lie")}}},
		&wire.Seen{Inquiry: uint64(x.n), App: x.r.cellApps[0].Address(), Reach: mercury.ReachClosed},
	)
}

// sessions is how often all players have logged in.
func (r *rig) sessions() (n int) {
	for _, pl := range r.players {
		n += pl.logins
	}
	return n
}

// TestImpostorAtADoor lets somebody who has more or fewer of a sealed cluster's keys dial every
// process and speak as one of them. Without the cluster key he gets no channel to one that no
// player needs to reach; with it he gets channels, and is refused since nobody has named him.
func TestImpostorAtADoor(t *testing.T) {
	public := staticKey().Public()
	for i, x := range []struct {
		name     string
		keys     secure.Config
		standing mercury.Standing
	}{
		{"with the public key alone", secure.Config{ServerKey: public}, mercury.Stranger},
		{"with an observer's key", secure.Config{ServerKey: public, Access: clusterKey().Observer()}, mercury.Observer},
		{"with an old key of the cluster", secure.Config{ServerKey: public, ClusterKeys: []secure.ClusterKey{{9}}}, mercury.Stranger},
		{"a member whom nobody has named", secure.Config{ServerKey: public, ClusterKeys: []secure.ClusterKey{clusterKey()}}, mercury.Member},
	} {
		t.Run(x.name, func(t *testing.T) {
			play(t, Options{Seed: 4310 + uint64(i), CellApps: 3, Players: 6, Rovers: 4, Balance: still(3), Sealed: true, Lookout: true}, func(r *rig) {
				r.parted = true
				was := r.sessions()
				v := r.impostorWith(&x.keys)
				r.wait(12 * time.Second)
				v.p.crash()
				if now := r.sessions(); now != was {
					t.Errorf("players logged in %d times", now-was)
				}
				if n := r.observer.last.Deaths; n > 0 {
					t.Errorf("%d died of it", n)
				}
				for b := range r.bases() {
					if b.Order.Incarnation > 1 {
						t.Errorf("%v was restored: %v", b.ID, b.Order)
					}
				}
				for _, p := range append(append([]*Process{r.manager}, r.logins...), append(r.baseApps, r.cellApps...)...) {
					s := p.guard.Stats()
					kept := s.Strangers + s.OldKeys
					least := p.roleKeys().Least
					out := least > x.standing || x.keys.ClusterKeys != nil && x.standing == mercury.Stranger
					if out != (kept > 20) {
						t.Errorf("%s kept %d out at its door", p.Name, kept)
					}
					if refused := p.refused(); !out && p.port >= portBaseApps && refused < 20 {
						t.Errorf("%s refused %d", p.Name, refused)
					}
				}
			})
		})
	}
}

// TestImpostorAmongUs lets an app that has joined, and is named to all, say what apps of other
// roles say, and speak for those of its own: for bases that others have, and entities that it
// never had. The order of an older term is among it. It is refused, and nobody notices.
func TestImpostorAmongUs(t *testing.T) {
	for i, role := range []wire.Role{wire.CellApp, wire.BaseApp, wire.LoginApp} {
		t.Run(role.String(), func(t *testing.T) {
			play(t, Options{Seed: 4320 + uint64(i), CellApps: 3, Players: 6, Rovers: 4, Balance: still(3), Sealed: true}, func(r *rig) {
				r.parted = true
				was := r.sessions()
				x := r.impostorWith(r.cellApps[0].roleKeys())
				x.joined = role
				r.until("it has joined", 5*time.Second, func() bool { return r.observer.last.AppCount(role.String()) > r.honest(role) })
				r.wait(15 * time.Second)
				if now := r.sessions(); now != was {
					t.Errorf("players logged in %d times", now-was)
				}
				for b := range r.bases() {
					if b.Order.Incarnation > 1 {
						t.Errorf("%v was restored: %v", b.ID, b.Order)
					}
				}
				if n := r.observer.last.Deaths; n > 0 {
					t.Errorf("%d died of it", n)
				}
				for _, p := range append(r.baseApps, r.cellApps...) {
					if refused := p.refused(); refused < 20 {
						t.Errorf("%s refused %d", p.Name, refused)
					}
				}
				x.joined, x.gone = 0, true
				if role == wire.LoginApp {
					return // nobody waits for its word
				}
				// It owes answers that it will never give: it has to die of it.
				r.until("it is declared dead", 10*time.Second, func() bool { return r.observer.last.AppCount(role.String()) == r.honest(role) })
			})
		})
	}
}

// TestImpostorClaimsTerms lets an app with the key of the cluster claim that it knows the highest
// terms, at all places where managers lead, and again and again. It uses up a few terms and no
// more: afterwards a leader is replaced as ever, and the world goes on.
func TestImpostorClaimsTerms(t *testing.T) {
	for i, seats := range []int{1, 3} {
		t.Run(fmt.Sprint(seats), func(t *testing.T) {
			play(t, Options{Seed: 4330 + uint64(i), Seats: seats, CellApps: 2, Players: 3, Rovers: 4, Balance: still(2), Sealed: true}, func(r *rig) {
				r.parted = true
				x := r.impostorWith(r.cellApps[0].roleKeys())
				x.claims = true
				r.wait(90 * time.Second)
				if most := uint32(20 * seats); r.terms > most {
					t.Errorf("term %d after lies at %d places, want at most %d", r.terms, seats, most)
				}
				if x.said[wire.JoinID] < 100 {
					t.Errorf("it claimed %d times", x.said[wire.JoinID])
				}
				s := r.seatOf()
				term := r.terms
				r.crashSeat(s)
				s.mgr.restartAt = r.now + 500*time.Millisecond
				r.until("the next leads", 20*time.Second, func() bool { return r.terms > term && r.everyoneIn(r.terms) })
				x.claims, x.gone = false, true // it is started again at the end
				x.p.crash()
				r.wait(5 * time.Second) // until the BaseAppMgr has joined, and been joined
				g := r.visit("late.1", r.world.schema)
				r.until("a guest plays", 10*time.Second, func() bool { return g.Client.InWorld() })
				g.Client.Close()
				r.wait(2 * time.Second)
			})
		})
	}
}

// honest is how many apps of a role there are besides impostors.
func (r *rig) honest(role wire.Role) int {
	switch role {
	case wire.CellApp:
		return len(r.cellApps)
	case wire.BaseApp:
		return len(r.baseApps)
	}
	return 1
}

// refused is how many messages an app has refused.
func (p *Process) refused() uint64 {
	switch a := p.app.(type) {
	case *baseapp.BaseApp:
		return a.Counters().Refused
	case *cellapp.CellApp:
		return a.Counters().Refused
	}
	return 0
}

// TestImpostor lets somebody who has joined nothing speak to every process as if he were one of
// them. He is refused and counted, and nobody else notices: no session ends, no entity is restored,
// no call is lost, and every promise holds.
func TestImpostor(t *testing.T) {
	bad := mercurytest.Link{Loss: 0.1, Duplicate: 0.05, Reorder: 0.2, Delay: 20 * time.Millisecond, Jitter: 30 * time.Millisecond}
	t.Run("in a sound world", func(t *testing.T) {
		play(t, Options{Seed: 4300, CellApps: 3, Players: 6, Rovers: 4, Balance: still(3), Wild: Wild{Stones: 2}}, func(r *rig) {
			r.parted = true // his refusals are counted together with those of players
			was := r.sessions()
			x := r.impostor()
			r.net.SetLink(bad)
			r.wait(20 * time.Second)
			x.p.crash()
			for b := range r.bases() {
				if b.Order.Incarnation > 1 {
					t.Errorf("%v was restored: %v", b.ID, b.Order)
				}
			}
			if now := r.sessions(); now != was {
				t.Errorf("players logged in %d times", now-was)
			}
			if n := r.observer.last.Deaths; n > 0 {
				t.Errorf("%d died of it", n)
			}
			for _, p := range append(r.baseApps, r.cellApps...) {
				if refused := p.refused(); refused < 50 {
					t.Errorf("%s refused %d", p.Name, refused)
				}
			}
			for _, id := range []wire.ID{wire.CurrentID, wire.CellLostID, wire.OfferID, wire.FlowID, wire.ClientPacketID, wire.MakeProxyID, wire.ReloginID, wire.OnloadID, wire.CreateID, wire.RefuseRealID,
				wire.LeavingID, wire.DepartID, wire.DepartedID, wire.LeaseAskID, wire.LeaseVoteID, wire.MembersID} {
				if x.said[id] == 0 {
					t.Errorf("message %d was never said", id)
				}
			}
		})
	})
	t.Run("as the manager and CellApps start anew", func(t *testing.T) {
		play(t, Options{Seed: 4301, CellApps: 3, Players: 6, Rovers: 4, Balance: still(3), Wild: Wild{Stones: 2}}, func(r *rig) {
			r.parted = true
			x := r.impostor()
			r.net.SetLink(bad)
			r.wait(3 * time.Second)
			r.manager.crash()
			r.wait(2 * time.Second)
			r.manager.restartAt = r.now + time.Millisecond
			r.wait(500 * time.Millisecond)
			r.cellApps[1].crash()
			r.wait(4 * time.Second)
			r.cellApps[1].restartAt = r.now + time.Millisecond
			r.wait(8 * time.Second)
			r.baseApps[1].crash()
			r.baseApps[1].restartAt = r.now + 2*time.Second
			r.wait(8 * time.Second)
			x.p.crash()
		})
	})
	t.Run("over the channel of a session", func(t *testing.T) {
		play(t, Options{Seed: 4302, CellApps: 3, Players: 6, Rovers: 4, Balance: still(3)}, func(r *rig) {
			r.parted = true
			pl := r.players[0]
			pl.rude = true
			was := r.sessions() - pl.logins
			x := &impostor{r: r, p: pl.p, said: map[wire.ID]int{}}
			for range 100 {
				x.n++
				if lies := x.toBaseApp(); pl.ch != 0 {
					_ = pl.p.ep.Send(pl.ch, wire.Encode(nil, lies[x.n%len(lies)]))
				}
				r.wait(100 * time.Millisecond)
			}
			if now := r.sessions() - pl.logins; now != was {
				t.Errorf("the others logged in %d times", now-was)
			}
		})
	})
}
