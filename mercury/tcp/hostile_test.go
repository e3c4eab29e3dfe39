package tcp_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
	"github.com/cellscape/cellscape/mercury/stream"
	"github.com/cellscape/cellscape/mercury/stream/streamtest"
)

// patience bounds what a test waits for.
const patience = 10 * time.Second

// The protocol as a stranger writes it: kinds of frames, and a good hello.
const (
	kindHello    = 1
	kindAccept   = 2
	kindReliable = 4
	kindPing     = 6
)

func header(kind, n uint32) []byte { return binary.LittleEndian.AppendUint32(nil, n<<4|kind) }

func goodHello() []byte {
	b := header(kindHello, 15)
	b = binary.LittleEndian.AppendUint32(b, 0x53CE110D)
	b = append(b, 1)
	b = binary.LittleEndian.AppendUint32(b, 4711) // salt
	b = binary.LittleEndian.AppendUint32(b, 0)    // any salt wanted
	return binary.LittleEndian.AppendUint16(b, 0) // no port to dial
}

// besieged is a Transport with one honest channel.
type besieged struct {
	t      *testing.T
	x, own *stream.Transport
	at     mercurytest.Recorder
	atOwn  mercurytest.Recorder
	ch     mercury.ChannelID // own's
}

func besiege(t *testing.T, cfg stream.Config) *besieged {
	t.Helper()
	cfg.Salt = 1
	s := &besieged{t: t, x: listen(t, cfg), own: listen(t, stream.Config{Salt: 2})}
	t.Cleanup(func() {
		streamtest.Stop(t, s.own)
		streamtest.Stop(t, s.x)
	})
	s.x.SetHandler(&s.at)
	s.own.SetHandler(&s.atOwn)
	s.ch = s.own.Dial(s.x.Self())
	s.until("the honest channel", func() bool { return s.atOwn.Of(s.ch).Opened == 1 && len(s.at.Order) == 1 })
	return s
}

// until turns both until done.
func (s *besieged) until(what string, done func() bool) {
	s.t.Helper()
	if !streamtest.Until(patience, done, s.x, s.own) {
		s.t.Fatalf("waited in vain for: %s", what)
	}
}

// unharmed checks that the honest channel still carries.
func (s *besieged) unharmed() {
	s.t.Helper()
	seen := s.at.Of(s.at.Order[0])
	before := len(seen.Reliable)
	if err := s.own.Send(s.ch, []byte("still here")); err != nil {
		s.t.Fatal(err)
	}
	s.until("a message of the honest channel", func() bool { return len(seen.Reliable) == before+1 })
}

func (s *besieged) raw() net.Conn {
	s.t.Helper()
	c, err := net.Dial("tcp", s.x.Self().At.String())
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	return c
}

// hungUp waits until the other side of c has closed it, and returns what it said before.
func (s *besieged) hungUp(c net.Conn) []byte {
	s.t.Helper()
	said := make(chan []byte, 1)
	go func() {
		b, _ := io.ReadAll(c)
		said <- b
	}()
	var b []byte
	s.until("the stranger hung up on", func() bool {
		select {
		case b = <-said:
			return true
		default:
			return false
		}
	})
	return b
}

func TestBadHello(t *testing.T) {
	otherVersion := goodHello()
	otherVersion[8] = 9
	saltless := goodHello()
	copy(saltless[9:], make([]byte, 4))
	for _, x := range []struct {
		name    string
		say     []byte
		refused bool // with a word
	}{
		{"HTTP", []byte("GET / HTTP/1.1\r\nHost: here\r\n\r\n"), false},
		{"zeros", make([]byte, 100), false},
		{"a message first", append(header(kindReliable, 4), 1, 2, 3, 4), false},
		{"a long hello", append(header(kindHello, 1<<20), make([]byte, 1000)...), false},
		{"a short hello", goodHello()[:12], false},
		{"no salt", saltless, false},
		{"another version", otherVersion, true},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := besiege(t, stream.Config{HelloTimeout: 100 * time.Millisecond})
			c := s.raw()
			if _, err := c.Write(x.say); err != nil {
				t.Fatal(err)
			}
			if said := s.hungUp(c); x.refused != (len(said) > 0) {
				t.Errorf("was answered %x", said)
			}
			s.unharmed()
			if len(s.at.Order) != 1 {
				t.Errorf("the owner heard of %d channels", len(s.at.Order))
			}
		})
	}
}

