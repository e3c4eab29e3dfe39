package sim

import (
	"errors"
	"fmt"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/placement"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
)

// In a world with travellers, entities are teleported all the time, in every way that there is: far
// away and near, to another entity, to a haven, which is a space of its own, to places that are not
// there, by their cell script and by their base. Rules refuse some of it, and scripts veto or
// redirect. Players and rovers teleport, too, so that the checkers of all other promises see it;
// travellers also count, in their properties, what they have asked for and how it ended.

const travellerDef = `
<root>
	<Volatile> <position/> <yaw/> </Volatile>
	<Properties>
		<asked>   <Type> UINT32 </Type> <Flags> CELL_PUBLIC </Flags> </asked>
		<ended>   <Type> UINT32 </Type> <Flags> CELL_PUBLIC </Flags> </ended>
		<arrived> <Type> UINT32 </Type> <Flags> CELL_PUBLIC </Flags> </arrived>
		<goal>    <Type> INT64 </Type> <Flags> CELL_PRIVATE </Flags> </goal>
		<pulse>   <Type> UINT32 </Type> <Flags> ALL_CLIENTS </Flags> </pulse>
		<wrong>   <Type> STRING </Type> <Flags> CELL_PRIVATE </Flags> </wrong>
		<away>     <Type> MAP <key> INT64 </key> <of> BOOL </of> </Type> <Flags> BASE </Flags> </away>
		<requests> <Type> INT64 </Type> <Flags> BASE </Flags> </requests>
		<replies>  <Type> INT64 </Type> <Flags> BASE </Flags> </replies>
		<amiss>    <Type> STRING </Type> <Flags> BASE </Flags> </amiss>
	</Properties>
</root>`

// newHaven is what travellers ask for: a haven, which takes few in a world with settlers.
func (w *world) newHaven() entity.SpaceInfo {
	info := haven()
	if w.settles {
		info.MaxEntities = havenTakes
	}
	return info
}

// havenTakes is how many a small haven takes.
const havenTakes = 4

// haven is a space that stays.
func haven() entity.SpaceInfo {
	return entity.SpaceInfo{Bounds: bsp.Rect{MinX: -half, MinZ: -half, MaxX: half, MaxZ: half}, MinCells: 1, MaxCells: 2, Keep: true}
}

// noSpace is a space that never was.
const noSpace entity.SpaceID = 77 << 24

// forParty is the user number of teleports that several make together. A base counts its own down
// from below it.
const forParty = -1

// travellerBase is the base part of a traveller. In every third beat it teleports its cell part.
type travellerBase struct {
	*entity.Base
	w     *world `cellscape:"local"`
	beats int    `cellscape:"local"`
	asked bool   `cellscape:"local"` // for a haven
	// Requests and Replies count teleports, Away are those that have not ended. A restored base takes them
	// back together with what it has asked for.
	Requests, Replies property.Int64
	Away              property.Map[int64, bool]
	Amiss             property.String
}

// OnCreated makes the cell part.
func (b *travellerBase) OnCreated() {
	b.w.travellers = append(b.w.travellers, b.ID())
	_ = b.CreateCell(theSpace, somewhere(uint64(b.ID())), property.Vector3{}, nil)
	_, _ = b.AddTimer(beat, beat, "OnBeat", 0)
}

// OnBeat asks for a haven if there is none, and teleports.
func (b *travellerBase) OnBeat(entity.Callback) {
	b.w.crack(b.Base)
	b.beats++
	if b.w.haven == 0 && !b.asked && !b.w.calm {
		err := b.CreateSpace(b.w.newHaven(), "OnHaven", 0)
		b.asked = err == nil
	}
	if b.w.calm || b.beats%3 != 0 || b.Away.Len() > 0 {
		return
	}
	user := forParty - 1 - b.Requests.Get()
	if b.TeleportCell(b.w.goal(b.ID(), theSpace), "OnThere", user) == nil {
		_ = b.Away.Set(user, true)
		b.Requests.Set(b.Requests.Get() + 1)
	}
}

// OnHaven makes the haven known.
func (b *travellerBase) OnHaven(r entity.SpaceReply) {
	if b.asked = false; r.Space == 0 {
		return
	}
	if b.w.haven != 0 {
		_ = b.DestroySpace(r.Space)
		return
	}
	b.w.haven = r.Space
}

// OnThere hears how a teleport has ended.
func (b *travellerBase) OnThere(r entity.TeleportReply) {
	if open, _ := b.Away.Get(r.User); !open {
		b.Amiss.Set(fmt.Sprintf("request %d ended, which was not open", r.User))
	}
	_ = b.Away.Delete(r.User)
	b.Replies.Set(b.Replies.Get() + 1)
	b.w.outcome(r.Err)
}

