package space

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/space/internal/hosting"
)

// This file lets a client move entities beside its own: see "Who moves a player" in the package
// documentation.

// MaxControlled is how many entities a client may move beside its own: a vehicle with its parts, or a
// few pets. Ten moves a second of each are a third of what a client may send by default
// (baseapp.UploadLimits).
const MaxControlled = 16

// charge is an entity that the client has been told to move. Its number is that of the forced place
// that the client was told last.
type charge struct {
	id          entity.ID
	incarnation uint32
	number      uint32
	told        bool
}

// charges are what a client moves beside its own entity, by id.
//
// Invariant: whatever is in it was in the client's view, as told, at the last update of the client, and
// an entity that leaves the view leaves it before the client hears of that.
type charges []charge

func (l charges) find(id entity.ID) (int, bool) {
	return slices.BinarySearchFunc(l, id, func(ch charge, id entity.ID) int { return cmp.Compare(ch.id, id) })
}

// noteControl lists an entity here that the client of another moves.
func (c *Cell) noteControl(e *presence.Entity) {
	if e.Control.By == 0 || c.annex {
		return
	}
	if i, found := slices.BinarySearch(c.charged, e.ID); !found {
		c.charged = slices.Insert(c.charged, i, e.ID)
	}
}

// giveCharges gives clients here the control of what they see and are to move.
func (c *Cell) giveCharges() {
	c.charged = slices.DeleteFunc(c.charged, func(id entity.ID) bool {
		rec := c.population.find(id)
		if rec == nil || rec.cell != c || rec.e.Control.By == 0 {
			return true
		}
		if by := c.population.find(rec.e.Control.By); by != nil && by.cell == c && by.real != nil {
			by.real.giveCharge(rec.e)
		}
		return false
	})
}

func (r *Real) giveCharge(e *presence.Entity) {
	if r.witness == nil || r.gone != staying || !r.witness.Has(e.ID, e.Order.Incarnation) {
		return
	}
	i, found := r.charges.find(e.ID)
	switch {
	case found:
	case len(r.charges) >= MaxControlled:
		if unlogged, ok := r.cell.population.lines.Allow(r.cell.now, "too many controlled"); ok {
			r.Log().Warn("a client controls no more entities", "entity", e.ID.String(), "limit", MaxControlled, "unlogged", unlogged)
		}
	default:
		r.charges = slices.Insert(r.charges, i, charge{id: e.ID, incarnation: e.Order.Incarnation})
	}
}

// tellCharges tells the client in a tick what it has come to move, where the server has put that, and
// what it moves no more. Whoever has left its view is among the last, and the client is told that the
// entity has left after it.
func (r *Real) tellCharges() {
	r.charges = slices.DeleteFunc(r.charges, func(ch charge) bool {
		if r.controls(&ch) {
			return false
		}
		if ch.told {
			m := protocol.Controlled{ID: ch.id}
			r.direct = m.Append(r.direct)
		}
		return true
	})
	for i := range r.charges {
		ch := &r.charges[i]
		e := r.cell.population.find(ch.id).e
		if ch.told && int32(e.Control.Number-ch.number) <= 0 {
			continue // a ghost may be late
		}
		ch.told, ch.number = true, e.Control.Number
		m := protocol.Controlled{
			ID: ch.id, Control: true, Incarnation: ch.incarnation, Number: ch.number, Position: e.Position, Direction: e.Direction,
		}
		r.direct = m.Append(r.direct)
	}
	r.spill()
}

// controls reports whether the client still moves one of its charges.
func (r *Real) controls(ch *charge) bool {
	rec := r.cell.population.find(ch.id)
	return rec != nil && rec.cell == r.cell && rec.e.Control.By == r.e.ID && r.witness.Has(ch.id, ch.incarnation) &&
		rec.e.Order.Incarnation == ch.incarnation
}

// owesCharge reports whether the client is still to be told of a charge.
func (r *Real) owesCharge() bool {
	return slices.ContainsFunc(r.charges, func(ch charge) bool {
		return !ch.told || !r.controls(&ch) || int32(r.cell.population.find(ch.id).e.Control.Number-ch.number) > 0
	})
}

