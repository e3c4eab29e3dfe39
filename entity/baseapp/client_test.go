package baseapp

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/argument"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/property"
)

func TestLogin(t *testing.T) {
	r := joinedRig(t)
	made := r.login("ann")
	if made.Code != 0 || made.Request != 9 || !slices.Equal(made.Doors, []protocol.Door{{Network: protocol.UDP, Address: self}}) || made.Token == [16]byte{} {
		t.Fatalf("made %+v", made)
	}
	if again := r.login("ann"); protocol.Code(again.Code) != protocol.AlreadyLoggedIn {
		t.Errorf("a second time: %+v", again)
	}
	if none := r.login(""); protocol.Code(none.Code) != protocol.BadCredentials {
		t.Errorf("no account: %+v", none)
	}
	v := r.script(made.ID)
	if v.HasClient() || v.Account() != "ann" || v.Client().Call("chat", "x") != entity.ErrNoPart {
		t.Error("there is no client yet")
	}
	p := r.connect(1)
	r.events = nil
	p.attach(made.Token)
	p.wantHeard("[32 33]") // Attached and BasePlayer in one
	r.wantEvents("enabled")
	if view, _ := r.view(made.ID); view.Session != 1 || !v.HasClient() {
		t.Errorf("session %d", view.Session)
	}
	// The token is good for one client.
	q := r.connect(2)
	q.attach(made.Token)
	q.wantRefused(protocol.BadToken)
	p.wantHeard()
}

// basePlayer attaches p, and is what it is told of its base then.
func (p player) basePlayer(token [16]byte) (m protocol.BasePlayer) {
	p.r.t.Helper()
	p.attach(token)
	_ = protocol.Messages(one(p.r.t, p.r.take(p.r.net.peers[p.ch])), func(id protocol.ID, body []byte) error {
		if id == protocol.BasePlayerID {
			return m.Parse(body)
		}
		return nil
	})
	return m
}