// TestSlowLoris sends a hello a byte at a time, for ever.
func TestSlowLoris(t *testing.T) {
	s := besiege(t, stream.Config{HelloTimeout: 50 * time.Millisecond})
	c := s.raw()
	dripping := make(chan struct{})
	go func() {
		defer close(dripping)
		for _, b := range append(header(kindHello, 60), make([]byte, 60)...) {
			if _, err := c.Write([]byte{b}); err != nil {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	s.hungUp(c)
	<-dripping
	s.unharmed()
}

// TestHalfOpen fills the table of pending connections over and over: it stays small, and honest
// peers still get in.
func TestHalfOpen(t *testing.T) {
	s := besiege(t, stream.Config{MaxPending: 4, HelloTimeout: time.Minute})
	for range 40 {
		s.raw()
		if n := s.x.Pending(); n > 4 {
			t.Fatalf("%d connections pending", n)
		}
	}
	s.own.Abort(s.ch)
	s.ch = s.own.Dial(s.x.Self())
	s.until("another honest channel", func() bool { return s.atOwn.Of(s.ch).Opened == 1 })
}

// TestBadFrames says hello in order and then breaks the protocol.
func TestBadFrames(t *testing.T) {
	for _, x := range []struct {
		name   string
		say    []byte
		reason error
	}{
		{"unknown kind", header(13, 0), mercury.ErrProtocol},
		{"zeros", make([]byte, 4), mercury.ErrProtocol},
		{"a ping with a body", append(header(kindPing, 1), 0), mercury.ErrProtocol},
		{"a second hello", goodHello(), mercury.ErrProtocol},
		{"a long message announced", header(kindReliable, 1001), mercury.ErrMessageTooLong},
		{"the longest message announced", header(kindReliable, 1<<28-1), mercury.ErrMessageTooLong},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := besiege(t, stream.Config{MaxMessage: 1000})
			c := s.raw()
			good := append(header(kindReliable, 3), "yes"...)
			if _, err := c.Write(bytes.Join([][]byte{goodHello(), good, x.say}, nil)); err != nil {
				t.Fatal(err)
			}
			s.until("the stranger ended", func() bool { return len(s.at.Order) == 2 && len(s.at.Of(s.at.Order[1]).Closed) > 0 })
			seen := s.at.Of(s.at.Order[1])
			if !errors.Is(seen.Closed[0], x.reason) || len(seen.Reliable) != 1 || string(seen.Reliable[0]) != "yes" {
				t.Errorf("closed with %v after %q, want %v after the good message", seen.Closed, seen.Reliable, x.reason)
			}
			s.hungUp(c)
			s.unharmed()
		})
	}
}

// TestHangUp ends connections without a word, at the hello, behind it and inside of a message.
func TestHangUp(t *testing.T) {
	s := besiege(t, stream.Config{})
	for n, say := range [][]byte{nil, goodHello()[:7], append(goodHello(), header(kindReliable, 50)...)} {
		c := s.raw()
		if _, err := c.Write(say); err != nil {
			t.Fatal(err)
		}
		if n == 2 {
			s.until("the channel", func() bool { return len(s.at.Order) == 2 })
		}
		_ = c.Close()
	}
	s.until("the channel closed", func() bool { return len(s.at.Of(s.at.Order[1]).Closed) > 0 })
	if reason := s.at.Of(s.at.Order[1]).Closed[0]; !errors.Is(reason, mercury.ErrPeerAborted) {
		t.Errorf("closed with %v", reason)
	}
	s.until("nobody pending", func() bool { return s.x.Pending() == 0 })
	s.unharmed()
}
