package baseapp

import (
	"errors"
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/stored"
	"github.com/cellscape/cellscape/internal/wire"
)

// The row of an entity of which there is to be one says so, by its name. Whoever loads it by Config.BringBack
// or LoadBase has to have the name first, which only the row tells; so the row is given back in between:
//
//	loaded --the row has a name--> given back --> ensured, for this load --> the base, or Held by who has it
//
// A login loads such an entity as any other: whom a player plays is known to the account.

// soleError says that a row is of such an entity.
type soleError struct{ name string }

func (e *soleError) Error() string { return "there is to be one " + e.name }

// soleName is the name of which there is to be one base, this one; "" for none.
func (b *base) soleName() string {
	if i := slices.IndexFunc(b.names, func(n ownName) bool { return n.sole && n.has && !n.leaving }); i >= 0 {
		return b.names[i].name
	}
	return ""
}

// loadSole goes on with a load of such an entity. It counts as under way until that has ended.
func (a *BaseApp) loadSole(l *loading, row uint64, name string) {
	l.asking = true
	m := &wire.CallStore{Op: wire.StoreFree, Type: l.what.Type, Row: row, Entity: l.id}
	a.storeCall(m, func(r *wire.StoreAnswer) {
		switch {
		case a.dismissed:
			l.ended = true
		case r.Code == stored.Busy:
			l.asking = false
			l.wonder(a.now)
			l.done(nil, &stored.Error{Code: r.Code, Reason: r.Reason})
		case r.Code != stored.Done:
			a.fault("cannot give a row back", "type", l.what.Type, "row", row, "reason", r.Reason)
			a.endLoad(l, nil, &stored.Error{Code: r.Code, Reason: r.Reason})
		case len(a.ensures) >= maxEnsured:
			a.endLoad(l, nil, &stored.Error{Code: stored.Busy, Reason: "baseapp: it ensures too many entities"})
		default:
			e := &ensuring{def: a.cfg.Schema.Type(l.what.Type), name: name, row: row, once: true}
			e.done = func(reply entity.NameReply) { a.soleLoaded(l, e, reply) }
			a.ensures = append(a.ensures, e)
			a.claimName(e)
		}
	})
}

// soleLoaded ends the load.
func (a *BaseApp) soleLoaded(l *loading, e *ensuring, r entity.NameReply) {
	var why *stored.Error
	switch {
	case r.Err == nil && e.state == ensureMade && a.byID[e.id] != nil:
		a.endLoad(l, a.byID[e.id], nil)
		return
	case r.Err == nil:
		why = &stored.Error{Code: stored.Held, Reason: "baseapp: " + entity.ID(r.Holder.Entity).String() + " has the name of the entity: it lives already"}
	case !errors.As(r.Err, &why):
		why = &stored.Error{Code: stored.Refused, Reason: r.Err.Error()}
	}
	a.endLoad(l, nil, why)
}
