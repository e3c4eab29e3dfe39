package client

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
	"github.com/cellscape/cellscape/property"
)

const resumeTime = 20 * time.Second

// playOn is play with a session that can be resumed; the client has had two messages of the base and two
// of its cell part.
func (r *rig) playOn() {
	r.t.Helper()
	r.attach()
	r.c.cfg.Events.Interrupted = func(error) { r.events = append(r.events, "interrupted") }
	r.c.cfg.Events.Resumed = func() { r.events = append(r.events, "resumed") }
	base := protocol.BasePlayer{ID: me, Props: r.own.AppendStream(nil, property.OwnClientBaseStream)}
	attached := protocol.Attached{Token: protocol.Token{1}, Time: resumeTime}
	r.say(base.Append(attached.Append(nil)))
	r.say(protocol.AppendReset(nil))
	r.say(r.cellPlayer().Append(r.cell(1)))
	r.say(r.enter(foe, 2).Append(protocol.AppendAhead(nil)))
	if r.c.life.has != (protocol.Counts{2, 2}) {
		r.t.Fatalf("counted %v", r.c.life.has)
	}
	r.net.Sent, r.events = nil, nil
}

// lose ends the channel as a network does.
func (r *rig) lose() { r.c.Closed(r.now, r.c.ch, mercury.ErrTimeout) }

// reopen lets time pass until the client has dialled again, opens the channel, and returns what it says.
func (r *rig) reopen() (m protocol.Resume) {
	r.t.Helper()
	for end := r.now + resumeTime; r.c.ch == 0; r.tick() {
		if r.now > end {
			r.t.Fatal("the client does not dial")
		}
	}
	r.net.Sent = nil
	peer, _ := r.net.Peer(r.c.ch)
	r.c.Opened(r.now, r.c.ch, peer)
	if err := protocol.Messages(r.net.One(r.t, r.c.ch), func(_ protocol.ID, body []byte) error { return m.Parse(body) }); err != nil {
		r.t.Fatal(err)
	}
	return m
}

// calls are the texts of the calls that the client sent, and what else it sent reliably by its id.
func (r *rig) calls() (list []string) {
	for _, s := range r.net.Sent {
		_ = protocol.Messages(s.Message, func(id protocol.ID, body []byte) error {
			var m protocol.BaseCall
			switch {
			case id == protocol.BaseCallID && m.Parse(body) == nil:
				list = append(list, string(m.Args[1:]))
			case s.Reliable:
				list = append(list, fmt.Sprint(id))
			}
			return nil
		})
	}
	r.net.Sent = nil
	return list
}

func (r *rig) buy(what string) {
	r.t.Helper()
	if err := r.c.Player().Base().Call("buy", what); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) wantCalls(want ...string) {
	r.t.Helper()
	if got := r.calls(); !slices.Equal(got, want) {
		r.t.Errorf("sent %q, want %q", got, want)
	}
}

// A download ends with its channel, and is told why; a game that gives up for it hears nothing
// more.
func TestDownloadEndsWithItsChannel(t *testing.T) {
	for how, lose := range map[string]struct {
		f    func(*rig)
		says error
	}{
		"lost":     {(*rig).lose, mercury.ErrTimeout},
		"given up": {func(r *rig) { r.c.Reconnect() }, errGivenUp},
		"switched": {func(r *rig) {
			m := protocol.Switch{Doors: []protocol.Door{{Network: protocol.UDP, Address: mercurytest.Host(3, 3)}}}
			r.say(m.Append(nil))
		}, errSwitched},
	} {
		for _, ends := range []bool{false, true} {
			r := newRig(t)
			r.playOn()
			var told []error
			r.c.cfg.Events.Downloaded = func(_ uint32, _ string, _ []byte, err error) {
				if told = append(told, err); ends {
					r.c.Close()
				}
			}
			r.say(append([]byte{0xB0, 1, 7, 4}, make([]byte, 33)...)) // offers a download
			lose.f(r)
			if len(told) != 1 || !errors.Is(told[0], lose.says) {
				t.Errorf("%s: told %v, want %v", how, told, lose.says)
			}
			if ends && (len(r.events) > 0 || r.c.Interrupted() != nil || r.c.Stats().Interrupted > 0) {
				t.Errorf("%s: after Close the game hears %q", how, r.events)
			}
		}
	}
}

