package secure_test

import (
	"bytes"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/secure"
)

// early dials with the ticket that is kept and returns the pass.
func (s *stage) early() []byte {
	s.tb.Helper()
	pass, _, ok := s.dial().Early()
	if !ok {
		s.tb.Fatal("no early pass")
	}
	return pass
}

func (s *stage) keepTicket() {
	s.client.Keep(s.now, serverAt, s.server.Ticket(nil, s.now, clientAt))
}

func TestTicketIsGoodOnce(t *testing.T) {
	s := newStage(t, secure.AESGCM)
	p, _ := s.resume()
	p.works(t)
	for _, after := range []time.Duration{0, time.Second, secure.DefaultTicketLife, secure.DefaultTicketLife + time.Minute} {
		got, err := s.server.Admit(s.now+after, clientAt, bind, p.pass)
		refused(t, got, err, "replayed after "+after.String())
	}
	if _, _, ok := s.dial().Early(); ok {
		t.Error("the dialler uses a ticket twice")
	}
}

func TestRefusedTicketThenAgain(t *testing.T) {
	s := newStage(t, secure.AESGCM)
	s.keepTicket()
	d := s.dial()
	pass, _, ok := d.Early()
	if !ok {
		t.Fatal("no early pass")
	}
	s.server = newGuard(t, secure.Config{Random: seeded(9), Key: keyOf(t, 1)}) // a restart
	got, err := s.server.Admit(s.now, clientAt, bind, pass)
	refused(t, got, err, "a ticket from before the restart")
	d.Again()
	if _, _, ok := d.Early(); ok {
		t.Error("Early is still ok after Again")
	}
	s.finish(d).works(t)
}

// The first handshake got no answer, or a pass of it was refused: Again begins anew, and an answer
// to the old handshake is no answer to the new one.
func TestAgainBeginsAFreshHandshake(t *testing.T) {
	s := newStage(t, secure.AESGCM)
	d := s.dial()
	hello := bytes.Clone(d.Hello())
	reply := s.answer(hello)
	d.Again()
	if bytes.Equal(hello, d.Hello()) {
		t.Error("the same hello")
	}
	if _, _, err := d.Finish(s.now, reply); err == nil {
		t.Error("the old reply finished the new handshake")
	}
	s.finish(d).works(t)
	d.Again() // the pass was refused, say
	s.finish(d).works(t)
}

func TestEarlyAndFinishBothWork(t *testing.T) {
	s := newStage(t, secure.AESGCM)
	_, d := s.resume()
	// The dialler may also ask for the hello, for example to send both at once.
	s.finish(d).works(t)
}

func TestTicketIsBound(t *testing.T) {
	s := newStage(t, secure.AESGCM)
	for _, c := range []struct {
		why   string
		after time.Duration
		from  string
		bind  string
		ok    bool
	}{
		{"same place", 0, clientAt.String(), string(bind), true},
		{"other port", 0, "198.51.100.9:1", string(bind), true},
		{"IPv6 clothes", 0, "[::ffff:198.51.100.9]:40000", string(bind), true},
		{"at the last second", secure.DefaultTicketLife, clientAt.String(), string(bind), true},
		{"other IP", 0, "198.51.100.10:40000", string(bind), false},
		{"other bind", 0, clientAt.String(), string(bind[1:]), false},
		{"run out", secure.DefaultTicketLife + time.Second, clientAt.String(), string(bind), false},
		{"long expired", 100 * secure.DefaultTicketLife, clientAt.String(), string(bind), false},
	} {
		s.keepTicket()
		got, err := s.server.Admit(s.now+c.after, netip.MustParseAddrPort(c.from), []byte(c.bind), s.early())
		if !c.ok {
			refused(t, got, err, c.why)
		} else if err != nil {
			t.Errorf("%s: %v", c.why, err)
		}
		s.now += 3 * secure.DefaultTicketLife
	}
}

