package baseapp

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/entity/stored"
	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/script"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
)

const (
	// loadPatience is how long a load waits for whoever has the row: the last write of a player who has
	// just left takes a moment. A LoginApp waits a little longer.
	loadPatience = 4 * time.Second
	// loadAgain is the time between two tries.
	loadAgain = 200 * time.Millisecond
	// maxLoads bounds the loads of one app: more than log in within some seconds.
	maxLoads = 1024
)

// loading is an entity that is being loaded.
//
//	asking --StoreDone--> a base --> done
//	  | ^
//	  | +-- held by another: again after loadAgain, for loadPatience, unless it is hasty
//	  +---- missing, refused --> done
//	  +---- busy --> done, and it is asked again each keepAgain until the store says what it did: a row
//	        that it has checked out is given back
type loading struct {
	what   stored.Key
	id     entity.ID // as which it will be live
	at     time.Duration
	until  time.Duration
	asking bool
	ended  bool
	// dropped says that no base is to be made any more: the row is given back. unsure says that the
	// store may have checked it out all the same.
	dropped, unsure bool
	// hasty says that a row which another has is not waited for, if the store tells who has it.
	hasty bool
	// sole says that the entity has its name already; see sole.go.
	sole bool
	// prepare is called on the new base before its script.
	prepare func(*base)
	done    func(*base, *stored.Error)
}

func insistOn(a *BaseApp, m *wire.CallStore, done func(*wire.StoreAnswer)) bool {
	return app.Insist(&a.storeAsks, m, done)
}

// load loads an entity. done is told once, with the base or the reason why there is none.
func (a *BaseApp) load(what stored.Key, hasty bool, prepare func(*base), done func(*base, *stored.Error)) error {
	d := a.cfg.Schema.Type(what.Type)
	switch {
	case a.ids == nil || a.dismissed:
		return ErrNotJoined
	case a.keeps(d) == nil || !d.HasBase:
		return fmt.Errorf("%w: type %q", stored.ErrNotKept, what.Type)
	case a.cfg.Scripts.bases.Of(d) == nil:
		return fmt.Errorf("%w: %s", ErrNoScript, what.Type)
	}
	id, err := a.ids.Next()
	if err != nil {
		return err
	}
	return a.startLoad(&loading{what: what, id: id, until: a.now + loadPatience, prepare: prepare, done: done, hasty: hasty})
}

// startLoad begins a load of a type that is kept and has a script.
func (a *BaseApp) startLoad(l *loading) error {
	if len(a.storing.loads) >= maxLoads || a.storing.closing {
		return fmt.Errorf("%w: %d entities are being loaded", entity.ErrTooMany, len(a.storing.loads))
	}
	a.storing.loads = append(a.storing.loads, l)
	a.tickLoads()
	return nil
}

// tickLoads asks for what is to be loaded.
func (a *BaseApp) tickLoads() {
	s := &a.storing
	for _, l := range s.loads {
		if l.dropped && !l.asking && !l.unsure {
			l.ended = true
		}
		if l.ended || l.asking || a.held || a.now < l.at || s.start == 0 && (l.unsure || a.now < l.until) {
			continue
		}
		if s.start == 0 {
			a.endLoad(l, nil, &stored.Error{Code: stored.Busy, Reason: "baseapp: no DBApp answers"})
			continue
		}
		l.asking = true
		m := &wire.CallStore{Op: wire.StoreLoad, Type: l.what.Type, Row: l.what.Row, Identifier: l.what.Identifier, Entity: l.id}
		a.storeCall(m, func(r *wire.StoreAnswer) { a.loaded(l, r) })
	}
	s.loads = slices.DeleteFunc(s.loads, func(l *loading) bool { return l.ended })
}

func (a *BaseApp) endLoad(l *loading, b *base, err *stored.Error) {
	l.ended = true
	l.done(b, err)
}

// loaded takes the answer of the store.
func (a *BaseApp) loaded(l *loading, r *wire.StoreAnswer) {
	l.asking = false
	switch {
	case a.dismissed:
		l.ended = true
		return
	case l.dropped:
		if r.Code == stored.Busy {
			l.wonder(a.now)
			return
		}
		if l.ended = true; r.Code == stored.Done {
			a.freeRow(l, r.Row)
		}
		return
	case r.Code == stored.Held && a.now+loadAgain < l.until && !(l.hasty && r.Holder != 0):
		l.at = a.now + loadAgain
		return
	case a.held: // nothing is made any more; the row stays checked out by a start that ends
		l.at = a.now + loadAgain
		return
	case r.Code == stored.Busy && !l.sole: // Ensure asks again, as the same entity
		l.wonder(a.now)
		l.done(nil, &stored.Error{Code: r.Code, Reason: r.Reason})
		return
	case r.Code != stored.Done:
		a.endLoad(l, nil, &stored.Error{Code: r.Code, Reason: r.Reason, By: uint64(r.Holder)})
		return
	case a.now > l.until+loadPatience: // nobody waits for it any more
		a.freeRow(l, r.Row)
		a.endLoad(l, nil, &stored.Error{Code: stored.Busy, Reason: "baseapp: the store took too long"})
		return
	}
	b, err := a.createStored(l, r)
	if sole := (*soleError)(nil); errors.As(err, &sole) {
		a.loadSole(l, r.Row, sole.name)
		return
	}
	if err != nil {
		if b == nil {
			a.freeRow(l, r.Row)
		}
		a.log.Warn("cannot make a base of what the store has", "type", l.what.Type, "row", r.Row, "error", err)
		a.endLoad(l, nil, &stored.Error{Code: stored.Refused, Reason: err.Error()})
		return
	}
	a.endLoad(l, b, nil)
}

