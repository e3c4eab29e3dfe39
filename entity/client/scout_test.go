package client

import (
	"fmt"
	"testing"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
)

// playGuarded is playOn with a fallback.
func (r *rig) playGuarded() {
	r.t.Helper()
	r.playOn()
	r.say((&protocol.Fallback{Doors: []protocol.Door{{Network: protocol.UDP, Address: mercurytest.Host(3, 33)}}}).Append(nil))
	r.net.Dials = nil
}

// quiet lets time pass in which the server says nothing, until a scout has been sent.
func (r *rig) quiet() (scout mercury.ChannelID) {
	r.t.Helper()
	for end := r.now + 2*mostPatience; r.c.life.scout.ch == 0; r.tick() {
		if r.now > end {
			r.t.Fatal("no scout is sent")
		}
	}
	scout = r.c.life.scout.ch
	if peer, _ := r.net.Peer(scout); peer != mercurytest.Host(3, 33) {
		r.t.Fatalf("the scout is sent to %v", peer)
	}
	return scout
}

// A client that hears nothing asks, and then looks elsewhere. Let in there, it goes on as after a lost
// channel, and that BaseApp is its own from then on.
func TestScout(t *testing.T) {
	r := newRig(t)
	r.playGuarded()
	r.buy("a")
	r.calls()
	begun, old := r.now, r.c.ch
	scout := r.quiet()
	if took := r.now - begun; took < firstPatience || took > firstPatience+2*DefaultTick {
		t.Errorf("the scout is sent after %v", took)
	}
	r.wantCalls(fmt.Sprint(protocol.PingID))
	if r.c.Interrupted() != nil || r.c.ch != old {
		t.Error("a silence is no interruption")
	}
	r.c.Opened(r.now, scout, mercurytest.Host(3, 33))
	var m protocol.Resume
	if err := protocol.Messages(r.net.One(t, scout), func(_ protocol.ID, body []byte) error { return m.Parse(body) }); err != nil || m.Token != (protocol.Token{1}) || m.Has != (protocol.Counts{2, 2}) {
		t.Errorf("resumes with %+v, %v", m, err)
	}
	r.net.Sent, r.events = nil, nil
	r.c.Message(r.now, scout, true, (&protocol.Resumed{Token: protocol.Token{2}, From: m.Has}).Append(nil))
	r.wantCalls(fmt.Sprint(protocol.HeardID), "a")
	r.wantEvents("interrupted", "resumed")
	if r.c.ch != scout || !r.net.Ended[old] || r.c.life.scout.ch != 0 {
		t.Error("the scout's channel is not the client's")
	}
	r.lose()
	r.reopen()
	if peer, _ := r.net.Peer(r.c.ch); peer != mercurytest.Host(3, 33) {
		t.Errorf("it comes back to %v", peer)
	}
}

// A server that was only slow to answer keeps its client, which is more patient from then on.
func TestScoutInVain(t *testing.T) {
	r := newRig(t)
	r.playGuarded()
	scout, old := r.quiet(), r.c.ch
	r.c.Opened(r.now, scout, mercurytest.Host(3, 33))
	r.say(protocol.AppendPong(nil))
	if !r.net.Ended[scout] || r.c.ch != old || r.c.Interrupted() != nil || r.c.life.has != (protocol.Counts{2, 2}) {
		t.Error("an answer does not end the look elsewhere")
	}
	r.c.Message(r.now, scout, true, (&protocol.Resumed{Token: protocol.Token{2}}).Append(nil)) // it was on its way
	begun := r.now
	if r.quiet(); r.now-begun < 2*firstPatience {
		t.Errorf("another scout after %v", r.now-begun)
	}
	if r.c.ch != old || r.c.State() != Playing {
		t.Error("a scout that was called back had its way")
	}
}

// No answer to a scout ends a session. The next one comes later.
func TestScoutIsRefused(t *testing.T) {
	r := newRig(t)
	r.playGuarded()
	for name, say := range map[string]func(ch mercury.ChannelID){
		"closed": func(ch mercury.ChannelID) { r.net.Ended[ch] = true; r.c.Closed(r.now, ch, mercury.ErrPeerClosed) },
		"unknown": func(ch mercury.ChannelID) {
			r.c.Message(r.now, ch, true, (&protocol.Refused{Code: protocol.BadToken}).Append(nil))
		},
		"noise":   func(ch mercury.ChannelID) { r.c.Message(r.now, ch, true, protocol.AppendReset(nil)) },
		"silence": func(mercury.ChannelID) { r.now += scoutTime; r.tick() },
	} {
		ch := r.quiet()
		if say(ch); r.c.State() != Playing || r.c.life.scout.ch != 0 || !r.net.Ended[ch] {
			t.Fatalf("%s: %v, %v", name, r.c.State(), r.c.Err())
		}
	}
	// Without a fallback nothing is asked.
	r.say((&protocol.Fallback{}).Append(nil))
	r.calls()
	for range 20 {
		r.tick()
	}
	r.wantCalls()
}

// A dead app's port refuses at once, and the fallback knows nothing before the verdict: neither ends the
// session.
func TestFallbackBeforeTheVerdict(t *testing.T) {
	r := newRig(t)
	r.playGuarded()
	r.lose()
	for range 3 {
		ch := r.quiet()
		r.c.Message(r.now, ch, true, (&protocol.Refused{Code: protocol.BadToken}).Append(nil))
		if own := r.c.ch; own != 0 {
			r.net.Ended[own] = true
			r.c.Closed(r.now, own, mercury.ErrPeerRestarted)
		}
	}
	ch := r.quiet()
	r.c.Message(r.now, ch, true, (&protocol.Resumed{Token: protocol.Token{2}, From: protocol.Counts{2, 2}}).Append(nil))
	if r.c.State() != Playing || r.c.Interrupted() != nil || r.c.ch != ch {
		t.Errorf("%v, %v", r.c.State(), r.c.Err())
	}
}

// If the server and its first heir are gone at once, the next one in turn is asked. (Only the first
// was known, and the session ended.)
func TestScoutsInTurn(t *testing.T) {
	r := newRig(t)
	r.playGuarded()
	doors := []protocol.Door{{Network: protocol.UDP, Address: mercurytest.Host(3, 33)}, {Network: "tcp", Address: mercurytest.Host(3, 34)}, {Network: protocol.UDP, Address: mercurytest.Host(4, 44)}}
	r.say((&protocol.Fallback{Doors: doors}).Append(nil))
	for _, want := range []mercury.Address{mercurytest.Host(3, 33), mercurytest.Host(4, 44), mercurytest.Host(3, 33)} {
		for end := r.now + scoutTime; r.c.life.scout.ch == 0 && r.now < end; {
			r.tick()
		}
		scout := r.c.life.scout.ch
		if peer, _ := r.net.Peer(scout); peer != want {
			t.Errorf("a scout is sent to %v, want %v", peer, want)
		}
		for end := r.now + tryTimeout; r.c.life.scout.ch == scout && r.now <= end; { // nobody is there
			r.tick()
		}
	}
}
