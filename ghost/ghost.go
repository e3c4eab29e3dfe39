package ghost

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/internal/invariant"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
)

// Ghost is the read-only copy of a real on a neighbouring CellApp.
type Ghost struct {
	Entity *presence.Entity
	// Real is the CellApp that holds the real: messages for it go there.
	Real mercury.Address
	// OrphanedUntil is when a ghost whose real's CellApp died is given up, unless a new incarnation
	// shows itself; 0 for a ghost with a living real.
	OrphanedUntil time.Duration
	// Changed, if not nil, hears of each change of a property by an Update, after the change is in
	// place and numbered, with the size in which it came.
	Changed func(c *property.Change, bytes int)

	sequence uint32
}

// New makes a ghost with nothing in it; State fills it.
func New(id entity.ID, d *property.Definition) *Ghost {
	return &Ghost{Entity: &presence.Entity{
		ID: id, Def: d,
		Props:   property.NewValues(d, property.GhostSide, nil),
		History: property.NewHistory(d),
	}}
}

// FromReal makes the ghost that an origin keeps after a handoff. It shares the record, which
// watchers hold; the values become those of a ghost.
func FromReal(e *presence.Entity, order entity.Order, real mercury.Address) (*Ghost, error) {
	props := property.NewValues(e.Def, property.GhostSide, nil)
	if _, err := props.ReadStream(e.Props.AppendStream(nil, property.GhostStream), property.GhostStream); err != nil {
		return nil, fmt.Errorf("ghost: from real: %w", err)
	}
	e.Props = props
	e.Order = order
	return &Ghost{Entity: e, Real: real}, nil
}

// Verdict is what became of a ghost message.
type Verdict uint8

// Verdicts.
const (
	// Taken: the ghost has changed.
	Taken Verdict = iota
	// Old: the message is older than the ghost; it is dropped.
	Old
	// Early: the message needs a State that has not come; it is dropped, and the State contains it
	// when it comes.
	Early
)

// Older reports whether a message is not newer than the ghost.
func (g *Ghost) Older(h Head) bool {
	if c := h.Order.Compare(g.Entity.Order); c != 0 {
		return c < 0
	}
	return h.Sequence <= g.sequence
}

// Head is the ghost's position in its real's life, for tombstones.
func (g *Ghost) Head() Head {
	return Head{ID: g.Entity.ID, Order: g.Entity.Order, Sequence: g.sequence}
}

// TakeState applies a State that came from app; z unpacks it. With an error nothing has changed.
func (g *Ghost) TakeState(m *State, app mercury.Address, tick uint64, z *property.Compressor) (Verdict, error) {
	if g.Older(m.Head) {
		return Old, nil
	}
	e, was := g.Entity, g.Head()
	if m.Type != e.Def.ID {
		return Old, fmt.Errorf("%w: state: type %d for a %s", ErrMalformed, m.Type, e.Def.Name)
	}
	history := property.NewHistory(e.Def)
	if rest, err := history.Read(m.History); err != nil || len(rest) > 0 {
		return Old, fmt.Errorf("%w: state: history: %w", ErrMalformed, errors.Join(err, trailing(rest)))
	}
	if err := z.ReadStream(m.Props, e.Props, property.GhostStream, MaxProps); err != nil {
		return Old, fmt.Errorf("%w: state: properties: %w", ErrMalformed, err)
	}
	if history.Last() != e.History.Last() || m.Order.Incarnation != e.Order.Incarnation {
		*e.History = *history
	} // else it says the same, and what is here has the events that watchers here still wait for
	if e.Position != m.Position || e.Direction != m.Direction {
		e.MovedTick = tick
	}
	e.Order, e.Base, e.Space, e.Aspect, e.Control, e.Ride = m.Order, m.Base, m.Space, m.Aspect, m.Control, m.Ride
	e.Put(m.Position, m.Direction, m.MoveStamp)
	g.sequence, g.Real, g.OrphanedUntil = m.Sequence, app, 0
	if invariant.On {
		g.assert(was)
	}
	return Taken, nil
}

// TakeUpdate applies an Update. An error says that the real broke the protocol: there is a gap in
// the numbers, or a value that does not fit.
func (g *Ghost) TakeUpdate(m *Update, tick uint64) (Verdict, error) {
	e := g.Entity
	switch {
	case g.Older(m.Head):
		return Old, nil
	case m.Order != e.Order || g.sequence == 0 || g.sequence < m.After:
		return Early, nil
	}
	was := g.Head()
	g.sequence = m.Sequence
	if invariant.On {
		g.assert(was)
	}
	if e.Position != m.Position || e.Direction != m.Direction {
		e.MovedTick = tick
	}
	e.Put(m.Position, m.Direction, m.MoveStamp)
	e.Control, e.Ride = m.Control, m.Ride
	for i := range m.Changes {
		if err := g.take(&m.Changes[i]); err != nil {
			return Taken, err
		}
	}
	return Taken, nil
}

func (g *Ghost) take(c *Change) error {
	e := g.Entity
	if c.Event {
		return e.History.ApplyEvent(c.Number, int(c.Index), c.Payload)
	}
	if int(c.Index) >= len(e.Def.Properties) {
		return fmt.Errorf("%w: update: property index %d", ErrMalformed, c.Index)
	}
	// No other client sees what the real does not number.
	numbered := c.Number != 0 || e.Def.Properties[c.Index].Flags&property.OtherClient != 0
	// Do not call History.Next here: it panics if the numbers of a broken real are used up.
	if last := e.History.Last(); numbered && (c.Number == 0 || c.Number-1 != last) {
		// A part would change a value other than the one it was made for.
		return fmt.Errorf("%w: %d after %d", property.ErrEventGap, c.Number, last)
	}
	change, rest, err := e.Props.ApplyChange(c.Payload, int(c.Index))
	if err != nil || len(rest) > 0 {
		return fmt.Errorf("%w: update: %w", ErrMalformed, errors.Join(err, trailing(rest)))
	}
	if numbered {
		if err := e.History.Repeat(c.Number, e.Props, &change); err != nil {
			return fmt.Errorf("%w: update: %w", ErrMalformed, err)
		}
	}
	if g.Changed != nil {
		g.Changed(&change, len(c.Payload))
	}
	return nil
}

func trailing(rest []byte) error {
	if len(rest) > 0 {
		return errors.New("bytes left over")
	}
	return nil
}

// Sum is a hash of everything that a ghost must have in common with its real: ghosted properties,
// place, aspect, control, ride, stamps. Equal sums mean equal copies, as far as 64 bits can tell; scratch
// is reused for encoding.
func Sum(e *presence.Entity, scratch []byte) (uint64, []byte) {
	b := e.Props.AppendStream(scratch[:0], property.GhostStream)
	b = fields.AppendVector3(b, e.Position)
	b = fields.AppendVector3(b, e.Direction)
	b = append(binary.AppendUvarint(b, uint64(e.MoveStamp)), byte(e.Aspect))
	b = fields.AppendRide(fields.AppendControl(b, e.Control), &e.Ride)
	b = binary.AppendUvarint(b, uint64(e.History.Last()))
	for _, i := range e.Def.Stream(property.GhostStream) {
		b = binary.AppendUvarint(b, uint64(e.History.Stamp(i)))
	}
	h := fnv.New64a()
	_, _ = h.Write(b)
	return h.Sum64(), b
}
