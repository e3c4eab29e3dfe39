package sim

import (
	"errors"
	"fmt"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/mercury/mercurytest"
	"github.com/cellscape/cellscape/property"
)

// Twins are clients that log in under one name, all at the same moment, again and again. One of
// them gets in and the others are refused; the one plays a little and leaves, with or without a
// goodbye. In the end a single twin must get in, however the name was left.
//
// With Wild.Relogins another may also take the place of the one that plays, and come into what was kept.
// The proxy says the number of the session to its client on every beat. A client must hear one number
// all the time, and no two clients the same.

// twinRound is how often twins try.
const twinRound = 2500 * time.Millisecond

// twin is a client, and the person in front of it.
type twin struct {
	c       *Cluster
	p       *Process
	client  *client.Client
	leaveAt time.Duration // 0 while it does not play
	again   time.Duration // when it logs in again; 0 while a session lives
	last    bool          // the one that stays
	session int           // the number that it hears
	readyAt time.Duration // when it is ready to be shown the world, if that is later than its login
	ends    map[protocol.Code]int
}

type twinApp struct {
	*client.Client
	t *twin
}

// twinName is the account that all twins share.
const twinName = "twin"

func (t *twin) make(p *Process) (App, error) {
	t.leaveAt, t.again, t.session = 0, 0, 0
	t.readyAt = 0
	if t.c.opts.Wild.Relogins && t.c.wild.logons.IntN(2) == 0 {
		t.readyAt = t.c.now + time.Duration(t.c.wild.logons.IntN(3000))*time.Millisecond
	}
	cl, err := client.New(client.Config{
		Transport: p.ep, Schema: t.c.world.schema, LoginApp: mercurytest.Place(portLogin), User: twinName, Log: p.log(), EnableLater: t.readyAt > 0,
		// Its base may go on from a copy that does not know that the client was ready: the script
		// hears of that again, and counts another session.
		Events: client.Events{Called: t.hear, Interrupted: func(error) { t.session = 0 }, Closed: func(err error) {
			t.c.closed(twinName, err)
			var refused *protocol.Refused
			if errors.As(err, &refused) {
				t.ends[refused.Code]++
			}
			if errors.As(err, &refused) && refused.Code == protocol.LoggedOut {
				t.c.trace.Event(t.c.now, "left", "%s", p.Name)
			}
			t.later()
		}},
	})
	t.client = cl
	return twinApp{cl, t}, err
}

// hear takes what its proxy says.
func (t *twin) hear(own *client.Replica, m *property.Method, args []property.Value) {
	var n int
	if !own.Own() || m.Name != "heardOf" {
		return
	}
	if _, err := fmt.Sscanf(args[0].Str(), "session %d", &n); err != nil {
		return // somebody greets
	}
	for _, other := range t.c.twins {
		if other != t && other.session == n {
			t.c.fail(fmt.Errorf("%s and %s hear session %d", t.p.Name, other.p.Name, n))
		}
	}
	if t.session != 0 && t.session != n {
		t.c.fail(fmt.Errorf("%s hears session %d after %d", t.p.Name, n, t.session))
	}
	t.session = n
}

// sit begins a session of a twin.
func (b *walkerBase) sit() {
	if b.Account() == twinName {
		b.w.seated++
		b.seat = b.w.seated
	}
}

// speak tells a twin its session.
func (b *walkerBase) speak() {
	if b.seat > 0 && b.HasClient() && b.w.relogins {
		if err := b.Client().Call("heardOf", fmt.Sprintf("session %d", b.seat)); err != nil && !errors.Is(err, entity.ErrNoPart) {
			panic(err)
		}
	}
}

// OnLogOnAttempt answers a twin that logs in while another has the proxy.
func (b *walkerBase) OnLogOnAttempt() baseapp.Relogin {
	b.kick(4)
	switch {
	case !b.w.relogins:
		return baseapp.RefuseLogin
	case b.w.calm:
		return baseapp.TakeOver
	}
	return [...]baseapp.Relogin{baseapp.TakeOver, baseapp.TakeOver, baseapp.RefuseLogin, baseapp.AwaitDestroy}[b.w.chance.logons.IntN(4)]
}

// KeepWithoutClient keeps some proxies of twins.
func (b *walkerBase) KeepWithoutClient() bool {
	return b.w.relogins && b.Account() == twinName && !b.w.calm && b.w.chance.logons.IntN(2) == 0
}

// later makes the twin log in again, along with all the others.
func (t *twin) later() {
	t.again = (t.c.now/twinRound + 1) * twinRound
	t.c.losses++
}

// Tick implements App.
func (a twinApp) Tick(now time.Duration) time.Duration {
	t := a.t
	switch {
	case t.c.calm && !t.last:
		if t.again == 0 {
			t.again = never
			a.Client.Close()
		}
		return never
	case t.again > 0 && now >= t.again:
		t.p.anew = true
		return never
	case t.again > 0:
		return t.again
	case t.readyAt > 0 && now >= t.readyAt && a.Client.State() == client.Playing:
		if err := a.Client.EnableEntities(); err != nil {
			t.c.fail(err)
		}
		t.readyAt = 0
	case t.leaveAt == 0 && a.Client.InWorld():
		t.leaveAt = now + time.Duration(200+t.c.wild.twins.IntN(3000))*time.Millisecond
	case t.leaveAt > 0 && now >= t.leaveAt && !t.c.calm:
		t.leaveAt = never
		if t.c.wild.twins.IntN(4) == 0 {
			t.p.anew = true // without a word
			return never
		}
		a.Client.Logout()
	}
	return a.Client.Tick(now)
}

// oneSession checks that an account has one proxy at a time, and that none stays locked.
type oneSession struct{ c *Cluster }

func (k *oneSession) safe() error {
	for _, t := range k.c.twins {
		if t.client != nil && t.client.Stats().Malformed > 0 {
			return fmt.Errorf("%s was sent something malformed: %v", t.p.Name, t.client.Err())
		}
	}
	accounts := map[string]int{}
	for _, s := range basesOf[*walkerBase](k.c) {
		if s.Account() != "" {
			accounts[s.Account()]++
		}
	}
	if n := accounts[twinName]; n > 1 && !k.c.crashedSome() {
		return fmt.Errorf("the account of the twins has %d proxies at once", n)
	}
	return nil
}

// crashedSome reports whether any server process has died, or was taken for dead.
func (c *Cluster) crashedSome() bool {
	if c.judged() {
		return true
	}
	for _, ps := range [][]*Process{c.cellApps, c.baseApps, c.logins} {
		for _, p := range ps {
			if p.starts > 1 || !p.alive {
				return true
			}
		}
	}
	return false
}

// lastTwinPlays reports whether the twin that stays, if there is one, has got in.
func (c *Cluster) lastTwinPlays() bool {
	for _, t := range c.twins {
		if t.last && !t.client.InWorld() {
			return false
		}
	}
	return true
}

func (k *oneSession) converged() error {
	var faults []error
	accounts := map[string]entity.ID{}
	for b, s := range basesOf[*walkerBase](k.c) {
		if s.Account() == "" {
			continue
		}
		if other, two := accounts[s.Account()]; two && !k.c.opts.CrashLogin {
			faults = append(faults, fmt.Errorf("account %s has two proxies, %s and %s", s.Account(), other, b.ID))
		}
		accounts[s.Account()] = b.ID
	}
	for _, t := range k.c.twins {
		if t.last && !t.client.InWorld() {
			faults = append(faults, fmt.Errorf("the last of the twins cannot log in any more: %v", t.client.Err()))
		}
	}
	return errors.Join(faults...)
}
