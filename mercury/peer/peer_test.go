package peer_test

import (
	"context"
	"crypto/rand"
	"errors"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/host"
	"github.com/cellscape/cellscape/mercury/peer"
	"github.com/cellscape/cellscape/mercury/secure"
)

// patience is how long a test waits for what must come.
const patience = 20 * time.Second

func newKey(t *testing.T) secure.PrivateKey {
	t.Helper()
	key, err := secure.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func ignore(peer.Channel, bool, []byte) {}

func listen(t *testing.T, key secure.PrivateKey, cfg peer.Config) *peer.Server {
	t.Helper()
	s, err := peer.Listen(t.Context(), "127.0.0.1:0", key, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func dial(t *testing.T, to *peer.Server, key secure.PublicKey, cfg peer.Config) (*peer.Conn, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c, err := peer.Dial(ctx, to.Address().String(), key, cfg)
	if err == nil {
		t.Cleanup(func() { _ = c.Close() })
	}
	return c, err
}

func wait[T any](t *testing.T, what string, from <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(patience):
		t.Fatalf("waited in vain for: %s", what)
	}
	return v
}

// Whoever has another key, or none, gets no channel, and is told why.
func TestKeys(t *testing.T) {
	key := newKey(t)
	sealed, clear := listen(t, key, peer.Config{Message: ignore}), listen(t, secure.PrivateKey{}, peer.Config{Message: ignore, Clear: true})
	if _, err := dial(t, sealed, newKey(t).Public(), peer.Config{Message: ignore}); !errors.Is(err, mercury.ErrKey) {
		t.Errorf("with another key: %v", err)
	}
	if _, err := dial(t, sealed, secure.PublicKey{}, peer.Config{Message: ignore, Clear: true}); !errors.Is(err, mercury.ErrKey) {
		t.Errorf("in the clear: %v", err)
	}
	if _, err := dial(t, clear, secure.PublicKey{}, peer.Config{Message: ignore, Clear: true}); err != nil {
		t.Errorf("both in the clear: %v", err)
	}
	for _, cfg := range []peer.Config{{Message: ignore}, {Message: ignore, Clear: true}} {
		key := secure.PublicKey{}
		if cfg.Clear {
			key = newKey(t).Public()
		}
		if _, err := dial(t, sealed, key, cfg); err == nil || !strings.Contains(err.Error(), "Clear") {
			t.Errorf("a key %v in the clear: %v", !cfg.Clear, err)
		}
	}
}

// A peer that takes nothing fills the queue, which refuses and says when there is room; what was
// sent all comes.
func TestRoom(t *testing.T) {
	key := newKey(t)
	paused, got := make(chan peer.Channel, 1), atomic.Int64{}
	server := listen(t, key, peer.Config{Message: func(c peer.Channel, _ bool, _ []byte) {
		if got.Add(1) == 1 {
			c.Pause()
			paused <- c
		}
	}})
	room := make(chan struct{}, 1)
	limits := mercury.Config{MaxQueued: 2 << 20}
	conn, err := dial(t, server, key.Public(), peer.Config{Limits: limits, Message: ignore, Room: func(peer.Channel) { room <- struct{}{} }})
	if err != nil {
		t.Fatal(err)
	}
	msg, sent := make([]byte, 64<<10), int64(0)
	for ; err == nil; sent++ {
		err = conn.Send(msg)
	}
	if sent--; !errors.Is(err, mercury.ErrFull) {
		t.Fatalf("message %d: %v", sent, err)
	}
	if s, err := conn.Stats(); err != nil || s.Full != 1 || s.Queued == 0 {
		t.Errorf("%+v, %v", s, err)
	}
	c := wait(t, "the pause", paused)
	if err := server.Do(c.Resume); err != nil {
		t.Fatal(err)
	}
	wait(t, "room", room)
	for end := time.Now().Add(patience); got.Load() < sent; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d messages came of %d", got.Load(), sent)
		}
	}
}

// What is flushed inside Do leaves although Do goes on.
func TestFlush(t *testing.T) {
	key := newKey(t)
	heard := make(chan struct{}, 1)
	server := listen(t, key, peer.Config{Message: func(peer.Channel, bool, []byte) { heard <- struct{}{} }})
	conn, err := dial(t, server, key.Public(), peer.Config{Message: ignore})
	if err != nil {
		t.Fatal(err)
	}
	err = conn.Do(func(c peer.Channel) {
		if err := errors.Join(c.Send([]byte("urgent")), c.Flush()); err != nil {
			t.Error(err)
		}
		wait(t, "what was flushed", heard)
	})
	if err != nil {
		t.Fatal(err)
	}
	if most := 0; conn.Do(func(c peer.Channel) { most = c.MaxUnreliable() }) != nil || most == 0 {
		t.Errorf("no room for unreliable messages: %d", most)
	}
	if dropped, err := conn.SendUnreliable([]byte("perhaps")); dropped > 0 || err != nil {
		t.Errorf("%d dropped, %v", dropped, err)
	}
	wait(t, "the unreliable one", heard)
}

// The end of Listen's context closes the server, whose peers are told; then nothing can be done
// with either.
func TestEnd(t *testing.T) {
	key := newKey(t)
	ctx, cancel := context.WithCancel(t.Context())
	there := make(chan struct{}, 1)
	server, err := peer.Listen(ctx, ":0", key, peer.Config{Message: ignore, Opened: func(peer.Channel) { there <- struct{}{} }})
	if err != nil {
		t.Fatal(err)
	}
	opened, closed := make(chan netip.AddrPort, 1), make(chan error, 1)
	conn, err := dial(t, server, key.Public(), peer.Config{
		Message: ignore,
		Opened:  func(c peer.Channel) { opened <- c.Peer() },
		Closed:  func(_ peer.Channel, reason error) { closed <- reason },
	})
	if err != nil {
		t.Fatal(err)
	}
	if at := wait(t, "Opened", opened); at != server.Address() {
		t.Errorf("opened to %v, the server is at %v", at, server.Address())
	}
	wait(t, "the channel at the server", there) // which has it with the first packet after the dial
	cancel()
	if err := wait(t, "Closed", closed); !errors.Is(err, mercury.ErrPeerClosed) {
		t.Errorf("closed for %v", err)
	}
	wait(t, "the server's end", server.Done())
	if err := errors.Join(server.Close(), conn.Close(), conn.Close()); err != nil {
		t.Error(err)
	}
	if err := conn.Send(nil); !errors.Is(err, host.ErrStopped) {
		t.Errorf("Send after Close: %v", err)
	}
	if _, err := peer.Listen(ctx, ":0", key, peer.Config{Message: ignore}); !errors.Is(err, context.Canceled) {
		t.Errorf("Listen with an ended context: %v", err)
	}
}

// A dial that nobody answers ends with its context.
func TestDialNobody(t *testing.T) {
	key := newKey(t)
	s := listen(t, key, peer.Config{Message: ignore})
	at := s.Address().String()
	_ = s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := peer.Dial(ctx, at, key.Public(), peer.Config{Message: ignore}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("nobody there: %v", err)
	}
}

// A Config is refused with all its faults at once.
func TestConfigFaults(t *testing.T) {
	_, err := peer.Listen(t.Context(), "127.0.0.1:0", secure.PrivateKey{}, peer.Config{Pace: -1, StopTimeout: -1, Limits: mercury.Config{Salt: 7, MTU: 1}})
	for _, want := range []string{"private key", "Message is nil", "Pace", "StopTimeout", "Limits has Salt", "MTU is 1"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no word of %q: %v", want, err)
		}
	}
}
