package mercury_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
)

// attentive is a Recorder that also takes bulk and news of criticals.
type attentive struct {
	mercurytest.Recorder
	bulk     [][]byte
	critical int
}

func (a *attentive) Bulk(_ time.Duration, _ mercury.ChannelID, msg []byte) {
	a.bulk = append(a.bulk, slices.Clone(msg))
}
func (a *attentive) CriticalAcked(time.Duration, mercury.ChannelID) { a.critical++ }

// A one-off message arrives once, whether or not there is a channel, and leaves no channel behind.
func TestSendOnce(t *testing.T) {
	w := mercurytest.NewWorld(1)
	w.Net.SetLink(mercurytest.Link{Delay: 10 * time.Millisecond, Loss: 0.2})
	var at mercurytest.Recorder
	a := newEndpoint(t, 1, 101, nil, mercury.Config{})
	b := newEndpoint(t, 2, 102, &at, mercury.Config{})
	w.Add(a)
	w.Add(b)
	for range 5 {
		if err := a.SendOnce(b.Self(), []byte("once")); err != nil {
			t.Fatal(err)
		}
	}
	w.Run(10 * time.Second)
	got := 0
	for _, ch := range at.Order {
		got += len(at.Of(ch).Reliable)
	}
	if got != 5 {
		t.Errorf("%d of 5 arrived", got)
	}
	if n := a.Stats().Channels + b.Stats().Channels; n != 0 {
		t.Errorf("%d channels are left", n)
	}
	ch := a.Dial(b.Self())
	if err := a.SendOnce(b.Self(), []byte("along")); err != nil {
		t.Fatal(err)
	}
	w.Run(10 * time.Second)
	if last := at.Of(at.Order[len(at.Order)-1]); len(last.Reliable) != 1 || len(last.Closed) > 0 {
		t.Errorf("over a lasting channel %d arrived, closed %v", len(last.Reliable), last.Closed)
	}
	if _, ok := a.Peer(ch); !ok {
		t.Error("the lasting channel is gone")
	}
	if err := a.SendOnce(mercury.Address{}, nil); !errors.Is(err, mercury.ErrAddress) {
		t.Errorf("to nowhere: %v", err)
	}
}

// The app hears of critical messages when the last of them has been acked, once, and not before.
func TestCritical(t *testing.T) {
	var hear attentive
	r := newRig(t, 2, mercury.Config{})
	r.a.SetHandler(&hear)
	if !r.a.Uncritical(r.chA) {
		t.Error("critical from the beginning")
	}
	for range 3 {
		if err := r.a.SendCritical(r.chA, make([]byte, 3000)); err != nil {
			t.Fatal(err)
		}
	}
	_ = r.a.Send(r.chA, []byte("not critical"))
	r.w.Run(9 * time.Millisecond)
	if hear.critical != 0 || r.a.Uncritical(r.chA) {
		t.Error("acked before an ack can have come")
	}
	r.w.Run(100 * time.Millisecond)
	if hear.critical != 1 || !r.a.Uncritical(r.chA) {
		t.Errorf("told %d times", hear.critical)
	}
}

// A passenger makes no packet of its own; it goes with the next.
func TestPassenger(t *testing.T) {
	r := newRig(t, 3, mercury.Config{})
	before := r.a.Stats().PacketsOut
	_ = r.a.SendPassenger(r.chA, []byte("passenger"))
	r.w.Run(300 * time.Millisecond)
	seen := r.atB.Of(r.chB)
	if len(seen.Unreliable) != 0 || r.a.Stats().PacketsOut != before {
		t.Fatalf("it travelled alone: %d packets", r.a.Stats().PacketsOut-before)
	}
	_ = r.a.Send(r.chA, []byte("driver"))
	r.w.Run(20 * time.Millisecond)
	if len(seen.Unreliable) != 1 || len(seen.Reliable) != 1 || r.a.Stats().PacketsOut != before+1 {
		t.Errorf("%d passengers, %d drivers in %d packets", len(seen.Unreliable), len(seen.Reliable), r.a.Stats().PacketsOut-before)
	}
}

// Of unreliable messages above the limit the newest are kept, and they leave although nothing reliable may.
func TestUnreliableDropsTheOldest(t *testing.T) {
	r := newRig(t, 4, mercury.Config{Window: mercury.MinWindow})
	for range 100 {
		_ = r.a.Send(r.chA, make([]byte, 5000)) // fills the window
	}
	msg := make([]byte, 1000)
	const sent = 3000
	for i := range sent {
		msg[0], msg[1] = byte(i), byte(i>>8)
		if err := r.a.SendUnreliable(r.chA, msg); err != nil {
			t.Fatal(err)
		}
	}
	r.w.Run(6 * time.Millisecond)
	got := r.atB.Of(r.chB).Unreliable
	dropped := r.a.Stats().UnreliableDropped
	if dropped == 0 || len(got)+int(dropped) != sent {
		t.Fatalf("%d arrived in half a round trip, %d dropped, of %d", len(got), dropped, sent)
	}
	if of, ok := r.a.ChannelStats(r.chA); !ok || of.Dropped != dropped {
		t.Errorf("the channel counts %d dropped, the endpoint %d", of.Dropped, dropped)
	}
	if first := int(got[0][0]) | int(got[0][1])<<8; first != int(dropped) {
		t.Errorf("the first that arrived is %d, %d were dropped", first, dropped)
	}
}

// Bulk comes whole and in order, beside messages that do not wait for it; too much of it harms nobody.
func TestBulk(t *testing.T) {
	var at attentive
	r := newRig(t, 5, mercury.Config{MaxQueued: 4 << 20})
	r.b.SetHandler(&at)
	r.w.Net.SetLink(mercurytest.Link{Delay: 25 * time.Millisecond, Loss: 0.02})
	piece := bytes.Repeat([]byte{1, 2, 3, 4}, 16<<10)
	pieces := 0
	for r.a.SendBulk(r.chA, append(piece, byte(pieces))) == nil {
		pieces++
	}
	if err := r.a.SendBulk(r.chA, piece); !errors.Is(err, mercury.ErrFull) {
		t.Fatalf("too much bulk: %v", err)
	}
	if _, bulk := r.a.Backlog(r.chA); bulk < 3<<20 {
		t.Errorf("%d bytes of bulk wait", bulk)
	}
	r.w.Run(25 * time.Millisecond)
	_ = r.a.Send(r.chA, []byte("tick"))
	r.w.Run(time.Minute)
	if len(at.bulk) != pieces || len(at.Of(r.chB).Reliable) != 1 || len(at.Of(r.chB).Closed) > 0 {
		t.Fatalf("%d of %d pieces, %d ticks", len(at.bulk), pieces, len(at.Of(r.chB).Reliable))
	}
	for i, p := range at.bulk {
		if len(p) != len(piece)+1 || int(p[len(piece)]) != i {
			t.Fatalf("piece %d is out of place", i)
		}
	}
}
