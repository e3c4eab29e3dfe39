package space

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/entity/placement"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/migrate"
)

const (
	// TeleportPatience is how long a teleport looks for a cell that takes the entity, with all
	// attempts: longer than a new CellAppMgr needs to take over, and than the room of a space that
	// has just been asked for.
	TeleportPatience = 10 * time.Second

	// teleportRetry is how long it waits before it asks again, or goes again after a passing refusal.
	teleportRetry = time.Second

	// teleportTries is how often it goes at most. The entity stands still each time.
	teleportTries = 3
)

// Errors of Real.Teleport.
var (
	// ErrTeleporting is returned while an earlier teleport of the entity has not ended.
	ErrTeleporting = errors.New("space: the entity is being teleported already")
)

// teleport is one that has not ended.
//
//	Teleport       OnTeleport        a cell is found
//	---------> asked -----> locating ---------------> away, see package migrate
//	             | veto        |  ^                     |        |
//	             v             |  | passing refusal     |        | taken over
//	    OnTeleportFailed <-----+  +---------------------+        v
//	             ^   patience is over       refused     |   OnTeleported
//	             +--------------------------------------+
//
// It travels with the real over borders, and is in backups: a real that is restored to a moment at
// which the teleport had not ended has failed to teleport, and is told so. So each one that a script
// knows of has ended, or will.
type teleport struct {
	to      entity.Destination
	user    int64
	request uint64 // of the base; 0 if the cell part asked
	hooked  bool   // OnTeleport was called
	tries   uint8  // that have gone
	failed  placement.TeleportError

	until, at time.Duration // when it is given up; when to go on
	app       located       // what the CellAppMgr has answered

	party *party // whom it goes with; nil if it goes alone
}

// Teleport takes the entity to another place: far away in this space, in another space, or near
// another entity, wherever these are. user comes back in the callbacks.
//
// It returns at once. At the end of the tick the script's OnTeleport is called, then a cell is sought
// for TeleportPatience at most, while the entity goes on as before. Then it leaves, with all that
// belongs to it: properties, timers, controllers, calls in both directions, its client. On the other
// cell OnEnteredCell and OnTeleported are called. If that cell refuses, or none is found, the entity
// is as it was before, and OnTeleportFailed is called. Exactly one of the two is called, unless the
// entity is destroyed. A controller that walks goes on walking: stop it in OnTeleport.
//
// The entity's client is told that it leaves, forgets what it has seen, and sees the new place; what
// it says of the old place is ignored.
//
// Errors are entity.ErrGone, ErrTeleporting, and that of a place that makes no sense.
func (r *Real) Teleport(to entity.Destination, user int64) error {
	return r.beginTeleport(&teleport{to: to, user: user})
}

// Teleporting reports whether a teleport of the entity has not ended.
func (r *Real) Teleporting() bool { return r.teleport != nil }

// TeleportTogether is Teleport for several entities of this cell at once, this one and others: all
// arrive, at the same place, or none does. Each hears how it went for itself. If one of them vetoes,
// is destroyed or leaves the cell before the others have left, all stay. to counts as this entity's
// OnTeleport leaves it.
//
// If a CellApp dies while they are on their way, each base restores its own cell part from the newest state
// that it knows of: all come to be where they were, or all have arrived. Only if a base hears less than the
// others, since a message to it was lost with the CellApp, some may have arrived. Whoever is back is told
// placement.Lost, unless its state is older than the call. Whoever has no base is lost.
//
// At most migrate.MaxParty entities can go together, and migrate.MaxParts bytes or what the transport
// takes as one message: beyond that all are told placement.TooLarge. Errors are those of
// Teleport, entity.ErrTooMany, and ErrNotHere.
func (r *Real) TeleportTogether(to entity.Destination, user int64, others ...entity.ID) error {
	p := &party{leader: r, members: []*Real{r}}
	for _, id := range others {
		switch rec := r.cell.population.find(id); {
		case rec == nil || rec.real == nil || rec.cell != r.cell || rec.real.gone != staying:
			return fmt.Errorf("%w: %s", ErrNotHere, id)
		case rec.real.teleport != nil:
			return ErrTeleporting
		case slices.Contains(p.members, rec.real):
		case to.Near == id:
			return fmt.Errorf("space: %s cannot be teleported near itself", id)
		default:
			p.members = append(p.members, rec.real)
		}
	}
	if len(p.members) > migrate.MaxParty {
		return fmt.Errorf("%w: %d entities, at most %d go together", entity.ErrTooMany, len(p.members), migrate.MaxParty)
	}
	if err := r.beginTeleport(&teleport{to: to, user: user, party: p}); err != nil {
		return err
	}
	for _, x := range p.members[1:] {
		x.teleport = &teleport{to: to, user: user, party: p, until: r.teleport.until}
	}
	return nil
}