// Whoever has only seen a ticket's pass can neither change it nor use up the ticket by a changed
// one.
func TestFlippedBitsOfAnEarlyPass(t *testing.T) {
	s := newStage(t, secure.AESGCM)
	s.keepTicket()
	pass := s.early()
	flips(pass, func(bad []byte, what int) {
		got, err := s.server.Admit(s.now, clientAt, bind, bad)
		refused(t, got, err, fmt.Sprint("bit ", what))
	})
	if _, err := s.server.Admit(s.now, clientAt, bind, pass); err != nil {
		t.Error("the good pass after the bad ones:", err)
	}
}

func TestUsedTicketsAreBounded(t *testing.T) {
	key := keyOf(t, 1)
	s := newStage(t, secure.AESGCM)
	s.server = newGuard(t, secure.Config{Random: seeded(3), Key: key, MaxUsed: 3})
	passes := [][]byte{}
	for range 3 {
		p, _ := s.resume()
		passes = append(passes, p.pass)
	}
	s.keepTicket()
	spare := s.early()
	got, err := s.server.Admit(s.now, clientAt, bind, spare)
	refused(t, got, err, "above the limit")
	for _, p := range passes {
		got, err := s.server.Admit(s.now, clientAt, bind, p)
		refused(t, got, err, "replay while full")
	}
	if st := s.server.Stats(); st.Full != 1 || st.Replayed != 3 {
		t.Errorf("stats %+v", st)
	}
	s.now += secure.DefaultTicketLife + time.Minute + 2*time.Second
	p, _ := s.resume()
	p.works(t)
}

func TestWalletIsBoundedAndKeepsTheNewest(t *testing.T) {
	s := newStage(t, secure.AESGCM)
	s.client = newGuard(t, secure.Config{Random: seeded(2), ServerKey: keyOf(t, 1).Public(), MaxKept: 2})
	at := func(port uint16) mercury.Address {
		return mercury.Address{At: netip.AddrPortFrom(serverAt.At.Addr(), port)}
	}
	has := func(port uint16) bool {
		d, err := s.client.Dial(s.now, at(port), bind)
		if err != nil {
			t.Fatal(err)
		}
		_, _, ok := d.Early()
		return ok
	}
	for port := uint16(1); port <= 3; port++ {
		s.client.Keep(s.now, at(port), s.server.Ticket(nil, s.now, clientAt))
	}
	if has(1) || !has(2) || !has(3) || has(3) {
		t.Error("the two newest were not kept, each for one use")
	}

	s.client.Keep(s.now, serverAt, s.server.Ticket(nil, s.now, clientAt))
	s.now += secure.DefaultTicketLife
	if _, _, ok := s.dial().Early(); ok {
		t.Error("a ticket is used after its life")
	}
	good := s.server.Ticket(nil, s.now, clientAt)
	long := bytes.Clone(good)
	long[4] = 0xff
	none := bytes.Clone(good)
	clear(none[1:5])
	version := bytes.Clone(good)
	version[0]++
	for _, bad := range [][]byte{nil, good[1:], append(bytes.Clone(good), 0), long, none, version} {
		s.client.Keep(s.now, serverAt, bad)
		if _, _, ok := s.dial().Early(); ok {
			t.Errorf("kept %x", bad)
		}
	}
}

// cluster is a LoginApp that mints tickets for BaseApps.
type cluster struct {
	*stage
	keys []secure.TicketKey
}

func newCluster(t *testing.T) cluster {
	key, err := secure.GenerateTicketKey(seeded(20))
	if err != nil {
		t.Fatal(err)
	}
	return cluster{newStage(t, secure.AESGCM), []secure.TicketKey{key}}
}

// guard makes an app that started when the Unix time was epoch.
func (c cluster) guard(seed byte, id uint64, epoch int64) *secure.Guard {
	c.tb.Helper()
	return newGuard(c.tb, secure.Config{
		Random: seeded(seed), Key: keyOf(c.tb, 1), TicketKeys: c.keys, ID: id, Epoch: epoch,
	})
}

