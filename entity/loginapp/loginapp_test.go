package loginapp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
)

var _ mercury.Handler = (*LoginApp)(nil)

func TestConfigFaultsAreAllReported(t *testing.T) {
	_, err := New(Config{MaxPending: -1, Tick: -1})
	for _, field := range []string{"Transport", "Manager", "Schema", "Auth", "Jobs", "MaxPending", "Tick"} {
		if err == nil || !strings.Contains(err.Error(), "Config."+field) {
			t.Errorf("no word on %s in %v", field, err)
		}
	}
}

func TestLogin(t *testing.T) {
	r, ch := annLogsIn(t)
	c := r.created()
	if c.Account != "ann" {
		t.Errorf("account %q", c.Account)
	}
	made := wire.ProxyMade{Request: c.Request, ID: 5, Doors: []protocol.Door{{Network: protocol.UDP, Address: baseApp}}, Token: [16]byte{1, 2}}
	r.fromManager(r.base, &made)
	code, ok := r.answer(ch)
	want := protocol.LoginOK{Doors: []protocol.Door{{Network: protocol.UDP, Address: baseApp}}, Token: protocol.Token{1, 2}}
	if diff := cmp.Diff(want, ok, cmpopts.EquateEmpty(), cmpopts.EquateComparable(netip.AddrPort{})); code != 0 || diff != "" {
		t.Errorf("code %v, reply %s", code, diff)
	}
	r.tick(CloseAfter - DefaultTick)
	if r.net.Ended[ch] {
		t.Error("closed too early")
	}
	r.tick(DefaultTick)
	if !r.net.Ended[ch] {
		t.Error("the channel stays open")
	}
	if diff := cmp.Diff(Counts{Joined: true}, r.l.Counts()); diff != "" {
		t.Error(diff)
	}
}

func TestRefusals(t *testing.T) {
	for _, x := range []struct {
		name string
		edit func(*protocol.Login)
		want protocol.Code
	}{
		{"newer version", func(m *protocol.Login) { m.Version++ }, protocol.BadVersion},
		{"older version", func(m *protocol.Login) { m.Version-- }, protocol.BadVersion},
		{"digest", func(m *protocol.Login) { m.Digest[3]++ }, protocol.BadDigest},
		{"password", func(m *protocol.Login) { m.Password = "wrong" }, protocol.BadCredentials},
		{"user", func(m *protocol.Login) { m.User = "eve" }, protocol.BadCredentials},
		{"no user", func(m *protocol.Login) { m.User, m.Password = "", "" }, protocol.BadCredentials},
	} {
		r := newRig(t)
		r.join()
		ch := r.connect()
		m := protocol.Login{Version: protocol.Version, Digest: r.l.cfg.Schema.ClientDigest, User: "ann", Password: "right"}
		x.edit(&m)
		r.say(ch, m.Append(nil))
		r.work()
		r.wantRefused(ch, x.want)
		if len(r.net.Take(r.base)) != 0 {
			t.Errorf("%s: asked for a proxy", x.name)
		}
		r.tick(CloseAfter)
		if !r.net.Ended[ch] || r.l.Counts().Channels != 0 {
			t.Errorf("%s: channel stays open", x.name)
		}
	}
}

func TestRefusalsOfTheBaseAppMgr(t *testing.T) {
	for _, code := range []protocol.Code{protocol.AlreadyLoggedIn, protocol.ServerBusy, protocol.NotReady} {
		r, ch := annLogsIn(t)
		r.fromManager(r.base, &wire.ProxyMade{Request: r.created().Request, Code: uint8(code)})
		if code == protocol.NotReady {
			r.wantUnready(ch, "no process takes players in at the moment")
			continue
		}
		r.wantRefused(ch, code)
	}
}

// authFunc is an Auth that says what it is told to.
type authFunc func() (string, error)

func (f authFunc) Authenticate(context.Context, string, string) (Player, error) {
	account, err := f()
	return Player{Account: account}, err
}

