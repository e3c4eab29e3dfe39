package baseapp

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/entity/limits"
	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/script"
	"github.com/cellscape/cellscape/internal/wire"
)

// ownName is a name that a base has, or has asked for:
//
//	RegisterName --> asked --it is free--> has --UnregisterName--> leaving --a copy without it--> NameGone
//	                   |                     ^                        |
//	                   +--UnregisterName     +------ RegisterName ----+
//	                      or another's: gone
//
// Whoever takes a name back that is leaving is told so by an answer. Until then no copy has the
// name: a base that comes back from one is told that its question was forgotten.
//
// A base that has given up a name before it was answered, and asks again, has two questions under
// way; somebody else may get the name between them. What was answered to the first says nothing of
// the second.
//
// A base that gives a name up has it until no copy says so any more: from an older one it would
// come back with the name, which is another's by then. So a copy has no name that is leaving, and
// the BaseAppMgr has it still.
type ownName struct {
	name         string
	has, leaving bool
	sole         bool   // it is of an entity of which there is to be one; see ensure.go
	again        bool   // it was leaving, and the base has asked for it again
	since, last  uint64 // the first and the last question that count; answers to earlier ones do not
	without      uint64 // the first copy that was sent without it, if it is leaving; 0 for none
}

// maxOwnNames bounds the names of a base together with those that are leaving.
const maxOwnNames = 2 * limits.BaseNames

// checkName says what is wrong with a request about a name.
func (b *base) checkName(name, method string) error {
	switch {
	case b.destroying:
		return entity.ErrGone
	case name == "" || len(name) > limits.BaseName:
		return fmt.Errorf("baseapp: a name of %d bytes; names have 1 to %d", len(name), limits.BaseName)
	}
	return script.CheckCallback[entity.NameReply](b.kind, method)
}

// RegisterName is part of entity.Base's host.
func (b *base) RegisterName(name, method string, user int64) error {
	return b.askName(name, method, user, b.register)
}

// askName asks a question about a name.
func (b *base) askName(name, method string, user int64, ask func(name string, done func(*flow.Grant)) error) error {
	if err := b.checkName(name, method); err != nil {
		return err
	}
	request := b.app.asked + 1
	err := ask(name, func(g *flow.Grant) {
		b.answered(questionName, request)
		if b.hears() {
			callBack(b, method, entity.NameReply{User: user, Name: g.Name, Holder: mailboxOf(g), Err: g.Err})
		}
	})
	if err != nil {
		return err
	}
	b.await(pending{what: questionName, request: request, method: method, user: user, name: name})
	return nil
}

// register asks for a name of the base. done is told once.
func (b *base) register(name string, done func(*flow.Grant)) error {
	a := b.app
	i := b.named(name)
	if i < 0 && (b.staying() >= limits.BaseNames || len(b.names) >= maxOwnNames) || i >= 0 && b.names[i].leaving && b.staying() >= limits.BaseNames {
		return fmt.Errorf("%w: a base has at most %d names", entity.ErrTooMany, limits.BaseNames)
	}
	asked := a.asked + 1
	if !app.Insist(&a.asks, &wire.RegisterName{Name: name, ID: b.id, Type: b.props.Definition().ID, Life: b.life()}, func(m *wire.NameHeld) { done(b.registered(name, asked, m)) }) {
		return errAsks
	}
	a.asked = asked
	if i < 0 {
		b.names = append(b.names, ownName{name: name, since: asked, last: asked})
		return nil
	}
	n := &b.names[i]
	n.last = asked
	if n.leaving {
		n.again, n.leaving, n.without, n.since = true, false, 0, asked
	}
	return nil
}

// named finds a name among those of the base; -1 if it is not there.
func (b *base) named(name string) int {
	return slices.IndexFunc(b.names, func(n ownName) bool { return n.name == name })
}

func (b *base) hasName(name string) bool {
	i := b.named(name)
	return i >= 0 && b.names[i].has
}

// staying counts the names without those that are leaving.
func (b *base) staying() (n int) {
	for i := range b.names {
		if !b.names[i].leaving {
			n++
		}
	}
	return n
}

// registered takes in what was answered to a question: whether the base has the name. A name that
// nobody wants any more is given back.
func (b *base) registered(name string, asked uint64, m *wire.NameHeld) *flow.Grant {
	i := b.named(name)
	current := i >= 0 && asked >= b.names[i].since
	given := !current || b.names[i].leaving
	switch own := m.ID == b.id; {
	case b.aside: // its next life is told that this was forgotten, and knows nothing of the name
		if next := b.app.byID[b.id]; own && (next == nil || next.named(name) < 0) {
			b.app.baseMgr.Send(&wire.NameGone{Name: name, ID: b.id})
		}
	case own && (i < 0 || b.removed):
		b.app.baseMgr.Send(&wire.NameGone{Name: name, ID: b.id})
	case !current:
	case own:
		b.names[i].has, b.names[i].again = true, false
	case asked == b.names[i].last:
		b.names = slices.Delete(b.names, i, i+1)
	}
	g := &flow.Grant{Name: name, ID: m.ID, Type: m.Type, App: m.App}
	switch {
	case given:
		g.Err = errNameGiven
	case m.ID == 0:
		g.Err = because(m.Reason)
	case m.ID != b.id:
		g.Err = fmt.Errorf("entity %v has the name", m.ID)
	}
	return g
}