func TestLoginAppMintsForABaseApp(t *testing.T) {
	c := newCluster(t)
	login, base, other := c.guard(21, 1, 1_000_000), c.guard(22, 2, 1_000_500), c.guard(23, 3, 1_000_500)
	mint := func(now time.Duration) []byte {
		ticket, err := login.Mint(nil, now, 2, clientAt.Addr())
		if err != nil {
			t.Fatal(err)
		}
		c.client.Keep(0, serverAt, ticket)
		return c.early()
	}
	pass := mint(600 * time.Second) // 1_000_600, at base 100 s
	got, err := other.Admit(100*time.Second, clientAt, bind, pass)
	refused(t, got, err, "another BaseApp")
	if _, err := base.Admit(100*time.Second, clientAt, bind, pass); err != nil {
		t.Error(err)
	}
	for _, skew := range []time.Duration{-time.Minute, time.Minute, 10 * time.Minute} {
		if _, err := base.Admit(100*time.Second+skew, clientAt, bind, mint(600*time.Second)); err != nil {
			t.Errorf("%v later: %v", skew, err)
		}
	}
	got, err = base.Admit(100*time.Second-time.Minute-time.Second, clientAt, bind, mint(600*time.Second))
	refused(t, got, err, "good for longer than used tickets are remembered")
	got, err = base.Admit(100*time.Second+secure.DefaultTicketLife+time.Second, clientAt, bind, mint(600*time.Second))
	refused(t, got, err, "run out")

	again := c.guard(24, 4, 1_000_600) // base, restarted
	pass = mint(600 * time.Second)
	if _, err := base.Admit(100*time.Second, clientAt, bind, pass); err != nil {
		t.Error(err)
	}
	got, err = again.Admit(0, clientAt, bind, pass)
	refused(t, got, err, "replayed at the next start")
}

func TestTicketKeysRotate(t *testing.T) {
	c := newCluster(t)
	older, _ := secure.GenerateTicketKey(seeded(30))
	newer, _ := secure.GenerateTicketKey(seeded(31))
	c.keys = []secure.TicketKey{older}
	login, base := c.guard(21, 1, 1), c.guard(22, 2, 1)
	try := func() error {
		ticket, err := login.Mint(nil, c.now, 2, clientAt.Addr())
		if err != nil {
			t.Fatal(err)
		}
		c.client.Keep(c.now, serverAt, ticket)
		_, err = base.Admit(c.now, clientAt, bind, c.early())
		return err
	}
	set := func(g *secure.Guard, keys ...secure.TicketKey) {
		if err := g.SetTicketKeys(keys); err != nil {
			t.Fatal(err)
		}
	}
	steps := []func(){
		func() {},
		func() { set(base, older, newer) },
		func() { set(login, older, newer) },
		func() { set(login, newer, older) },
		func() { set(base, newer, older) },
		func() { set(login, newer) },
		func() { set(base, newer) },
	}
	for i, step := range steps {
		step()
		if err := try(); err != nil {
			t.Errorf("step %d: %v", i, err)
		}
	}
	set(login, older)
	if try() == nil {
		t.Error("a ticket of a key that was left out is good")
	}
	if err := base.SetTicketKeys(make([]secure.TicketKey, 1)); err == nil {
		t.Error("a zero ticket key")
	}
	lone := newGuard(t, secure.Config{Random: seeded(1), Key: keyOf(t, 1)})
	if lone.SetTicketKeys([]secure.TicketKey{older}) == nil {
		t.Error("ticket keys without an epoch")
	}
	lone = newGuard(t, secure.Config{Random: seeded(1), Key: keyOf(t, 1), Epoch: 1})
	if lone.SetTicketKeys([]secure.TicketKey{older}) == nil {
		t.Error("ticket keys without an id")
	}
}
