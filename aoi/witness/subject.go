package witness

import (
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/property"
)

// Subject is an entity as all witnesses of a cell watch it. The cell keeps one beside each entity
// and gives it to Enter.
//
// What clients are told of a place is worked out here once a tick, for all who watch.
type Subject struct {
	// Entity is the record that is watched. It must not be changed: another record is another Subject.
	Entity *presence.Entity

	*sight // nil before the first Show or Enter

	tick uint64 // of the last Show

	way, long trail // of the near and the middle form

	pulses []pulse // of the Lossy properties

	// seat is the entity as those are told of it who have its vehicle: its record says where it is there.
	// It is nil for who has not ridden here.
	seat *Subject

	witnesses int // that have it in their area of interest

	// Via tells what the entity is seen through, if it is not seen where it is: a gateway. Entity then
	// says where it appears. A client knows an entity once, so it loses sight of one for which Enter
	// gives another Via, and meets it anew.
	Via uint64

	// Unseen, if not nil, is told when no witness has it any more.
	Unseen *Unseen
	noted  bool // there
}

// sight is what an Update reads of each entity in range. It takes one line of memory, which it has for
// itself: in a crowd a witness looks at a hundred of them in a tick, and each line that it touches costs
// more than what it does there.
type sight struct {
	def   *property.Definition
	now   moment // of the last Show, 0 if there was none
	x, z  float32
	stamp uint32               // presence.Entity.MoveStamp
	last  property.EventNumber // of the history
	// nearFrom is the first moment from which on the entity has gone no farther than the near form
	// reaches, and has kept its height. turned is when it turned last, tilted when its pitch or roll
	// changed. For a client that is known to have had a place from plainFrom on, the near form without
	// yaw tells all.
	nearFrom, turned, tilted, plainFrom moment
	// middleFrom is for the middle form, which reaches up and down too, what nearFrom is for the near
	// one. rose is when the height changed last.
	middleFrom, rose moment

	near    protocol.Near
	middle  protocol.Middle
	moving  bool
	traits  traits
	walking bool // moving, and told everybody in the same way
}

// traits are what few entities have.
type traits uint8

const (
	bounded traits = 1 << iota // less is told of its places far away: see property.Volatile
	exact                      // its places are told as they are
	riding                     // it is on a vehicle
)

// hot returns the sight, which it makes if there is none; nil for nobody.
func (s *Subject) hot() *sight {
	if s == nil {
		return nil
	}
	if s.sight == nil {
		s.sight = new(sight)
	}
	return s.sight
}

// Watched reports whether any witness of this cell has it in its area of interest.
func (s *Subject) Watched() bool { return s.witnesses > 0 }

// Noted reports whether the next Drain of Unseen yields it.
func (s *Subject) Noted() bool { return s.noted }

// moment is 1 + the tick of a Show; 0 is none. It counts round after thirteen years at 10 Hz.
type moment uint32

func momentOf(tick uint64) moment { return moment(tick) + 1 }

func (a moment) after(b moment) bool { return int32(a-b) > 0 }

func (a moment) latest(b moment) moment {
	if b.after(a) {
		return b
	}
	return a
}

// trail is the last moments of a way, at least a step of it apart.
type trail struct {
	marks      [marks]mark
	first, end uint8 // those within reach, counted round
}

// mark is a moment, with Motion.Path and Motion.Rise at it.
type mark struct {
	at         moment
	path, rise uint32
}

const (
	// marks is how many moments a trail keeps. The steps between them are a twelfth of what a form
	// reaches, so that 25 span it on the ground and in height, however slowly an entity goes.
	marks     = 32
	markSteps = 12
)

// forget lets the trail begin anew.
func (t *trail) forget() { t.end = t.first }

// note takes in a moment, and returns the first one from which on the way is within reach.
func (t *trail) note(now mark, reach, rise uint32) moment {
	for t.first != t.end && !t.marks[t.first%marks].within(now, reach, rise) {
		t.first++
	}
	if t.first == t.end || !t.marks[(t.end-1)%marks].within(now, reach/markSteps, rise/markSteps) {
		t.marks[t.end%marks] = now
		t.end++
	}
	return t.marks[t.first%marks].at
}

func (m mark) within(now mark, reach, rise uint32) bool {
	return now.path-m.path <= reach && now.rise-m.rise <= rise
}

// Show takes in what the entity does in a tick. The ticks in which it is called bear on the forms of
// its places, so a cell calls it for each Subject before the Updates of a tick, whoever looks then.
// Without that the first Update that looks does, which must not run in parallel with others.
func (s *Subject) Show(tick uint64) {
	e := s.Entity
	s.hot()
	first := s.now == 0
	s.def, s.tick, s.now, s.last = e.Def, tick, momentOf(tick), e.History.Last()
	s.x, s.z = e.Position.X, e.Position.Z
	s.feel(tick)
	detailed := e.Aspect&presence.AlwaysDetailed != 0
	s.traits = 0
	if s.def.Volatile.Bounded() && !detailed {
		s.traits |= bounded
	}
	if s.def.DetailedVolatile || detailed {
		s.traits |= exact
	}
	if e.Ride.Vehicle != 0 {
		s.traits |= riding
	}
	s.moving = e.MovedTick+RestTicks >= tick && e.MovedTick <= tick
	s.walking = s.moving && s.traits == 0
	if s.stamp != e.MoveStamp || first {
		s.showMove(first)
	}
	if s.seat != nil || e.Ride.Vehicle != 0 {
		s.showSeat(tick)
	}
}

func (s *Subject) showMove(first bool) {
	m, now := &s.Entity.Motion, s.now
	if first || newer(m.Turned, s.stamp) {
		s.turned = now
	}
	if first || newer(m.Tilted, s.stamp) {
		s.tilted = now
	}
	if first || newer(m.Rose, s.stamp) {
		s.rose = now
		s.way.forget()
	}
	here := mark{now, m.Path, m.Rise}
	s.nearFrom = s.way.note(here, protocol.NearReach, protocol.RiseReach)
	s.middleFrom = s.long.note(here, protocol.MiddleReach, protocol.RiseReach)
	s.plainFrom = s.nearFrom.latest(s.turned).latest(s.tilted)
	s.near, s.middle = protocol.NearOf(m), protocol.MiddleOf(m)
	s.stamp = s.Entity.MoveStamp
}

// travels reports whether a watcher is told of places on the way, from a distance of which the square is
// given.
func (s *Subject) travels(apart float32) bool { return within(apart, s.def.Volatile.Position) }

// unseen is what the packets to a client leave out of the direction of an entity that is far away.
type unseen uint8

const (
	unseenYaw unseen = 1 << iota
	unseenTilt
	// unseenPlace is for who is aboard: the client knows the place from that of a vehicle. See ride.go.
	unseenPlace
)

// without says what a watcher is not told of, from a distance of which the square is given.
func (s *Subject) without(apart float32) (u unseen) {
	v := s.def.Volatile
	if !within(apart, v.Yaw) {
		u |= unseenYaw
	}
	if !within(apart, max(v.Pitch, v.Roll)) {
		u |= unseenTilt
	}
	return u
}

func within(apart, reach float32) bool { return reach > 0 && apart <= square(reach) }