var (
	errNameGiven = errors.New("the name was given up meanwhile")
	errNobody    = flow.Because(entity.ErrNoEntity, "nobody has the name")
)

// UnregisterName is part of entity.Base's host.
func (b *base) UnregisterName(name string) bool {
	i := b.named(name)
	switch {
	case i < 0 || b.names[i].leaving:
		return false
	case b.names[i].has && b.protected():
		b.names[i].leaving = true
		b.backupSoon()
	default:
		b.release(func(n *ownName) bool { return n.name == name })
	}
	return true
}

// release lets others have the names of which gone is true.
func (b *base) release(gone func(*ownName) bool) {
	b.names = slices.DeleteFunc(b.names, func(n ownName) bool {
		if !gone(&n) {
			return false
		}
		b.app.baseMgr.Send(&wire.NameGone{Name: n.name, ID: b.id})
		return true
	})
}

// copiedNames are those that a copy of the base has.
func (b *base) copiedNames() []ownName {
	left := func(n ownName) bool { return n.leaving || n.again }
	if !slices.ContainsFunc(b.names, left) {
		return b.names
	}
	return slices.DeleteFunc(slices.Clone(b.names), left)
}

// namesCopied notes that a copy was sent, which has no names that are leaving.
func (b *base) namesCopied(number uint64) {
	for i := range b.names {
		if n := &b.names[i]; n.leaving && n.without == 0 {
			n.without = number
		}
	}
}

// namesConfirmed lets others have what no copy has any more, from which the base might be restored.
func (b *base) namesConfirmed(number uint64) {
	if len(b.names) > 0 {
		b.release(func(n *ownName) bool { return n.leaving && 0 < n.without && n.without <= number })
	}
}

// tickNames does the same for a base that nothing protects, whose copies are waited for in vain.
func (b *base) tickNames() {
	if len(b.names) > 0 && !b.protected() {
		b.release(func(n *ownName) bool { return n.leaving })
	}
}

// giveUpNames frees the names of a base that ends. If the BaseAppMgr is away, it learns from the
// next announcement that they are gone.
func (b *base) giveUpNames() {
	b.release(func(*ownName) bool { return true })
}

// takeNameLost takes the word of the BaseAppMgr that a name is another base's.
func (a *BaseApp) takeNameLost(_ sender, m *wire.NameLost) {
	b := a.byID[m.ID]
	if b == nil || b.removed {
		a.loseClaim(m.ID)
		return // its next life is told when it announces the name
	}
	i := b.named(m.Name)
	if i < 0 || !b.names[i].has {
		return
	}
	sole := b.names[i].sole
	b.names = slices.Delete(b.names, i, i+1)
	b.backupSoon()
	b.log.Warn("the name is another base's", "name", m.Name, "holder", m.Holder.String())
	holder := mailboxOf(&flow.Grant{ID: m.Holder, Type: m.Type, App: m.App})
	callHook(b, "OnNameLost", func(s NameLoser) { s.OnNameLost(m.Name, holder) })
	if sole {
		// Two managers gave the name while one BaseApp was away: no fault of a process, and so not
		// counted.
		b.log.Error("the entity was in the world twice, and this one ends", "name", m.Name, "holder", m.Holder.String())
		b.Destroy()
	}
}

// LookupName is part of entity.Base's host.
func (b *base) LookupName(name, method string, user int64) error {
	return b.askName(name, method, user, b.app.lookUp)
}

// lookUp asks who has a name. done is told once.
func (a *BaseApp) lookUp(name string, done func(*flow.Grant)) error {
	ok := app.Insist(&a.asks, &wire.FindName{Name: name}, func(m *wire.NameHeld) {
		g := &flow.Grant{Name: name, ID: m.ID, Type: m.Type, App: m.App}
		if m.ID == 0 {
			g.Err = errNobody
		}
		done(g)
	})
	if !ok {
		return errAsks
	}
	a.asked++
	return nil
}

// announceNames tells the BaseAppMgr, right after the Join, which names the bases here have.
func (a *BaseApp) announceNames() {
	list := a.claims()
	for b := range a.own() {
		for _, n := range b.names {
			if n.has {
				list = append(list, wire.Named{Name: n.name, ID: b.id, Type: b.props.Definition().ID, Life: b.life()})
			}
		}
	}
	var m wire.Names
	for len(list) >= wire.MaxNamed {
		m.Entries, list = list[:wire.MaxNamed], list[wire.MaxNamed:]
		a.baseMgr.Send(&m)
	}
	m.Entries, m.Last = list, true
	a.baseMgr.Send(&m)
}
