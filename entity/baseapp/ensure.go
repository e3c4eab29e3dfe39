package baseapp

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/entity/limits"
	"github.com/cellscape/cellscape/entity/stored"
	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/invariant"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/property"
)

// # Entities of which the world has one
//
// Each app that ensures an entity sees to it for as long as the app lives. The name of the entity decides
// who makes it:
//
//	          RegisterName, as a claim       it is its own         the store keeps it
//	resting ---------------------> claiming --------------> holding ----------------> loading
//	 ^  ^                              |                    |   ^   another has the row, or    |
//	 |  |    another has the name      |                    |   |   the store is away          |
//	 |  +------------------------------+                    |   +------------------------------+
//	 |                                    no store keeps it |                                  |
//	 |                                                      v        the row, or there is none |
//	 +------------ the base has left this app ------------ made <------------------------------+
//	                                                        | the heirs have a copy
//	                                                        +--> RegisterName: the name is a base's
//
// Invariants:
//
//   - A base is made only by whom the BaseAppMgr has given the name, as whom it was given to. So there
//     is one at most, and it has the name from its first copy on: an heir has both, or neither.
//   - The name comes before the row. What is loaded otherwise, as by Config.BringBack, and turns out to
//     be such an entity, is given back and comes this way (sole.go). So nobody who has the row waits
//     for the name while another who has the name waits for the row.
//   - Others hear that somebody has the name when the base would outlive its app, not before. If
//     it comes to nothing, because the app has died or the script has panicked, one of them is next.
//   - An app that is to leave or to stop makes nothing, and gives up what it has only claimed.
//   - A base whose name turns out to be another's ends: two managers that started anew while its
//     BaseApp was away gave it twice.

const (
	// maxEnsured bounds what one app ensures: each costs the BaseAppMgr a question in ensureAgain.
	maxEnsured = 1024

	// ensureAgain is how long an app leaves it at that another has an entity: for as long the world may be
	// without one that was lost with its BaseApp, after the verdict.
	ensureAgain = 5 * time.Second

	// ensureRetry is the pause after a load that may go better soon.
	ensureRetry = time.Second

	// rowPatience is how long another may have the row who does not have the name: twice the time after
	// which the DBApp frees what a dead BaseApp had.
	rowPatience = time.Minute
)

type ensureState uint8

const (
	ensureResting ensureState = iota
	ensureClaiming
	ensureHolding
	ensureLoading
	ensureMade
)

// ensuring is an entity that is to be in the world, once.
type ensuring struct {
	def  *property.Definition
	name string
	row  uint64 // 0: it is looked up by its identifier, which is the name
	init func(*property.Values)
	done func(entity.NameReply) // nil once it was told
	once bool                   // it is for a load, and ends with its first answer

	state ensureState
	ended bool
	at    time.Duration // not before
	by    time.Duration // when a row that another has is given up; 0 while none is known to be
	id    entity.ID     // of the claim, and of the base that is made of it; 0 for none
	load  *loading
	named bool // the name was registered as that of a base
	told  bool // the log knows that it takes long
}

// Ensure sees to it that the world has one entity of a type that has a base part, whose name, by
// entity.Base.RegisterName, is this one. It may be called on every BaseApp, as in Config.Start, and
// for the same entity again: one of them makes it, the others find it made. init, if not nil, first
// sets properties of the base part.
//
// If the store keeps the type, its Identifier must be a property of the base, and is the name. What
// the store has by this identifier is loaded, with all that it was, and not made anew: OnCreated is
// called with entity.Base.Row above 0, then OnBroughtBack, or else the cell part is made where it
// stood. So it is not necessary to have the type in Config.BringBack; if it is there, that does no harm.
//
// The entity goes on like any other when its BaseApp dies or leaves. Should it end nevertheless, since
// nobody had a copy, its script has panicked or destroyed it, then one of the BaseApps that
// live and have called Ensure loads or makes it again, some seconds later.
//
// done, if not nil, is called once, on the goroutine of the app: when the entity lives, here or
// elsewhere, with its mailbox as Holder, or with why it cannot, as Err; then this app does not try
// again. That is a name that a base of another type has, a row that somebody has who does not have the
// name or that cannot be read, a script that panics. A store that is away is waited for. Without done
// the log has the error. An error that Ensure itself returns means that nothing was begun, and done is
// not called: ErrNoScript, ErrNotJoined, entity.ErrTooMany, and that of a type or name that cannot be.
func (s *Starter) Ensure(typeName, name string, init func(*property.Values), done func(entity.NameReply)) error {
	a := s.app
	d := a.cfg.Schema.Type(typeName)
	switch err := a.checkEnsure(d, typeName, name); {
	case err != nil:
		return err
	case a.ids == nil || a.dismissed:
		return ErrNotJoined
	case len(a.ensures) >= maxEnsured:
		return fmt.Errorf("%w: a BaseApp ensures %d entities", entity.ErrTooMany, maxEnsured)
	}
	e := &ensuring{def: d, name: name, init: init, done: done}
	a.ensures = append(a.ensures, e)
	a.claimName(e)
	return nil
}

