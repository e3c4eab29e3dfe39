package stream_test

import (
	"context"
	"encoding/binary"
	"io"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
	"github.com/cellscape/cellscape/mercury/stream"
)

// gated is a Conn without a TryWrite. Once it is shut each Write waits until it is let through.
type gated struct {
	io.ReadWriteCloser
	shut           *atomic.Bool
	waits, through chan struct{}
}

func (g gated) Write(b []byte) (int, error) {
	if g.shut.Load() {
		g.waits <- struct{}{}
		<-g.through
	}
	return g.ReadWriteCloser.Write(b)
}

// TestABufferHasOneOwner: the buffer of a message that has left goes back to the owner while the
// writing goroutine writes unreliable ones. It was given back once more after those, and what was
// written next changed under the write.
func TestABufferHasOneOwner(t *testing.T) {
	at := netip.MustParseAddrPort("10.0.0.1:1")
	var atA, atB mercurytest.Recorder
	gate := gated{shut: &atomic.Bool{}, waits: make(chan struct{}), through: make(chan struct{})}
	network := stream.Network{Name: "gated", MaxUnreliable: 1200}
	b, err := stream.New(stream.Config{Salt: 2}, at, network, &atB)
	if err != nil {
		t.Fatal(err)
	}
	network.Dial = func(context.Context, netip.AddrPort) (stream.Conn, error) {
		there, back := newPipe(1), newPipe(2)
		b.Accept(fickle{there, back}, at)
		gate.ReadWriteCloser = fickle{back, there}
		return gate, nil
	}
	a, err := stream.New(stream.Config{Salt: 1}, netip.AddrPort{}, network, &atA)
	if err != nil {
		t.Fatal(err)
	}
	defer abort(a, b)
	until := func(n int) {
		t.Helper()
		for end := a.Now() + 10*time.Second; len(atB.Order) == 0 || len(atB.Of(atB.Order[0]).Reliable) < n; {
			if a.Now() > end {
				t.Fatalf("message %d did not come", n)
			}
			turn(a)
			turn(b)
		}
	}
	message := func(i uint32) []byte { return binary.LittleEndian.AppendUint32(make([]byte, 60), i) }
	ch := a.Dial(mercury.Address{At: at})
	send := func(i uint32) {
		t.Helper()
		if err := a.Send(ch, message(i)); err != nil {
			t.Fatal(err)
		}
		_ = a.Flush()
	}
	loose := func() {
		t.Helper()
		if _, err := a.SendUnreliable(ch, []byte("loose")); err != nil {
			t.Fatal(err)
		}
		_ = a.Flush()
	}
	next := func() { // lets the write that waits through, and awaits the next
		gate.through <- struct{}{}
		<-gate.waits
	}
	send(0)
	until(1)
	gate.shut.Store(true)
	send(1)
	<-gate.waits
	loose()
	next()  // the first loose one is being written, as the last part of what began with 1
	loose() // this one is written for itself
	next()
	send(2) // the owner has the buffer of 1 back
	next()
	send(3)
	send(4)
	gate.shut.Store(false)
	gate.through <- struct{}{}
	until(5)
	for i, msg := range atB.Of(atB.Order[0]).Reliable {
		if string(msg) != string(message(uint32(i))) {
			t.Errorf("message %d is %d", i, binary.LittleEndian.Uint32(msg[60:]))
		}
	}
}