func TestResume(t *testing.T) {
	r := newRig(t)
	r.playOn()
	for _, what := range []string{"a", "b", "c"} {
		r.buy(what)
	}
	r.say(protocol.AppendSettled(nil, 1))
	r.calls()
	r.lose()
	if r.c.State() != Playing || !errors.Is(r.c.Interrupted(), mercury.ErrTimeout) || r.c.Entity(foe) == nil {
		t.Fatalf("%v, %v", r.c.State(), r.c.Err())
	}
	r.buy("d")
	_ = r.c.SetPosition(property.Vector3{X: 3}, property.Vector3{})
	r.wantCalls()
	m := r.reopen()
	if m.Token != (protocol.Token{1}) || m.Has != (protocol.Counts{2, 2}) || m.Digest != protocol.Digest(r.schema.ClientDigest) {
		t.Errorf("resumes with %+v", m)
	}
	if r.c.AtRest() {
		t.Error("it has said nothing, and is at rest")
	}
	r.net.Sent = nil
	r.say((&protocol.Resumed{Token: protocol.Token{2}, Handled: 2, From: m.Has}).Append(nil))
	r.wantCalls(fmt.Sprint(protocol.HeardID), "c", "d")
	r.say((&protocol.Enter{ID: foe + 1, Alias: 1, Props: appendValue(nil, health, r.others)}).Append(r.cell(2)))
	r.wantEvents("interrupted", "resumed", fmt.Sprintf("enter %v health 100", foe+1))
	if r.c.Interrupted() != nil || r.c.Stats().Resumed != 1 || r.c.life.has != (protocol.Counts{2, 3}) {
		t.Errorf("interrupted %v, counts %v", r.c.Interrupted(), r.c.life.has)
	}
	// Again, with the new token; the server has handled all.
	r.lose()
	if m := r.reopen(); m.Token != (protocol.Token{2}) || m.Has != (protocol.Counts{2, 3}) {
		t.Errorf("resumes with %+v", m)
	}
	r.net.Sent = nil
	r.say((&protocol.Resumed{Token: protocol.Token{3}, Handled: 4, From: protocol.Counts{1, 3}}).Append(nil))
	r.wantCalls(fmt.Sprint(protocol.HeardID))
	if r.c.life.has != (protocol.Counts{1, 3}) {
		t.Errorf("counts %v after a restored base", r.c.life.has)
	}
	r.tick()
	moves, _ := r.moves()
	if len(moves) != 1 || moves[0].Position.X != 3 {
		t.Errorf("moved %v", moves)
	}
}

// The client tries its last door and the fallback, ever more rarely, until the time is over.
func TestResumeInVain(t *testing.T) {
	r := newRig(t)
	r.playOn()
	r.say((&protocol.Fallback{Doors: []protocol.Door{{Network: protocol.UDP, Address: mercurytest.Host(3, 33)}}}).Append(nil))
	r.net.Dials = nil
	r.lose()
	tries := map[mercury.Address]int{}
	begun := r.now
	for r.c.State() == Playing && r.now < begun+time.Hour {
		for _, ch := range []mercury.ChannelID{r.c.ch, r.c.life.scout.ch} {
			if ch == 0 {
				continue
			}
			peer, _ := r.net.Peer(ch)
			if tries[peer]++; tries[peer]%3 > 0 { // the others never answer
				r.net.Ended[ch] = true
				r.c.Closed(r.now, ch, mercury.ErrPeerAborted)
			} else if ch == r.c.ch {
				r.now += tryTimeout
			}
		}
		r.tick()
	}
	if own, other := tries[mercurytest.Host(2, 22)], tries[mercurytest.Host(3, 33)]; own < 4 || own > 20 || other < 3 || other > 80 || len(tries) != 2 {
		t.Errorf("dialled %v", tries)
	}
	if took := r.now - begun; took < resumeTime || took > resumeTime+tryTimeout+time.Second || !errors.Is(r.c.Err(), mercury.ErrTimeout) {
		t.Errorf("ended after %v: %v", took, r.c.Err())
	}
	if r.events[0] != "interrupted" || !strings.HasPrefix(r.events[1], "closed: ") || len(r.events) != 2 {
		t.Errorf("events %q", r.events)
	}
}

// A session that does not come back in time says what took its connection, and what kept it away: as for a
// certificate that was changed meanwhile. A silence of one app does not hide what the other has answered.
func TestSaysWhatKeptItAway(t *testing.T) {
	for name, scout := range map[string]bool{"at its app": false, "at the fallback": true} {
		r := newRig(t)
		r.playOn()
		other := protocol.Fallback{Doors: []protocol.Door{{Network: protocol.UDP, Address: mercurytest.Host(3, 33)}}}
		r.say(other.Append(nil))
		r.c.Closed(r.now, r.c.ch, mercury.ErrPeerAborted)
		for r.c.State() == Playing {
			at := r.c.ch
			if scout {
				at = r.c.life.scout.ch
			}
			if at != 0 {
				r.net.Ended[at] = true
				r.c.Closed(r.now, at, fmt.Errorf("%w: its certificate is not trusted", mercury.ErrKey))
			}
			r.tick()
		}
		for _, reason := range []error{mercury.ErrPeerAborted, mercury.ErrKey} {
			if !errors.Is(r.c.Err(), reason) {
				t.Errorf("%s: ended with %v, which does not say %v", name, r.c.Err(), reason)
			}
		}
		if t.Failed() {
			return
		}
		t.Log(r.c.Err())
	}
}

