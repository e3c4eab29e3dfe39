package baseappmgr

import (
	"bytes"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
)

var _ mercury.Handler = (*BaseAppMgr)(nil)

func TestConfigFaultsAreAllReported(t *testing.T) {
	_, err := New(Config{Tick: -1})
	for _, field := range []string{"Transport", "Manager", "Schema", "Tick"} {
		if err == nil || !strings.Contains(err.Error(), "Config."+field) {
			t.Errorf("no word on %s in %v", field, err)
		}
	}
}

func TestOneProxyPerAccount(t *testing.T) {
	r := newRig(t)
	app := r.join(wire.BaseApp, mercurytest.Host(3, 33))
	r.create("ann")
	r.wantAccounts(1, 1)
	// A second login is refused while the proxy is being made, and afterwards.
	r.create("ann")
	r.wantRefused(protocol.ServerBusy)
	r.request--
	id := r.make(app)
	r.request++
	r.create("ann")
	r.refuse(app, protocol.AlreadyLoggedIn)
	r.wantAccounts(1, 0)

	// The account is freed only by its own BaseApp, about its own proxy.
	other := r.join(wire.BaseApp, mercurytest.Host(4, 44))
	r.say(other, &wire.ProxyGone{Account: "ann", ID: id})
	r.say(app, &wire.ProxyGone{Account: "ann", ID: id + 1})
	r.wantAccounts(1, 0)
	r.say(app, &wire.ProxyGone{Account: "ann", ID: id})
	r.say(app, &wire.ProxyGone{Account: "ann", ID: id})
	r.wantAccounts(0, 0)
	r.create("ann")
	r.make(app)
}

func TestRefusals(t *testing.T) {
	r := newRig(t)
	r.create("ann")
	r.wantRefused(protocol.NotReady)

	app := r.join(wire.BaseApp, mercurytest.Host(3, 33))
	r.create("ann")
	r.say(app, &wire.ProxyMade{Request: r.asked(app).Request, Code: uint8(protocol.ServerClosing)})
	r.wantRefused(protocol.ServerClosing)
	r.wantAccounts(0, 0)

	for i := range MaxPending {
		r.create(fmt.Sprint(i))
	}
	if n := len(r.net.Take(r.login)); n != 0 {
		t.Fatalf("%d answers", n)
	}
	r.create("one more")
	r.wantRefused(protocol.ServerBusy)
}

func TestFewestProxies(t *testing.T) {
	r := newRig(t)
	chs := []mercury.ChannelID{r.join(wire.BaseApp, mercurytest.Host(5, 1)), r.join(wire.BaseApp, mercurytest.Host(3, 1)), r.join(wire.BaseApp, mercurytest.Host(4, 1))}
	var order []int
	for i := range 6 {
		r.create(fmt.Sprint(i))
		for j, ch := range chs {
			for _, s := range r.net.Sent {
				if s.Channel == ch {
					order = append(order, j)
					r.make(ch)
					break
				}
			}
		}
	}
	// Among equals, the lowest address comes first.
	if got := fmt.Sprint(order); got != "[1 2 0 1 2 0]" {
		t.Errorf("order %s", got)
	}
}

func TestBaseAppDeathFreesItsAccounts(t *testing.T) {
	ends := map[string]func(r *rig, ch mercury.ChannelID, at mercury.Address){
		"channel":   func(r *rig, ch mercury.ChannelID, _ mercury.Address) { r.closed(ch, mercury.ErrTimeout) },
		"restarted": func(r *rig, ch mercury.ChannelID, _ mercury.Address) { r.closed(ch, mercury.ErrPeerRestarted) },
		"verdict": func(r *rig, ch mercury.ChannelID, at mercury.Address) {
			r.say(r.manager, &wire.AppDead{Role: wire.BaseApp, App: at})
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			at := mercurytest.Host(3, 33)
			dying := r.join(wire.BaseApp, at)
			r.create("ann")
			id := r.make(dying)
			other := r.join(wire.BaseApp, mercurytest.Host(4, 44))
			r.create("bob")
			r.make(other)
			r.create("cid") // being made on the BaseApp that dies
			asked := r.asked(dying)
			end(r, dying, at)
			r.wantRefused(protocol.ServerBusy)
			r.wantAccounts(1, 0)
			if !r.net.Ended[dying] || r.m.Counts().BaseApps != 1 {
				t.Error("the BaseApp is still there")
			}
			r.create("ann")
			r.make(other)
			// Its last message comes too late.
			r.say(dying, &wire.ProxyGone{Account: "ann", ID: id})
			r.say(dying, &wire.ProxyMade{Request: asked.Request, ID: 77})
			r.wantAccounts(2, 0)
			r.create("bob")
			r.refuse(other, protocol.AlreadyLoggedIn)
		})
	}
}

