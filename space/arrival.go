package space

import (
	"errors"
	"fmt"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/placement"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/property"
)

// This file has the destination's side of a teleport: whether it takes the real, and how that arrives.

// Arrival is an entity that is about to be teleported to a cell.
type Arrival struct {
	ID   entity.ID
	Type *property.Definition
	// From is the space that it comes from, which may be the same.
	From                entity.SpaceID
	Position, Direction property.Vector3
}

// OnArrival sets the rule by which the game lets entities be teleported to a cell. With an error the
// entity stays where it is, and hears the text. f is called before anything is made, on the goroutine
// of the CellApp, which several share. It is not asked about who walks in over a border, is created,
// or restored. A panic is contained, logged, and counts as an error.
func (s *Scripts) OnArrival(f func(c *Cell, a Arrival) error) {
	if s.arrival != nil {
		s.registry.Fault("space: OnArrival was given a function twice; let one call the other")
	}
	s.arrival = f
}

var (
	errMustTake = fmt.Errorf("%w: who crosses a border is never refused", errUntrue)
	errRule     = errors.New("the rule panicked")
)

// refuses says why a cell does not take an entity that is teleported to a place of it; nil if it
// does. before is how many come with it and are not there yet, -1 if it is on the cell already. A
// cell that retires takes it, since it still has the place: the real leaves with the others.
func (c *Cell) refuses(e *presence.Entity, to *entity.Destination, before int) *placement.TeleportError {
	leaf, _, there := c.tree.Leaf(c.id)
	switch {
	case c.ended:
		return &placement.TeleportError{Code: placement.NoSpace, Reason: ErrEnded.Error()}
	case !there:
		return &placement.TeleportError{Code: placement.NoCell, Reason: "the cell is being removed"}
	case leaf.Loading && c.tree.At(float64(to.Position.X), float64(to.Position.Z)).Cell == c.id:
		return &placement.TeleportError{Code: placement.Loading}
	case e.Space != c.space && c.full(before):
		return &placement.TeleportError{Code: placement.Full, Reason: ErrFull.Error()}
	case before >= 0 && c.cfg.MaxReals > 0 && len(c.reals)+before >= c.cfg.MaxReals:
		return &placement.TeleportError{Code: placement.Full}
	case !property.Finite(to.Position) || !property.Finite(to.Direction):
		return &placement.TeleportError{Code: placement.NotFound, Reason: "the place is out of range"}
	case c.scripts.arrival == nil:
		return nil
	}
	err := errRule
	c.hook("OnArrival", func() {
		err = c.scripts.arrival(c, Arrival{ID: e.ID, Type: e.Def, From: e.Space, Position: to.Position, Direction: to.Direction})
	})
	if err != nil {
		return &placement.TeleportError{Code: placement.Forbidden, Reason: err.Error()}
	}
	return nil
}

// receive decides about an Onload that is a teleport: the cell that takes it, and where it comes to
// stand there, or why not. before is how many come with it.
func (p *Population) receive(m *migrate.Onload, before int) (*Cell, entity.Destination, *placement.TeleportError) {
	to := entity.Destination{Space: m.Space, Position: m.Arrival.Position, Direction: m.Arrival.Direction, Transition: m.Arrival.Transition}
	c := p.cell(m.Space)
	if m.Arrival.Near != 0 {
		near := p.find(m.Arrival.Near)
		if near == nil || near.real == nil || near.real.gone != staying {
			return nil, to, &placement.TeleportError{Code: placement.NotFound, Reason: "it has moved on"}
		}
		c = near.cell
		to.Space, to.Position = c.space, sum(near.e.Position, to.Position)
	}
	if c == nil {
		return nil, to, &placement.TeleportError{Code: placement.NoCell, Reason: "the cell is not there any more"}
	}
	d, err := c.definition(m.Type)
	if err == nil {
		_, err = readCore(m.Parts)
	}
	if err != nil {
		return nil, to, &placement.TeleportError{Code: placement.Unknown, Reason: err.Error()}
	}
	return c, to, c.refuses(&presence.Entity{ID: m.ID, Def: d, Space: m.Arrival.From}, &to, before)
}

