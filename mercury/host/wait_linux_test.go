package host

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/udp"
)

const long, short = 10 * time.Second, 20 * time.Millisecond

// inKernelRig is a waiter with two sockets, and one who sends to them.
type inKernelRig struct {
	t       *testing.T
	k       *inKernel
	sockets []*udp.Socket
	peer    net.PacketConn
}

func newInKernelRig(t *testing.T) *inKernelRig {
	t.Helper()
	r := &inKernelRig{t: t}
	began := time.Now()
	var carriers []mercury.Carrier
	for range 2 {
		s, err := udp.Listen("127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		c := udp.NewCarrier(s, mercury.Config{})
		t.Cleanup(func() { _ = c.Release() })
		r.sockets, carriers = append(r.sockets, s), append(carriers, c)
	}
	var ok bool
	if r.k, ok = newWaiter(func() time.Duration { return time.Since(began) }, carriers).(*inKernel); !ok {
		t.Fatal("this kernel has no such wait")
	}
	t.Cleanup(r.k.close)
	r.k.add(carriers)
	var err error
	if r.peer, err = net.ListenPacket("udp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.peer.Close() })
	return r
}

func (r *inKernelRig) send(socket int) {
	r.t.Helper()
	if _, err := r.peer.WriteTo([]byte("hello"), net.UDPAddrFromAddrPort(r.sockets[socket].Addr())); err != nil {
		r.t.Fatal(err)
	}
}

// ends fails unless a wait for a long time ends early.
func (r *inKernelRig) ends(why string) {
	r.t.Helper()
	before := r.k.clock()
	r.k.wait(before + long)
	if r.k.clock() > before+long/2 {
		r.t.Errorf("the wait did not end: %s", why)
	}
}

// lasts fails unless a wait for a short time goes on to its end.
func (r *inKernelRig) lasts(why string) {
	r.t.Helper()
	before := r.k.clock()
	r.k.wait(before + short)
	if r.k.clock() < before+short {
		r.t.Errorf("the wait ended early: %s", why)
	}
}

// A wait ends with what comes to any socket and with a wake, whether it came before the wait or in
// it, and else at its time.
func TestWaitInKernel(t *testing.T) {
	r := newInKernelRig(t)
	r.lasts("nothing has come")
	for range 3 {
		for i := range r.sockets {
			r.send(i)
			r.ends("a datagram was there")
			time.AfterFunc(short, func() { r.k.wake() })
			drain(t, r.sockets[i])
			r.ends("a wake came")
		}
	}
	r.k.wake()
	r.k.wake()
	r.ends("a wake was there")
	r.lasts("all wakes are used up")
	time.AfterFunc(short, func() { _ = r.sockets[1].Close() })
	r.ends("a socket was closed elsewhere")
}

// drain reads what has come to a socket.
func drain(t *testing.T, s *udp.Socket) {
	t.Helper()
	got := false
	for !got {
		if err := s.TryRead(func(_ netip.AddrPort, _ []byte) { got = true }); err != nil {
			t.Fatal(err)
		}
	}
}

// Nothing ends a nap, and what came meanwhile ends the wait after it.
func TestNapInKernel(t *testing.T) {
	r := newInKernelRig(t)
	for i := range r.sockets {
		r.lasts("nothing has come") // leaves the sockets armed
		r.send(i)
		sent := make(chan struct{})
		time.AfterFunc(short/4, func() {
			r.send(i)
			close(sent)
		})
		before := r.k.clock()
		r.k.nap(short)
		if r.k.clock() < before+short {
			t.Error("a datagram ended a nap")
		}
		<-sent
		r.ends("a datagram came in the nap")
		drain(t, r.sockets[i])
	}
}

// Whoever wakes a process that has ended does no harm.
func TestWakeAfterClose(t *testing.T) {
	r := newInKernelRig(t)
	r.k.close()
	r.k.wake()
}

func TestWaitAllocatesNothing(t *testing.T) {
	r := newInKernelRig(t)
	if n := testing.AllocsPerRun(20, func() {
		r.k.nap(time.Microsecond)
		r.k.wait(r.k.clock() + time.Microsecond)
	}); n > 0 {
		t.Errorf("%v allocations for a nap and a wait", n)
	}
}