// wonder has the store asked again what it did. (A store that was slow, or failed for a moment,
// checked out what a player plays and said that it was busy. Nobody had the row, and nobody could
// log in to the account until the world began anew.)
func (l *loading) wonder(now time.Duration) {
	l.dropped, l.unsure, l.ended = true, true, false
	l.at = now + keepAgain
}

// freeRow gives back a row of which no base was made.
func (a *BaseApp) freeRow(l *loading, row uint64) {
	a.storeCall(&wire.CallStore{Op: wire.StoreFree, Type: l.what.Type, Row: row, Entity: l.id}, func(r *wire.StoreAnswer) {
		switch r.Code {
		case stored.Done:
		case stored.Busy:
			l.wonder(a.now)
			if !slices.Contains(a.storing.loads, l) {
				a.storing.loads = append(a.storing.loads, l)
			}
		default:
			a.fault("cannot give a row back", "type", l.what.Type, "row", row, "reason", r.Reason)
		}
	})
}

// createStored makes the base of a record. With an error and a base, the base exists and ends by itself.
func (a *BaseApp) createStored(l *loading, r *wire.StoreAnswer) (*base, error) {
	d := a.cfg.Schema.Type(l.what.Type)
	t := a.keeps(d)
	props := property.NewValues(d, property.BaseSide, nil)
	var cell *property.Values
	if d.HasCell {
		cell = property.NewValues(d, property.CellSide, nil)
	}
	rest, notices, err := t.Decode(nil, r.Data, props, cell)
	if err != nil {
		return nil, err
	}
	if k := readRecordRest(rest); k.sole != "" && !l.sole && l.prepare == nil {
		return nil, &soleError{k.sole}
	}
	for _, n := range notices {
		a.log.Warn("something stored is not used", "type", d.Name, "row", r.Row, "notice", n)
	}
	var made *base
	b, err := a.createAs(l.id, d, props, func(b *base) {
		made = b
		b.keep.row, b.keep.version, b.keep.made, b.keep.loaded = r.Row, r.Version, true, slices.Clone(r.Data)
		if l.prepare != nil {
			l.prepare(b)
		}
	})
	if err != nil {
		return made, err
	}
	return b, nil
}

// LoadBase is part of entity.Base's host.
func (b *base) LoadBase(what stored.Key, method string, user int64) error {
	switch err := script.CheckCallback[entity.BaseReply](b.kind, method); {
	case b.destroying:
		return entity.ErrGone
	case err != nil:
		return err
	}
	a := b.app
	request := a.asked + 1
	err := a.load(what, false, nil, func(l *base, err *stored.Error) {
		b.answered(questionBase, request)
		reply := entity.BaseReply{User: user}
		switch {
		case err == nil:
			reply.Base = a.mailboxOf(l.id, what.Type)
		case err.By != 0:
			reply.Err, reply.Base = err, a.mailboxOf(entity.ID(err.By), what.Type)
		default:
			reply.Err = err
		}
		if b.hears() {
			callBack(b, method, reply)
		}
	})
	if err != nil {
		return err
	}
	a.asked++
	b.await(pending{what: questionBase, request: request, method: method, user: user})
	return nil
}

// mailboxOf is the mailbox of a base.
func (a *BaseApp) mailboxOf(id entity.ID, typ string) property.Mailbox {
	home := a.homeOf(id).App
	return property.Mailbox{Entity: uint64(id), Type: a.cfg.Schema.Type(typ).ID, Kind: uint8(entity.BaseMailbox), At: home.At, Salt: home.Salt}
}

// LoadBase asks for the base of an entity that the store keeps, as entity.Base.LoadBase does. done is told
// its id or, as an stored.Error, why there is none. Errors are ErrNotJoined, ErrNoScript,
// stored.ErrNotKept and entity.ErrTooMany; done is not called then.
func (s *Starter) LoadBase(what stored.Key, done func(entity.ID, error)) error {
	return s.app.load(what, false, nil, func(b *base, err *stored.Error) {
		if err != nil {
			done(0, err)
			return
		}
		done(b.id, nil)
	})
}