func (r *Real) beginTeleport(t *teleport) error {
	switch {
	case r.gone != staying:
		return entity.ErrGone
	case r.teleport != nil:
		return ErrTeleporting
	}
	if err := r.checkDestination(&t.to); err != nil {
		return err
	}
	t.until = r.cell.now + TeleportPatience
	r.teleport = t
	r.cell.population.teleports = append(r.cell.population.teleports, r)
	return nil
}

func (r *Real) checkDestination(to *entity.Destination) error {
	if to.Near == r.e.ID {
		return fmt.Errorf("space: %s cannot be teleported near itself", r.e.ID)
	}
	return to.Check()
}

// failTeleport ends a teleport without success.
func (r *Real) failTeleport(code placement.Code, reason string) {
	t := r.teleport
	r.teleport = nil
	err := &placement.TeleportError{Code: code, Reason: reason}
	r.Log().Debug("not teleported", "to", t.to, "error", err)
	r.tellTeleported(t, err)
	callback(r, "OnTeleportFailed", func(s Stayer) { s.OnTeleportFailed(t.user, err) })
}

// endTeleport ends one with success.
func (r *Real) endTeleport() {
	t := r.teleport
	r.teleport = nil
	r.backupAt = r.cell.now // whoever dies now shall not take it back
	r.tellTeleported(t, nil)
	callback(r, "OnTeleported", func(s Teleportee) { s.OnTeleported(t.user) })
}

// tellTeleported tells the base how a teleport that it wanted has ended.
func (r *Real) tellTeleported(t *teleport, err *placement.TeleportError) {
	if t.request == 0 {
		return
	}
	m := flow.Teleported{Request: t.request}
	if err != nil {
		m.Code, m.Reason = err.Code, err.Reason[:min(len(err.Reason), flow.MaxTeleportReason)]
	}
	_ = r.sendBase(m.Append(nil)) // which counts and logs what goes wrong
}

// teleportForBase begins a teleport that the base wants.
func (r *Real) teleportForBase(m *flow.Teleport) {
	t := &teleport{to: m.To, user: m.User, request: m.Request}
	if err := r.beginTeleport(t); err != nil && r.gone == staying {
		r.tellTeleported(t, &placement.TeleportError{Code: placement.Vetoed, Reason: err.Error()})
	}
}

// appendTeleport adds the part of a teleport that has not ended.
func (r *Real) appendTeleport(b []byte) []byte {
	t := r.teleport
	if t == nil {
		return b
	}
	return migrate.AppendPart(b, migrate.TeleportPart, func(b []byte) []byte {
		b = flow.AppendDestination(b, &t.to)
		b = binary.AppendVarint(b, t.user)
		b = binary.AppendUvarint(b, t.request)
		b = codec.AppendBool(b, t.hooked)
		b = append(b, t.tries, byte(t.failed.Code))
		return binary.AppendUvarint(b, uint64(max(t.until-r.cell.now, 0)))
	})
}

// readTeleport reads it. The cell goes on with it, or ends it, once the real is complete.
func (r *Real) readTeleport(rd *codec.Reader) {
	t := new(teleport)
	t.to = flow.ReadDestination(rd)
	t.user, t.request = rd.Varint(), rd.Uvarint()
	t.hooked, t.tries = rd.Bool(), rd.U8()
	t.failed.Code = placement.Code(rd.U8())
	left := rd.Uvarint()
	if t.failed.Code > placement.LastCode || r.checkDestination(&t.to) != nil {
		rd.Fail(errors.New("a teleport that makes no sense"))
	}
	if rd.Err() == nil {
		t.until = r.cell.now + time.Duration(min(left, uint64(TeleportPatience)))
		r.teleport = t
	}
}
