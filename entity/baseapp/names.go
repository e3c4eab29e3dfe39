package baseapp

import (
	"fmt"
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/script"
	"github.com/cellscape/cellscape/internal/wire"
)

// ownName is a name that a base has, or has asked for.
type ownName struct {
	name string
	has  bool
}

// checkName says what is wrong with a request about a name.
func (b *base) checkName(name, method string) error {
	switch {
	case b.destroying:
		return entity.ErrGone
	case name == "" || len(name) > entity.MaxBaseName:
		return fmt.Errorf("baseapp: a name of %d bytes; names have 1 to %d", len(name), entity.MaxBaseName)
	}
	return script.CheckCallback[entity.NameReply](b.kind, method)
}

// RegisterName is part of entity.BaseHost.
func (b *base) RegisterName(name, method string) (uint64, error) {
	if err := b.checkName(name, method); err != nil {
		return 0, err
	}
	request := b.app.asked + 1
	if err := b.register(name, b.tellName(method, request)); err != nil {
		return 0, err
	}
	b.await(pending{what: questionName, request: request, method: method, name: name})
	return request, nil
}

// tellName is what tells the script of a name.
func (b *base) tellName(method string, request uint64) func(*flow.Grant) {
	return func(g *flow.Grant) {
		b.answered(questionName, request)
		if b.hears() {
			callBack(b, method, entity.NameReply{Request: request, Name: g.Name, Holder: mailboxOf(g), Reason: g.Reason})
		}
	}
}

// register asks for a name of the base. done is told once.
func (b *base) register(name string, done func(*flow.Grant)) error {
	a := b.app
	known := slices.ContainsFunc(b.names, func(n ownName) bool { return n.name == name })
	if !known && len(b.names) >= entity.MaxBaseNames {
		return fmt.Errorf("%w: a base has at most %d names", entity.ErrTooMany, entity.MaxBaseNames)
	}
	if !app.Insist(&a.asks, &wire.RegisterName{Name: name, ID: b.id, Type: b.props.Definition().ID}, func(m *wire.NameHeld) { done(b.registered(name, m)) }) {
		return errAsks
	}
	a.asked++
	if !known {
		b.names = append(b.names, ownName{name: name})
	}
	return nil
}

// registered takes in whether the base has the name. A name that nobody wants any more is given back.
func (b *base) registered(name string, m *wire.NameHeld) *flow.Grant {
	i := slices.IndexFunc(b.names, func(n ownName) bool { return n.name == name })
	switch own := m.ID == b.id; {
	case own && (i < 0 || b.removed):
		b.app.baseMgr.Send(&wire.NameGone{Name: name, ID: b.id})
	case own:
		b.names[i].has = true
	case i >= 0:
		b.names = slices.Delete(b.names, i, i+1)
	}
	g := &flow.Grant{Name: name, ID: m.ID, Type: m.Type, App: m.App, Reason: m.Reason}
	switch {
	case i < 0:
		g.Reason = "the name was given up meanwhile"
	case m.ID != 0 && m.ID != b.id:
		g.Reason = fmt.Sprintf("entity %v has the name", m.ID)
	}
	return g
}

// UnregisterName is part of entity.BaseHost.
func (b *base) UnregisterName(name string) bool {
	i := slices.IndexFunc(b.names, func(n ownName) bool { return n.name == name })
	if i < 0 {
		return false
	}
	b.names = slices.Delete(b.names, i, i+1)
	b.app.baseMgr.Send(&wire.NameGone{Name: name, ID: b.id})
	return true
}

// giveUpNames frees the names of a base that ends. If the BaseAppMgr is away, it learns from the next
// announcement that they are gone.
func (b *base) giveUpNames() {
	for _, n := range b.names {
		b.app.baseMgr.Send(&wire.NameGone{Name: n.name, ID: b.id})
	}
	b.names = nil
}

// LookupName is part of entity.BaseHost.
func (b *base) LookupName(name, method string) (uint64, error) {
	if err := b.checkName(name, method); err != nil {
		return 0, err
	}
	request := b.app.asked + 1
	if err := b.app.lookUp(name, b.tellName(method, request)); err != nil {
		return 0, err
	}
	b.await(pending{what: questionName, request: request, method: method, name: name})
	return request, nil
}

// lookUp asks who has a name. done is told once.
func (a *BaseApp) lookUp(name string, done func(*flow.Grant)) error {
	ok := app.Insist(&a.asks, &wire.FindName{Name: name}, func(m *wire.NameHeld) {
		g := &flow.Grant{Name: name, ID: m.ID, Type: m.Type, App: m.App}
		if m.ID == 0 {
			g.Reason = "nobody has the name"
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
	var m wire.Names
	for _, b := range a.list {
		for _, n := range b.names {
			if b.removed || !n.has {
				continue
			}
			if m.Entries = append(m.Entries, wire.Named{Name: n.name, ID: b.id, Type: b.props.Definition().ID}); len(m.Entries) == wire.MaxNamed {
				a.baseMgr.Send(&m)
				m.Entries = m.Entries[:0]
			}
		}
	}
	m.Last = true
	a.baseMgr.Send(&m)
}
