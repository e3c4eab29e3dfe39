package baseapp

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/script"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
)

const (
	// MaxAsks bounds the bases and names that the bases of one app wait for, as MaxSpaceRequests does
	// for spaces.
	MaxAsks = 4096

	// madeLease is for how long an app remembers a base that it made for another, after it was last
	// asked: longer than a question can be under way, over both channels and a manager's restart.
	madeLease = time.Minute

	// maxMade bounds what it remembers: the open requests of sixteen apps. Beyond it the asker is told
	// that there are too many.
	maxMade = 16 * MaxAsks
)

// App is part of entity.Base's host.
func (b *base) App() mercury.Address { return b.app.net.Self() }

// CreateBase is part of entity.Base's host.
func (b *base) CreateBase(info entity.BaseInfo, method string, user int64) error {
	a := b.app
	d := a.cfg.Schema.Type(info.Type)
	switch err := script.CheckCallback[entity.BaseReply](b.kind, method); {
	case b.destroying:
		return entity.ErrGone
	case err != nil:
		return err
	case d == nil || !d.HasBase:
		return fmt.Errorf("baseapp: create base: there is no entity type %q with a base part", info.Type)
	}
	props := property.NewValues(d, property.BaseSide, nil)
	if info.Init != nil {
		info.Init(props)
	}
	packed := a.compressor.AppendStream(nil, props, property.BaseStream, wire.MaxBaseProps)
	if len(packed) > wire.MaxBaseProps {
		return fmt.Errorf("baseapp: create base of %s: %d bytes of properties, at most %d travel", d.Name, len(packed), wire.MaxBaseProps)
	}
	request := a.asked + 1
	err := a.haveBaseMade(info.On, d.ID, packed, func(g *flow.Grant) {
		b.answered(questionBase, request)
		if b.hears() {
			callBack(b, method, entity.BaseReply{User: user, Base: mailboxOf(g), Err: g.Err})
		}
	})
	if err != nil {
		return err
	}
	b.await(pending{what: questionBase, request: request, method: method, user: user})
	return nil
}

// hears reports whether the script may be called back. What was asked for goes on by itself without it.
func (b *base) hears() bool { return !b.removed && !b.destroying && !b.failed && !b.app.held }

var errAsks = fmt.Errorf("%w: %d bases and names are asked for already", entity.ErrTooMany, MaxAsks)

// haveBaseMade asks for a base, where the BaseAppMgr places it if on is zero. done is told once.
func (a *BaseApp) haveBaseMade(on mercury.Address, typ uint16, props []byte, done func(*flow.Grant)) error {
	n := wire.NewBase{Number: a.asked + 1, Type: typ, Props: props}
	ok := false
	if on.IsZero() {
		ok = app.Insist(&a.asks, &wire.PlaceBase{}, func(m *wire.BasePlaced) {
			if !a.insistOnBase(m.App, n, done) {
				done(&flow.Grant{Err: errAsks})
			}
		})
	} else {
		ok = a.insistOnBase(on, n, done)
	}
	if !ok {
		return errAsks
	}
	a.asked++
	return nil
}

func (a *BaseApp) insistOnBase(on mercury.Address, n wire.NewBase, done func(*flow.Grant)) bool {
	return app.Insist(&a.asks, &wire.CreateBase{On: on, NewBase: n}, func(m *wire.BaseMade) {
		g := &flow.Grant{ID: m.ID, Type: n.Type, App: on}
		switch {
		case m.Gone:
			g.Err = errAppGone
		case m.ID == 0:
			g.Err = because(m.Reason)
		}
		done(g)
	})
}

// errAppGone is of a base that may have been made: by a BaseApp that has died or left before it
// said so.
var errAppGone = flow.Because(entity.ErrTimeout, "baseapp: the BaseApp that was to make the base is gone, and may have made it")

// because is why another process has not done what it was asked for, in its own words.
func because(reason string) error {
	return errors.New(cmp.Or(reason, "baseapp: it was refused"))
}

// mailboxOf is the base that a grant names, zero for none.
func mailboxOf(g *flow.Grant) property.Mailbox {
	if g.ID == 0 {
		return property.Mailbox{}
	}
	return property.Mailbox{Entity: uint64(g.ID), Type: g.Type, Kind: uint8(entity.BaseMailbox), At: g.App.At, Salt: g.App.Salt}
}

// made are the bases that this app made for others. A question that is repeated is answered with the
// base that its first arrival made.
type made struct {
	byAsker map[madeKey]entity.ID
	order   []madeKey // oldest first
}

type madeKey struct {
	asker  mercury.Address
	number uint64
	at     time.Duration // when it was made
}

func (m *made) find(asker mercury.Address, number uint64) entity.ID {
	return m.byAsker[madeKey{asker: asker, number: number}]
}

func (m *made) add(now time.Duration, asker mercury.Address, number uint64, id entity.ID) {
	if m.byAsker == nil {
		m.byAsker = make(map[madeKey]entity.ID)
	}
	k := madeKey{asker: asker, number: number}
	m.byAsker[k] = id
	k.at = now
	m.order = append(m.order, k)
}

func (m *made) expire(now time.Duration) {
	n := 0
	for n < len(m.order) && now-m.order[n].at >= madeLease {
		delete(m.byAsker, madeKey{asker: m.order[n].asker, number: m.order[n].number})
		n++
	}
	if n > 0 {
		m.order = slices.Delete(m.order, 0, n)
	}
}

// makeBase makes a base for another BaseApp, or for this one.
func (a *BaseApp) makeBase(m *wire.MakeBase) *wire.BaseMade {
	if id := a.made.find(m.Asker, m.Number); id != 0 {
		return &wire.BaseMade{Request: m.Request, ID: id}
	}
	id, err := a.createFor(m)
	if err != nil {
		a.log.Warn("cannot create a base for another BaseApp", "asker", m.Asker, "error", err)
		reason := err.Error()
		return &wire.BaseMade{Request: m.Request, Reason: reason[:min(len(reason), wire.MaxReason)]}
	}
	a.made.add(a.now, m.Asker, m.Number, id)
	return &wire.BaseMade{Request: m.Request, ID: id}
}

var errNoSuchType = errors.New("baseapp: no such type with a base part")

func (a *BaseApp) createFor(m *wire.MakeBase) (entity.ID, error) {
	d := a.cfg.Schema.ByID(m.Type)
	switch {
	case d == nil || !d.HasBase:
		return 0, errNoSuchType
	case len(a.made.order) >= maxMade:
		return 0, fmt.Errorf("%w: %d bases were made for others within %v", entity.ErrTooMany, maxMade, madeLease)
	}
	first := property.NewValues(d, property.BaseSide, nil)
	if err := a.compressor.ReadStream(m.Props, first, property.BaseStream, wire.MaxBaseProps); err != nil {
		return 0, err
	}
	b, err := a.createWith(d, first, nil)
	if err != nil {
		return 0, err
	}
	return b.id, nil
}