var errEnsure = errors.New("baseapp: there cannot be one such entity")

func (a *BaseApp) checkEnsure(d *property.Definition, typeName, name string) error {
	switch {
	case d == nil || !d.HasBase:
		return fmt.Errorf("%w: there is no entity type %q with a base part", ErrNoScript, typeName)
	case a.cfg.Scripts.bases.Of(d) == nil:
		return fmt.Errorf("%w: %s", ErrNoScript, typeName)
	case typeName == a.cfg.PlayerType:
		return fmt.Errorf("%w: %s is the PlayerType, whose entities come by logging in", errEnsure, typeName)
	case name == "" || len(name) > limits.BaseName:
		return fmt.Errorf("%w: a name of %d bytes; names have 1 to %d", errEnsure, len(name), limits.BaseName)
	}
	t := a.keeps(d)
	if t == nil {
		return nil
	}
	if c := t.Identifier(); c == nil || !property.NewValues(d, property.BaseSide, nil).Holds(d.Property(c.Name).Index) {
		return fmt.Errorf("%w: the store keeps %s and has nothing to find it by; let a property of its base be the Identifier", errEnsure, typeName)
	} else if v, err := c.Fit(property.StringValue(name)); err != nil || v.Str() != name {
		return fmt.Errorf("%w: the Identifier of %s, %s, cannot be %q", errEnsure, typeName, c.Name, name)
	}
	return nil
}

// mayEnsure reports whether anything may be made here.
func (a *BaseApp) mayEnsure() bool {
	return a.leave.state == leaveNone && !a.paused && !a.held && !a.storing.closing && !a.dismissed
}

// tickEnsures takes the next step of each. What a script ensures in between comes last.
func (a *BaseApp) tickEnsures() {
	for i := 0; i < len(a.ensures); i++ {
		e := a.ensures[i]
		if e.ended || a.now < e.at {
			continue
		}
		switch e.state {
		case ensureResting:
			a.claimName(e)
		case ensureHolding:
			a.makeEnsured(e)
		case ensureMade:
			a.watchEnsured(e)
		}
	}
	a.ensures = slices.DeleteFunc(a.ensures, func(e *ensuring) bool { return e.ended })
}

// rest has it tried again later.
func (e *ensuring) rest(at time.Duration) {
	e.state, e.at, e.id, e.load, e.named, e.by = ensureResting, at, 0, nil, false, 0
}

// claimName asks for the name, before there is a base.
func (a *BaseApp) claimName(e *ensuring) {
	if !a.mayEnsure() {
		return
	}
	id, err := a.ids.Next()
	if err != nil {
		a.failEnsure(e, err)
		return
	}
	m := &wire.RegisterName{Name: e.name, ID: id, Type: e.def.ID, Claim: true}
	if !app.Insist(&a.asks, m, func(h *wire.NameHeld) { a.claimed(e, id, h) }) {
		e.at = a.now + ensureRetry
		return
	}
	e.state, e.id = ensureClaiming, id
}

// claimed takes the answer.
func (a *BaseApp) claimed(e *ensuring, id entity.ID, h *wire.NameHeld) {
	switch {
	case h.ID == id && e.id != id: // it has lost the name meanwhile
		a.baseMgr.Send(&wire.NameGone{Name: e.name, ID: id})
	case e.id != id || e.state != ensureClaiming:
	case h.ID == id:
		e.state = ensureHolding
		a.makeEnsured(e)
	case h.ID == 0:
		e.id = 0
		a.failEnsure(e, because(h.Reason))
	case h.Type != e.def.ID:
		e.id = 0
		a.failEnsure(e, fmt.Errorf("baseapp: entity %v has the name %q, which is no %s", h.ID, e.name, e.def.Name))
	default:
		e.rest(a.now + ensureAgain)
		a.tellEnsured(e, &flow.Grant{Name: e.name, ID: h.ID, Type: h.Type, App: h.App})
	}
}

// unclaim gives up a name for which there is no base, and rests.
func (a *BaseApp) unclaim(e *ensuring, at time.Duration) {
	a.baseMgr.Send(&wire.NameGone{Name: e.name, ID: e.id})
	e.rest(at)
}

// makeEnsured makes the base, of what the store has if it keeps the type.
func (a *BaseApp) makeEnsured(e *ensuring) {
	switch {
	case !a.mayEnsure():
		a.unclaim(e, a.now)
		return
	case a.keeps(e.def) == nil:
		a.beginEnsured(e)
		return
	}
	l := &loading{what: stored.Key{Type: e.def.Name, Row: e.row}, id: e.id, until: a.now + loadPatience, sole: true, prepare: e.prepare}
	if e.row == 0 {
		l.what.Identifier = e.name
	}
	l.done = func(b *base, err *stored.Error) {
		if e.load == l {
			a.ensureLoaded(e, b, err)
		}
	}
	e.state, e.load = ensureLoading, l
	if err := a.startLoad(l); err != nil {
		e.state, e.load, e.at = ensureHolding, nil, a.now+ensureRetry
	}
}

