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

// attentive is a Recorder that also takes bulk.
type attentive struct {
	mercurytest.Recorder
	bulk [][]byte
}

func (a *attentive) Bulk(_ time.Duration, _ mercury.ChannelID, msg []byte) {
	a.bulk = append(a.bulk, slices.Clone(msg))
}

// Of unreliable messages above the limit the newest are kept, and they leave although nothing
// reliable may.
func TestUnreliableDropsTheOldest(t *testing.T) {
	r := newRig(t, 4, mercury.Config{Window: mercury.MinWindow})
	for range 100 {
		_ = r.a.Send(r.chA, make([]byte, 5000)) // fills the window
	}
	msg := make([]byte, 1000)
	const sent = 3000
	told := 0
	for i := range sent {
		msg[0], msg[1] = byte(i), byte(i>>8)
		n, err := r.a.SendUnreliable(r.chA, msg)
		if err != nil {
			t.Fatal(err)
		}
		told += n
	}
	r.w.Run(6 * time.Millisecond)
	got := r.atB.Of(r.chB).Unreliable
	dropped := r.a.Stats().UnreliableDropped
	if dropped == 0 || len(got)+int(dropped) != sent {
		t.Fatalf("%d arrived in half a round trip, %d dropped, of %d", len(got), dropped, sent)
	}
	if told != int(dropped) {
		t.Errorf("the sender was told of %d dropped, of %d", told, dropped)
	}
	if n := testing.AllocsPerRun(10, func() { r.a.CarrierStats() }); n > 0 {
		t.Errorf("CarrierStats allocates %v times", n)
	}
	if of, ok := r.a.ChannelStats(r.chA); !ok || of.Dropped != dropped {
		t.Errorf("the channel counts %d dropped, the endpoint %d", of.Dropped, dropped)
	}
	if first := int(got[0][0]) | int(got[0][1])<<8; first != int(dropped) {
		t.Errorf("the first that arrived is %d, %d were dropped", first, dropped)
	}
}

// Bulk comes whole and in order, beside messages that do not wait for it; too much of it harms
// nobody.
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