// takeMakeProxy makes a proxy for a login. What a player plays is loaded first, if the store keeps it.
func (a *BaseApp) takeMakeProxy(from mercury.ChannelID, m *wire.MakeProxy) {
	what := a.playedBy(m.Account, &m.Plays)
	t := a.keeps(a.cfg.Schema.Type(what.Type))
	if t == nil || m.Row == 0 && t.Identifier() == nil {
		a.tellMade(from, a.makeProxy(m))
		return
	}
	code := a.whyNoProxy(m)
	if code == 0 && m.Row == 0 {
		code = a.whyNoIdentifier(t, m.Account)
	}
	if code != 0 {
		a.answerLogin(from, m.Request, code)
		return
	}
	if a.loggingIn[m.Account] {
		a.answerLogin(from, m.Request, protocol.ServerBusy)
		return
	}
	login := *m
	login.Data = slices.Clone(m.Data)
	err := a.load(what, !m.Wait, func(b *base) { b.becomeProxy(&login) }, func(b *base, err *stored.Error) {
		delete(a.loggingIn, login.Account)
		switch {
		case err == nil && b.destroying:
			a.answerLogin(from, login.Request, protocol.Destroyed)
		case err == nil:
			a.tellMade(from, &wire.ProxyMade{Request: login.Request, ID: b.id})
		case err.Code == stored.Missing && login.Row == 0:
			a.tellMade(from, a.makeStoredProxy(&login, t))
		case err.Code == stored.Held && !login.Wait && err.By != 0: // the BaseAppMgr asks where that is
			a.links.Reply(from, &wire.ProxyMade{Request: login.Request, Code: uint8(protocol.AlreadyLoggedIn), ID: entity.ID(err.By)})
		default:
			a.warnOfLoad(login.Account, fmt.Sprint("load ", err.Code), err)
			a.answerLogin(from, login.Request, refusalOf(err.Code))
		}
	})
	if err != nil {
		a.warnOfLoad(m.Account, "no load", err)
		a.answerLogin(from, m.Request, protocol.ServerBusy)
		return
	}
	a.loggingIn[login.Account] = true
}

// playedBy names what an account plays.
func (a *BaseApp) playedBy(account string, p *wire.Plays) stored.Key {
	if p.Row == 0 {
		return stored.Key{Type: a.cfg.PlayerType, Identifier: account}
	}
	return stored.Key{Type: p.Type, Row: p.Row}
}

// whyNoIdentifier says why an account cannot name what it plays in the store, or 0. The store would
// not take the question either, which is no reason to ask it again.
func (a *BaseApp) whyNoIdentifier(t *store.Type, account string) protocol.Code {
	if _, err := t.Identifier().Fit(property.StringValue(account)); err != nil {
		a.warnOfLoad(account, "no identifier", err)
		return protocol.BadCredentials
	}
	return 0
}

// warnOfLoad logs the first of each cause: while the store fails, all who want to play ask again and again.
func (a *BaseApp) warnOfLoad(account, cause string, err error) {
	if unlogged, ok := a.lines.Allow(a.now, cause); ok {
		a.log.Warn("cannot load what a player plays", "account", account, "error", err, "unlogged", unlogged)
	}
}

// tellMade answers a login whose player was made or loaded. The channel may have broken meanwhile, and
// the app may have joined again: then the account was not among those that it told, and the answer
// comes to nobody.
func (a *BaseApp) tellMade(to mercury.ChannelID, m *wire.ProxyMade) {
	b := a.byID[m.ID]
	if m.Code != 0 || b == nil {
		a.links.Reply(to, m)
		return
	}
	a.answerMade(to, m.Request, b)
	if !a.baseMgr.Is(to) {
		b.tellAccount()
	}
}

// refusalOf is what a client is told.
func refusalOf(c stored.Code) protocol.Code {
	switch c {
	case stored.Held:
		return protocol.AlreadyLoggedIn
	case stored.Missing:
		return protocol.BadCredentials
	}
	return protocol.ServerBusy
}

// makeStoredProxy makes the base of a player whom the store does not know yet, and its row.
func (a *BaseApp) makeStoredProxy(m *wire.MakeProxy, t *store.Type) *wire.ProxyMade {
	return a.makeProxyWith(m, func(props *property.Values) error { return identify(t, props, m.Account) })
}

// identify sets the identifier of a new base.
func identify(t *store.Type, props *property.Values, text string) error {
	id := t.Identifier()
	v, err := id.Fit(property.StringValue(text))
	if err != nil {
		return err
	}
	return props.Load(props.Definition().Property(id.Name).Index, v)
}

// askStart asks a DBApp which start of the cluster this is, and tells it if that is known here.
func (a *BaseApp) askStart() {
	if a.dismissed {
		return
	}
	a.storeCall(&wire.CallStore{Op: wire.StoreBegin}, func(r *wire.StoreAnswer) {
		if a.storing.start == 0 && r.Code == stored.Done {
			a.storing.start, a.storing.world = r.Start, r.World
		}
	})
}
