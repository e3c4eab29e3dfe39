package client

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
	"github.com/cellscape/cellscape/property"
)

func TestConfigFaultsAreAllReported(t *testing.T) {
	_, err := New(Config{User: strings.Repeat("x", 1000), Password: strings.Repeat("x", 1000), Tick: -1})
	for _, field := range []string{"Transport", "Schema", "LoginApp", "User", "Password", "Tick"} {
		if err == nil || !strings.Contains(err.Error(), "Config."+field) {
			t.Errorf("no word on %s in %v", field, err)
		}
	}
}

func TestLogin(t *testing.T) {
	r := newRig(t)
	r.open()
	loginCh := r.c.ch
	var login protocol.Login
	if err := protocol.Messages(r.net.One(t, loginCh), func(id protocol.ID, body []byte) error { return login.Parse(body) }); err != nil {
		t.Fatal(err)
	}
	want := protocol.Login{Version: protocol.Version, Digest: r.schema.ClientDigest, User: "ann", Password: "pw"}
	if diff := cmp.Diff(want, login); diff != "" {
		t.Error(diff)
	}

	ok := protocol.LoginOK{Doors: []protocol.Door{{Network: protocol.UDP, Address: mercurytest.Host(2, 22)}}, Token: protocol.Token{7}}
	r.say(ok.Append(nil))
	if !r.net.Ended[loginCh] {
		t.Error("the channel to the LoginApp stays open")
	}
	if peer, _ := r.net.Peer(r.c.ch); peer != mercurytest.Host(2, 22) {
		t.Errorf("dialled %v", peer)
	}
	r.open()
	var attach protocol.Attach
	if err := protocol.Messages(r.net.One(t, r.c.ch), func(id protocol.ID, body []byte) error { return attach.Parse(body) }); err != nil {
		t.Fatal(err)
	}
	if attach.Token != ok.Token || attach.Digest != protocol.Digest(r.schema.ClientDigest) {
		t.Errorf("attach %+v", attach)
	}

	r.say((&protocol.Attached{}).Append(nil))
	_ = r.own.Load(gold, property.Int(5))
	base := protocol.BasePlayer{ID: me, Props: r.own.AppendStream(nil, property.OwnClientBaseStream)}
	r.say(base.Append(nil))
	if r.c.InWorld() || !errors.Is(r.c.SetPosition(property.Vector3{X: 2}, property.Vector3{}), ErrNotInWorld) {
		t.Error("SetPosition works before CellPlayer")
	}
	r.say(r.cellPlayer().Append(r.cell(1)))
	if !r.c.InWorld() || r.c.Space() != 1 || r.c.State() != Playing || !r.c.Player().Own() {
		t.Errorf("in world %v, space %v, state %v", r.c.InWorld(), r.c.Space(), r.c.State())
	}
	r.wantEvents("logged in", "base player 1.1 gold 5", "cell player at {1 0 1} mana 0")
}

func TestRefusals(t *testing.T) {
	for _, code := range []protocol.Code{protocol.BadVersion, protocol.BadDigest, protocol.BadCredentials,
		protocol.AlreadyLoggedIn, protocol.ServerBusy, protocol.NotReady, protocol.BadToken, protocol.Destroyed} {
		for _, at := range []string{"login", "attach", "play"} {
			r := newRig(t)
			map[string]func(){"login": r.open, "attach": r.attach, "play": r.play}[at]()
			m := protocol.Refused{Code: code, Reason: "sorry"}
			r.say(m.Append(nil))
			var refused *protocol.Refused
			if !errors.As(r.c.Err(), &refused) || refused.Code != code || r.c.State() != Closed {
				t.Errorf("%s: %v: error %v in state %v", at, code, r.c.Err(), r.c.State())
			}
			r.wantEvents("closed: refused: " + code.String() + ": sorry")
			if !r.net.Ended[r.net.Last] {
				t.Errorf("%s: channel stays open", at)
			}
		}
	}
}

