package udp_test

import (
	"errors"
	"net"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
	"github.com/cellscape/cellscape/mercury/udp"
)

// clock is that of all carriers here.
var clock = func() func() time.Duration {
	began := time.Now()
	return func() time.Duration { return time.Since(began) }
}()

// carrier makes a Carrier that has begun, and is released with the test.
func carrier(t testing.TB, salt uint32, h mercury.Handler) *udp.Carrier {
	t.Helper()
	// Real time is short here, yet a busy machine may stall this goroutine.
	c := udp.NewCarrier(listen(t, "127.0.0.1:0"), mercury.Config{KeepAlive: 100 * time.Millisecond, Inactivity: 2 * time.Second})
	begin(t, c, salt, h)
	return c
}

func begin(t testing.TB, c *udp.Carrier, salt uint32, h mercury.Handler) {
	t.Helper()
	if err := c.Begin(mercury.Start{Salt: salt, Clock: clock, Handler: h}); err != nil {
		t.Fatal(err)
	}
}

// turn is one turn of a Carrier.
func turn(t testing.TB, c *udp.Carrier, until time.Duration) {
	t.Helper()
	if _, err := c.Receive(until); err != nil {
		t.Fatal(err)
	}
	if err := c.Flush(); err != nil {
		t.Fatal(err)
	}
}

// forever is a time that no test sees.
const forever = time.Duration(1 << 62)

// TestTransportOverCarriers runs the suite over two Carriers of which one waits itself and one is
// watched.
func TestTransportOverCarriers(t *testing.T) {
	t.Parallel()
	mercurytest.TestTransport(t, func(t *testing.T, _ uint64) *mercurytest.Rig {
		a, b := carrier(t, 1, nil), carrier(t, 2, nil)
		b.Watch(a.Wake)
		t.Cleanup(func() {
			for _, c := range []*udp.Carrier{a, b} {
				_ = c.Release() // listen closes the socket as well
			}
		})
		return mercurytest.RigOf(a, b, mercurytest.InRealTime(patience, func() {
			turn(t, a, clock()+200*time.Microsecond)
			turn(t, b, 0)
		}))
	})
}

// TestWake: a Wake ends the wait under way, one that came before ends the next, and what has come
// is heard all the same.
func TestWake(t *testing.T) {
	c := carrier(t, 1, nil)
	c.Wake()
	turn(t, c, forever)
	for range 100 {
		go c.Wake()
		turn(t, c, forever)
	}
	from := listen(t, "127.0.0.1:0")
	from.Queue(c.Socket().Addr(), []byte("not of this protocol"))
	if err := from.Flush(); err != nil {
		t.Fatal(err)
	}
	if heard, err := c.Receive(forever); err != nil || !heard {
		t.Errorf("heard %v, %v", heard, err)
	}
}

// TestBeginsAnew: the second start is at the same place, the first one's channels are gone without
// a word, and its peer finds out.
func TestBeginsAnew(t *testing.T) {
	var atA, atB, again mercurytest.Recorder
	a, b := carrier(t, 1, &atA), carrier(t, 2, &atB)
	until := func(what string, done func() bool) {
		t.Helper()
		for end := time.Now().Add(patience); !done(); {
			if time.Now().After(end) {
				t.Fatalf("waited in vain for: %s", what)
			}
			turn(t, a, 0)
			turn(t, b, 0)
		}
	}
	ch := a.Dial(b.Self())
	if err := a.Send(ch, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	until("a message", func() bool { return len(atB.Order) == 1 && len(atB.Of(atB.Order[0]).Reliable) == 1 })
	before := b.Self()
	begin(t, b, 3, &again)
	if after := b.Self(); after.At != before.At || after.Salt != 3 || b.Channels() != 0 {
		t.Fatalf("was at %v, is at %v with %d channels", before, after, b.Channels())
	}
	if err := a.Send(ch, []byte("are you there?")); err != nil {
		t.Fatal(err)
	}
	until("the end of the old channel", func() bool { return len(atA.Of(ch).Closed) == 1 })
	if err := atA.Of(ch).Closed[0]; !errors.Is(err, mercury.ErrPeerRestarted) {
		t.Errorf("the peer heard %v", err)
	}
	if len(again.Order) != 0 || len(atB.Of(atB.Order[0]).Closed) != 0 {
		t.Error("a start was told of the other's channel")
	}
}

// TestSocketCloses: a Carrier says so whose socket is closed under it, watched or not, and leaves
// no goroutine.
func TestSocketCloses(t *testing.T) {
	before := runtime.NumGoroutine()
	for _, watched := range []bool{false, true} {
		c := carrier(t, 1, nil)
		told := make(chan struct{}, 10)
		if watched {
			c.Watch(func() { told <- struct{}{} })
		}
		_ = c.Socket().Close()
		if watched {
			<-told
		}
		if _, err := c.Receive(forever); !errors.Is(err, net.ErrClosed) {
			t.Errorf("watched %v: %v", watched, err)
		}
		_ = c.Release()
	}
	for end := time.Now().Add(patience); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines, there were %d", runtime.NumGoroutine(), before)
		}
	}
}

// TestCarrierNoAllocations: a turn with a datagram costs no memory of its own, watched or not. The
// Endpoint throws this one away.
func TestCarrierNoAllocations(t *testing.T) {
	for _, watched := range []bool{false, true} {
		c, from := carrier(t, 1, nil), listen(t, "127.0.0.1:0")
		told := make(chan struct{}, 10)
		if watched {
			c.Watch(func() { told <- struct{}{} })
		}
		if n := testing.AllocsPerRun(100, func() {
			from.Queue(c.Socket().Addr(), []byte("not of this protocol"))
			if err := from.Flush(); err != nil {
				t.Fatal(err)
			}
			if watched {
				<-told
			}
			turn(t, c, forever)
		}); n > 0 && !raceEnabled {
			t.Errorf("watched %v: %v allocations", watched, n)
		}
		if s := c.Socket().Counters(); s.In < 100 {
			t.Errorf("%+v", s)
		}
		_ = c.Release()
	}
}

// What the socket loses below the Endpoint is in the figures of the carrier, with what the Endpoint
// counts.
func TestCarrierStats(t *testing.T) {
	c := carrier(t, 1, nil)
	from := listen(t, "127.0.0.1:0")
	from.Queue(c.Socket().Addr(), make([]byte, 100))
	flush(t, from)
	turn(t, c, forever)
	c.Socket().Queue(netip.MustParseAddrPort("[2001:db8::1]:9"), []byte("the wrong family"))
	flush(t, c.Socket())
	if s := c.CarrierStats(); s.Socket.Dropped != 1 || s.Endpoint.BadChecksum+s.Endpoint.BadSize+s.Endpoint.BadKind != 1 || s.Refused != 1 {
		t.Errorf("%+v", s)
	}
	if err := c.Release(); err != nil {
		t.Error(err)
	}
}