func TestFaultsOfAuth(t *testing.T) {
	for name, x := range map[string]struct {
		account string
		err     error
		want    protocol.Code
	}{
		"refuses":     {"", errors.New("banned for reasons of their own"), protocol.BadCredentials},
		"unavailable": {"", fmt.Errorf("database: %w", ErrUnavailable), protocol.ServerBusy},
		"out of time": {"", context.DeadlineExceeded, protocol.ServerBusy},
		"no account":  {"", nil, protocol.ServerBusy},
		"too long":    {strings.Repeat("x", wire.MaxAccount+1), nil, protocol.ServerBusy},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(c *Config) { c.Auth = authFunc(func() (string, error) { return x.account, x.err }) })
			r.join()
			ch := r.connect()
			r.say(ch, r.login("ann", "right"))
			r.work()
			r.wantRefused(ch, x.want)
			var want RefusedCounts
			*want.of(x.want) = 1
			if r.l.refused != want {
				t.Errorf("counted %+v, want %+v", r.l.refused, want)
			}
		})
	}
	for _, result := range []any{nil, 7, errors.New("job panicked")} {
		r := newRig(t)
		r.join()
		ch := r.connect()
		r.say(ch, r.login("ann", "right"))
		r.l.JobDone(r.now, r.jobs[0].token, result)
		r.wantRefused(ch, protocol.ServerBusy)
	}
}

// An Auth may say what the client is told: who is banned can be shown until when.
func TestAuthSaysWhatIsTold(t *testing.T) {
	ban := &protocol.Refused{Code: protocol.Banned, Reason: "until Friday, for its manners"}
	r := newRig(t, func(c *Config) {
		c.Auth = authFunc(func() (string, error) { return "", fmt.Errorf("ann: %w", ban) })
	})
	r.join()
	ch := r.connect()
	r.say(ch, r.login("ann", "right"))
	r.work()
	if got := r.refusal(ch); got != *ban {
		t.Errorf("%+v", got)
	}
	if r.l.refused != (RefusedCounts{Banned: 1}) {
		t.Errorf("counted %+v", r.l.refused)
	}
}

// Who comes too early hears why: the world starts, or the managers are away.
func TestNotReady(t *testing.T) {
	r := newRig(t)
	r.tick(0)
	ch := r.connect()
	r.say(ch, r.login("ann", "right"))
	r.wantUnready(ch, "the managers have not answered yet")

	r = newRig(t)
	r.join()
	checking, placing := r.connect(), r.connect()
	r.say(placing, r.login("ann", "right"))
	r.work()
	r.say(checking, r.login("bob", "right"))
	r.net.Sent = nil
	r.net.Ended[r.base] = true
	r.l.Closed(r.now, r.base, mercury.ErrTimeout)
	r.wantUnready(placing, "the managers are away for the moment")
	r.work()
	r.wantUnready(checking, "the managers are away for the moment")
	if r.l.Counts().Joined {
		t.Error("joined without a BaseAppMgr")
	}
	r.tick(2 * time.Second)
	r.base = r.net.Dials[len(r.net.Dials)-1]
	r.wantJoin(r.base, baseAppMgr)
	r.fromManager(r.base, &wire.Welcome{})
	if !r.l.Counts().Joined {
		t.Error("did not join again")
	}
}

func TestFollowsTheBaseAppMgr(t *testing.T) {
	r, ch := annLogsIn(t)
	r.net.Sent = nil
	elsewhere := mercurytest.Host(8, 88)
	r.fromManager(r.manager, &wire.Welcome{Term: 1, BaseAppMgr: elsewhere})
	r.wantUnready(ch, "the managers are away for the moment")
	if !r.net.Ended[r.base] {
		t.Error("the old channel stays open")
	}
	r.wantJoin(r.net.Last, elsewhere)
}

func TestServerBusy(t *testing.T) {
	r := newRig(t, func(c *Config) { c.MaxPending, c.Auth = 2, AcceptAll{} })
	r.join()
	var chs []mercury.ChannelID
	for range 3 {
		chs = append(chs, r.connect())
		r.say(chs[len(chs)-1], r.login("ann", ""))
	}
	r.wantRefused(chs[2], protocol.ServerBusy)
	// A client that leaves does not make room while its job runs.
	r.l.Closed(r.now, chs[0], mercury.ErrPeerClosed)
	ch := r.connect()
	r.say(ch, r.login("ann", ""))
	r.wantRefused(ch, protocol.ServerBusy)
	r.work()
	if got := r.l.Counts(); got.Jobs != 0 || got.Pending != 1 {
		t.Errorf("counts %+v", got)
	}
	ch = r.connect()
	r.say(ch, r.login("ann", ""))
	if got := r.l.Counts(); got.Jobs != 1 || got.Pending != 2 {
		t.Errorf("counts %+v", got)
	}
	// What leaves while it is placed makes room at once.
	r.l.Closed(r.now, chs[1], mercury.ErrPeerClosed)
	if got := r.l.Counts().Pending; got != 1 {
		t.Errorf("%d pending", got)
	}
}

