package stream_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
	"github.com/cellscape/cellscape/mercury/stream"
)

// pipe is one direction of a connection that takes as much as it likes.
type pipe struct {
	mu     sync.Mutex
	moved  *sync.Cond
	buf    bytes.Buffer
	closed bool
	rng    *rand.Rand
}

func newPipe(seed uint64) *pipe {
	p := &pipe{rng: rand.New(rand.NewPCG(seed, 3))}
	p.moved = sync.NewCond(&p.mu)
	return p
}

// room is what a pipe holds at most, so that writers have to wait.
const room = 20_000

func (p *pipe) Read(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.buf.Len() == 0 && !p.closed {
		p.moved.Wait()
	}
	if p.buf.Len() == 0 {
		return 0, io.EOF
	}
	p.moved.Broadcast()
	return p.buf.Read(b[:1+p.rng.IntN(len(b))])
}

func (p *pipe) write(b []byte, wait bool) (n int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(b) > 0 {
		if p.closed {
			return n, io.ErrClosedPipe
		}
		k := min(len(b), max(0, room-p.buf.Len()))
		if !wait {
			k = p.rng.IntN(k + 1)
		}
		p.buf.Write(b[:k])
		n, b = n+k, b[k:]
		p.moved.Broadcast()
		if !wait {
			break
		}
		if len(b) > 0 {
			p.moved.Wait()
		}
	}
	return n, nil
}

func (p *pipe) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.moved.Broadcast()
}

// fickle is a Conn whose TryWrite takes a part of what it is given, often nothing, cut anywhere.
type fickle struct{ in, out *pipe }

func (f fickle) Read(b []byte) (int, error)     { return f.in.Read(b) }
func (f fickle) Write(b []byte) (int, error)    { return f.out.write(b, true) }
func (f fickle) TryWrite(b []byte) (int, error) { return f.out.write(b, false) }
func (f fickle) Close() error {
	f.in.close()
	f.out.close()
	return nil
}

// TestPartialWrites sends over a connection that takes frames in parts, so that the owner, the
// writing goroutine and unreliable messages that overtake take turns in the middle of frames:
// reliable messages come whole and in order, unreliable ones whole.
func TestPartialWrites(t *testing.T) {
	for seed := range uint64(20) {
		partialWrites(t, seed)
	}
}

// turn is one turn of a transport's owner.
func turn(x *stream.Transport) {
	_, _ = x.Receive(x.Now() + 50*time.Microsecond)
	_ = x.Flush()
}

// closings is what x was told of its channels' ends.
func closings(x *stream.Transport, at *mercurytest.Recorder) (all []error) {
	turn(x)
	for _, ch := range at.Order {
		all = append(all, at.Of(ch).Closed...)
	}
	return all
}

// abort ends transports without waiting for what they have queued.
func abort(all ...*stream.Transport) {
	for _, x := range all {
		_ = x.Release()
	}
}