// goal is where an entity is to go, drawn by a chance of its own.
func (w *world) goal(id entity.ID, in entity.SpaceID) entity.Destination {
	c := w.chance.travel
	to := entity.Destination{Position: property.Vector3{X: float32(c.IntN(2*half) - half), Z: float32(c.IntN(2*half) - half)}}
	switch c.IntN(10) {
	case 0, 1, 2:
		if in == theSpace {
			to.Space = w.haven
		} else {
			to.Space = theSpace
		}
	case 3, 4, 5:
		if n := len(w.travellers); n > 0 {
			to.Near, to.Position = w.travellers[c.IntN(n)], property.Vector3{X: 1 + float32(c.IntN(20000))/1000, Z: float32(c.IntN(20000)) / 1000}
		}
		if to.Near == id {
			to.Near = 0
		}
	case 6:
		to.Space = noSpace
	}
	return to
}

// outcome counts how teleports end.
func (w *world) outcome(err error) {
	code := placement.Code(0)
	if why := new(placement.TeleportError); errors.As(err, &why) {
		code = why.Code
	}
	w.outcomes[code]++
}

// rule refuses some arrivals in the bad time.
func (w *world) rule(_ *space.Cell, a space.Arrival) error {
	if !w.calm && !w.stays && w.chance.travel.IntN(6) == 0 {
		return errors.New("the gate is shut")
	}
	return nil
}

// journey is what an entity does that teleports now and then, in each beat: it goes, or in the end
// comes home. It reports whether it has asked for a teleport.
func (w *world) journey(r *space.Real, in int) bool {
	if !w.travels || w.stays || r.Teleporting() {
		return false
	}
	to := w.refuge(r.ID())
	switch home := r.Space() == theSpace; {
	case w.calm && home, !w.calm && w.chance.travel.IntN(in) != 0:
		return false
	case !w.calm:
		to = w.goal(r.ID(), r.Space())
		if to.Near == 0 && w.chance.travel.IntN(3) == 0 {
			return w.lift(r, to)
		}
	}
	return r.Teleport(to, 1) == nil
}

// lift takes an entity through a transition area, with the players who stand near it. It stays as high as it
// is: who rides on a bench, a metre above the ground, would else put those on foot into the ground.
func (w *world) lift(r *space.Real, to entity.Destination) bool {
	to.Transition = true
	to.Position.Y = r.Position().Y
	var with []entity.ID
	for v := range r.EntitiesInRange(liftRadius) {
		if s, ok := v.Script().(*walkerCell); ok && v.IsReal() && !s.Teleporting() {
			with = append(with, v.ID())
		}
	}
	return r.TeleportTogether(to, 1, with...) == nil
}

// liftRadius is how near one stands to go along in a lift, in metres.
const liftRadius = 60

// travellerCell is the cell part of a traveller.
type travellerCell struct {
	*space.Real
	w                     *world `cellscape:"local"`
	Asked, Ended, Arrived property.Uint32
	Goal                  property.Int64
	Pulse                 property.Uint32
	Wrong                 property.String
}

// OnCreated starts the beat.
func (s *travellerCell) OnCreated() { _, _ = s.AddTimer(beat, beat, "OnBeat", 0) }

// OnBeat teleports, or walks about.
func (s *travellerCell) OnBeat(entity.Callback) {
	home := s.Space() == theSpace
	if s.w.calm && home {
		return
	}
	s.Pulse.Set(s.Pulse.Get() + 1)
	if s.Teleporting() || s.w.calm && home {
		return
	}
	to := s.w.refuge(s.ID())
	if !s.w.calm {
		if s.w.chance.travel.IntN(2) == 0 {
			p := s.Position()
			p.X += float32(s.w.chance.travel.IntN(40) - 20)
			_ = s.SetPosition(p)
			return
		}
		to = s.w.goal(s.ID(), s.Space())
	}
	if others := s.others(); len(others) > 0 && !s.w.calm && to.Near == 0 && s.w.chance.travel.IntN(2) == 0 {
		_ = s.TeleportTogether(to, forParty, others...)
		return
	}
	if err := s.Teleport(to, int64(s.Asked.Get()+1)); err == nil {
		s.begin(int64(s.Asked.Get() + 1))
	}
}

// others are the travellers whose reals are here, wherever they stand.
func (s *travellerCell) others() (list []entity.ID) {
	for v := range s.EntitiesInRange(2 * half) {
		if v.IsReal() && v.Def().Name == "Traveller" {
			list = append(list, v.ID())
		}
	}
	return list
}

// begin notes that a teleport has begun.
func (s *travellerCell) begin(user int64) {
	s.Asked.Set(s.Asked.Get() + 1)
	s.Goal.Set(user)
}

// OnTeleport vetoes some, and redirects some.
func (s *travellerCell) OnTeleport(to *entity.Destination, user int64) error {
	if user < 0 {
		s.begin(user)
	}
	switch c := s.w.chance.travel; {
	case s.w.calm:
	case c.IntN(10) == 0:
		return errors.New("changed its mind")
	case c.IntN(10) == 0:
		*to = entity.Destination{Position: somewhere(uint64(s.ID()) + 5)}
	}
	return nil
}