func TestClosedByTransport(t *testing.T) {
	for _, bring := range []func(*rig){(*rig).open, (*rig).attach, (*rig).play} {
		r := newRig(t)
		bring(r)
		r.c.Closed(r.now, r.c.ch, mercury.ErrTimeout)
		if !errors.Is(r.c.Err(), mercury.ErrTimeout) || r.c.State() != Closed {
			t.Errorf("error %v in state %v", r.c.Err(), r.c.State())
		}
		want := ErrNotPlaying
		if r.c.Player() == nil {
			want = entity.ErrNoPart
		}
		if err := r.c.Player().Base().Call("buy", "x"); !errors.Is(err, want) {
			t.Errorf("call after the end: %v", err)
		}
	}
}

func TestTimeouts(t *testing.T) {
	for name, x := range map[string]struct {
		bring func(*rig)
		after time.Duration
	}{"login": {(*rig).open, LoginTimeout}, "attach": {(*rig).attach, AttachTimeout}} {
		r := newRig(t)
		x.bring(r)
		r.c.Tick(x.after - time.Millisecond)
		if r.c.State() == Closed {
			t.Fatalf("%s: closed too early", name)
		}
		r.c.Tick(x.after + DefaultTick)
		if r.c.State() != Closed || !errors.Is(r.c.Err(), mercury.ErrTimeout) {
			t.Errorf("%s: state %v, error %v", name, r.c.State(), r.c.Err())
		}
	}
	r := newRig(t)
	r.play()
	r.c.Tick(time.Hour)
	if r.c.State() != Playing {
		t.Errorf("a quiet session ended: %v", r.c.Err())
	}
}

func TestLogout(t *testing.T) {
	ends := map[string]func(r *rig){
		"server closes":  func(r *rig) { r.c.Closed(r.now, r.c.ch, mercury.ErrPeerClosed) },
		"server refuses": func(r *rig) { r.say((&protocol.Refused{Code: protocol.LoggedOut}).Append(nil)) },
		"server silent":  func(r *rig) { r.c.Tick(LogoutTimeout + DefaultTick) },
	}
	for name, end := range ends {
		r := newRig(t)
		r.play()
		r.c.Logout()
		r.c.Logout()
		if got := r.net.One(t, r.c.ch); got[0] != byte(protocol.LogoutID) {
			t.Errorf("%s: sent %v", name, got)
		}
		if r.c.State() != Playing {
			t.Errorf("%s: ended before the server agreed", name)
		}
		end(r)
		var refused *protocol.Refused
		if !errors.As(r.c.Err(), &refused) || refused.Code != protocol.LoggedOut {
			t.Errorf("%s: %v", name, r.c.Err())
		}
	}
}

func TestCloseIsSilent(t *testing.T) {
	r := newRig(t)
	r.play()
	ch := r.c.ch
	r.c.Close()
	r.c.Message(r.now, ch, true, []byte{0xff})
	r.c.Closed(r.now, ch, mercury.ErrTimeout)
	r.wantEvents()
	if r.c.Err() != ErrEnded || !r.net.Ended[ch] {
		t.Errorf("error %v", r.c.Err())
	}
}

func TestForeignChannelsAreAborted(t *testing.T) {
	r := newRig(t)
	r.play()
	ch := r.net.Accept(mercurytest.Host(66, 6))
	r.c.Opened(r.now, ch, mercurytest.Host(66, 6))
	r.c.Message(r.now, ch, true, (&protocol.Refused{Code: 1}).Append(nil))
	if !r.net.Ended[ch] || r.c.State() != Playing {
		t.Error("a stranger reached the client")
	}
}

func TestTickKeepsItsRhythm(t *testing.T) {
	r := newRig(t)
	if next := r.c.Tick(0); next != DefaultTick {
		t.Errorf("next %v", next)
	}
	if next := r.c.Tick(30 * time.Millisecond); next != DefaultTick {
		t.Errorf("an early call moved the tick to %v", next)
	}
	if next := r.c.Tick(DefaultTick + 3*time.Millisecond); next != 2*DefaultTick {
		t.Errorf("next %v", next)
	}
	if next := r.c.Tick(time.Second); next != time.Second+DefaultTick {
		t.Errorf("after a pause: next %v", next)
	}
}

