package secure_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/secure"
)

// clusterKey is one made of a seed.
func clusterKey(tb testing.TB, seed byte) secure.ClusterKey {
	tb.Helper()
	k, err := secure.GenerateClusterKey(seeded(seed))
	if err != nil {
		tb.Fatal(err)
	}
	return k
}

// newInner is a stage whose two ends are of one cluster, and whose server lets in who has proved
// that much.
func newInner(tb testing.TB, suite secure.Suite, least mercury.Standing) *stage {
	tb.Helper()
	s := newStage(tb, suite)
	key, keys := keyOf(tb, 1), []secure.ClusterKey{clusterKey(tb, 8)}
	s.client = newGuard(tb, secure.Config{Random: seeded(2), Suite: suite, ServerKey: key.Public(), ClusterKeys: keys})
	s.server = newGuard(tb, secure.Config{Random: seeded(3), Key: key, ClusterKeys: keys, Least: least})
	return s
}

// as is the same stage with another client.
func (s *stage) as(c secure.Config) *stage {
	s.tb.Helper()
	c.Random, c.ServerKey = seeded(20), keyOf(s.tb, 1).Public()
	return &stage{tb: s.tb, client: newGuard(s.tb, c), server: s.server, now: s.now}
}

func TestStandingIsWhatWasProved(t *testing.T) {
	for _, suite := range []secure.Suite{secure.AESGCM, secure.ChaChaPoly} {
		s, key := newInner(t, suite, mercury.Stranger), clusterKey(t, 8)
		for _, c := range []struct {
			client     *stage
			near, want mercury.Standing
		}{
			{s, mercury.Member, mercury.Member},
			{s.as(secure.Config{Suite: suite, Access: key.Operator()}), mercury.Operator, mercury.Operator},
			{s.as(secure.Config{Suite: suite, Access: key.Observer()}), mercury.Observer, mercury.Observer},
			{s.as(secure.Config{Suite: suite}), mercury.Trusted, mercury.Stranger},
		} {
			p := c.client.connect()
			p.works(t)
			if got := p.server.Standing(); got != c.want {
				t.Errorf("%v: who dialled is a %v, want %v", suite, got, c.want)
			}
			if got := p.client.Standing(); got != c.near {
				t.Errorf("%v: to a %v who was dialled is a %v, want %v", suite, c.want, got, c.near)
			}
		}
		plain := newStage(t, suite)
		if got := plain.connect().server.Standing(); got != mercury.Trusted {
			t.Errorf("%v: without cluster keys who dials is a %v", suite, got)
		}
	}
}