// OnTeleported counts.
func (s *travellerCell) OnTeleported(user int64) {
	s.w.outcome(nil)
	s.end(user, nil)
	s.Arrived.Set(s.Arrived.Get() + 1)
}

// OnTeleportFailed counts, too.
func (s *travellerCell) OnTeleportFailed(user int64, err *placement.TeleportError) {
	s.w.outcome(err)
	s.end(user, err)
}

func (s *travellerCell) end(user int64, err *placement.TeleportError) {
	s.Ended.Set(s.Ended.Get() + 1)
	if s.Teleporting() || s.Ended.Get() != s.Asked.Get() || user != s.Goal.Get() {
		if user < 0 && err != nil && (err.Code == placement.Vetoed || err.Code == placement.Lost) && s.Ended.Get() == s.Asked.Get()+1 {
			s.Ended.Set(s.Asked.Get()) // it failed before this script was asked
			return
		}
		s.Wrong.Set(fmt.Sprintf("teleport %d ended (%v), the %d. of %d, the last was %d", user, err, s.Ended.Get(), s.Asked.Get(), s.Goal.Get()))
	}
}

// teleportsEnd checks that each teleport ends exactly once.
type teleportsEnd struct{ c *Cluster }

func (k *teleportsEnd) safe() error {
	for v, s := range realsOf[*travellerCell](k.c) {
		if wrong := s.Wrong.Get(); wrong != "" {
			return fmt.Errorf("teleports: %s on %s: %s", v.ID(), v.p.Name, wrong)
		}
		if asked, ended := s.Asked.Get(), s.Ended.Get(); ended > asked || asked > ended+1 {
			return fmt.Errorf("teleports: %s on %s asked for %d, %d have ended", v.ID(), v.p.Name, asked, ended)
		}
	}
	for at, b := range basesOf[*travellerBase](k.c) {
		if wrong := b.Amiss.Get(); wrong != "" {
			return fmt.Errorf("teleports: the base of %s on %s: %s", b.ID(), at.p.Name, wrong)
		}
	}
	return nil
}

func (k *teleportsEnd) converged() error {
	var faults []error
	for v, s := range realsOf[*travellerCell](k.c) {
		if s.Asked.Get() != s.Ended.Get() {
			faults = append(faults, fmt.Errorf("teleports: %s on %s asked for %d, at rest %d have ended", v.ID(), v.p.Name, s.Asked.Get(), s.Ended.Get()))
		}
	}
	for at, b := range basesOf[*travellerBase](k.c) {
		if b.Away.Len() > 0 || b.Requests.Get() != b.Replies.Get() {
			faults = append(faults, fmt.Errorf("teleports: the base of %s on %s asked for %d, %d have ended", b.ID(), at.p.Name, b.Requests.Get(), b.Replies.Get()))
		}
	}
	return errors.Join(faults...)
}

// slowestTeleport is more than the time after which a teleport that finds no way has failed. One that a
// restored traveller takes back from its backup begins anew.
const slowestTeleport = space.TeleportPatience + 2*time.Second

// noneTravels reports whether all teleports have ended.
func (c *Cluster) noneTravels() bool { return (&teleportsEnd{c}).converged() == nil }

// refuge is where cell parts go whose space has ended, or is to end: never quite the same place, so
// that movesInOrder can tell it from one where the client has been.
func (w *world) refuge(id entity.ID) entity.Destination {
	to := entity.Destination{Space: theSpace, Position: somewhere(uint64(id))}
	to.Position.X += w.chance.travel.Float32()
	return to
}

// noHaven forgets a haven that has ended.
func (w *world) noHaven(ended entity.SpaceID) {
	if w.haven == ended {
		w.haven = 0
	}
}

// OnNoSpace takes the cell part home.
func (b *travellerBase) OnNoSpace(ended entity.SpaceID) (entity.Destination, bool) {
	b.w.noHaven(ended)
	return b.w.refuge(b.ID()), true
}

// OnNoSpace does the same.
func (b *walkerBase) OnNoSpace(ended entity.SpaceID) (entity.Destination, bool) {
	b.w.noHaven(ended)
	return b.w.refuge(b.ID()), true
}

// OnNoSpace does the same.
func (b *roverBase) OnNoSpace(ended entity.SpaceID) (entity.Destination, bool) {
	b.w.noHaven(ended)
	return b.w.refuge(b.ID()), true
}

// OnSpaceEnd goes home while that can be done.
func (s *travellerCell) OnSpaceEnd() {
	s.w.noHaven(s.Space())
	if s.Teleport(s.w.refuge(s.ID()), int64(s.Asked.Get()+1)) == nil {
		s.begin(int64(s.Asked.Get() + 1))
	}
}

// OnSpaceEnd does the same.
func (s *walkerCell) OnSpaceEnd() { _ = s.Teleport(s.w.refuge(s.ID()), 1) }

// OnSpaceEnd does the same.
func (s *roverCell) OnSpaceEnd() { _ = s.Teleport(s.w.refuge(s.ID()), 1) }