// What no second try would change ends the session at once.
func TestNoResume(t *testing.T) {
	for name, end := range map[string]func(r *rig){
		"closed":    func(r *rig) { r.c.Closed(r.now, r.c.ch, mercury.ErrPeerClosed) },
		"restarted": func(r *rig) { r.c.Closed(r.now, r.c.ch, mercury.ErrPeerRestarted) },
		"key":       func(r *rig) { r.lose(); r.reopen(); r.c.Closed(r.now, r.c.ch, mercury.ErrKey) },
		"gone": func(r *rig) {
			r.lose()
			r.reopen()
			r.say((&protocol.Refused{Code: protocol.BadToken}).Append(nil))
		},
		"refused": func(r *rig) { r.say((&protocol.Refused{Code: protocol.Destroyed}).Append(nil)) },
	} {
		r := newRig(t)
		r.playOn()
		if end(r); r.c.State() != Closed || r.c.Err() == nil || r.c.Interrupted() != nil {
			t.Errorf("%s: %v, %v", name, r.c.State(), r.c.Err())
		}
	}
}

func TestResumeRefusesNonsense(t *testing.T) {
	for name, msg := range map[string][]byte{
		"too much handled": (&protocol.Resumed{Handled: 2}).Append(nil),
		"too little":       (&protocol.Resumed{}).Append(nil),
		"too many":         (&protocol.Resumed{Handled: 1, From: protocol.Counts{3, 1}}).Append(nil),
		"no answer":        protocol.AppendReset(nil),
	} {
		r := newRig(t)
		r.playOn()
		r.buy("a")
		r.say(protocol.AppendSettled(nil, 1))
		r.lose()
		r.reopen()
		r.say(msg)
		if r.wantMalformed(); t.Failed() {
			t.Fatal(name)
		}
	}
	for name, msg := range map[string][]byte{
		"settled too much": protocol.AppendSettled(nil, 1),
		"never asked":      (&protocol.Resumed{}).Append(nil),
	} {
		r := newRig(t)
		r.playOn()
		r.say(msg)
		if r.wantMalformed(); t.Failed() {
			t.Fatal(name)
		}
	}
}

// Calls are bounded, whether the connection is lost or the server does not settle them.
func TestUnsettledIsBounded(t *testing.T) {
	for _, lost := range []bool{false, true} {
		r := newRig(t)
		r.playOn()
		if lost {
			r.lose()
		}
		var err error
		n := 0
		for ; err == nil && n < 1000; n++ {
			err = r.c.Player().Base().Call("buy", strings.Repeat("x", 4000))
			if size := r.c.life.uploads.Size(); size > MaxUnsettled {
				t.Fatalf("%d bytes are kept", size)
			}
		}
		if !errors.Is(err, ErrUnsettled) || r.c.Stats().CallsSent != uint64(n-1) || r.c.Stats().Unsent != 1 {
			t.Errorf("%v after %d calls, %d sent", err, n, r.c.Stats().CallsSent)
		}
	}
}

// A channel without room gets the rest later, in order.
func TestUploadsWait(t *testing.T) {
	r := newRig(t)
	r.playOn()
	r.net.Waiting[r.c.ch] = mercurytest.StageLimit
	r.buy("a")
	r.buy("b")
	r.wantCalls()
	r.net.Waiting[r.c.ch] = 0
	r.tick()
	r.wantCalls("a", "b")
}

// The server is told once a second what has come, or when it is much.
func TestHeard(t *testing.T) {
	r := newRig(t)
	r.playOn()
	heard := func() (n int) {
		for _, s := range r.calls() {
			if s == fmt.Sprint(protocol.HeardID) {
				n++
			}
		}
		return n
	}
	for range 30 {
		r.say(protocol.AppendReset(nil))
		r.tick()
	}
	if n := heard(); n < 2 || n > 4 {
		t.Errorf("told %d times in 3 s", n)
	}
	r.now += heardPeriod
	r.tick()
	heard()
	r.now += time.Minute
	r.tick()
	if n := heard(); n != 0 {
		t.Errorf("told %d times of nothing", n)
	}
	data := protocol.SpaceData{Key: 1, Value: make([]byte, protocol.MaxSpaceDataValue)}
	for range 10 {
		r.say(data.Append(r.cell(3)))
	}
	if n := heard(); n != 2 {
		t.Errorf("told %d times of 160 KB", n)
	}
}

func TestReconnect(t *testing.T) {
	r := newRig(t)
	r.play()
	ch := r.c.ch
	if r.c.Reconnect(); r.c.ch != ch || r.net.Ended[ch] {
		t.Error("a session that cannot be resumed gave up its channel")
	}
	r = newRig(t)
	r.playOn()
	ch = r.c.ch
	r.c.Reconnect()
	r.c.Reconnect()
	r.wantEvents("interrupted")
	if m := r.reopen(); !r.net.Ended[ch] || m.Token != (protocol.Token{1}) {
		t.Errorf("resumes with %+v", m)
	}
}

// A player who leaves while the connection is lost says so when it is back.
func TestLogoutWhileInterrupted(t *testing.T) {
	r := newRig(t)
	r.playOn()
	r.lose()
	r.c.Logout()
	m := r.reopen()
	r.net.Sent = nil
	r.say((&protocol.Resumed{From: m.Has}).Append(nil))
	r.wantCalls(fmt.Sprint(protocol.HeardID), fmt.Sprint(protocol.LogoutID))
}
