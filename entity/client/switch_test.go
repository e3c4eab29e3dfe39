package client

import (
	"fmt"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
)

// A client that is sent elsewhere dials there at once, and again while it is not known there. What it said
// meanwhile goes there, once.
func TestSwitch(t *testing.T) {
	r := newRig(t)
	r.playOn()
	r.buy("a")
	r.net.Dials, r.net.Sent = nil, nil
	old := r.c.ch
	to := mercurytest.Host(3, 33)
	r.say((&protocol.Switch{Doors: []protocol.Door{{Network: protocol.UDP, Address: to}}}).Append(nil))
	if peer, _ := r.net.Peer(r.c.ch); peer != to || r.c.ch == old || r.c.Stats().Switched != 1 {
		t.Fatalf("dials %v", peer)
	}
	r.buy("b")
	m := r.reopen()
	if m.Token != (protocol.Token{1}) {
		t.Errorf("resumes with %+v", m)
	}
	r.say((&protocol.Refused{Code: protocol.BadToken}).Append(nil))
	if r.c.State() != Playing {
		t.Fatalf("%v: %v", r.c.State(), r.c.Err())
	}
	r.now += 200 * time.Millisecond
	r.tick()
	r.reopen()
	if peer, _ := r.net.Peer(r.c.ch); peer != to {
		t.Errorf("dials %v the second time", peer)
	}
	r.net.Sent = nil
	r.say((&protocol.Resumed{Token: protocol.Token{2}, Handled: 1, From: m.Has}).Append(nil))
	r.wantCalls(fmt.Sprint(protocol.HeardID), "b")
	if r.c.Interrupted() != nil || r.c.Stats().Interrupted != 0 || r.c.Stats().Resumed != 1 {
		t.Errorf("interrupted %v, %+v", r.c.Interrupted(), r.c.Stats())
	}
	r.wantEvents("resumed")
}

// A token that nobody knows in the end ends the session.
func TestSwitchInVain(t *testing.T) {
	r := newRig(t)
	r.playOn()
	r.say((&protocol.Switch{Doors: []protocol.Door{{Network: protocol.UDP, Address: mercurytest.Host(3, 33)}}}).Append(nil))
	begun := r.now
	for r.c.State() == Playing && r.now < begun+time.Minute {
		if r.c.ch != 0 {
			r.c.Opened(r.now, r.c.ch, mercury.Address{})
			r.say((&protocol.Refused{Code: protocol.BadToken}).Append(nil))
		}
		r.tick()
	}
	if took := r.now - begun; took < switchGrace || took > switchGrace+mostTry {
		t.Errorf("gave up after %v: %v", took, r.c.Err())
	}
}

// A client that comes back and is sent on goes there at once, and is not kept busy by two that send
// it to each other.
func TestSentOnWhileAway(t *testing.T) {
	r := newRig(t)
	r.playOn()
	there := [2]mercury.Address{mercurytest.Host(3, 33), mercurytest.Host(4, 44)}
	send := func(to, other mercury.Address) {
		r.say((&protocol.Switch{Doors: []protocol.Door{{Network: protocol.UDP, Address: to}}, Fallback: []protocol.Door{{Network: protocol.UDP, Address: other}}}).Append(nil))
	}
	r.c.Closed(r.now, r.c.ch, mercury.ErrTimeout)
	for n := 0; r.c.ch == 0 && n < 100; n++ {
		r.tick()
	}
	r.reopen()
	send(there[0], there[1])
	if peer, _ := r.net.Peer(r.c.ch); peer != there[0] {
		t.Errorf("dials %v", peer)
	}
	begun, times := r.now, 0
	for r.c.State() == Playing && r.now < begun+time.Minute {
		if r.c.ch != 0 {
			r.c.Opened(r.now, r.c.ch, mercury.Address{})
			times++
			send(there[times%2], there[1-times%2])
		}
		r.tick()
	}
	if times == 0 || times > 40 || r.c.State() == Playing {
		t.Errorf("dialled %d times, %v", times, r.c.State())
	}
}
