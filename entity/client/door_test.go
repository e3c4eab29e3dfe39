package client

import (
	"fmt"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
	"github.com/cellscape/cellscape/property"
)

// Doors of the BaseApp that has the session, and of its heir. Those of one app have one salt.
var (
	ownUDP  = protocol.Door{Network: protocol.UDP, Address: mercurytest.Host(2, 22)}
	ownTCP  = protocol.Door{Network: "tcp", Address: mercurytest.Host(20, 22)}
	heirUDP = protocol.Door{Network: protocol.UDP, Address: mercurytest.Host(3, 33)}
	heirTCP = protocol.Door{Network: "tcp", Address: mercurytest.Host(30, 33)}
)

// loggedIn is a client that was told of doors and of a fallback, and dials the first.
func loggedIn(t *testing.T, doors, fallback []protocol.Door) *rig {
	r := newRig(t)
	r.c.cfg.Networks = []string{protocol.UDP, "tcp"}
	r.c.cfg.Events.Interrupted = func(error) { r.events = append(r.events, "interrupted") }
	r.c.cfg.Events.Resumed = func() { r.events = append(r.events, "resumed") }
	r.open()
	r.say((&protocol.LoginOK{Doors: doors, Fallback: fallback, Token: protocol.Token{1, 2, 3}}).Append(nil))
	r.net.Dials = nil
	return r
}

// resumeOver opens a channel and returns what the client says there first.
func (r *rig) resumeOver(ch mercury.ChannelID) (m protocol.Resume) {
	r.t.Helper()
	peer, _ := r.net.Peer(ch)
	r.net.Sent = nil
	r.c.Opened(r.now, ch, peer)
	if err := protocol.Messages(r.net.One(r.t, ch), func(id protocol.ID, body []byte) error {
		if id != protocol.ResumeID {
			return fmt.Errorf("message %d", id)
		}
		return m.Parse(body)
	}); err != nil {
		r.t.Fatal(err)
	}
	return m
}

// dialled are the addresses that the client dials within some time, while nobody answers.
func (r *rig) dialled(d time.Duration) (to []mercury.Address) {
	n := len(r.net.Dials)
	for end := r.now + d; r.now < end; {
		r.tick()
	}
	for _, ch := range r.net.Dials[n:] {
		peer, _ := r.net.Peer(ch)
		to = append(to, peer)
	}
	return to
}

// first is the first word of a BaseApp to a client that resumes the session which it has just begun.
func (r *rig) first(token protocol.Token) []byte {
	_ = r.own.Load(gold, property.Int(5))
	base := protocol.BasePlayer{ID: me, Props: r.own.AppendStream(nil, property.OwnClientBaseStream)}
	return base.Append((&protocol.Attached{Token: token, Time: resumeTime}).Append(nil))
}

// A BaseApp that is dead when its client comes: the session begins at the heir, as if nothing had been, and
// with the token that the heir has given.
func TestBeginsAtTheHeir(t *testing.T) {
	for name, refused := range map[string]bool{"silent": false, "refused": true} {
		r := loggedIn(t, []protocol.Door{ownUDP}, []protocol.Door{heirUDP})
		begun := r.now
		if refused {
			r.c.Closed(r.now, r.c.ch, mercury.ErrPeerAborted)
		}
		for r.c.life.scout.ch == 0 {
			if r.tick(); refused && r.c.ch != 0 && r.c.life.scout.ch == 0 {
				r.c.Closed(r.now, r.c.ch, mercury.ErrPeerAborted)
			}
			if r.now-begun > 3*time.Second {
				t.Fatalf("%s: no scout is sent", name)
			}
		}
		if took := r.now - begun; refused && took > time.Second {
			t.Errorf("%s: took %v to look elsewhere", name, took)
		}
		ch := r.c.life.scout.ch
		if peer, _ := r.net.Peer(ch); peer != heirUDP.Address {
			t.Errorf("%s: the scout is sent to %v", name, peer)
		}
		m := r.resumeOver(ch)
		if m.Token != (protocol.Token{1, 2, 3}) || !m.Ready || m.Has != (protocol.Counts{}) {
			t.Errorf("%s: resumes with %+v", name, m)
		}
		r.c.Message(r.now, ch, true, (&protocol.Resumed{Token: protocol.Token{7}}).Append(nil))
		r.say(r.first(protocol.Token{6})) // which was made for a channel that is gone
		r.wantEvents("logged in", fmt.Sprintf("base player %v gold 5", me))
		if r.c.State() != Playing || r.c.Interrupted() != nil || r.c.life.token != (protocol.Token{7}) || r.c.Stats().Interrupted+r.c.Stats().Resumed != 0 {
			t.Errorf("%s: %v, %+v", name, r.c.State(), r.c.life)
		}
	}
}

// Without anybody to go to, the login fails in time, and says why.
func TestNobodyBegins(t *testing.T) {
	r := loggedIn(t, []protocol.Door{ownUDP}, []protocol.Door{heirUDP})
	for r.c.State() == Attaching && r.now < time.Minute {
		r.tick()
	}
	if r.c.State() != Closed || r.now > heirTimeout+2*DefaultTick {
		t.Errorf("%v after %v: %v", r.c.State(), r.now, r.c.Err())
	}
}

