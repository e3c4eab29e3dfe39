package space

import (
	"errors"
	"fmt"

	"github.com/cellscape/cellscape/aoi/witness"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/property"
)

// Errors of AddToAoI, RemoveFromAoI, SetUpdateScheme and SetHidden.
var (
	// ErrNoClient is for a real without a client.
	ErrNoClient = errors.New("space: the entity has no client")
	// ErrNotHere is for an entity of which neither the real nor a ghost is on the cell.
	ErrNotHere = errors.New("space: the entity is not on this cell")
	// ErrNotManual is for an entity of a type without ManualAoI.
	ErrNotManual = errors.New("space: the type is not IsManualAoI; its entities enter areas of interest by distance")
)

// AddToAoI shows the entity's client another entity, however far away, whose type has ManualAoI: range
// does not show those to anybody. The other must be on this cell, as a real or as a ghost. It stays in
// view across cells, also if its base restores it, until RemoveFromAoI, until the session ends, or until
// it has not been on the client's cell for five seconds.
//
// Errors are ErrNoClient, ErrNotHere, ErrNotManual, entity.ErrTooMany beyond witness.MaxPairs, and
// entity.ErrGone after the real has gone. To add what was added is no error.
func (r *Real) AddToAoI(id entity.ID) error {
	rec, err := r.other(id)
	switch {
	case err != nil:
		return err
	case !rec.e.Def.ManualAoI:
		return fmt.Errorf("%w: %s", ErrNotManual, rec.e.Def.Name)
	case r.witness.Added(id):
		return nil
	case !r.witness.SetAdded(id, true):
		return fmt.Errorf("%w: a client has at most %d entities of its own", entity.ErrTooMany, witness.MaxPairs)
	}
	r.cell.adders.add(r)
	if r.inSight(rec) {
		r.witness.Enter(&rec.seen)
		r.cell.noticeWatched(rec)
	}
	return nil
}

// RemoveFromAoI undoes AddToAoI. Errors are ErrNoClient, entity.ErrGone, and ErrNotHere for an entity
// that was not added.
func (r *Real) RemoveFromAoI(id entity.ID) error {
	switch {
	case r.gone != staying:
		return entity.ErrGone
	case r.witness == nil:
		return ErrNoClient
	case !r.witness.Added(id):
		return fmt.Errorf("%w: %v was not added", ErrNotHere, id)
	}
	r.witness.SetAdded(id, false)
	r.witness.Leave(id)
	return nil
}

// SetUpdateScheme has the entity's client told more or less often than others of what one other entity
// does, when not all that it sees fits its bandwidth: of the opponent of a duel, of those of the own
// party. The other must be on this cell, as a real or as a ghost. It lasts like AddToAoI; the zero scheme
// is that of the type again.
//
// Errors are those of property.UpdateScheme.Validate, ErrNoClient, ErrNotHere, entity.ErrTooMany beyond
// witness.MaxPairs, and entity.ErrGone.
func (r *Real) SetUpdateScheme(id entity.ID, scheme property.UpdateScheme) error {
	if err := scheme.Validate(); err != nil {
		return err
	}
	if _, err := r.other(id); err != nil {
		return err
	}
	if !r.witness.SetScheme(id, scheme) {
		return fmt.Errorf("%w: a client has at most %d entities of its own", entity.ErrTooMany, witness.MaxPairs)
	}
	r.cell.adders.add(r)
	return nil
}

// SetHidden hides one other entity from the entity's client, or shows it again: a ghost that only the
// haunted see, the goal of a quest that this player does not have. To the client it leaves and enters, and
// it cannot call it meanwhile; scripts find it as before. If the other decides, it calls a method
// of this entity, whose script calls SetHidden. To hide an entity from all clients is SetWithheld.
//
// The other must be on this cell, as a real or as a ghost. It stays hidden across cells, whoever of the two
// crosses a line, and also if its base restores it. It lasts like AddToAoI: until the session ends, or
// until the other has not been on the client's cell for five seconds. If the base of this entity restores
// it, they are hidden that its backup knows of.
//
// Errors are ErrNoClient, ErrNotHere, entity.ErrTooMany beyond witness.MaxPairs, and entity.ErrGone. To hide
// what is hidden is no error.
func (r *Real) SetHidden(id entity.ID, on bool) error {
	rec, err := r.other(id)
	switch {
	case err != nil:
		return err
	case r.witness.Hidden(id) == on:
		return nil
	case !r.witness.SetHidden(id, on):
		return fmt.Errorf("%w: a client has at most %d entities of its own", entity.ErrTooMany, witness.MaxPairs)
	}
	if on {
		r.cell.adders.add(r)
		r.witness.Leave(id)
	} else {
		r.look(rec)
	}
	r.cell.noticeWatched(rec)
	return nil
}

// Hidden reports what SetHidden has set.
func (r *Real) Hidden(id entity.ID) bool { return r.witness != nil && r.witness.Hidden(id) }

// other finds another entity for the client of r.
func (r *Real) other(id entity.ID) (*record, error) {
	switch rec := r.cell.population.find(id); {
	case r.gone != staying:
		return nil, entity.ErrGone
	case r.witness == nil:
		return nil, ErrNoClient
	case rec == nil || rec.cell != r.cell || rec.real == r:
		return nil, fmt.Errorf("%w: %v", ErrNotHere, id)
	default:
		return rec, nil
	}
}

// SetWithheld hides the entity from all clients but its own, or shows it again: a thief in the shadows,
// a boss before its entry. To them it leaves and enters; what they knew of it they keep for a while.
// Scripts find it as before. It lasts across cells and restores.
func (r *Real) SetWithheld(on bool) { r.setAspect(presence.Withheld, on) }

// Withheld reports what SetWithheld has set.
func (r *Real) Withheld() bool { return r.e.Aspect&presence.Withheld != 0 }

// SetAlwaysDetailed has all clients that see the entity told exactly where it is while it moves, and of
// all properties whatever their detail level: the ball of a game, a boss. It costs 25 bytes for each
// move to each client, instead of two or three. It lasts across cells and restores.
func (r *Real) SetAlwaysDetailed(on bool) { r.setAspect(presence.AlwaysDetailed, on) }

// AlwaysDetailed reports what SetAlwaysDetailed has set.
func (r *Real) AlwaysDetailed() bool { return r.e.Aspect&presence.AlwaysDetailed != 0 }

func (r *Real) setAspect(a presence.Aspect, on bool) {
	now := r.e.Aspect &^ a
	if on {
		now |= a
	}
	if r.gone != staying || now == r.e.Aspect {
		return
	}
	r.e.Aspect = now
	r.cell.aspectChanged(r.cell.population.find(r.e.ID))
	r.showAll()
}