func TestDeclaredDeadIsDismissed(t *testing.T) {
	r := newRig(t)
	at := mercurytest.Host(3, 33)
	r.join(wire.BaseApp, at)
	r.say(r.manager, &wire.AppDead{Role: wire.BaseApp, App: at})
	ch := r.net.Accept(at)
	r.m.Opened(r.now, ch, at)
	if id, _ := r.got(ch); id != wire.DismissedID || !r.net.Ended[ch] {
		t.Errorf("told %d", id)
	}
	// Another start of it is welcome.
	r.join(wire.BaseApp, mercurytest.Host(3, 34))
}

func TestRejoinOnAnotherChannelKeepsAccounts(t *testing.T) {
	r := newRig(t)
	at := mercurytest.Host(3, 33)
	old := r.join(wire.BaseApp, at)
	r.create("ann")
	r.make(old)
	app := r.join(wire.BaseApp, at)
	r.closed(old, mercury.ErrPeerClosed)
	r.wantAccounts(1, 0)
	r.create("bob")
	r.make(app)
}

func TestBaseAppThatDoesNotAnswer(t *testing.T) {
	r := newRig(t)
	app := r.join(wire.BaseApp, mercurytest.Host(3, 33))
	r.create("late")
	late := r.asked(app)
	r.create("never")
	r.asked(app)
	r.tick(ReserveTimeout - time.Millisecond)
	r.wantAccounts(2, 2)
	// Until the BaseApp has answered, another proxy would be one too many.
	r.create("late")
	r.wantRefused(protocol.ServerBusy)
	r.say(app, &wire.ProxyMade{Request: late.Request, ID: 5})
	if n := len(r.net.Take(r.login)); n != 1 {
		t.Errorf("%d answers", n)
	}
	r.create("late")
	r.refuse(app, protocol.AlreadyLoggedIn)
	r.say(app, &wire.ProxyGone{Account: "late", ID: 5})
	r.wantAccounts(1, 1)
	r.tick(DefaultTick)
	r.wantAccounts(0, 0)
	if n := len(r.net.Take(r.login)); n != 1 {
		t.Errorf("%d answers to a request that nobody answers", n)
	}
	r.create("never")
	r.make(app)
}

func TestJoins(t *testing.T) {
	r := newRig(t)
	for name, j := range map[string]*wire.Join{
		"other definitions": {Speaks: wire.Spoken(), Role: wire.BaseApp, Digest: [16]byte{1}},
		"CellApp":           {Speaks: wire.Spoken(), Role: wire.CellApp, Digest: r.m.cfg.Schema.Digest},
	} {
		ch := r.net.Accept(mercurytest.Host(3, 33))
		r.say(ch, j)
		if id, _ := r.got(ch); id != wire.RefusedID {
			t.Errorf("%s: told %d", name, id)
		}
		// It cannot ask for anything.
		r.say(ch, &wire.CreateProxy{Account: "ann"})
		r.say(ch, &wire.ProxyMade{Request: 1})
		if len(r.net.Take(ch)) != 0 {
			t.Errorf("%s: answered", name)
		}
	}
	if c := r.m.Counts(); c.BaseApps != 0 || c.LoginApps != 1 || c.Accounts != 0 {
		t.Errorf("counts %+v", c)
	}
	r.closed(r.login, mercury.ErrPeerClosed)
	if c := r.m.Counts(); c.LoginApps != 0 {
		t.Errorf("counts %+v", c)
	}
}

func TestLoginAppThatLeft(t *testing.T) {
	r := newRig(t)
	app := r.join(wire.BaseApp, mercurytest.Host(3, 33))
	r.create("ann")
	asked := r.asked(app)
	r.closed(r.login, mercury.ErrTimeout)
	r.say(app, &wire.ProxyMade{Request: asked.Request, ID: 4})
	r.wantAccounts(1, 0) // until the BaseApp drops the proxy that no one attached to
	r.say(app, &wire.ProxyGone{Account: "ann", ID: 4})
	r.wantAccounts(0, 0)
}