// moves decodes and forgets the Moves sent so far.
func (r *rig) moves() (list []protocol.Move, reliable []bool) {
	r.t.Helper()
	for _, s := range r.net.Sent {
		if err := protocol.Messages(s.Message, func(id protocol.ID, body []byte) error {
			var m protocol.Move
			list, reliable = append(list, m), append(reliable, s.Reliable)
			return list[len(list)-1].Parse(body)
		}); err != nil {
			r.t.Fatal(err)
		}
	}
	r.net.Sent = nil
	return list, reliable
}

func (r *rig) tick() { r.now += DefaultTick; r.c.Tick(r.now) }

func TestMoves(t *testing.T) {
	r := newRig(t)
	r.play()
	r.tick()
	if m, _ := r.moves(); len(m) != 0 || !r.c.AtRest() {
		t.Errorf("%d moves of a player who never moved", len(m))
	}
	dir := property.Vector3{X: 1}
	for i := range 3 {
		for range 2 { // several a tick are one
			if err := r.c.SetPosition(property.Vector3{X: float32(i) + 2}, dir); err != nil {
				t.Fatal(err)
			}
		}
		r.tick()
		m, reliable := r.moves()
		want := protocol.Move{Sequence: uint32(i) + 1, Forced: 1, Seen: m[0].Seen, Position: property.Vector3{X: float32(i) + 2}, Direction: dir}
		if len(m) != 1 || reliable[0] || m[0] != want {
			t.Fatalf("tick %d: %v reliable %v", i, m, reliable)
		}
	}
	r.tick()
	if m, reliable := r.moves(); len(m) != 1 || !reliable[0] || m[0].Sequence != 4 || m[0].Position.X != 4 {
		t.Fatalf("at rest: %v reliable %v", m, reliable)
	}
	_ = r.c.SetPosition(property.Vector3{X: 4}, dir)
	r.tick()
	if m, _ := r.moves(); len(m) != 0 || !r.c.AtRest() {
		t.Errorf("%d moves after the rest", len(m))
	}
	if err := r.c.SetPosition(property.Vector3{X: 2 * property.MaxCoordinate}, dir); !errors.Is(err, ErrPosition) {
		t.Errorf("far away: %v", err)
	}
	// After a Reset the server says where the player is.
	_ = r.c.SetPosition(property.Vector3{X: 9}, dir)
	r.say(protocol.AppendReset(nil))
	r.say(r.cellPlayer().Append(r.cell(1)))
	r.tick()
	if m, _ := r.moves(); len(m) != 0 || r.c.Player().Position != (property.Vector3{X: 1, Z: 1}) {
		t.Errorf("after a reset: %v, at %v", m, r.c.Player().Position)
	}
}

func TestCalls(t *testing.T) {
	r := newRig(t)
	r.play()
	r.say(r.enter(foe, 2).Append(r.cell(2)))
	text := "hi"
	for _, x := range []struct {
		name string
		call func() error
		want error
	}{
		{"own exposed", func() error { return r.c.Entity(me).Cell().Call("jump") }, nil},
		{"other's exposed to all", func() error { return r.c.Entity(foe).Cell().Call("greet", text) }, nil},
		{"other's exposed to own", func() error { return r.c.Entity(foe).Cell().Call("jump") }, entity.ErrNotExposed},
		{"hidden", func() error { return r.c.Entity(me).Cell().Call("hidden") }, entity.ErrNotExposed},
		{"none", func() error { return r.c.Entity(me).Cell().Call("fly") }, entity.ErrNoMethod},
		{"not in sight", func() error { return r.c.Entity(foe+1).Cell().Call("greet", text) }, entity.ErrNoPart},
		{"missing argument", func() error { return r.c.Entity(me).Cell().Call("greet") }, entity.ErrArguments},
		{"wrong argument", func() error { return r.c.Entity(me).Cell().Call("greet", 1) }, entity.ErrArguments},
		{"too long", func() error {
			return r.c.Entity(me).Cell().Call("greet", strings.Repeat("x", protocol.MaxArguments))
		}, entity.ErrArguments},
		{"base", func() error { return r.c.Player().Base().Call("buy", text) }, nil},
		{"base hidden", func() error { return r.c.Player().Base().Call("credit", text) }, entity.ErrNotExposed},
		{"another's base", func() error { return r.c.Entity(foe).Base().Call("buy", text) }, entity.ErrNotExposed},
		{"base none", func() error { return r.c.Player().Base().Call("sell", text) }, entity.ErrNoMethod},
		{"audit", r.c.RequestAudit, nil},
	} {
		if err := x.call(); !errors.Is(err, x.want) {
			t.Errorf("%s: %v, want %v", x.name, err, x.want)
		}
	}
	sent := r.net.Take(r.c.ch)
	if len(sent) != 4 || r.c.Stats().CallsSent != 3 {
		t.Fatalf("%d messages, %d calls", len(sent), r.c.Stats().CallsSent)
	}
	var call protocol.CellCall
	if err := protocol.Messages(sent[1], func(_ protocol.ID, body []byte) error { return call.Parse(body) }); err != nil {
		t.Fatal(err)
	}
	greet := r.schema.Type("Avatar").CellMethod("greet")
	args, err := greet.ReadArgs(call.Args)
	if err != nil || call.Target != foe || int(call.Method) != greet.ExposedIndex || args[0].Str() != "hi" {
		t.Errorf("call %+v: %v %v", call, args, err)
	}
	var base protocol.BaseCall
	if err := protocol.Messages(sent[2], func(_ protocol.ID, body []byte) error { return base.Parse(body) }); err != nil {
		t.Fatal(err)
	}
	buy := r.schema.Type("Avatar").BaseMethod("buy")
	args, err = buy.ReadArgs(base.Args)
	if err != nil || int(base.Method) != buy.ExposedIndex || args[0].Str() != "hi" {
		t.Errorf("call %+v: %v %v", base, args, err)
	}
}