func TestTimeouts(t *testing.T) {
	r := newRig(t)
	r.join()
	silent, checking, placing := r.connect(), r.connect(), r.connect()
	r.say(placing, r.login("ann", "right"))
	r.work()
	r.say(checking, r.login("bob", "right"))
	c := r.created()
	r.tick(PlaceTimeout - DefaultTick)
	if len(r.net.Take(placing)) != 0 {
		t.Error("too early")
	}
	r.tick(DefaultTick)
	r.wantRefused(placing, protocol.ServerBusy)
	r.tick(LoginTimeout - PlaceTimeout - DefaultTick)
	if r.net.Ended[silent] || len(r.net.Take(checking)) != 0 {
		t.Error("too early")
	}
	r.tick(DefaultTick)
	if !r.net.Ended[silent] || len(r.net.Take(silent)) != 0 {
		t.Error("who says nothing is still there")
	}
	r.wantRefused(checking, protocol.ServerBusy)
	// Late results change nothing.
	r.work()
	r.fromManager(r.base, &wire.ProxyMade{Request: c.Request, Doors: []protocol.Door{{Network: protocol.UDP, Address: baseApp}}})
	if n := len(r.net.Take(checking)) + len(r.net.Take(placing)) + len(r.net.Take(r.base)); n > 1 {
		t.Errorf("%d messages after the answer", n)
	}
	r.tick(CloseAfter)
	if got := r.l.Counts(); got != (Counts{Joined: true}) {
		t.Errorf("counts %+v", got)
	}
}

func TestMalformed(t *testing.T) {
	good := func(r *rig) []byte { return r.login("ann", "right") }
	for name, f := range map[string]func(r *rig) []byte{
		"empty":         func(r *rig) []byte { return nil },
		"noise":         func(r *rig) []byte { return []byte{0xff, 0xff, 0xff} },
		"truncated":     func(r *rig) []byte { return good(r)[:10] },
		"other message": func(r *rig) []byte { return protocol.AppendLogout(nil) },
		"two logins":    func(r *rig) []byte { return append(good(r), good(r)...) },
		"name too long": func(r *rig) []byte { return r.login(strings.Repeat("x", protocol.MaxName+1), "") },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.join()
			ch := r.connect()
			for range 100 { // a flood of it gets one answer
				r.say(ch, f(r))
			}
			r.wantRefused(ch, protocol.Malformed)
			if !r.net.Ended[ch] || len(r.jobs) != 0 || r.l.Counts().Channels != 0 {
				t.Error("the channel goes on")
			}
		})
	}
	t.Run("unreliable", func(t *testing.T) {
		r := newRig(t)
		r.join()
		ch := r.connect()
		r.l.Message(r.now, ch, false, good(r))
		r.wantRefused(ch, protocol.Malformed)
	})
	t.Run("newer version", func(t *testing.T) {
		r := newRig(t)
		r.join()
		ch := r.connect()
		b, mark := protocol.Begin(nil, protocol.LoginID)
		r.say(ch, protocol.End(append(b, protocol.Version+1, 0, 1, 2, 3), mark))
		r.wantRefused(ch, protocol.BadVersion)
	})
}

func TestSecondLoginOnAChannel(t *testing.T) {
	r := newRig(t)
	r.join()
	ch := r.connect()
	r.say(ch, r.login("ann", "right"))
	r.say(ch, r.login("bob", "right"))
	r.wantRefused(ch, protocol.Malformed)
	r.work()
	if len(r.net.Take(r.base)) != 0 {
		t.Error("a proxy for a login that was dropped")
	}

	// After the answer, what comes is dropped.
	ch = r.connect()
	r.say(ch, r.login("ann", "wrong"))
	r.work()
	r.wantRefused(ch, protocol.BadCredentials)
	r.say(ch, r.login("ann", "right"))
	if len(r.jobs) != 0 || r.net.Ended[ch] {
		t.Error("a second login on the channel")
	}
}