func TestJoinsAgainAndReports(t *testing.T) {
	r := newRig(t)
	r.tick(time.Second)
	if id, _ := r.got(r.manager); id != wire.ReportID {
		t.Errorf("sent %d", id)
	}
	r.closed(r.manager, mercury.ErrTimeout)
	r.tick(time.Second)
	r.manager = r.net.Last
	r.m.Opened(r.now, r.manager, mercurytest.Host(1, 12))
	if id, _ := r.got(r.manager); id != wire.JoinID {
		t.Errorf("sent %d", id)
	}
}

// announce tells, as a BaseApp, which proxies it has.
func (r *rig) announce(ch mercury.ChannelID, entries ...wire.Proxy) {
	r.say(ch, &wire.Proxies{Entries: entries})
	if n := len(r.net.Take(ch)); n != 0 {
		r.t.Errorf("the BaseApp was told %d messages", n)
	}
}

// A BaseAppMgr that starts again knows only the accounts that BaseApps tell it of.
func TestRestartLearnsTheAccounts(t *testing.T) {
	r := newRig(t)
	app := r.join(wire.BaseApp, mercurytest.Host(3, 33))
	r.announce(app, wire.Proxy{Account: "ann", ID: 7}, wire.Proxy{Account: "bob", ID: 8})
	r.announce(app, wire.Proxy{Account: "cid", ID: 9})
	r.announce(app)
	r.wantAccounts(3, 0)
	for _, name := range []string{"ann", "bob", "cid"} {
		r.create(name)
		r.refuse(app, protocol.AlreadyLoggedIn)
	}
	// The proxies count in the choice of a BaseApp: the other one has fewer.
	other := r.join(wire.BaseApp, mercurytest.Host(4, 44))
	r.create("dan")
	r.make(other)
	// They are freed like any other.
	r.say(app, &wire.ProxyGone{Account: "ann", ID: 8})
	r.wantAccounts(4, 0)
	r.say(app, &wire.ProxyGone{Account: "ann", ID: 7})
	r.wantAccounts(3, 0)
	r.closed(app, mercury.ErrTimeout)
	r.wantAccounts(1, 0)
	r.create("bob")
	r.make(other)
}

// A broken channel frees the accounts of a BaseApp that lives on; it brings them back when it joins
// again.
func TestBrokenChannelBringsTheAccountsBack(t *testing.T) {
	r := newRig(t)
	at := mercurytest.Host(3, 33)
	app := r.join(wire.BaseApp, at)
	r.create("ann")
	id := r.make(app)
	r.closed(app, mercury.ErrTimeout)
	r.wantAccounts(0, 0)
	app = r.join(wire.BaseApp, at)
	r.announce(app, wire.Proxy{Account: "ann", ID: id})
	r.wantAccounts(1, 0)
	r.create("ann")
	r.refuse(app, protocol.AlreadyLoggedIn)
}

// Two BaseApps have a proxy of one account: the one known first stays.
func TestAccountOnTwoBaseApps(t *testing.T) {
	r := newRig(t)
	var logs bytes.Buffer
	r.m.log = slog.New(slog.NewTextHandler(&logs, nil))
	old := r.join(wire.BaseApp, mercurytest.Host(3, 33))
	r.create("ann")
	id := r.make(old)
	late := r.join(wire.BaseApp, mercurytest.Host(4, 44))
	r.announce(late, wire.Proxy{Account: "ann", ID: 77}, wire.Proxy{Account: "bob", ID: 78})
	r.wantAccounts(2, 0)
	if got := logs.String(); strings.Count(got, "level=WARN") != 1 || !strings.Contains(got, "account=ann") || !strings.Contains(got, "10.0.0.4") {
		t.Errorf("the log says %q", got)
	}
	if len(r.net.Take(old)) != 0 || r.m.report.Errors != 0 {
		t.Error("the first BaseApp is told, or an error counted")
	}
	r.say(late, &wire.ProxyGone{Account: "ann", ID: 77})
	r.wantAccounts(2, 0)
	r.say(old, &wire.ProxyGone{Account: "ann", ID: id})
	r.wantAccounts(1, 0)
	if a := r.m.baseApps; a[0].proxies != 0 || a[1].proxies != 1 {
		t.Errorf("%d and %d proxies", a[0].proxies, a[1].proxies)
	}
}