// Steer takes a client's report of where an entity is that it controls beside its own: first for the
// client's own entity, whose real knows whether it does, and then for the other. If the real is on another
// app, it returns where the message should follow.
func (p *Population) Steer(m *flow.Steer) (goOn hosting.Way) {
	id := m.By
	if m.Passed {
		id = m.Target
	}
	rec := p.find(id)
	switch {
	case rec == nil:
		return hosting.Way{}
	case rec.real == nil:
		return rec.cell.goesOn(rec.ghost)
	}
	rec.cell.watch.Claim(&rec.real.meter)
	if m.Passed {
		rec.real.driven(m)
		return hosting.Way{}
	}
	target := rec.real.mayMove(m)
	switch {
	case target == nil:
		return hosting.Way{}
	case target.real == nil:
		m.Passed = true
		return target.cell.wayOf(target.ghost) // from here on it follows another real
	}
	target.real.driven(m)
	return hosting.Way{}
}

// mayMove finds the entity that the client moves beside its own; nil if it may not.
func (r *Real) mayMove(m *flow.Steer) *record {
	if m.Session != r.session.Number || m.Session == 0 || r.gone != staying {
		return nil // of another session
	}
	i, found := r.charges.find(m.Target)
	if !found || r.charges[i].incarnation != m.Incarnation || r.charges[i].number != m.Forced || !r.controls(&r.charges[i]) {
		r.cell.count.Overruled++
		return nil
	}
	return r.cell.population.find(m.Target)
}

// restCharge acts on the client's reliable word of where it has put a charge to rest.
func (r *Real) restCharge(body []byte) error {
	var m flow.Steer
	if err := m.Parse(body); err != nil {
		return err
	}
	if m.By != r.e.ID || m.Passed {
		return errSteer
	}
	target := r.mayMove(&m)
	switch {
	case target == nil:
		return nil
	case target.real != nil:
		target.real.driven(&m)
		return nil
	}
	m.Passed = true
	payload := m.Append(nil, flow.RemoteSteerPayload)
	if r.tail.bytes+len(payload) > MaxTail {
		return ErrTail
	}
	p, err := r.peer(m.Target, entity.CellPart)
	if err != nil {
		return err
	}
	r.tail.bytes += len(payload)
	return r.send(p, payload)
}

var errSteer = errors.New("space: a move of an entity in the name of another")

// remoteSteer acts on where the client of another entity, on another app, has put this one to rest.
func (r *Real) remoteSteer(from entity.ID, body []byte) error {
	var m flow.Steer
	if err := m.Parse(body); err != nil {
		return err
	}
	if m.By != from || m.Target != r.e.ID || !m.Passed {
		return errSteer
	}
	r.driven(&m)
	return nil
}

// driven moves the entity as the client of another says, if that has the control and knows of the
// last forced place. What is older than a move before it does not count.
func (r *Real) driven(m *flow.Steer) {
	s := &r.steering
	if r.gone != staying {
		return
	}
	if m.By == 0 || m.By != r.e.Control.By || m.Incarnation != r.e.Order.Incarnation || m.Forced != s.number {
		r.cell.count.Overruled++
		return
	}
	// Numbers of sessions and moves wrap; half of the range counts as newer.
	if later := int32(m.Session - s.session); later < 0 || later == 0 && int32(m.Sequence-s.sequence) <= 0 {
		return
	}
	s.session, s.sequence = m.Session, m.Sequence
	told := r.ghostedStamp == r.e.MoveStamp
	r.stepTo(m.Position, m.Direction)
	if told && r.ghostedStamp != r.e.MoveStamp {
		r.cell.hurry(r)
	}
}

// append and read carry charges to another cell.
func (l *charges) append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(*l)))
	for _, ch := range *l {
		b = binary.AppendUvarint(fields.AppendID(b, ch.id), uint64(ch.incarnation))
		b = codec.AppendBool(binary.AppendUvarint(b, uint64(ch.number)), ch.told)
	}
	return b
}

// minCharge is the shortest encoding of a charge.
const minCharge = 4

var errCharges = errors.New("space: impossible charges")

func (l *charges) read(rd *codec.Reader) {
	*l = (*l)[:0]
	for range rd.Count(MaxControlled, minCharge) {
		ch := charge{id: fields.ReadID(rd), incarnation: fields.ReadUint32(rd), number: fields.ReadUint32(rd), told: rd.Bool()}
		if n := len(*l); !ch.id.Valid() || n > 0 && (*l)[n-1].id >= ch.id {
			rd.Fail(errCharges)
			return
		}
		*l = append(*l, ch)
	}
}