// A door lets in who has proved as much as it asks for, and tells and counts the others.
func TestDoorsLetInWhoMay(t *testing.T) {
	key, other := clusterKey(t, 8), clusterKey(t, 9)
	access := func(hex string) secure.AccessKey {
		k, err := secure.ParseAccessKey(hex)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	digits := key.Observer().Hex()[len("observer-"):]
	renamed, err := secure.ParseClusterKey(digits)
	if err != nil {
		t.Fatal(err)
	}
	clients := []struct {
		name     string
		c        secure.Config
		standing mercury.Standing
		unknown  bool
	}{
		{"with the public key alone", secure.Config{}, mercury.Stranger, false},
		{"an observer", secure.Config{Access: key.Observer()}, mercury.Observer, false},
		{"an operator", secure.Config{Access: key.Operator()}, mercury.Operator, false},
		{"a member", secure.Config{ClusterKeys: []secure.ClusterKey{key, other}}, mercury.Member, false},
		{"of another cluster", secure.Config{ClusterKeys: []secure.ClusterKey{other, key}}, 0, true},
		{"an observer of another cluster", secure.Config{Access: other.Observer()}, 0, true},
		{"an observer who calls his key a cluster's", secure.Config{ClusterKeys: []secure.ClusterKey{renamed}}, 0, true},
		{"with the cluster's key as an access key", secure.Config{Access: access("operator-" + key.Hex())}, 0, true},
		{"an observer who calls his key an operator's", secure.Config{Access: access("operator-" + digits)}, mercury.Observer, false},
	}
	for _, least := range []mercury.Standing{mercury.Stranger, mercury.Observer, mercury.Operator, mercury.Member} {
		s := newInner(t, secure.AESGCM, least)
		var want secure.Stats
		for _, c := range clients {
			_, err := s.server.Answer(nil, s.now, clientAt, bind, s.as(c.c).dial().Hello())
			if in := !c.unknown && c.standing >= least; in != (err == nil) || !in && (!errors.Is(err, secure.ErrProof) || !errors.Is(err, mercury.ErrKey)) {
				t.Errorf("%s at a door for a %v: %v", c.name, least, err)
			}
			switch {
			case c.unknown:
				want.OldKeys++
			case c.standing < least:
				want.Strangers++
			default:
				want.Answered++
			}
		}
		want.BadHellos = want.OldKeys + want.Strangers
		if got := s.server.Stats(); got != want {
			t.Errorf("a door for a %v counted %+v, want %+v", least, got, want)
		}
	}
}

// Membership is proved both ways: who has the static key of an acceptor, but not the cluster's,
// makes no reply that a member takes; nor is there a hello that he could answer at all.
func TestAcceptorProvesMembership(t *testing.T) {
	s := newInner(t, secure.AESGCM, mercury.Stranger)
	d := s.dial()
	thief := newGuard(t, secure.Config{Random: seeded(4), Key: keyOf(t, 1)})
	if _, err := thief.Answer(nil, s.now, clientAt, bind, d.Hello()); !errors.Is(err, secure.ErrProof) {
		t.Errorf("a thief answered a member: %v", err)
	}
	// He leaves the name of the key out, as if a stranger had dialled.
	stripped := append(bytes.Clone(d.Hello()[:1]), d.Hello()[9:]...)
	if _, err := thief.Answer(nil, s.now, clientAt, bind, stripped); !errors.Is(err, secure.ErrHello) {
		t.Errorf("a thief answered a member whose proof he took away: %v", err)
	}
	// What he answers to a stranger is no answer to a member.
	reply, err := thief.Answer(nil, s.now, clientAt, bind, s.as(secure.Config{}).dial().Hello())
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := d.Finish(s.now, reply); !errors.Is(err, secure.ErrReply) {
		t.Errorf("a member took a thief's reply: %v", err)
	}
	s.finish(d).works(t)
}

// TestFlippedBitsAtAnInnerDoor changes each bit of a member's handshake, and cuts it short at each
// byte.
func TestFlippedBitsAtAnInnerDoor(t *testing.T) {
	s := newInner(t, secure.AESGCM, mercury.Member)
	d := s.dial()
	hello := bytes.Clone(d.Hello())
	reply := s.answer(hello)
	flips(hello, func(bad []byte, what int) {
		if _, err := s.server.Answer(nil, s.now, clientAt, bind, bad); !errors.Is(err, secure.ErrHello) {
			t.Errorf("hello with a fault at %d: %v", what, err)
		}
	})
	for n := range hello {
		if _, err := s.server.Answer(nil, s.now, clientAt, bind, hello[:n]); !errors.Is(err, secure.ErrHello) {
			t.Errorf("%d bytes of a hello: %v", n, err)
		}
	}
	flips(reply, func(bad []byte, what int) {
		if _, _, err := d.Finish(s.now, bad); !errors.Is(err, secure.ErrReply) {
			t.Errorf("reply with a fault at %d: %v", what, err)
		}
	})
	pass, near, err := d.Finish(s.now, reply)
	if err != nil {
		t.Fatal(err)
	}
	flips(pass, func(bad []byte, what int) {
		got, err := s.server.Admit(s.now, clientAt, bind, bad)
		refused(t, got, err, "a pass with a fault")
		_ = what
	})
	far, err := s.server.Admit(s.now, clientAt, bind, pass)
	if err != nil {
		t.Fatal(err)
	}
	pair{near, far, pass}.works(t)
}

// Whoever records a member's hello and shows it again gets an answer that is of no use to him.
func TestReplayedHelloOpensNothing(t *testing.T) {
	s := newInner(t, secure.AESGCM, mercury.Member)
	hello := bytes.Clone(s.dial().Hello())
	from := clientAt
	reply, err := s.server.Answer(nil, s.now, from, bind, hello)
	if err != nil {
		t.Fatal(err)
	}
	pass := reply[48 : 48+114]
	far, err := s.server.Admit(s.now, from, bind, pass)
	if err != nil {
		t.Fatal(err) // the pass is his to show
	}
	if _, err := far.Open(sealed(s.connect().client, "not his", 0), headSize, 0); !errors.Is(err, secure.ErrPacket) {
		t.Errorf("a packet of other keys opened a member's channel: %v", err)
	}
	if _, err := s.server.Answer(nil, s.now, clientAt, []byte("another salt"), hello); !errors.Is(err, secure.ErrHello) {
		t.Errorf("a hello with another bind: %v", err)
	}
}

// A ticket proves nothing of the cluster: a door that asks for proof neither takes nor gives one,
// and elsewhere it makes a stranger.
func TestTicketIsNoProof(t *testing.T) {
	s := newInner(t, secure.AESGCM, mercury.Stranger)
	player := s.as(secure.Config{})
	p, _ := player.resume()
	if got := p.server.Standing(); got != mercury.Stranger {
		t.Errorf("who came with a ticket is a %v", got)
	}
	s.client.Keep(s.now, serverAt, s.server.Ticket(nil, s.now, clientAt))
	if _, _, ok := s.dial().Early(); ok {
		t.Error("a member dialled with a ticket")
	}

	tickets := []secure.TicketKey{secure.TicketKey(keyOf(t, 5))}
	config := secure.Config{Random: seeded(6), Key: keyOf(t, 1), TicketKeys: tickets, ID: 1, Epoch: 1, ClusterKeys: []secure.ClusterKey{clusterKey(t, 8)}}
	open := newGuard(t, config)
	ticket := open.Ticket(nil, s.now, clientAt)
	config.Least = mercury.Observer
	s.server = newGuard(t, config)
	player = s.as(secure.Config{})
	player.client.Keep(s.now, serverAt, ticket)
	got, err := s.server.Admit(s.now, clientAt, bind, player.early())
	refused(t, got, err, "a sound ticket at an inner door")
	if b := s.server.Ticket(nil, s.now, clientAt); len(b) != 0 {
		t.Error("an inner door gave a ticket")
	}
	if stats := s.server.Stats(); stats.Strangers != 1 || stats.Refused != 1 || stats.Minted != 0 {
		t.Errorf("counted %+v", stats)
	}
}

// Keys change under channels that live: the new one is taken in, then used, then the old one left
// out.
func TestClusterKeysRotate(t *testing.T) {
	s := newInner(t, secure.AESGCM, mercury.Member)
	before, after := clusterKey(t, 8), clusterKey(t, 9)
	late := s.as(secure.Config{ClusterKeys: []secure.ClusterKey{before}})
	pairs := []pair{s.connect()}
	set := func(g *secure.Guard, keys ...secure.ClusterKey) {
		t.Helper()
		if err := g.SetClusterKeys(keys); err != nil {
			t.Fatal(err)
		}
	}
	for _, keys := range [][]secure.ClusterKey{{before, after}, {after, before}} {
		set(s.client, keys...)
		pairs = append(pairs, s.connect())
		set(s.server, keys...)
		pairs = append(pairs, s.connect(), late.connect())
	}
	half := late.dial()
	pass, _, err := half.Finish(s.now, s.answer(half.Hello()))
	if err != nil {
		t.Fatal(err)
	}
	set(s.server, after)
	got, err := s.server.Admit(s.now, clientAt, bind, pass)
	refused(t, got, err, "a pass by a key that has gone since")
	if _, err := s.server.Answer(nil, s.now, clientAt, bind, late.dial().Hello()); !errors.Is(err, secure.ErrProof) {
		t.Errorf("a hello by a key that has gone: %v", err)
	}
	if _, err := s.server.Answer(nil, s.now, clientAt, bind, late.as(secure.Config{Access: before.Operator()}).dial().Hello()); !errors.Is(err, secure.ErrProof) {
		t.Errorf("an operator by a key that has gone: %v", err)
	}
	set(s.client, after)
	for _, p := range append(pairs, s.connect()) {
		p.works(t)
		if p.server.Standing() != mercury.Member {
			t.Errorf("a channel has become a %v's", p.server.Standing())
		}
	}
	if n := s.server.Stats().OldKeys; n != 2 {
		t.Errorf("%d old keys counted", n)
	}
}

// A dial that was refused because the keys changed meanwhile begins anew with the key of now.
func TestAgainUsesTheKeyOfNow(t *testing.T) {
	s := newInner(t, secure.AESGCM, mercury.Member)
	d := s.dial()
	after := []secure.ClusterKey{clusterKey(t, 9)}
	for _, g := range []*secure.Guard{s.client, s.server} {
		if err := g.SetClusterKeys(after); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.server.Answer(nil, s.now, clientAt, bind, d.Hello()); !errors.Is(err, secure.ErrProof) {
		t.Errorf("the old hello: %v", err)
	}
	d.Again()
	s.finish(d).works(t)
}

func TestSetClusterKeysRefusesWhatOpensTheDoor(t *testing.T) {
	s := newInner(t, secure.AESGCM, mercury.Member)
	plain := newStage(t, secure.AESGCM)
	key := clusterKey(t, 8)
	for why, err := range map[string]error{
		"none":        s.server.SetClusterKeys(nil),
		"a zero key":  s.server.SetClusterKeys(make([]secure.ClusterKey, 1)),
		"too many":    s.server.SetClusterKeys([]secure.ClusterKey{{1}, {2}, {3}, {4}, {5}}),
		"one twice":   s.server.SetClusterKeys([]secure.ClusterKey{key, key}),
		"the first":   plain.server.SetClusterKeys([]secure.ClusterKey{key}),
		"a dialler's": plain.client.SetClusterKeys([]secure.ClusterKey{key}),
	} {
		if err == nil {
			t.Errorf("took %s", why)
		}
	}
	s.connect().works(t)
	plain.connect().works(t)
	if err := plain.server.SetClusterKeys(nil); err != nil {
		t.Error(err)
	}
}

func TestAccessKeysTellNothingOfOthers(t *testing.T) {
	private := keyOf(t, 1)
	key := private.ClusterKey()
	seen := map[string]string{}
	for name, k := range map[string]string{
		"private": private.Hex(), "public": private.Public().String(), "cluster": key.Hex(), "observer": key.Observer().Hex(), "operator": key.Operator().Hex(),
		"of another": keyOf(t, 2).ClusterKey().Hex(), "ticket": secure.TicketKey(key).Hex()[1:],
	} {
		if was := seen[k]; was != "" {
			t.Errorf("%s and %s are the same key", name, was)
		}
		seen[k] = name
	}
	c, err := secure.ParseClusterKey(key.Hex())
	if err != nil || c != key {
		t.Errorf("parsed a cluster key: %v", err)
	}
	a, err := secure.ParseAccessKey(key.Observer().Hex())
	if err != nil || a != key.Observer() || a.IsZero() || a.Standing() != mercury.Observer {
		t.Errorf("parsed an access key: %v", err)
	}
	for _, bad := range []string{"", key.Hex(), "member-" + key.Hex(), "observer-", "operator-" + key.Hex()[1:]} {
		if _, err := secure.ParseAccessKey(bad); err == nil {
			t.Errorf("%q is an access key", bad)
		}
	}
}

// An inner door keeps nothing of those who do not finish, or are not let in.
func TestHalfOpenHandshakesKeepNothing(t *testing.T) {
	s := newInner(t, secure.AESGCM, mercury.Member)
	member, stranger := bytes.Clone(s.dial().Hello()), s.as(secure.Config{}).dial().Hello()
	var reply []byte
	answer := func() {
		s.now += time.Microsecond
		reply, _ = s.server.Answer(reply[:0], s.now, clientAt, bind, stranger)
	}
	if n := testing.AllocsPerRun(1000, answer); n > 0 {
		t.Errorf("a stranger at an inner door costs %v allocations", n)
	}
	before := s.server.Stats()
	for range 100 {
		s.answer(member)
	}
	if after := s.server.Stats(); after.Answered != before.Answered+100 || after.Admitted != before.Admitted {
		t.Errorf("counted %+v, then %+v", before, after)
	}
}