func TestBasePlayerHasTheBaseProperties(t *testing.T) {
	r := joinedRig(t)
	r.do["created"] = func(v *avatar) { v.Gold.Set(42); v.Secret.Set(7) }
	made := r.login("ann")
	p := r.connect(1)
	player := p.basePlayer(made.Token)
	d := r.schema.Type("Avatar")
	if player.Type != d.ClientID || d.ClientID == d.ID {
		t.Errorf("type %d, want %d and not %d", player.Type, d.ClientID, d.ID)
	}
	own := property.NewValues(d, property.OwnClientSide, nil)
	if rest, err := own.ReadStream(player.Props, property.OwnClientBaseStream); err != nil || len(rest) > 0 {
		t.Fatal(err)
	}
	goldIndex := d.Property("gold").Index
	if gold := own.Get(goldIndex).Int(); player.ID != made.ID || gold != 42 {
		t.Errorf("player %v with gold %d", player.ID, gold)
	}
	// Changes go on live; those that a client may not see do not.
	v := r.script(made.ID)
	v.Secret.Set(8)
	v.Gold.Set(42)
	p.wantHeard()
	v.Gold.Set(43)
	var told []string
	for _, msg := range r.take(r.net.peers[p.ch]) {
		err := protocol.Messages(msg, func(id protocol.ID, body []byte) error {
			p, v, err := protocol.OwnValue(d, id, body)
			if err == nil {
				told = append(told, fmt.Sprint(len(msg), " ", p.Name, "=", v))
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	if want := []string{"5 gold=43"}; !slices.Equal(told, want) {
		t.Errorf("the client heard %q, want %q", told, want)
	}
}

func TestExternalAddress(t *testing.T) {
	outside := []protocol.Door{{Network: "websocket", Address: address(200, 1), Name: "play.example.com"}, {Network: protocol.UDP, Address: address(200, 2)}}
	r := joinedRig(t, func(c *Config) { c.Doors = outside })
	if made := r.login("ann"); !slices.Equal(made.Doors, outside) {
		t.Errorf("clients are sent to %v", made.Doors)
	}
}

func TestLoginWithoutPlayers(t *testing.T) {
	r := joinedRig(t, func(c *Config) { c.PlayerType = "" })
	if made := r.login("ann"); protocol.Code(made.Code) != protocol.NotReady {
		t.Errorf("made %+v", made)
	}
}

func TestOnlyTheBaseAppMgrMakesProxies(t *testing.T) {
	r := joinedRig(t)
	r.tell(appX, &wire.MakeProxy{Request: 1, Account: "ann"})
	r.say(r.managers, &wire.MakeProxy{Request: 1, Account: "ann"})
	for range r.a.Bases() {
		t.Error("a proxy was made")
	}
}

func TestLoginWhoseScriptPanics(t *testing.T) {
	r := joinedRig(t)
	r.do["created"] = func(*avatar) { panic("boom") }
	r.say(r.bases, &wire.MakeProxy{Request: 9, Account: "ann"})
	made := one(t, told[wire.ProxyMade](r, baseAppMgr))
	if protocol.Code(made.Code) != protocol.ServerBusy || made.Token != [16]byte{} {
		t.Errorf("made %+v", made)
	}
	r.do["created"] = nil
	if made := r.login("ann"); made.Code != 0 {
		t.Errorf("the account is not free: %+v", made)
	}
}

func TestAttachFaults(t *testing.T) {
	r := joinedRig(t)
	made := r.login("ann")
	for name, tt := range map[string]struct {
		msg  []byte
		code protocol.Code
	}{
		"token":    {(&protocol.Attach{Digest: r.schema.ClientDigest}).Append(nil), protocol.BadToken},
		"digest":   {(&protocol.Attach{Token: made.Token}).Append(nil), protocol.BadDigest},
		"cut":      {[]byte{byte(protocol.AttachID), 5, 1}, protocol.Malformed},
		"short":    {[]byte{byte(protocol.AttachID), 1, 1}, protocol.Malformed},
		"two":      {append((&protocol.Attach{Token: made.Token}).Append(nil), 1), protocol.BadDigest},
		"overlong": {append([]byte{byte(protocol.AttachID)}, make([]byte, DefaultUploadBytes)...), protocol.Flooding},
	} {
		t.Run(name, func(t *testing.T) {
			p := r.connect(1)
			p.say(tt.msg)
			p.wantRefused(tt.code)
			if len(r.a.clients) != 0 {
				t.Error("the channel is remembered")
			}
		})
	}
	p := r.connect(1)
	p.whisper((&protocol.Attach{Token: made.Token, Digest: r.schema.ClientDigest}).Append(nil))
	p.wantRefused(protocol.Malformed)
	// The proxy still waits for the right one.
	p = r.connect(2)
	p.attach(made.Token)
	p.wantHeard("[32 33]")
	// Attaching twice is no protocol.
	p.attach(made.Token)
	p.wantRefused(protocol.Malformed)
}

func TestSilentChannelIsClosed(t *testing.T) {
	r := joinedRig(t)
	p := r.connect(1)
	r.pass(ClaimTimeout - DefaultTick)
	q := r.connect(2)
	if r.net.ended[p.ch] {
		t.Fatal("closed too early")
	}
	r.tick()
	p.wantRefused(protocol.BadToken)
	if r.net.ended[q.ch] {
		t.Error("a younger one was closed, too")
	}
	r.pass(ClaimTimeout)
	q.wantRefused(protocol.BadToken)
	// Channels that the app dialled, and that say nothing, stay.
	if r.net.ended[r.managers] || r.net.ended[r.bases] {
		t.Error("a manager's channel was closed")
	}
}

func TestSilentChannelThatEnds(t *testing.T) {
	r := joinedRig(t)
	p := r.connect(1)
	r.a.Closed(r.now, p.ch, mercury.ErrPeerClosed)
	r.pass(ClaimTimeout + DefaultTick)
	p.wantHeard()
}

func TestProxyWithoutItsClientIsGivenUp(t *testing.T) {
	r := joinedRig(t)
	made := r.login("ann")
	r.pass(AttachTimeout - DefaultTick)
	if _, ok := r.view(made.ID); !ok {
		t.Fatal("given up too early")
	}
	r.take(baseAppMgr)
	r.tick()
	if gone := one(t, told[wire.ProxyGone](r, baseAppMgr)); gone.Account != "ann" || gone.ID != made.ID {
		t.Errorf("gone %+v", gone)
	}
	if _, ok := r.view(made.ID); ok {
		t.Error("still there")
	}
	p := r.connect(1)
	p.attach(made.Token)
	p.wantRefused(protocol.BadToken)
	if made := r.login("ann"); made.Code != 0 {
		t.Errorf("the account is not free: %+v", made)
	}
}

func TestSessionReachesTheCell(t *testing.T) {
	t.Run("before it is made", func(t *testing.T) {
		r := joinedRig(t)
		_, id, v := r.play("ann")
		if c := r.create(id, v); c.Session != (flow.Session{Number: 1, Room: 900}) {
			t.Errorf("created for session %+v", c.Session)
		}
	})
	t.Run("while it is made", func(t *testing.T) {
		r := joinedRig(t)
		made := r.login("ann")
		if c := r.create(made.ID, r.script(made.ID)); c.Session != (flow.Session{}) {
			t.Errorf("created for session %+v", c.Session)
		}
		r.connect(1).attach(made.Token)
		r.current(appX, made.ID, 1, 0, 0)
		m := one(t, told[flow.Message](r, appX))
		var s flow.Session
		if err := s.Parse(m.Payload[1:]); err != nil || flow.Payload(m.Payload[0]) != flow.SetClientPayload || s.Number != 1 {
			t.Errorf("told %v, %v", m.Payload, err)
		}
	})
}

func TestResetComesBeforeTheNewIncarnation(t *testing.T) {
	r := joinedRig(t)
	p, id, v := r.play("ann")
	r.create(id, v)
	r.current(appX, id, 1, 0, 0)
	r.up(appX, id, 1, 1, bundle(1, "@one"))
	p.wantHeard("[35]", "@one")
	r.current(appY, id, 1, 1, 0) // a move is none of the client's affairs
	r.up(appY, id, 1, 2, bundle(1, "@two"))
	p.wantHeard("@two")
	r.up(appY, id, 1, 3, bundle(1, "ahead of the tick")) // without a number, and not counted
	p.wantHeard("ahead of the tick")
	r.die(appY)
	r.located(id, appZ)
	p.wantHeard()
	// The first bundle overtakes the Current, as it may when the real moves at once.
	r.up(appX, id, 2, 1, bundle(1, "@three"))
	p.wantHeard("[35]", "@three")
	r.current(appZ, id, 2, 0, 0)
	p.wantHeard()
	r.up(appY, id, 1, 4, bundle(1, "of the past"))
	p.wantHeard()
	if rep := r.a.Counters(); rep.BundlesSent != 3 {
		t.Errorf("%d bundles", rep.BundlesSent)
	}
}

// toldSessions are the sessions that the cell part was told since message number after of its base's
// flow, which it moves on.
func (r *rig) toldSessions(after *uint64) (sessions []flow.Session) {
	r.t.Helper()
	for _, s := range r.net.sent {
		var m flow.Message
		var told flow.Session
		if s.to != appX || wire.ID(s.msg[0]) != wire.FlowID || m.Parse(s.msg[1:]) != nil || m.Number <= *after {
			continue
		}
		*after = m.Number
		if kind, body, err := flow.SplitPayload(m.Payload); err == nil && kind == flow.SetClientPayload && told.Parse(body) == nil {
			sessions = append(sessions, told)
		}
	}
	r.net.sent = nil
	return sessions
}

// toldOf is a number of each of those sessions.
func (r *rig) toldOf(number func(flow.Session) uint32, after *uint64) (numbers []uint32) {
	r.t.Helper()
	for _, s := range r.toldSessions(after) {
		numbers = append(numbers, number(s))
	}
	return numbers
}

func roomOf(s flow.Session) uint32 { return s.Room }
func rateOf(s flow.Session) uint32 { return s.Rate }

// TestNarrowClient: packets that the client's channel has no room for are counted by the reason,
// and the cell part hears how long they may be: at once, then no more than once in a period, and
// again when there is more room.
func TestNarrowClient(t *testing.T) {
	r := joinedRig(t)
	_, id, _ := r.playLive()
	after := uint64(0)
	r.toldOf(roomOf, &after)
	packet := func() {
		r.tell(appX, &wire.ClientPacket{ID: id, Order: entity.Order{Incarnation: 1, Hop: 3}, Session: 1, Packet: make([]byte, 500)})
	}
	r.net.lacks = 600
	packet()
	if rooms := r.toldOf(roomOf, &after); !slices.Equal(rooms, []uint32{300}) {
		t.Errorf("the cell part was told of room for %v", rooms)
	}
	r.net.lacks = 700
	packet()
	r.net.lacks = 600
	packet()
	report := r.a.Counters()
	if n := report.PacketsUnsent; n != 3 || len(r.net.sent) != 0 {
		t.Errorf("%d of 3 counted, sent %+v", n, r.net.sent)
	}
	r.net.lacks = 0
	r.tick()
	if rooms := r.toldOf(roomOf, &after); len(rooms) != 0 {
		t.Errorf("within the period the cell part was told of room for %v", rooms)
	}
	r.now += RoomPeriod
	r.tick()
	if rooms := r.toldOf(roomOf, &after); !slices.Equal(rooms, []uint32{900}) {
		t.Errorf("the cell part was told of room for %v, once the channel takes all", rooms)
	}
	if want := (wire.SendErrors{{Reason: wire.SendCramped, ID: wire.ClientPacketID, Count: 3}}); !slices.Equal(r.a.links.Errors, want) {
		t.Errorf("counted %+v, want %+v", r.a.links.Errors, want)
	}
}

func TestBundleOfAnotherSessionIsDropped(t *testing.T) {
	r := joinedRig(t)
	p, id, _ := r.playLive()
	r.up(appX, id, 1, 1, bundle(2, "no"))
	r.up(appX, id, 1, 2, bundle(0, "no"))
	r.up(appX, id, 1, 3, bundle(1, "yes"))
	p.wantHeard("yes")
}

func TestPackets(t *testing.T) {
	r := joinedRig(t)
	p, id, v := r.playLive()
	packet := func(inc, session uint32) {
		r.tell(appX, &wire.ClientPacket{ID: id, Order: entity.Order{Incarnation: inc, Hop: 3}, Session: session, Packet: []byte{1}})
	}
	packet(1, 1)
	if s := one(t, r.net.sent); s.ch != p.ch || s.reliable || len(s.msg) != 1 {
		t.Errorf("relayed %+v", s)
	}
	r.net.sent = nil
	packet(1, 2)
	packet(0, 1)
	packet(2, 1)
	r.tell(appX, &wire.ClientPacket{ID: 99, Session: 1})
	if len(r.net.sent) != 0 {
		t.Error("a packet of another life or session was relayed")
	}
	_ = v.DestroyCell()
	r.up(appX, id, 1, 1, (&flow.Gone{}).Append(nil))
	p.wantHeard("[44]")
	r.net.sent = nil
	packet(1, 1)
	if len(r.net.sent) != 0 {
		t.Error("a packet of a cell part that is gone was relayed")
	}
	if want := (wire.SendErrors{{Reason: wire.SendStale, ID: wire.ClientPacketID, Count: 5}}); !slices.Equal(r.a.links.Errors, want) {
		t.Errorf("counted %+v, want %+v", r.a.links.Errors, want)
	}
}

func TestClientCalls(t *testing.T) {
	r := joinedRig(t)
	p, id, _ := r.playLive()
	d := r.schema.Type("Avatar")
	args, _ := argument.Append(nil, d.BaseMethod("buy"), []any{"hat", int32(1)})
	tests := []struct {
		name    string
		msg     []byte
		event   string
		flow    flow.Payload
		refused uint64
	}{
		{"exposed base method", (&protocol.BaseCall{Method: 0, Args: args}).Append(nil), "buy hat 1", 0, 0},
		{"base method by the server's number", (&protocol.BaseCall{Method: uint16(d.BaseMethod("buy").Index), Args: args}).Append(nil), "", 0, 1},
		{"no base method", (&protocol.BaseCall{Method: 65535}).Append(nil), "", 0, 1},
		{"other arguments", (&protocol.BaseCall{Method: 0, Args: args[:3]}).Append(nil), "", 0, 1},
		{"exposed cell method", (&protocol.CellCall{Target: id, Method: 0}).Append(nil), "", flow.ClientCallPayload, 0},
		{"cell method by the server's number", (&protocol.CellCall{Target: id, Method: uint16(d.CellMethod("jump").Index)}).Append(nil), "", 0, 1},
		{"no cell method", (&protocol.CellCall{Target: id, Method: 7}).Append(nil), "", 0, 1},
		{"another's cell method", (&protocol.CellCall{Target: id + 1, Method: 7}).Append(nil), "", flow.ClientCallPayload, 0},
		{"nobody's cell method", (&protocol.CellCall{Target: 0, Method: 0}).Append(nil), "", 0, 1},
		{"audit", protocol.AppendAuditRequest(nil), "", flow.AuditPayload, 0},
		{"rest of another", (&protocol.MoveOther{ID: 9}).Append(nil), "", flow.SteerPayload, 0},
		{"rest", (&protocol.Move{Sequence: 3}).Append(nil), "", flow.ClientRestPayload, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := r.a.Counters()
			p.say(tt.msg)
			after := r.a.Counters()
			if tt.event != "" {
				r.wantEvents(tt.event)
			} else {
				r.wantEvents()
			}
			var asked flow.Payload
			for _, m := range told[flow.Message](r, appX) {
				asked = flow.Payload(m.Payload[0])
			}
			if asked != tt.flow || after.Refused-before.Refused != tt.refused {
				t.Errorf("passed on %d, refused %d", asked, after.Refused-before.Refused)
			}
			p.wantHeard()
		})
	}
	if rep := r.a.Counters(); rep.ClientCallsSent != 3 || rep.ClientCallsHandled != 1 {
		t.Errorf("%d calls accepted, %d handled here", rep.ClientCallsSent, rep.ClientCallsHandled)
	}
}

func TestClientMove(t *testing.T) {
	r := joinedRig(t)
	p, id, _ := r.playLive()
	r.net.sent = nil
	p.whisper((&protocol.Move{Sequence: 3, Forced: 5, Position: property.Vector3{X: 9}}).Append(nil))
	if r.net.sent[0].reliable {
		t.Error("a move goes reliably")
	}
	m := one(t, told[wire.ClientMove](r, appX))
	if m.ID != id || m.Session != 1 || m.Sequence != 3 || m.Forced != 5 || m.Position.X != 9 {
		t.Errorf("passed on %+v", m)
	}
	r.say(r.managers, &wire.AppDead{Role: wire.CellApp, App: appX})
	r.net.sent = nil
	p.whisper((&protocol.Move{Sequence: 4}).Append(nil))
	if len(r.net.sent) != 0 {
		t.Error("moves go nowhere while the cell part is lost")
	}
	// The rest position is kept until it is back.
	p.say((&protocol.Move{Sequence: 5}).Append(nil))
	if v, _ := r.view(id); v.Kept != 1 {
		t.Errorf("%d kept", v.Kept)
	}
}

// A move of another entity goes the same ways, and in the name of the client's own entity alone.
func TestClientMoveOther(t *testing.T) {
	r := joinedRig(t)
	p, id, _ := r.playLive()
	r.net.sent = nil
	move := protocol.MoveOther{ID: id + 1, Sequence: 3, Incarnation: 2, Forced: 5, Position: property.Vector3{X: 9}}
	p.whisper(move.Append(nil))
	if r.net.sent[0].reliable {
		t.Error("a move goes reliably")
	}
	m := one(t, told[wire.Steer](r, appX))
	want := flow.Steer{Target: id + 1, By: id, Session: 1, Sequence: 3, Incarnation: 2, Forced: 5, Position: move.Position}
	if m.Steer != want {
		t.Errorf("passed on %+v", m)
	}
	r.say(r.managers, &wire.AppDead{Role: wire.CellApp, App: appX})
	r.net.sent = nil
	p.whisper(move.Append(nil))
	if len(r.net.sent) != 0 {
		t.Error("moves go nowhere while the cell part is lost")
	}
	p.say(move.Append(nil))
	if v, _ := r.view(id); v.Kept != 1 {
		t.Errorf("%d kept", v.Kept)
	}
}

func TestClientWithoutACell(t *testing.T) {
	r := joinedRig(t)
	p, id, _ := r.play("ann")
	p.say((&protocol.CellCall{Target: id, Method: 0}).Append(nil))
	p.say((&protocol.Move{}).Append(nil))
	p.whisper((&protocol.Move{}).Append(nil))
	p.say(protocol.AppendAuditRequest(nil))
	p.wantHeard()
	if rep := r.a.Counters(); rep.Refused != 3 || rep.ClientCallsSent != 0 {
		t.Errorf("%d refused, %d accepted", rep.Refused, rep.ClientCallsSent)
	}
}

// two are two clients, of which the second shall not suffer from what the first does.
func two(t *testing.T) (r *rig, p, other player) {
	t.Helper()
	r = joinedRig(t)
	other, _, _ = r.play("bob")
	made := r.login("ann")
	p = r.connect(2)
	p.attach(made.Token)
	p.heard()
	r.events = nil
	return r, p, other
}

func TestMalformedEndsThatClientOnly(t *testing.T) {
	for name, say := range map[string]func(player){
		"unknown id":     func(p player) { p.say([]byte{99, 0}) },
		"wire message":   func(p player) { p.say(wire.Encode(nil, &wire.Freeze{On: true})) },
		"cut frame":      func(p player) { p.say([]byte{byte(protocol.CellCallID), 200}) },
		"cut body":       func(p player) { p.say([]byte{byte(protocol.CellCallID), 1, 0}) },
		"cut other move": func(p player) { p.whisper([]byte{byte(protocol.MoveOtherID), 1, 0}) },
		"cut move":       func(p player) { p.whisper([]byte{byte(protocol.MoveID), 1, 0}) },
		"unreliable":     func(p player) { p.whisper(protocol.AppendAuditRequest(nil)) },
		"audit body":     func(p player) { p.say([]byte{byte(protocol.AuditRequestID), 1, 0}) },
		"not finite":     func(p player) { p.say((&protocol.Move{Position: property.Vector3{X: 1 << 30}}).Append(nil)) },
		"server message": func(p player) { p.say(protocol.AppendReset(nil)) },
	} {
		t.Run(name, func(t *testing.T) {
			r, p, other := two(t)
			say(p)
			p.wantRefused(protocol.Malformed)
			r.wantEvents("client death 8", "destroyed")
			other.say((&protocol.BaseCall{Method: 0}).Append(nil))
			if r.net.ended[other.ch] {
				t.Error("another client suffered")
			}
		})
	}
}

func TestFlooding(t *testing.T) {
	r, p, other := two(t)
	other.heard()
	call := (&protocol.BaseCall{Method: 0}).Append(nil)
	for range DefaultUploadMessages - 1 { // and the attach
		p.say(call)
	}
	p.wantHeard()
	p.say(call)
	p.wantRefused(protocol.Flooding)
	r.wantEvents("client death 9", "destroyed")
	other.wantHeard()
	// What a client may send in a second it may send every second.
	for range 5 {
		r.pass(time.Second)
		for range DefaultUploadMessages {
			other.say(call)
		}
	}
	other.wantHeard()
	other.say(slices.Repeat(call, 2))
	other.wantRefused(protocol.Flooding)
}

// What a client could not say while the network stood still it may say at once, as long as its
// channel can outlive that, and no more on the whole than others.
func TestStalledClientCatchesUp(t *testing.T) {
	long := make([]byte, 100)
	call := (&protocol.BaseCall{Method: 9, Args: long}).Append(nil)
	for _, silent := range []time.Duration{2 * time.Second, 8 * time.Second, time.Hour} {
		r, g, _ := seated(t)
		say := func(n int) {
			for range n {
				g.say(call)
			}
		}
		second := DefaultUploadBytes / len(call)
		for range 3 {
			r.pass(silent)
			say(int(min(silent, mercury.DefaultInactivity)/time.Second) * second)
			if r.net.ended[g.ch] {
				t.Fatalf("%v: it was taken for a flood", silent)
			}
		}
		say(2)
		g.wantRefused(protocol.Flooding)
	}
}

// The answer to an audit names all that is in sight: many are asked for at little cost.
func TestFloodingByAudits(t *testing.T) {
	r := joinedRig(t)
	p, _, _ := r.play("ann")
	ask := protocol.AppendAuditRequest(nil)
	for range 3 {
		p.say(slices.Repeat(ask, MaxClientAudits))
		r.pass(time.Second)
	}
	p.wantHeard()
	p.say(slices.Repeat(ask, MaxClientAudits+1))
	p.wantRefused(protocol.Flooding)
}

func TestFloodingByBytes(t *testing.T) {
	r := joinedRig(t)
	p, _, _ := r.play("ann")
	big := (&protocol.BaseCall{Method: 0, Args: make([]byte, 8000)}).Append(nil)
	for range 4 {
		p.say(big)
	}
	p.wantHeard()
	p.say(big)
	p.say(big)
	p.wantRefused(protocol.Flooding)
}

func TestLogout(t *testing.T) {
	r := joinedRig(t)
	p, id, _ := r.playLive()
	p.say(protocol.AppendAuditRequest(protocol.AppendLogout(nil))) // what follows a logout is not heard
	p.wantHeard()
	if !r.net.ended[p.ch] {
		t.Error("the channel is open")
	}
	r.wantEvents("client death 12")
	if got := r.flow(appX); !slices.Equal(got, []string{fmt.Sprintf("1:%d", flow.EndPayload)}) {
		t.Errorf("the cell part was told %v, want its end", got)
	}
	r.take(baseAppMgr)
	r.up(appX, id, 1, 1, (&flow.Gone{}).Append(nil))
	r.wantEvents("lost cell", "destroyed")
	if gone := one(t, told[wire.ProxyGone](r, baseAppMgr)); gone.Account != "ann" {
		t.Errorf("gone %+v", gone)
	}
}

func TestConnectionLost(t *testing.T) {
	r := joinedRig(t, endWithChannel)
	p, _, _ := r.playLive()
	r.a.Closed(r.now, p.ch, mercury.ErrTimeout)
	r.wantEvents("client death 17")
	if len(r.a.clients) != 0 {
		t.Error("the channel is remembered")
	}
}

func TestScriptKeepsTheEntity(t *testing.T) {
	r := joinedRig(t, endWithChannel)
	r.keep = true
	p, id, v := r.playLive()
	r.a.Closed(r.now, p.ch, mercury.ErrTimeout)
	r.wantEvents("client death 17")
	m := one(t, told[flow.Message](r, appX))
	var s flow.Session
	if err := s.Parse(m.Payload[1:]); err != nil || flow.Payload(m.Payload[0]) != flow.SetClientPayload || s.Number != 0 {
		t.Errorf("the cell part was told %v", m.Payload)
	}
	r.up(appX, id, 1, 1, bundle(1, "to nobody"))
	r.wantLink(id, linkLive, 1, 0, appX)
	if v.HasClient() || !errors.Is(v.Client().Call("chat", "x"), entity.ErrNoPart) {
		t.Error("there is no client any more")
	}
}

func TestClientCallsOfTheBase(t *testing.T) {
	r := joinedRig(t)
	p, id, v := r.play("ann")
	if err := v.Client().Call("chat", "hello"); err != nil {
		t.Fatal(err)
	}
	msg := one(t, r.take(r.net.peers[p.ch]))
	var c protocol.Call
	if err := protocol.Messages(msg, func(_ protocol.ID, body []byte) error { return c.Parse(body) }); err != nil {
		t.Fatal(err)
	}
	args, err := r.schema.Type("Avatar").ClientMethods[0].ReadArgs(c.Args)
	if err != nil || c.ID != id || c.Method != 0 || args[0].Str() != "hello" {
		t.Errorf("called %+v, %v", c, err)
	}
	if err := v.Client().Call("shout"); !errors.Is(err, entity.ErrNoMethod) {
		t.Errorf("no such method: %v", err)
	}
}

func TestDestroyDropsTheClient(t *testing.T) {
	r := joinedRig(t)
	p, _, v := r.playLive()
	v.Destroy()
	p.wantRefused(protocol.Destroyed)
	r.wantEvents()
	r.a.Closed(r.now, p.ch, mercury.ErrPeerClosed)
	r.wantEvents()
}

func TestRestoredCellHearsTheSessionOfNow(t *testing.T) {
	r := joinedRig(t)
	_, id, _ := r.playLive()
	r.die(appX)
	if c := r.located(id, appY); c.Session != (flow.Session{Number: 1, Room: 900}) || c.Order != (entity.Order{Incarnation: 2}) {
		t.Errorf("restored by %+v", c)
	}
	if got := told[migrate.Create](r, appX); len(got) != 0 {
		t.Error("a dead app was told to create")
	}
}