// A client must not be able to speak as a manager, nor a job twice.
func TestForgery(t *testing.T) {
	r := newRig(t)
	r.join()
	victim, ch := r.connect(), r.connect()
	r.say(victim, r.login("ann", "right"))
	r.work()
	c := r.created()
	r.fromManager(ch, &wire.ProxyMade{Request: c.Request, Doors: []protocol.Door{{Network: protocol.UDP, Address: mercurytest.Host(66, 6)}}})
	r.wantRefused(ch, protocol.Malformed)
	if len(r.net.Take(victim)) != 0 {
		t.Error("a client answered for the BaseAppMgr")
	}
	r.l.JobDone(r.now, uint64(victim), verdict{player: Player{Account: "bob"}})
	r.l.JobDone(r.now, 1<<60, verdict{player: Player{Account: "bob"}})
	if len(r.net.Take(r.base)) != 0 {
		t.Error("a job was done twice")
	}
	// A manager may speak over a channel that it dialled, but answers where it was asked.
	other := r.net.Accept(baseAppMgr)
	r.l.Opened(r.now, other, baseAppMgr)
	r.fromManager(other, &wire.ProxyMade{Request: c.Request, Doors: []protocol.Door{{Network: protocol.UDP, Address: mercurytest.Host(66, 6)}}})
	if len(r.net.Take(victim)) != 0 {
		t.Error("an answer on another channel than that of the question")
	}
	r.fromManager(r.base, &wire.ProxyMade{Request: c.Request, Doors: []protocol.Door{{Network: protocol.UDP, Address: baseApp}}})
	if code, ok := r.answer(victim); code != 0 || len(ok.Doors) != 1 || ok.Doors[0].Address != baseApp {
		t.Errorf("code %v, reply %+v", code, ok)
	}
	if r.l.report.Errors != 0 {
		t.Errorf("%d errors", r.l.report.Errors)
	}
}

func TestReports(t *testing.T) {
	r := newRig(t, func(c *Config) { c.CPU = func() time.Duration { return time.Second } })
	r.join()
	r.tick(time.Second)
	id, body, err := wire.Split(r.net.One(t, r.manager))
	var rep wire.Report
	if err != nil || id != wire.ReportID || rep.Parse(body) != nil || rep.CPU != time.Second || rep.Ticks == 0 {
		t.Errorf("%v %v %+v", id, err, rep)
	}
	r.tick(DefaultTick)
	if n := len(r.net.Take(r.manager)); n != 0 {
		t.Errorf("%d reports too many", n)
	}
}

func FuzzMessage(f *testing.F) {
	r := newRig(f)
	f.Add(true, r.login("ann", "right"))
	f.Add(true, r.login("ann", "wrong"))
	f.Add(false, []byte{1, 2, 3})
	f.Add(true, wire.Encode(nil, &wire.ProxyMade{Request: 3}))
	f.Fuzz(func(t *testing.T, fromClient bool, msg []byte) {
		r := newRig(t)
		r.join()
		ch := r.connect()
		if !fromClient {
			// A manager is of the own cluster, but must not be able to break it either.
			r.l.Message(r.now, r.manager, true, msg)
			r.l.Message(r.now, r.base, true, msg)
		}
		r.say(ch, msg)
		r.work()
		told := len(r.net.Take(ch))
		if fromClient && told != 1 && len(r.net.Take(r.base)) != 1 {
			t.Errorf("the client was told %d times", told)
		}
		r.tick(PlaceTimeout)
		r.tick(CloseAfter)
		if r.l.Counts().Channels != 0 {
			t.Error("the channel stays open")
		}
	})
}

// minter writes down what it is asked for.
type minter struct {
	ticket []byte
	asked  []string
}

func (m *minter) Mint(_ time.Duration, base mercury.Address, client netip.Addr) []byte {
	m.asked = append(m.asked, fmt.Sprint(base, " for ", client))
	return m.ticket
}

