package baseapp

import (
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// # The end of a base
//
// A base that has ended can come back from a copy, if its app dies before the holders of its copies
// know. So it leaves a stub, which has its names and its account:
//
//	         ends     BaseGone to the holders     BaseForgotten of all but the first,       names and account
//	(lives) ------> stub ----------------------> then BaseGone to that one, BaseForgotten ----> are free
//	   |             |  |                                                                         ^
//	   |             |  +--- forgetPatience: logged ----------------------------------------------+
//	   |             +------ the app dies: it goes on at its heir, if that has the copy           |
//	   +------------- nobody has been sent a copy ------------------------------------------------+
//
// Invariants:
//
//   - A name or an account of a base that has ended is free only when nobody can bring the base
//     back: no holder has a copy, and the ruling list covers the departure by which the base came
//     here. The exceptions are a holder that lives and does not answer for forgetPatience, and more
//     than maxStubs bases that end at once.
//   - The heir's copy is the last that is forgotten. So if the heir does not bring the base back,
//     nobody does later.
//   - A stub stays where it is: neither does the app leave, nor do bases of its slice move, before
//     it is gone.
//   - A login to the account waits for the end of the stub, as for that of the base.
//   - Whoever calls the base hears that it has ended when the stub is gone: if the heir brings it
//     back, the calls come again.

const (
	// forgetAgain is how long a holder has to answer before it is told again: as long as for a copy.
	forgetAgain = copyPatience

	// forgetPatience is how long a stub waits for holders that live and do not answer, such as one
	// whose process is paused. Players and names must not wait for ever, so then the end counts as
	// known, which is logged.
	forgetPatience = 30 * time.Second

	// maxStubs bounds the stubs; a base that ends beyond it leaves none, which is logged.
	maxStubs = MaxBases

	// maxStubCallers bounds those who are told at once when nobody can bring the base back. Others
	// say again what they called, and hear it then.
	maxStubCallers = 64
)

// stub is what is left of a base.
type stub struct {
	of *base
	// nexts and firsts are the holders that may still have a copy. The first one of a base is told
	// last: if the app dies meanwhile, either this one brings the base back, or nobody does.
	nexts, firsts []mercury.Address
	toldAt, until time.Duration
	again         bool // one of those who were told may not have heard it
	// callers are those who hear that nobody will handle what they called, once that is certain.
	callers []caller
}

type caller struct {
	at   mercury.Address
	gone flow.Ack
}

// stubs are those of an app.
type stubs struct {
	list []*stub // oldest first
	byID map[entity.ID]*stub
}

// leaveStub leaves a stub of a base that ends. It reports false if nobody has to be waited for.
func (a *BaseApp) leaveStub(b *base) bool {
	if len(a.stubs.list) >= maxStubs {
		a.fault("too many bases end at once: one may come back beside those that get its name", "entity", b.id)
		return false
	}
	x := &stub{of: b, until: a.now + forgetPatience}
	a.listHolders(x)
	if a.forgotten(x) {
		return false
	}
	b.stub = x
	if a.stubs.byID == nil {
		a.stubs.byID = make(map[entity.ID]*stub)
	}
	a.stubs.list = append(a.stubs.list, x)
	a.stubs.byID[b.id] = x
	a.tellStub(x)
	return true
}

// listHolders notes who may have a copy of a base: those who were sent one, and those who should have one.
func (a *BaseApp) listHolders(x *stub) {
	r, b := &a.copying.ruling, x.of
	self := a.net.Self()
	firsts := [...]mercury.Address{r.rules.First(self, b.id), r.next.First(self, b.id)}
	for _, h := range slices.Concat(b.copied.holders, b.copied.sent, r.holders(nil, a, b)) {
		switch {
		case a.links.Dead(h) || slices.Contains(x.firsts, h) || slices.Contains(x.nexts, h):
		case slices.Contains(firsts[:], h):
			x.firsts = append(x.firsts, h)
		default:
			x.nexts = append(x.nexts, h)
		}
	}
}

// waits are the holders that are told now.
func (x *stub) waits() *[]mercury.Address {
	if len(x.nexts) > 0 {
		return &x.nexts
	}
	return &x.firsts
}

// forgotten reports whether nobody can bring a base back: no holder has a copy, and the ruling list
// covers the departure by which it came, so that those who held it for the former app have none
// that counts either.
func (a *BaseApp) forgotten(x *stub) bool {
	return len(x.nexts) == 0 && len(x.firsts) == 0 && a.copying.ruling.rules.Covers >= x.of.copied.came
}

// tellStub tells the holders whose turn it is that the base has ended.
func (a *BaseApp) tellStub(x *stub) {
	x.toldAt, x.again = a.now, false
	for _, h := range *x.waits() {
		if a.links.Level(h) == mercury.Packed {
			x.again = true
			continue
		}
		a.send(h, &migrate.BaseGone{ID: x.of.id})
	}
}

// takeForgotten takes the word of a holder that it has no copy of a base that has ended.
func (a *BaseApp) takeForgotten(from sender, m *migrate.BaseForgotten) {
	x := a.stubs.byID[m.ID]
	if x == nil {
		return
	}
	a.unlist(x, from.app)
	if a.forgotten(x) {
		a.endStub(x)
		a.stubs.list = slices.DeleteFunc(a.stubs.list, func(o *stub) bool { return o == x })
		a.askToDepart() // players wait, so not at the next tick
	}
}

// unlist waits no more for a holder, and goes on with the next ones if it was the last of its kind.
func (a *BaseApp) unlist(x *stub, holder mercury.Address) {
	is := func(h mercury.Address) bool { return h == holder }
	before := len(x.nexts)
	x.nexts, x.firsts = slices.DeleteFunc(x.nexts, is), slices.DeleteFunc(x.firsts, is)
	if before > 0 && len(x.nexts) == 0 {
		a.tellStub(x)
	}
}

// endStub frees what only one base may have.
func (a *BaseApp) endStub(x *stub) {
	delete(a.stubs.byID, x.of.id)
	x.of.stub = nil
	for i := range x.callers {
		a.answerGone(x.callers[i].at, &x.callers[i].gone)
	}
	x.of.giveUp()
}

// callAfterEnd leaves a call to a base that has ended unanswered as long as an heir may bring the
// base back, and reports whether that is so. (A caller was told that it had ended, and gave its
// calls up. Its app died, the heir brought it back, and it never heard of them.)
func (a *BaseApp) callAfterEnd(at mercury.Address, gone *flow.Ack) bool {
	x := a.stubs.byID[gone.From]
	if x == nil {
		return false
	}
	same := func(c caller) bool {
		return c.gone.To == gone.To && c.gone.ToPart == gone.ToPart && c.gone.FromPart == gone.FromPart
	}
	if len(x.callers) < maxStubCallers && !slices.ContainsFunc(x.callers, same) {
		x.callers = append(x.callers, caller{at, *gone})
	}
	return true
}

// tickStubs tells again who has not answered, and ends what takes too long.
func (a *BaseApp) tickStubs() {
	if len(a.stubs.list) == 0 {
		return
	}
	a.stubs.list = slices.DeleteFunc(a.stubs.list, func(x *stub) bool {
		late := a.now >= x.until
		if late || a.forgotten(x) {
			if late {
				a.fault("holders do not say that they have forgotten a base that has ended: it may come back beside those that get its name", "entity", x.of.id, "holders", len(x.nexts)+len(x.firsts))
			}
			a.endStub(x)
			return true
		}
		if n := &x.of.newcomer; n.until != 0 && a.now >= n.until {
			x.of.endWait(x.of.whyWaiting())
		}
		if x.again || a.now-x.toldAt >= forgetAgain {
			a.tellStub(x)
		}
		return false
	})
}

// stubChannelBroke tells a holder again what it may not have heard.
func (a *BaseApp) stubChannelBroke(to mercury.Address) {
	for _, x := range a.stubs.list {
		x.again = x.again || slices.Contains(*x.waits(), to)
	}
}

// stubHolderDied goes on without a holder.
func (a *BaseApp) stubHolderDied(holder mercury.Address) {
	for _, x := range a.stubs.list {
		a.unlist(x, holder)
	}
}
