package host_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/host"
	"github.com/cellscape/cellscape/mercury/secure"
	"github.com/cellscape/cellscape/mercury/stream"
	"github.com/cellscape/cellscape/mercury/tcp"
	"github.com/cellscape/cellscape/mercury/udp"
)

// standing is what a process finds of the peer of its only channel to an address.
func standing(t *testing.T, p *host.Process, to mercury.Address) (s mercury.Standing) {
	t.Helper()
	do(t, p, func(e *echo) { s = e.env.Transport.Standing(e.env.Transport.Dial(to)) })
	return s
}

// Processes that run change their keys one after another; who has the old one only is let in until
// the last step, and no channel ends.
func TestClusterKeysChangeWhileProcessesRun(t *testing.T) {
	h, key := newHost(t), newKey(t, 1)
	before, after := secure.ClusterKey(newKey(t, 2)), secure.ClusterKey(newKey(t, 3))
	seal := host.Secure(secure.Config{Key: key, ServerKey: key.Public(), ClusterKeys: []secure.ClusterKey{before}, Least: mercury.Member})
	a, b := start(t, h, "a", seal), start(t, h, "b", seal)
	both := []*host.Process{a, b}
	send(t, a, b.Address(), "say hello")
	until(t, a, "has its answer", func(e *echo) bool { return len(e.messages) == 1 })
	old := start(t, h, "old", seal)
	send(t, old, b.Address(), "say hello")
	until(t, old, "has its answer", func(e *echo) bool { return len(e.messages) == 1 })
	for _, keys := range [][]secure.ClusterKey{{before, after}, {after, before}, {after}} {
		for _, p := range both {
			if err := p.SetClusterKeys(keys); err != nil {
				t.Fatal(err)
			}
			c := start(t, h, "c", host.Secure(secure.Config{ServerKey: key.Public(), ClusterKeys: keys}))
			if len(keys) == 2 {
				for _, q := range both {
					send(t, c, q.Address(), "say hello")
				}
				until(t, c, "has its answers", func(e *echo) bool { return len(e.messages) == 2 })
				if s := standing(t, c, a.Address()); s != mercury.Member {
					t.Errorf("it talks to a %v", s)
				}
			}
			_ = c.Stop()
		}
	}
	for _, p := range []*host.Process{a, old} { // old channels go on
		was := stats(t, b)
		send(t, p, b.Address(), "say more")
		until(t, p, "is answered still", func(e *echo) bool { return slices.Contains(e.messages, "more") })
		if is := stats(t, b); is != was {
			t.Errorf("it took a new handshake: %+v, then %+v", was, is)
		}
	}
	send(t, old, a.Address(), "say hello") // a new one does not come about
	until(t, old, "is told", func(e *echo) bool { return len(e.closed) == 1 && errors.Is(e.closed[0], mercury.ErrKey) })
	stranger := start(t, h, "stranger", host.Secure(secure.Config{ServerKey: key.Public()}))
	send(t, stranger, a.Address(), "say hello")
	until(t, stranger, "is told", func(e *echo) bool { return len(e.closed) == 1 && errors.Is(e.closed[0], mercury.ErrKey) })
	if s := stats(t, a); s.OldKeys != 1 || s.Strangers != 1 || s.BadHellos != 2 {
		t.Errorf("counted %+v", s)
	}

	// What a start was given last holds for the next one.
	do(t, a, func(e *echo) { e.dismissed = true })
	do(t, a, func(*echo) {})
	send(t, b, a.Address(), "say anew")
	until(t, b, "has its answer", func(e *echo) bool { return slices.Contains(e.messages, "anew") })

	if err := a.SetClusterKeys(nil); err == nil {
		t.Error("the keys were taken away")
	}
	if err := start(t, h, "plain").SetClusterKeys([]secure.ClusterKey{after}); !errors.Is(err, host.ErrUnsealed) {
		t.Errorf("a process in the clear: %v", err)
	}
	_ = a.Stop()
	if err := a.SetClusterKeys([]secure.ClusterKey{after}); !errors.Is(err, host.ErrStopped) {
		t.Errorf("a process that has ended: %v", err)
	}
}

// greetOverTCP starts p and a process that has said hello to it over TCP in the clear.
func greetOverTCP(t *testing.T, h *host.Host, cfg stream.Config, opts ...host.Option) (p, dialler *host.Process) {
	t.Helper()
	carrier := func(addr string) host.Option {
		c, err := tcp.Listen(addr, tcp.Config{Config: cfg}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return host.UnsealedCarriers(c)
	}
	p = start(t, h, "p", append(opts, carrier("127.0.0.1:0"))...)
	dialler, err := h.Start("dialler", "", func(env host.Env) (host.App, error) { return &echo{env: env}, nil }, carrier(""))
	if err != nil {
		t.Fatal(err)
	}
	send(t, dialler, p.Places()[1].Self, "say hello")
	until(t, dialler, "has its answer", func(e *echo) bool { return len(e.messages) == 1 })
	return p, dialler
}

// Whoever comes over a carrier that asks for no proof is a stranger to a process of a cluster, and
// trusted by one that has no keys.
func TestStandingOverCarriersInTheClear(t *testing.T) {
	h, key := newHost(t), newKey(t, 1)
	for want, opts := range map[mercury.Standing][]host.Option{
		mercury.Trusted:  nil,
		mercury.Stranger: {host.Secure(secure.Config{Key: key, ClusterKeys: []secure.ClusterKey{key.ClusterKey()}})},
	} {
		p, dialler := greetOverTCP(t, h, stream.Config{}, opts...)
		do(t, p, func(e *echo) {
			if got := e.env.Transport.Standing(e.last); got != want {
				t.Errorf("who came over TCP is a %v, want %v", got, want)
			}
		})
		if got := standing(t, dialler, mercury.Address{}); got != mercury.Stranger {
			t.Errorf("who is not there is a %v", got)
		}
	}
}

// A process lets members in by its inner carrier, and everyone by its doors.
func TestDoorsAreForEveryone(t *testing.T) {
	h, key := newHost(t), newKey(t, 1)
	socket, err := udp.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := start(t, h, "p", host.Doors(udp.NewCarrier(socket, mercury.Config{})),
		host.Secure(secure.Config{Key: key, ClusterKeys: []secure.ClusterKey{key.ClusterKey()}, Least: mercury.Member}))
	player := start(t, h, "player", host.Secure(secure.Config{ServerKey: key.Public()}))
	inner, door := p.Places()[0].Self, p.Places()[1].Self
	send(t, player, door, "say hello")
	until(t, player, "has its answer", func(e *echo) bool { return len(e.messages) == 1 })
	do(t, p, func(e *echo) {
		if s := e.env.Transport.Standing(e.last); s != mercury.Stranger {
			t.Errorf("a player is a %v", s)
		}
	})
	send(t, player, inner, "say hello")
	until(t, player, "is told", func(e *echo) bool { return len(e.closed) == 1 && errors.Is(e.closed[0], mercury.ErrKey) })
}

// A carrier whose connections prove membership says so.
func TestStandingOfACarrier(t *testing.T) {
	h, key := newHost(t), newKey(t, 1)
	seal := host.Secure(secure.Config{Key: key, ClusterKeys: []secure.ClusterKey{key.ClusterKey()}})
	p, _ := greetOverTCP(t, h, stream.Config{Standing: mercury.Member}, seal)
	do(t, p, func(e *echo) {
		if s := e.env.Transport.Standing(e.last); s != mercury.Member {
			t.Errorf("a member is a %v", s)
		}
	})
}