// The heir's copy is of before the client came: the session begins once more, with what the client had
// forgotten to the world, and perhaps with another entity.
func TestBeginsOnceMore(t *testing.T) {
	for _, other := range []bool{false, true} {
		r := newRig(t)
		r.playGuarded()
		r.c.cfg.Events.EntitiesReset = func() { r.events = append(r.events, "entities reset") }
		r.buy("a")
		ch := r.quiet()
		if m := r.resumeOver(ch); m.Token != (protocol.Token{1}) || m.Former != (protocol.Token{1, 2, 3}) {
			t.Errorf("resumes with %+v", m)
		}
		r.net.Sent, r.events = nil, nil
		r.c.Message(r.now, ch, true, (&protocol.Resumed{Token: protocol.Token{8}}).Append(nil))
		r.wantCalls(fmt.Sprint(protocol.HeardID), "a")
		base := protocol.BasePlayer{ID: me, Props: r.own.AppendStream(nil, property.OwnClientBaseStream)}
		if other {
			base.ID++
		}
		r.say(base.Append((&protocol.Attached{Token: protocol.Token{8}, Time: resumeTime}).Append(nil)))
		if want := []string{"interrupted", "resumed"}; other {
			r.wantEvents(append(want, "entities reset", fmt.Sprintf("base player %v gold 0", base.ID))...)
		} else {
			r.wantEvents(want...)
		}
		r.say(protocol.AppendReset(nil))
		r.say(r.cellPlayer().Append(r.cell(1)))
		if r.c.State() != Playing || r.c.Player().ID != base.ID || !r.c.InWorld() || r.c.life.has != (protocol.Counts{2, 1}) {
			t.Errorf("%v, %v, counts %v", r.c.State(), r.c.Err(), r.c.life.has)
		}
		r.say((&protocol.Attached{Token: protocol.Token{9}}).Append(nil))
		r.wantMalformed()
	}
}

// A client whose network goes silent asks its own BaseApp over another, too, and the session goes on there.
func TestAnotherNetwork(t *testing.T) {
	r := loggedIn(t, []protocol.Door{ownUDP, ownTCP}, nil)
	r.open()
	r.say(r.first(protocol.Token{4}))
	r.say(r.cellPlayer().Append(r.cell(1)))
	r.events = nil
	begun, old := r.now, r.c.ch
	for r.c.life.scout.ch == 0 && r.now < time.Minute {
		r.tick()
	}
	ch := r.c.life.scout.ch
	if peer, _ := r.net.Peer(ch); peer != ownTCP.Address || r.now-begun < networkPatience || r.now-begun > networkPatience+2*DefaultTick {
		t.Fatalf("dials %v after %v", peer, r.now-begun)
	}
	m := r.resumeOver(ch)
	r.c.Message(r.now, ch, true, (&protocol.Resumed{Token: protocol.Token{5}, From: m.Has}).Append(nil))
	r.wantEvents("interrupted", "resumed")
	if r.c.ch != ch || !r.net.Ended[old] || r.c.life.door() != ownTCP || len(r.c.life.doors) != 2 {
		t.Errorf("it is at %+v of %v", r.c.life.door(), r.c.life.doors)
	}
	// It comes back over the one that was good last, and then over the other.
	r.net.Ended[ch] = true
	r.lose()
	if to := r.dialled(tryTimeout + time.Second); len(to) != 2 || to[0] != ownTCP.Address || to[1] != ownUDP.Address {
		t.Errorf("dials %v", to)
	}
	r.c.Message(r.now, r.c.ch, true, (&protocol.Resumed{Token: protocol.Token{6}, From: m.Has}).Append(nil))
	if r.c.life.door() != ownUDP || r.c.Interrupted() != nil {
		t.Errorf("it is at %+v", r.c.life.door())
	}
}

// Of the fallback's doors that of the session's network comes first. With the heir come all its doors.
func TestDoorsOfTheHeir(t *testing.T) {
	r := loggedIn(t, []protocol.Door{ownUDP, ownTCP}, []protocol.Door{heirUDP, heirTCP})
	r.open()
	r.say(r.first(protocol.Token{4}))
	r.lose()
	to := r.dialled(4 * tryTimeout)
	if want := []mercury.Address{ownUDP.Address, heirUDP.Address, ownTCP.Address}; len(to) < 4 || fmt.Sprint(to[:3]) != fmt.Sprint(want) {
		t.Errorf("dials %v, want %v first", to, want)
	}
	for r.c.life.scout.ch == 0 || *r.c.life.scout.door != heirTCP {
		if r.tick(); r.now > time.Minute {
			t.Fatal("the heir is not asked over TCP")
		}
	}
	ch := r.c.life.scout.ch
	m := r.resumeOver(ch)
	r.c.Message(r.now, ch, true, (&protocol.Resumed{Token: protocol.Token{5}, From: m.Has}).Append(nil))
	if r.c.life.door() != heirTCP || len(r.c.life.doors) != 2 || r.c.life.fallback != nil {
		t.Errorf("it is at %+v of %v", r.c.life.door(), r.c.life.doors)
	}
}

// A machine that has changed its network tries the network that it prefers.
func TestReconnectPrefers(t *testing.T) {
	r := loggedIn(t, []protocol.Door{ownTCP, ownUDP}, nil)
	r.open()
	r.say(r.first(protocol.Token{4}))
	r.c.life.use(ownTCP)
	r.c.Reconnect()
	if to := r.dialled(time.Second); len(to) != 1 || to[0] != ownUDP.Address {
		t.Errorf("dials %v", to)
	}
}

// A playing client that hears all the time looks nowhere, at no cost.
func TestNoScoutCostsNothing(t *testing.T) {
	r := loggedIn(t, []protocol.Door{ownUDP, ownTCP}, []protocol.Door{heirUDP, heirTCP})
	r.open()
	r.say(r.first(protocol.Token{4}))
	if n := testing.AllocsPerRun(100, func() { r.c.lookElsewhere() }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