func partialWrites(t *testing.T, seed uint64) {
	at := netip.MustParseAddrPort("10.0.0.1:1")
	var atA, atB mercurytest.Recorder
	network := stream.Network{Name: "fickle", MaxUnreliable: 1200}
	b, err := stream.New(stream.Config{Salt: 2}, at, network, &atB)
	if err != nil {
		t.Fatal(err)
	}
	network.Dial = func(context.Context, netip.AddrPort) (stream.Conn, error) {
		there, back := newPipe(seed), newPipe(seed+1000)
		b.Accept(fickle{there, back}, at)
		return fickle{back, there}, nil
	}
	a, err := stream.New(stream.Config{Salt: 1}, netip.AddrPort{}, network, &atA)
	if err != nil {
		t.Fatal(err)
	}
	defer abort(a, b)
	rng := rand.New(rand.NewPCG(seed, 4))
	message := func(i int) []byte {
		msg := make([]byte, 4+rng.IntN(1000))
		if rng.IntN(20) == 0 {
			msg = make([]byte, 4+rng.IntN(100_000))
		}
		binary.LittleEndian.PutUint32(msg, uint32(i))
		for j := range msg[4:] {
			msg[4+j] = byte(i + j)
		}
		return msg
	}
	check := func(msg []byte, i int) {
		t.Helper()
		if got := int(binary.LittleEndian.Uint32(msg)); i >= 0 && got != i {
			t.Fatalf("seed %d: message %d is number %d", seed, i, got)
		}
		for j, got := range msg[4:] {
			if got != byte(int(binary.LittleEndian.Uint32(msg))+j) {
				t.Fatalf("seed %d: message %d is not what was sent", seed, i)
			}
		}
	}
	ch := a.Dial(mercury.Address{At: at})
	const n = 300
	for i := range n {
		if err := a.Send(ch, message(i)); err != nil {
			t.Fatalf("seed %d: message %d: %v; a was told %v, b %v", seed, i, err, atA.Of(ch).Closed, closings(b, &atB))
		}
		if loose := message(i); rng.IntN(2) == 0 && len(loose) <= 1200 {
			if _, err := a.SendUnreliable(ch, loose); err != nil {
				t.Fatal(err)
			}
		}
		if rng.IntN(3) == 0 {
			_ = a.Flush()
		}
		if rng.IntN(3) == 0 {
			turn(a)
		}
		if rng.IntN(10) == 0 {
			turn(b)
		}
	}
	for end := a.Now() + 10*time.Second; len(atB.Order) == 0 || len(atB.Of(atB.Order[0]).Reliable) < n; {
		if a.Now() > end {
			t.Fatalf("seed %d: not everything came", seed)
		}
		turn(a)
		turn(b)
	}
	seen := atB.Of(atB.Order[0])
	for i, msg := range seen.Reliable {
		check(msg, i)
	}
	for _, msg := range seen.Unreliable {
		check(msg, -1)
	}
	if len(seen.Unreliable) == 0 {
		t.Errorf("seed %d: no unreliable message came", seed)
	}
}

// narrow is a Conn with an unreliable lane that takes nothing.
type narrow struct {
	fickle
	closed chan struct{}
	once   *sync.Once
}

func newNarrow(f fickle) narrow { return narrow{f, make(chan struct{}), new(sync.Once)} }

func (narrow) SendDatagram([]byte) error { return errors.New("too long for the path") }

func (n narrow) ReceiveDatagram() ([]byte, error) {
	<-n.closed
	return nil, io.EOF
}

func (n narrow) Close() error {
	n.once.Do(func() { close(n.closed) })
	return n.fickle.Close()
}

// TestRefusedByTheLane: a message that the unreliable lane of a connection does not take is
// counted.
func TestRefusedByTheLane(t *testing.T) {
	at := netip.MustParseAddrPort("10.0.0.1:1")
	var atA, atB mercurytest.Recorder
	network := stream.Network{Name: "narrow", MaxUnreliable: 1200}
	b, err := stream.New(stream.Config{Salt: 2}, at, network, &atB)
	if err != nil {
		t.Fatal(err)
	}
	network.Dial = func(context.Context, netip.AddrPort) (stream.Conn, error) {
		there, back := newPipe(1), newPipe(2)
		b.Accept(newNarrow(fickle{there, back}), at)
		return newNarrow(fickle{back, there}), nil
	}
	a, err := stream.New(stream.Config{Salt: 1}, netip.AddrPort{}, network, &atA)
	if err != nil {
		t.Fatal(err)
	}
	defer abort(a, b)
	ch := a.Dial(mercury.Address{At: at})
	end := a.Now() + 10*time.Second
	for atA.Of(ch).Opened == 0 && a.Now() < end {
		turn(a)
		turn(b)
	}
	const n = 3
	for range n {
		if _, err := a.SendUnreliable(ch, make([]byte, 1000)); err != nil {
			t.Fatal(err)
		}
	}
	for a.Stats().UnreliableRefused < n && a.Now() < end {
		turn(a)
		turn(b)
	}
	if got := a.Stats().UnreliableRefused; got != n {
		t.Errorf("%d messages counted, of %d that the lane refused", got, n)
	}
}