// A client that is let in gets a ticket for its BaseApp and its own IP; one that is refused gets
// none.
func TestTickets(t *testing.T) {
	for name, ticket := range map[string][]byte{"a ticket": []byte("a ticket"), "none": nil, "too long": make([]byte, mercury.MaxTicket+1)} {
		m := &minter{ticket: ticket}
		r := newRig(t, func(c *Config) { c.Tickets = m })
		r.join()
		ch := r.connect()
		r.say(ch, r.login("ann", "right"))
		r.work()
		r.fromManager(r.base, &wire.ProxyMade{Request: r.created().Request, ID: 5, Doors: []protocol.Door{{Network: protocol.UDP, Address: baseApp}}})
		want := ticket
		if len(want) > mercury.MaxTicket {
			want = nil
		}
		if code, ok := r.answer(ch); code != 0 || string(ok.Ticket) != string(want) {
			t.Errorf("%s: code %v, ticket %q", name, code, ok.Ticket)
		}
		peer, _ := r.net.Peer(ch)
		if diff := cmp.Diff([]string{fmt.Sprint(baseApp, " for ", peer.At.Addr())}, m.asked); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}

		refused := r.connect()
		r.say(refused, r.login("ann", "wrong"))
		r.work()
		r.wantRefused(refused, protocol.BadCredentials)
		if len(m.asked) != 1 {
			t.Errorf("%s: asked for %q", name, m.asked)
		}
	}
}

// A LoginApp has a handler for what the table says that it takes, and for nothing else.
func TestRoutes(t *testing.T) {
	if differ := newRig(t).l.routes.Check(wire.LoginApp); len(differ) > 0 {
		t.Errorf("the routes and the table differ in %v", differ)
	}
}

// A flood of wrong passwords does not fill the log.
func TestFloodIsLoggedEverMoreSeldom(t *testing.T) {
	var log bytes.Buffer
	r := newRig(t)
	r.l.log = slog.New(slog.NewTextHandler(&log, nil))
	r.join()
	for range 4 { // a line at 0, 1 and 3 s
		for range 20 {
			r.say(r.connect(), r.login("ann", "wrong"))
		}
		r.work()
		r.tick(time.Second)
	}
	lines := strings.Count(log.String(), "login refused")
	if lines != 3 || !strings.Contains(log.String(), "unlogged=39") || r.l.refused.BadCredentials != 80 {
		t.Errorf("%d lines, %d counted:\n%s", lines, r.l.refused.BadCredentials, log.String())
	}
}

// A client of another build or of other definitions is told both, and what to do; so is the log.
func TestForeignClients(t *testing.T) {
	for name, x := range map[string]struct {
		edit func(*protocol.Login)
		says []string
	}{
		"a newer client": {func(m *protocol.Login) { m.Version++ }, []string{fmt.Sprint(protocol.Version), fmt.Sprint(protocol.Version + 1), "newer world"}},
		"an older one":   {func(m *protocol.Login) { m.Version-- }, []string{fmt.Sprint(protocol.Version), fmt.Sprint(protocol.Version - 1), "install a newer"}},
		"of other definitions": {func(m *protocol.Login) { m.Digest = protocol.Digest{0xab, 15: 0xcd} },
			[]string{"ab0000000000000000000000000000cd", "install"}},
	} {
		r := newRig(t)
		r.join()
		ch := r.connect()
		m := protocol.Login{Version: protocol.Version, Digest: r.l.cfg.Schema.ClientDigest, User: "ann", Password: "right"}
		x.edit(&m)
		r.say(ch, m.Append(nil))
		var no protocol.Refused
		for _, msg := range r.net.Take(ch) {
			if err := protocol.Messages(msg, func(_ protocol.ID, body []byte) error { return no.Parse(body) }); err != nil {
				t.Fatal(err)
			}
		}
		for _, want := range x.says {
			if !strings.Contains(no.Reason, want) {
				t.Errorf("%s: %q does not say %q", name, no.Reason, want)
			}
		}
		if strings.Contains(name, "definitions") && !strings.Contains(no.Reason, fmt.Sprintf("%x", r.l.cfg.Schema.ClientDigest)) {
			t.Errorf("%s: %q does not say the world's digest", name, no.Reason)
		}
	}
}
