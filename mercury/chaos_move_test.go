package mercury_test

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
)

// A player whose address changes in the middle of the game goes on playing: nothing is lost, and
// what comes late is late by a few round trips.
func TestChaosMove(t *testing.T) {
	g := newChaosGame(t, 1, mercury.Config{}, mercurytest.Link{Delay: 25 * time.Millisecond}, chaosDown, chaosUp)
	g.play(2 * time.Second)
	for i := range 6 {
		g.w.Net.Rebind(mercurytest.Place(2), mercurytest.Place(10+i))
		g.play(5*time.Second + time.Duration(i)*7*time.Millisecond)
	}
	g.drain()
	for i, s := range g.sides {
		f := s.figures()
		worst := percentile(f.delays, 100)
		t.Logf("side %d: p50 %v, p99 %v, max %v", i, percentile(f.delays, 50), percentile(f.delays, 99), worst)
		// The server hears of the new address with the client's next packet, and what went to the
		// old one is sent again.
		if worst > 400*time.Millisecond {
			t.Errorf("side %d: a message took %v", i, worst)
		}
	}
}

// A client that moved in silence is found again by its next sign of life, and gets what waited.
func TestChaosMoveIdle(t *testing.T) {
	rig, w := mercurytest.EndpointRigIn(t, 1, mercury.Config{})
	rig.SetLink(mercurytest.Link{Delay: 25 * time.Millisecond})
	var a, b mercurytest.Recorder
	rig.SetHandlers(&a, &b)
	ch := rig.A.Dial(rig.B.Self())
	w.Run(5 * time.Second)
	for i := range 5 {
		rig.Rebind()
		begun := w.Now()
		if err := rig.B.Send(b.Order[0], []byte("are you there?")); err != nil {
			t.Fatal(err)
		}
		if !rig.RunUntil(3*time.Second, func() bool { return len(a.Of(ch).Reliable) == i+1 }) {
			t.Fatalf("move %d: no message within 3 s; closed %v, %v", i, a.Of(ch).Closed, b.Of(b.Order[0]).Closed)
		}
		t.Logf("found again after %v", w.Now()-begun)
		w.Run(3 * time.Second)
	}
}

// A dialler that moves at whatever moment of its dial either gets through or is told that it did
// not; what it sent is heard once at most, and once exactly if the channel lives.
func TestChaosMoveWhileDialling(t *testing.T) {
	for at := time.Duration(0); at < 300*time.Millisecond; at += 5 * time.Millisecond {
		for _, lossy := range []bool{false, true} {
			rig, w := mercurytest.EndpointRigIn(t, 1, mercury.Config{})
			rig.SetLink(mercurytest.Link{Delay: 25 * time.Millisecond})
			var a, b mercurytest.Recorder
			rig.SetHandlers(&a, &b)
			ch := rig.A.Dial(rig.B.Self())
			for i := range 3 {
				if err := rig.A.Send(ch, []byte{byte(i)}); err != nil {
					t.Fatal(err)
				}
			}
			w.Run(at)
			if lossy { // the answers to its first packets do not reach it either
				w.Net.SetLinkOneWay(mercurytest.Place(2), mercurytest.Place(1), mercurytest.Link{Loss: 1})
				w.Run(100 * time.Millisecond)
				w.Net.SetLinkOneWay(mercurytest.Place(2), mercurytest.Place(1), mercurytest.Link{Delay: 25 * time.Millisecond})
			}
			rig.Rebind()
			w.Run(30 * time.Second)
			heard := make(map[byte]int)
			for _, in := range b.Order {
				for _, msg := range b.Of(in).Reliable {
					heard[msg[0]]++
				}
			}
			for i := range byte(3) {
				if heard[i] > 1 || heard[i] == 0 && len(a.Of(ch).Closed) == 0 {
					t.Errorf("moved %v after Dial, answers lost %v: message %d came %d times on %d channels; the dialler was told %v",
						at, lossy, i, heard[i], len(b.Order), a.Of(ch).Closed)
				}
			}
		}
	}
}

// A client on real sockets whose address changes goes on.
func TestChaosMoveSockets(t *testing.T) {
	rig := mercurytest.UDPRig(t, 1, mercury.Config{})
	rig.SetLink(mercurytest.Link{Delay: 25 * time.Millisecond, Loss: 0.02})
	var a, b mercurytest.Recorder
	rig.SetHandlers(&a, &b)
	ch := rig.A.Dial(rig.B.Self())
	if !rig.RunUntil(10*time.Second, func() bool { return len(b.Order) > 0 }) {
		t.Fatal("the channel did not open")
	}
	const n = 150
	for i := range n {
		msg := binary.LittleEndian.AppendUint32(nil, uint32(i))
		if rig.A.Send(ch, msg) != nil || rig.B.Send(b.Order[0], msg) != nil {
			t.Fatalf("after %d messages the channel is gone: %v, %v", i, a.Of(ch).Closed, b.Of(b.Order[0]).Closed)
		}
		if i%30 == 15 {
			rig.Rebind()
		}
		rig.RunUntil(20*time.Millisecond, func() bool { return false })
	}
	if !rig.RunUntil(10*time.Second, func() bool {
		return len(a.Of(ch).Reliable) == n && len(b.Of(b.Order[0]).Reliable) == n
	}) {
		t.Fatalf("%d and %d of %d messages came", len(a.Of(ch).Reliable), len(b.Of(b.Order[0]).Reliable), n)
	}
}