// A ticket is kept before the BaseApp is dialled, if there is one.
func TestTicketIsKept(t *testing.T) {
	for _, x := range []struct {
		ticket string
		want   []string
	}{
		{"t", []string{fmt.Sprintf("t for %v after 1 dials", mercurytest.Host(2, 22))}},
		{"", nil},
	} {
		r := newRig(t)
		r.open()
		r.say((&protocol.LoginOK{Doors: []protocol.Door{{Network: protocol.UDP, Address: mercurytest.Host(2, 22)}}, Ticket: []byte(x.ticket)}).Append(nil))
		if r.c.State() != Attaching || !slices.Equal(r.kept, x.want) {
			t.Errorf("%v, kept %q", r.c.State(), r.kept)
		}
	}
	r := newRig(t)
	r.open()
	r.say((&protocol.LoginOK{Doors: []protocol.Door{{Network: protocol.UDP, Address: mercurytest.Host(2, 22)}}, Ticket: make([]byte, mercury.MaxTicket+1)}).Append(nil))
	r.wantMalformed()
}

// A client that waits for room is told where it is, and has patience as long as it is told.
func TestWaiting(t *testing.T) {
	r := newRig(t)
	r.open()
	for i := range 5 {
		m := protocol.Waiting{Position: uint32(5 - i), Of: 9}
		r.say(m.Append(nil))
		r.wantEvents(fmt.Sprintf("waiting %d/9", 5-i))
		r.now += LoginTimeout - DefaultTick
		r.c.Tick(r.now)
	}
	if r.c.State() != LoggingIn {
		t.Fatalf("state %v: %v", r.c.State(), r.c.Err())
	}
	r.now += 2 * DefaultTick
	r.c.Tick(r.now)
	if !errors.Is(r.c.Err(), mercury.ErrTimeout) {
		t.Errorf("it waits for a silent LoginApp: %v", r.c.Err())
	}
}

// A client that gives up leaves the queue by closing its channel.
func TestLeaveQueue(t *testing.T) {
	r := newRig(t)
	r.open()
	r.say((&protocol.Waiting{Position: 1, Of: 1}).Append(nil))
	r.c.Logout()
	if !r.net.Ended[r.net.Last] || r.c.State() != Closed {
		t.Error("the channel stays open")
	}
	for name, msg := range map[string][]byte{"none": {byte(protocol.WaitingID), 2, 0, 0}, "behind": {byte(protocol.WaitingID), 2, 3, 2}} {
		r := newRig(t)
		r.open()
		r.say(msg)
		if !errors.Is(r.c.Err(), protocol.ErrMalformed) {
			t.Errorf("%s: %v", name, r.c.Err())
		}
	}
}