// prepare gives the new base its name, before there is a copy of it.
func (e *ensuring) prepare(b *base) {
	b.names = append(b.names, ownName{name: e.name, has: true, sole: true})
}

// ensureLoaded takes what became of the load.
func (a *BaseApp) ensureLoaded(e *ensuring, b *base, err *stored.Error) {
	e.load = nil
	switch {
	case err == nil:
		if !e.once { // else who loads it decides
			b.comeBack()
		}
		a.ensured(e)
		return
	case err.Code == stored.Missing && !e.once:
		a.beginEnsured(e)
		return
	case err.Code == stored.Held && e.by == 0:
		e.by = a.now + rowPatience
	case err.Code == stored.Held && a.now >= e.by:
		a.failEnsure(e, fmt.Errorf("baseapp: the %s %q lives without its name, since something else has loaded or made it; leave it to Ensure: %w", e.def.Name, e.name, err))
		return
	case err.Code != stored.Held && err.Code != stored.Busy:
		a.failEnsure(e, err)
		return
	}
	e.state, e.at = ensureHolding, a.now+ensureRetry
	if !e.told {
		e.told = true
		a.log.Warn("an entity of which there is to be one cannot be loaded yet; it is tried again", "type", e.def.Name, "name", e.name, "error", err)
	}
}

// beginEnsured makes a new entity.
func (a *BaseApp) beginEnsured(e *ensuring) {
	props := property.NewValues(e.def, property.BaseSide, nil)
	if e.init != nil {
		a.guardGame("what Ensure was given", func() { e.init(props) })
	}
	if t := a.keeps(e.def); t != nil {
		if err := identify(t, props, e.name); err != nil {
			a.failEnsure(e, err)
			return
		}
	}
	b, err := a.createAs(e.id, e.def, props, e.prepare)
	if err != nil {
		a.failEnsure(e, err)
		return
	}
	b.want() // so that the next start of the cluster finds it
	a.ensured(e)
}

// ensured notes that the base is here.
func (a *BaseApp) ensured(e *ensuring) {
	e.state, e.told = ensureMade, false
	a.tellEnsured(e, &flow.Grant{Name: e.name, ID: e.id, Type: e.def.ID, App: a.net.Self()})
	a.watchEnsured(e)
}

// watchEnsured makes the name that of a base once it is safe, and begins anew when that has gone.
func (a *BaseApp) watchEnsured(e *ensuring) {
	b := a.byID[e.id]
	switch {
	case b == nil || b.ended() || b.destroying:
		e.rest(a.now + ensureAgain)
		e.ended = e.once
	case e.named:
		e.ended = e.once
	case !b.protected() || b.copied.confirmed > 0:
		m := &wire.RegisterName{Name: e.name, ID: e.id, Type: e.def.ID, Life: b.life()}
		e.named = app.Insist(&a.asks, m, func(h *wire.NameHeld) {
			if h.ID != 0 && h.ID != m.ID {
				a.takeNameLost(sender{}, &wire.NameLost{Name: m.Name, ID: m.ID, Holder: h.ID, Type: h.Type, App: h.App})
			}
		})
	}
}

// failEnsure gives up an entity that cannot be.
func (a *BaseApp) failEnsure(e *ensuring, err error) {
	if a.byID[e.id] == nil && e.id != 0 { // else the base ends, and its name with it
		a.baseMgr.Send(&wire.NameGone{Name: e.name, ID: e.id})
	}
	e.rest(0)
	e.ended = true
	if e.done == nil {
		a.fault("an entity of which there is to be one cannot be", "type", e.def.Name, "name", e.name, "error", err)
	}
	a.tellEnsured(e, &flow.Grant{Name: e.name, Err: err})
}

// tellEnsured tells who has ensured it how that went, the first time.
func (a *BaseApp) tellEnsured(e *ensuring, g *flow.Grant) {
	if done := e.done; done != nil {
		e.done = nil
		a.guardGame("what Ensure was to tell", func() { done(entity.NameReply{Name: g.Name, Holder: mailboxOf(g), Err: g.Err}) })
	}
	e.ended = e.ended || e.once && e.state == ensureResting
}

// loseClaim takes in that another has the name of a claim.
func (a *BaseApp) loseClaim(id entity.ID) {
	for _, e := range a.ensures {
		if e.id != id || e.ended || a.byID[id] != nil {
			continue
		}
		if e.load != nil {
			e.load.dropped = true
		}
		e.rest(a.now + ensureRetry)
	}
}

// claims are the names that are held for bases that are yet to be made.
func (a *BaseApp) claims() (list []wire.Named) {
	for _, e := range a.ensures {
		if e.state == ensureHolding || e.state == ensureLoading {
			list = append(list, wire.Named{Name: e.name, ID: e.id, Type: e.def.ID, Claim: true})
		}
	}
	return list
}

// guardGame calls game code that is of no base, and contains its panic.
func (a *BaseApp) guardGame(what string, f func()) {
	defer func() {
		if r := recover(); r != nil {
			invariant.Pass(r)
			a.fault(what+" panicked", "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
		}
	}()
	f()
}
