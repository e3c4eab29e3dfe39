package sim

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
)

// In a world with kicks the bases of players kick their clients in the bad time: in the middle of
// play, before the cell part is made, while a client is still to say that it is ready, and while
// another logs in. Each reason is another one, so that it shows who was told what.

// kicked is one kick.
type kicked struct {
	account, reason string
	at              time.Duration
	on              *Process // the BaseApp
	starts          int      // of it
	told            bool
}

// kick kicks the client in one of so many calls.
func (b *walkerBase) kick(in int) bool {
	w := b.w
	if !w.kicks || !w.rough() || w.chance.kicks.IntN(in) != 0 {
		return false
	}
	had, reason := b.HasClient(), fmt.Sprintf("kick %d of %s", len(w.kicked)+1, b.Account())
	switch err := b.Kick(reason); {
	case errors.Is(err, entity.ErrNoPart) && !had:
		return false
	case err != nil:
		w.expect(err, nil)
		return false
	case b.HasClient():
		w.expect(fmt.Errorf("%s has a client after %s", b.ID(), reason), nil)
	}
	w.onKick(b.on, b.Account(), reason)
	return true
}

// OnCreated has some clients kicked before they have said that they are ready.
func (b *walkerBase) OnCreated() {
	if b.w.kicks {
		_, _ = b.AddTimer(time.Duration(1+b.w.chance.kicks.IntN(3000))*time.Millisecond, 0, "OnEarly", 0)
	}
}

// OnEarly is the time to kick such a client.
func (b *walkerBase) OnEarly(entity.Callback) { b.kick(8) }

// kicked notes a kick.
func (c *Cluster) kicked(on *Process, account, reason string) {
	c.trace.Event(c.now, "kick", "%s: %s", account, reason)
	c.world.kicked = append(c.world.kicked, &kicked{account: account, reason: reason, at: c.now, on: on, starts: on.starts})
}

// closed hears why the session of an account ended.
func (c *Cluster) closed(account string, err error) {
	var refused *protocol.Refused
	if !errors.As(err, &refused) || refused.Code != protocol.Kicked {
		return
	}
	i := slices.IndexFunc(c.world.kicked, func(k *kicked) bool { return k.account == account && k.reason == refused.Reason })
	switch {
	case i < 0:
		c.world.expect(fmt.Errorf("%s was told that it was kicked, which nobody did: %q", account, refused.Reason), nil)
	case c.world.kicked[i].told:
		c.world.expect(fmt.Errorf("%s was told twice: %q", account, refused.Reason), nil)
	default:
		c.world.kicked[i].told = true
	}
}

// kicksTold checks that whoever is kicked is gone, and that nobody else is. (What clients hear is
// checked when they hear it.)
type kicksTold struct{ c *Cluster }

// goneIn is how long the client may play on that cannot be reached: until it gives its channel up,
// is back, and hears that its session has ended.
const goneIn = 20 * time.Second

func (k *kicksTold) safe() error {
	for _, x := range k.c.world.kicked {
		if x.on.starts != x.starts || !x.on.alive || k.c.opts.Replicas > 0 || k.c.now < x.at+goneIn {
			continue // the next life of a base may not know of it
		}
		for _, pl := range k.c.players {
			if pl.playing() && pl.user() == x.account {
				return fmt.Errorf("%s plays on, %v after %q", x.account, k.c.now-x.at, x.reason)
			}
		}
	}
	return nil
}

func (k *kicksTold) converged() error {
	var faults []error
	for _, account := range k.c.kickedStay() {
		faults = append(faults, fmt.Errorf("the base of %s is still there, whose client was kicked", account))
	}
	return errors.Join(faults...)
}

// kickedGone reports whether no proxy is left whose client was kicked. One whose BaseApp died right
// after the kick may be restored as it was before its client came, and waits for that one.
func (c *Cluster) kickedGone() bool { return len(c.kickedStay()) == 0 }

// kickedStay are the accounts that have a proxy although their client was kicked, and does not
// play.
func (c *Cluster) kickedStay() (accounts []string) {
	for _, s := range basesOf[*walkerBase](c) {
		if s.Account() == twinName {
			continue
		}
		kicked := slices.ContainsFunc(c.world.kicked, func(x *kicked) bool { return x.account == s.Account() })
		if kicked && !slices.ContainsFunc(c.players, func(pl *player) bool { return pl.user() == s.Account() }) {
			accounts = append(accounts, s.Account())
		}
	}
	return accounts
}
