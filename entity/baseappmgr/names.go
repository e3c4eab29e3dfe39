package baseappmgr

import (
	"maps"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// MaxNames bounds the names of bases: more guilds, auctions and matchmakers than a cluster has.
const MaxNames = 1 << 18

// held is a name that a base has.
type held struct {
	id   entity.ID
	typ  uint16
	life uint32 // the newest known of the base
	app  mercury.Address
	// doubted says that its BaseApp has joined again, and has not told of the name since.
	doubted bool
	// from is the departure that it went with, while it is expected of the heir; see heirs.go.
	from migrate.Leave
	// claim says that the base is yet to be made.
	claim bool
}

// A base of which the cluster is to have one (baseapp.Starter.Ensure) is made when it has its name:
//
//	          RegisterName, Claim              RegisterName
//	(free) -----------------------> claimed ----------------> had by a base
//	  ^                               | |                          ^
//	  +--- NameGone, death -----------+ +--- Names of a base ------+ who claims it hears NameLost
//
// While a name is claimed, nobody else who asks about it is answered, and asks again: so whoever hears
// that another has it hears of a base that lives, and if the claim comes to nothing, one of them is next.

// names are the names of bases. A name stays while its BaseApp is away, until that tells otherwise or
// is declared dead; with one that no CellAppMgr has named it goes at once. A new name is given only
// while all BaseApps of the cluster have told theirs: otherwise a BaseAppMgr that has just started
// could give one away a second time.
type names struct {
	held map[string]held
}

// allAnnounced reports whether all BaseApps of the cluster have told their names, and those that
// came to them from others that had not.
func (m *BaseAppMgr) allAnnounced() bool {
	if !m.named {
		return false
	}
	for _, at := range m.members {
		if a := getApp(m.baseApps, at); a == nil || !a.announced {
			return false
		}
	}
	return len(m.untold) == 0
}

// current reports whether a message came over the channel of its BaseApp's last Join. What comes
// late over an older one says nothing of now.
func (m *BaseAppMgr) current(from sender) bool {
	a := getApp(m.baseApps, from.at)
	return a != nil && a.ch == from.ch
}

// onRegisterName gives a base a free name, or says who has it. While a BaseApp has not told its
// names, there is no answer for one that seems free, and the asker asks again. A base that asks for
// a name of its own has not known that it has it, as after its app has died: it has it from now on
// where it asks. (Such a base was told that it has its name, and the verdict about the app where
// the manager believed it to be, which came after that, freed the name.) A former life of a base has
// no say: its app was declared dead while it was slow, and the manager may hear from the heir first.
// (That life got the name back, and lost it with the verdict, while the next one believed to have it.)
func (m *BaseAppMgr) onRegisterName(from sender, r *wire.RegisterName) {
	if !m.current(from) {
		return
	}
	h, taken := m.names.held[r.Name]
	switch {
	case taken && h.id == r.ID && r.Life < h.life:
		return
	case taken && h.id == r.ID && h.app != from.at && !m.has(getApp(m.baseApps, from.at), r.ID):
		return // an heir, that knows of a departure before this manager: the name would go with it
	case taken && h.id == r.ID: // an answer that it has it must stay true
		h.app, h.life, h.from, h.doubted, h.claim = from.at, r.Life, migrate.Leave{}, false, h.claim && r.Claim
		m.names.held[r.Name] = h
		m.answerName(from, r.Request, h)
		return
	case taken && h.claim:
		return
	case taken:
		m.answerName(from, r.Request, h)
		return
	case !m.allAnnounced():
		return
	case len(m.names.held) >= MaxNames:
		m.report.Refused++
		m.links.Reply(from.ch, &wire.NameHeld{Request: r.Request, Reason: "there are too many names already"})
		return
	}
	h = held{id: r.ID, typ: r.Type, life: r.Life, app: from.at, claim: r.Claim}
	m.names.held[r.Name] = h
	m.answerName(from, r.Request, h)
}

func (m *BaseAppMgr) answerName(to sender, request uint64, h held) {
	m.links.Reply(to.ch, &wire.NameHeld{Request: request, ID: h.id, Type: h.typ, App: h.app})
}

// onFindName says who has a name. That nobody has it is only said when all names are known.
func (m *BaseAppMgr) onFindName(from sender, f *wire.FindName) {
	if h, taken := m.names.held[f.Name]; taken && !h.claim || !taken && m.allAnnounced() {
		m.answerName(from, f.Request, h)
	}
}

// onNameGone frees a name, if its base has it.
func (m *BaseAppMgr) onNameGone(from sender, g *wire.NameGone) {
	if h, taken := m.names.held[g.Name]; taken && m.current(from) && h.app == from.at && h.id == g.ID {
		delete(m.names.held, g.Name)
	}
}

// onNames takes in the names of a BaseApp that has joined. Of two that have the same name, the one
// known first counts, and the other is told: that takes two managers which both started anew while
// a BaseApp was away. Both may be on one app, as when it goes on with a base whose copy has not
// heard yet that it had lost the name.
func (m *BaseAppMgr) onNames(from sender, n *wire.Names) {
	on := getApp(m.baseApps, from.at)
	if on == nil || on.ch != from.ch {
		return
	}
	for _, e := range n.Entries {
		h, taken := m.names.held[e.Name]
		switch {
		case taken && h.app != on.at && h.id == e.ID && e.Life < h.life:
			continue // it was there before it came to where it is
		case taken && h.id == e.ID: // it has perhaps come there from an app that died
		case taken && h.app == on.at && h.doubted: // it is gone, or comes later in what its app tells
		case taken && h.claim && !e.Claim:
			m.loseClaim(e.Name, h, on, &e)
		case taken:
			m.log.Warn("two bases have one name, the one known first counts", "name", e.Name, "known", h.id.String(), "also", e.ID.String())
			m.links.Reply(on.ch, &wire.NameLost{Name: e.Name, ID: e.ID, Holder: h.id, Type: h.typ, App: h.app})
			continue
		case !taken && len(m.names.held) >= MaxNames:
			m.log.Warn("too many names, one is not known", "name", e.Name, "entity", e.ID.String())
			continue
		}
		m.names.held[e.Name] = held{id: e.ID, typ: e.Type, app: on.at, life: e.Life, claim: e.Claim}
	}
	if n.Last {
		on.announced, on.told = true, true
		m.freeDoubted(on)
		maps.DeleteFunc(m.names.held, func(_ string, h held) bool { return h.app == on.at && h.doubted })
	}
}

// loseClaim tells who claims a name that a base has it: that one lives.
func (m *BaseAppMgr) loseClaim(name string, claim held, on *knownApp, base *wire.Named) {
	if by := getApp(m.baseApps, claim.app); by != nil {
		m.links.Reply(by.ch, &wire.NameLost{Name: name, ID: claim.id, Holder: base.ID, Type: base.Type, App: on.at})
	}
}

// doubt marks the names of a BaseApp until it has told of them.
func (n *names) doubt(at mercury.Address) {
	// order does not show: each is marked
	for name, h := range n.held {
		if h.app == at {
			h.doubted = true
			n.held[name] = h
		}
	}
}