// turnAway refuses a teleport, and remembers it.
func (p *Population) turnAway(m *migrate.Onload, no *placement.TeleportError, from mercury.Address) {
	answer := migrate.OnloadRefused{ID: m.ID, Order: m.Order, Code: no.Code, Reason: no.Reason[:min(len(no.Reason), migrate.MaxReason)]}
	p.turned.add(answer, p.now)
	p.accepted.add(from, m, acceptance{refused: &answer})
	p.env.Out.Send(from, &answer)
}

// arrival is how a real comes to a cell. The zero value says over a border.
type arrival struct {
	to entity.Destination // of a teleport
	at entity.SpaceID     // which a teleport comes from; 0 if it is none
	// from is where a transition comes from, and with who comes along.
	from property.Vector3
	with []entity.ID
	// refused is why a real comes back that was refused elsewhere, and haunt the app that still has a
	// ghost of it; nil and zero if it does not.
	refused *placement.TeleportError
	haunt   mercury.Address
	toldEnd bool // it knows that the space has ended
}

// place is where the real comes to stand.
func (a *arrival) place(core *migrate.Core) {
	if a.at == 0 {
		return
	}
	if a.from = core.Position; a.to.Transition {
		a.to.Direction = core.Direction
	}
	core.Position, core.Direction = a.to.Position, a.to.Direction
	core.MoveStamp++
}

// haunts settles who mirrors a real that has come. In another space nobody does yet; the origin ends
// the ghosts there.
func (c *Cell) welcomeHaunts(r *Real, a *arrival) {
	switch {
	case a.at != 0 && a.at != c.space:
		r.haunts = ghost.Haunts{}
	case !a.haunt.IsZero() && !c.out.Dead(a.haunt):
		r.haunts.Add(a.haunt, c.now)
	}
}

// arrived ends the teleport of a real that has come by one, or has come back, and goes on with one
// that it has brought along.
func (r *Real) arrived(a *arrival) {
	t := r.teleport
	switch {
	case r.gone != staying || t == nil:
		return
	case a.at != 0:
		r.endTeleport()
	case a.refused != nil:
		r.refusedTeleport(a.refused)
	}
	if r.teleport == t && r.gone == staying {
		p := r.cell.population
		p.teleports = append(p.teleports, r)
	}
}

// ArrivedWithin is how long a client that was teleported is told of who is near before it hears that
// it has seen all, if its line is too narrow to be told of all sooner.
const ArrivedWithin = 5 * time.Second

// newView begins the view of the client anew, at the place where the real is now. What was said to it
// before comes first. The place has a new number, so what the client says of the old one is void.
func (r *Real) newView() {
	if !r.HasClient() {
		return
	}
	direct := r.direct
	w := r.witness
	r.dropWitness()
	w.Restart()
	r.makeWitness(w)
	r.direct = protocol.AppendLeaveSpace(direct)
	r.sayPlace()
	r.arriving = r.cell.now + ArrivedWithin
}

// carryView takes the view of the client along through a transition.
func (r *Real) carryView(a *arrival) {
	if !r.HasClient() {
		return
	}
	p := r.e.Position
	m := protocol.Transit{Offset: property.Vector3{X: p.X - a.from.X, Y: p.Y - a.from.Y, Z: p.Z - a.from.Z},
		Companions: r.witness.Carry(a.with, a.at != r.cell.space)}
	r.charges = nil // they are told anew
	r.direct = m.Append(r.direct)
	r.sayPlace()
	r.arriving = r.cell.now + ArrivedWithin
}

// lookAround takes a real that was teleported off its vehicle, and gives its client its view.
func (r *Real) lookAround(a *arrival) {
	r.leaveVehicle(a.with)
	if a.to.Transition {
		r.carryView(a)
		return
	}
	r.newView()
}

// tellArrived tells the client once that it has seen all near by.
func (r *Real) tellArrived() {
	if r.arriving != 0 && r.witness != nil && (r.witness.Met() || r.cell.now >= r.arriving) {
		r.arriving = 0
		r.direct = protocol.AppendArrived(r.direct)
	}
}

func sum(a, b property.Vector3) property.Vector3 {
	return property.Vector3{X: a.X + b.X, Y: a.Y + b.Y, Z: a.Z + b.Z}
}