// A BaseApp announces what the table already has on it.
func TestAnnouncedAgain(t *testing.T) {
	r := newRig(t)
	at := mercurytest.Host(3, 33)
	old := r.join(wire.BaseApp, at)
	r.create("ann")
	id := r.make(old)
	r.create("bob")
	asked := r.asked(old)
	app := r.join(wire.BaseApp, at)
	// Ann's proxy was made anew while no message came through; bob's is being made.
	r.announce(app, wire.Proxy{Account: "ann", ID: id + 10}, wire.Proxy{Account: "bob", ID: id + 11})
	r.wantAccounts(2, 1)
	r.say(app, &wire.ProxyMade{Request: asked.Request, ID: id + 12}) // not where it was asked
	r.wantAccounts(2, 1)
	if n := r.m.baseApps[0].proxies; n != 2 {
		t.Errorf("%d proxies", n)
	}
	r.closed(old, mercury.ErrTimeout)
	r.wantRefused(protocol.ServerBusy) // with whatever answer there was; the proxy is there
	r.wantAccounts(2, 0)
	r.say(app, &wire.ProxyGone{Account: "ann", ID: id})
	r.wantAccounts(2, 0)
	r.say(app, &wire.ProxyGone{Account: "ann", ID: id + 10})
	r.say(app, &wire.ProxyGone{Account: "bob", ID: id + 11})
	r.wantAccounts(0, 0)
}

// An answer that comes when nobody waits any more is refused, and is not an error.
func TestLateAnswer(t *testing.T) {
	r := newRig(t)
	app := r.join(wire.BaseApp, mercurytest.Host(3, 33))
	r.create("ann")
	asked := r.asked(app)
	answer := &wire.ProxyMade{Request: asked.Request, ID: 77}
	r.say(app, answer)
	refused := r.m.report.Refused
	r.say(app, answer)
	if n := r.m.report; n.Errors != 0 || n.Refused != refused+1 {
		t.Errorf("%d errors, %d refused", n.Errors, n.Refused-refused)
	}
}

func TestProxiesOfStrangers(t *testing.T) {
	r := newRig(t)
	ch := r.net.Accept(mercurytest.Host(3, 33))
	r.m.Opened(r.now, ch, mercurytest.Host(3, 33))
	for _, from := range []mercury.ChannelID{ch, r.login} { // not BaseApps that have joined
		before := r.m.report.Errors
		r.announce(from, wire.Proxy{Account: "ann", ID: 7})
		if r.m.report.Errors != before+1 {
			t.Error("no error is counted")
		}
	}
	r.wantAccounts(0, 0)
}

func TestProxiesBeyondTheTable(t *testing.T) {
	r := newRig(t)
	app := r.join(wire.BaseApp, mercurytest.Host(3, 33))
	for i := range MaxAccounts - 1 {
		r.m.accounts[strconv.Itoa(i)] = nil // only their number matters here
	}
	r.announce(app, wire.Proxy{Account: "ann", ID: 7}, wire.Proxy{Account: "bob", ID: 8})
	r.wantAccounts(MaxAccounts, 0)
	if a := r.m.baseApps[0]; a.proxies != 1 || r.m.accounts["ann"] == nil {
		t.Errorf("%d proxies", a.proxies)
	}
}

// The table is compared, under random events, with a map of who is on which BaseApp.
func TestTwin(t *testing.T) {
	const seed = 11
	rnd := rand.New(rand.NewPCG(seed, seed))
	r := newRig(t)
	type proxy struct {
		app mercury.ChannelID
		id  entity.ID
	}
	twin := make(map[string]proxy)
	var apps []mercury.ChannelID
	salt := uint32(100)
	for step := range 3000 {
		switch n := rnd.IntN(20); {
		case n == 0 && len(apps) < 5:
			salt++
			apps = append(apps, r.join(wire.BaseApp, mercurytest.Host(byte(3+rnd.IntN(5)), salt)))
		case n == 1 && len(apps) > 0:
			i := rnd.IntN(len(apps))
			r.closed(apps[i], mercury.ErrTimeout)
			for a, p := range twin {
				if p.app == apps[i] {
					delete(twin, a)
				}
			}
			apps = append(apps[:i], apps[i+1:]...)
		case n == 2 && len(apps) > 0:
			// The channel breaks, and the BaseApp comes back with its proxies.
			i := rnd.IntN(len(apps))
			old := apps[i]
			at, _ := r.net.Peer(old)
			r.closed(old, mercury.ErrTimeout)
			apps[i] = r.join(wire.BaseApp, at)
			var entries []wire.Proxy
			for _, name := range slices.Sorted(maps.Keys(twin)) {
				if p := twin[name]; p.app == old {
					entries = append(entries, wire.Proxy{Account: name, ID: p.id})
					twin[name] = proxy{apps[i], p.id}
				}
			}
			r.announce(apps[i], entries...)
		case n < 12:
			account := fmt.Sprint(rnd.IntN(60))
			p, taken := twin[account]
			r.create(account)
			switch {
			case taken:
				r.refuse(p.app, protocol.AlreadyLoggedIn)
			case len(apps) == 0:
				r.wantRefused(protocol.NotReady)
			default:
				ch := r.net.Sent[0].Channel
				twin[account] = proxy{ch, r.make(ch)}
			}
		default:
			account := fmt.Sprint(rnd.IntN(60))
			if p, ok := twin[account]; ok {
				r.say(p.app, &wire.ProxyGone{Account: account, ID: p.id})
				delete(twin, account)
			}
		}
		r.wantAccounts(len(twin), 0)
		if t.Failed() {
			t.Fatalf("step %d of seed %d", step, seed)
		}
		for _, a := range r.m.baseApps {
			n := 0
			for _, p := range twin {
				if p.app == a.ch {
					n++
				}
			}
			if n != a.proxies {
				t.Fatalf("step %d of seed %d: %v has %d proxies, counted %d", step, seed, a.at, n, a.proxies)
			}
		}
	}
}

func TestNoiseIsCounted(t *testing.T) {
	r := newRig(t)
	app := r.join(wire.BaseApp, mercurytest.Host(3, 33))
	for _, msg := range [][]byte{nil, {0}, {255, 1}, {byte(wire.ProxyMadeID), 1}, {byte(wire.ProxiesID), 1}, {byte(wire.JoinID)}, {byte(wire.AddCellID)}} {
		for _, ch := range []mercury.ChannelID{app, r.login, r.manager} {
			before := r.m.report.Errors
			r.m.Message(r.now, ch, true, msg)
			if r.m.report.Errors != before+1 {
				t.Errorf("%v on %d: %d errors", msg, ch, r.m.report.Errors-before)
			}
		}
	}
	if c := r.m.Counts(); c.BaseApps != 1 || c.LoginApps != 1 {
		t.Errorf("counts %+v", c)
	}
}

func FuzzMessage(f *testing.F) {
	for _, m := range []wire.Message{
		&wire.Join{Speaks: wire.Spoken(), Role: wire.BaseApp}, &wire.CreateProxy{Request: 1, Account: "ann"}, &wire.ProxyMade{Request: 1, ID: 1},
		&wire.ProxyGone{Account: "ann", ID: 1}, &wire.Welcome{},
		&wire.Proxies{Entries: []wire.Proxy{{Account: "ann", ID: 1}, {Account: "bob", ID: 2}}}, &wire.AppDead{Role: wire.BaseApp, App: mercurytest.Host(3, 33)},
	} {
		f.Add(uint8(0), wire.Encode(nil, m))
		f.Add(uint8(1), wire.Encode(nil, m))
	}
	f.Fuzz(func(t *testing.T, from uint8, msg []byte) {
		r := newRig(t)
		app := r.join(wire.BaseApp, mercurytest.Host(3, 33))
		r.create("ann")
		accounts := 1
		var p wire.Proxies
		if id, body, err := wire.Split(msg); err == nil && id == wire.ProxiesID && p.Parse(body) == nil {
			accounts += len(p.Entries)
		}
		r.m.Message(r.now, []mercury.ChannelID{app, r.login, r.manager}[from%3], true, msg)
		r.tick(ReserveTimeout)
		if c := r.m.Counts(); c.Pending != 0 || c.Accounts > accounts {
			t.Errorf("counts %+v", c)
		}
	})
}

// The manager has a handler for every message that the table says it takes, and for no other.
func TestRoutes(t *testing.T) {
	if differ := newRig(t).m.routes.Check(wire.BaseAppMgr); len(differ) > 0 {
		t.Errorf("the routes and the table differ in %v", differ)
	}
}

// Only a BaseApp that goes without having said so is worth a warning.
func TestLeftIsNoWarning(t *testing.T) {
	for _, said := range []bool{false, true} {
		r := newRig(t)
		var logs strings.Builder
		r.m.log = slog.New(slog.NewTextHandler(&logs, nil))
		x := r.joinTold(baseX)
		if said {
			r.say(x, &wire.Leaving{})
		}
		r.say(r.manager, &wire.AppDead{Role: wire.BaseApp, App: baseX})
		if warned := strings.Contains(logs.String(), "WARN"); warned == said || said != strings.Contains(logs.String(), "has left") {
			t.Errorf("said %v, and the log has %q", said, logs.String())
		}
	}
}
