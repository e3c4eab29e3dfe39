package sim

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/gametime"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
)

// Clocks live by timers: one of every tick, some of longer periods, and many that run once, a few
// times, or are cancelled before they run. They are made in every callback, and carried across
// offloads and restores, since clocks walk about; so are metronomes, which are controllers. Their
// walks gather speed and brake, and go on everywhere as fast as they were; and they turn. In its
// properties a clock keeps a book of what it has started. A restore takes book and timers back
// together, so what the book says holds in every life: each entry runs as often as it says, and
// when it says.

const clockDef = `
<root>
	<Properties>
		<book>   <Type> ARRAY <of> UINT32 </of> </Type> <Flags> CELL_PRIVATE </Flags> </book>
		<last>   <Type> UINT32 </Type> <Flags> CELL_PRIVATE </Flags> </last>
		<pulse>  <Type> INT64 </Type> <Flags> CELL_PRIVATE </Flags> </pulse>
		<before> <Type> INT64 </Type> <Flags> CELL_PRIVATE </Flags> </before>
		<beaten> <Type> INT64 </Type> <Flags> CELL_PRIVATE </Flags> </beaten>
		<thirds> <Type> INT64 </Type> <Flags> CELL_PRIVATE </Flags> </thirds>
		<lives>  <Type> UINT32 </Type> <Flags> CELL_PRIVATE </Flags> </lives>
		<walk>   <Type> UINT32 </Type> <Flags> CELL_PRIVATE </Flags> </walk>
		<goalX>  <Type> FLOAT32 </Type> <Flags> CELL_PRIVATE </Flags> </goalX>
		<goalZ>  <Type> FLOAT32 </Type> <Flags> CELL_PRIVATE </Flags> </goalZ>
		<wasX>   <Type> FLOAT32 </Type> <Flags> CELL_PRIVATE </Flags> </wasX>
		<wasZ>   <Type> FLOAT32 </Type> <Flags> CELL_PRIVATE </Flags> </wasZ>
		<speed>  <Type> FLOAT32 </Type> <Flags> CELL_PRIVATE </Flags> </speed>
		<yaw>    <Type> FLOAT32 </Type> <Flags> CELL_PRIVATE </Flags> </yaw>
		<turns>  <Type> UINT32 </Type> <Flags> CELL_PRIVATE </Flags> </turns>
		<swings>   <Type> ARRAY <of> INT64 </of> </Type> <Flags> CELL_PRIVATE </Flags> </swings>
		<swinging> <Type> ARRAY <of> UINT32 </of> </Type> <Flags> CELL_PRIVATE </Flags> </swinging>
		<ran>    <Type> UINT32 </Type> <Flags> CELL_PUBLIC </Flags> </ran>
		<wrong>  <Type> STRING </Type> <Flags> CELL_PRIVATE </Flags> </wrong>
	</Properties>
</root>`

const (
	clockTick  = 100 * time.Millisecond
	clockBeat  = 400 * time.Millisecond
	clockThird = 1300 * time.Millisecond
	clockFew   = 700 * time.Millisecond // the period of entries that run a few times
	// farOff is the longest wait of a timer of the book: several backups and handoffs.
	farOff = 12 * time.Second
	// maxBook is how many entries a book has.
	maxBook = 24
)

// entry is one timer of the book: four numbers in the property.
const (
	entryID = iota
	entryDue
	entryLeft // how often it is to run
	entryUser
	entrySize
)

// These are the user numbers of the timers that run for ever.
const (
	userTick = 1 + iota
	userBeat
	userThird
	userBook // for entries of the book, and above
)

// clockBase is the base part of a clock.
type clockBase struct{ *entity.Base }

// OnCreated makes the cell part.
func (b *clockBase) OnCreated() {
	_ = b.CreateCell(theSpace, somewhere(uint64(b.ID())), property.Vector3{}, nil)
}

// clockCell is the cell part.
type clockCell struct {
	*space.Real
	Book                     property.Slice[uint32]
	Last                     property.Uint32 // the highest id given out
	Pulse, Before            property.Int64  // game time of the last tick, and of the one before it
	Beaten, Thirds           property.Int64  // game time of the last beat, and of the last third
	Lives                    property.Uint32
	Walk                     property.Uint32
	GoalX, GoalZ, WasX, WasZ property.Float32
	Speed                    property.Float32 // of the walk, after the last tick or when it was begun
	Yaw                      property.Float32 // that it turns to
	Turns                    property.Uint32
	Swings                   property.Slice[int64]  // of each metronome, how often it swung and how long it has to go
	Swinging                 property.Slice[uint32] // their ids
	Ran                      property.Uint32
	Wrong                    property.String
}

func (s *clockCell) now() int64 { return int64(s.Now()) }

func (s *clockCell) times() []*property.Int64 {
	return []*property.Int64{&s.Pulse, &s.Before, &s.Beaten, &s.Thirds}
}

// fault keeps the first thing that was wrong, for the checker.
func (s *clockCell) fault(format string, args ...any) {
	if s.Wrong.Get() == "" {
		s.Wrong.Set(fmt.Sprintf(format, args...))
	}
}

// OnCreated winds the clock up.
func (s *clockCell) OnCreated() {
	for _, at := range s.times() {
		at.Set(s.now())
	}
	s.add(clockTick, clockTick, "OnTick", userTick)
	s.add(clockBeat, clockBeat, "OnBeat", userBeat)
	s.add(clockThird, clockThird, "OnThird", userThird)
	_ = s.Swings.Append(make([]int64, 2*metronomes)...)
	_ = s.Swinging.Append(make([]uint32, metronomes)...)
	for n := range uint64(metronomes) {
		s.swing(n)
	}
	s.walk()
	s.turn()
}

// OnRestored goes on by the book: what was due some time after the last tick that the backup knows
// of is now due as long after now, or a tick earlier.
func (s *clockCell) OnRestored() {
	gone := s.now() - s.Pulse.Get()
	s.Lives.Set(s.Lives.Get() + 1)
	for i := 0; i+entrySize <= s.Book.Len(); i += entrySize {
		_ = s.Book.SetAt(i+entryDue, uint32(max(0, int64(s.Book.At(i+entryDue))+gone/int64(time.Millisecond))))
	}
	for _, at := range s.times() {
		at.Set(at.Get() + gone)
	}
	// In a slow space some ticks pass between two of its own, so it may not know its speed to the bit.
	if s.Walk.Get() != 0 && s.WalkingSpeed() == 0 && s.Speed.Get() > 2 {
		s.fault("restored, its walk stands; it was at %v m/s", s.Speed.Get())
	}
	s.start()
}

// OnLeavingCell starts a timer that the origin will never run.
func (s *clockCell) OnLeavingCell() {
	s.Speed.Set(s.WalkingSpeed())
	s.start()
}

// OnEnteringCell checks that its walk goes on as fast as it was.
func (s *clockCell) OnEnteringCell() {
	if v := s.WalkingSpeed(); v != s.Speed.Get() {
		s.fault("handed over, it walks at %v m/s; it was at %v", v, s.Speed.Get())
	}
}

// OnEnteredCell starts one before the first tick at the destination.
func (s *clockCell) OnEnteredCell() { s.start() }

// add adds a timer, whose id must be new.
func (s *clockCell) add(after, every time.Duration, method string, user int64) entity.CallbackID {
	id, err := s.AddTimer(after, every, method, user)
	if err != nil {
		s.fault("timer %s: %v", method, err)
		return 0
	}
	s.fresh(id)
	return id
}

func (s *clockCell) fresh(id entity.CallbackID) {
	if uint32(id) <= s.Last.Get() {
		s.fault("id %d was given out, which is not above %d", id, s.Last.Get())
	}
	s.Last.Set(uint32(id))
}

// start enters a timer into the book: one that runs once, or a few times.
func (s *clockCell) start() {
	if s.Book.Len() >= maxBook*entrySize {
		return
	}
	after, every, left := time.Duration(s.Chance().Int64N(int64(farOff))), time.Duration(0), uint32(1)
	switch s.Chance().IntN(4) {
	case 0:
		after = 0 // due in the next tick
	case 1:
		every, left = clockFew, 2+s.Chance().Uint32N(3)
	}
	user := uint32(userBook) + s.Chance().Uint32N(1<<16)
	id := s.add(after, every, "OnBook", int64(user))
	due := uint32((s.Now() + after) / time.Millisecond)
	for _, n := range []uint32{uint32(id), due, left, user} {
		_ = s.Book.Append(n)
	}
}

// find returns where the book has a timer, -1 if nowhere.
func (s *clockCell) find(id entity.CallbackID) int {
	for i := 0; i+entrySize <= s.Book.Len(); i += entrySize {
		if s.Book.At(i+entryID) == uint32(id) {
			return i
		}
	}
	return -1
}

// OnBook runs an entry.
func (s *clockCell) OnBook(c entity.Callback) {
	i := s.find(c.ID)
	if i < 0 {
		s.fault("timer %d ran, although it had run as often as it should, or was cancelled", c.ID)
		return
	}
	s.Ran.Set(s.Ran.Get() + 1)
	due := time.Duration(s.Book.At(i+entryDue)) * time.Millisecond
	// A restore may be up to a tick early; rounding makes a millisecond. After a restore the book may also
	// have passed over a time that the timer has taken: see OnBeat (seed 181054).
	allowed := time.Duration(s.Lives.Get())*2*clockTick + 2*time.Millisecond
	if s.Lives.Get() > 0 {
		allowed += clockFew
	}
	if early := due - s.Now(); early > allowed {
		s.fault("timer %d ran %v early", c.ID, early)
	}
	if c.User != int64(s.Book.At(i+entryUser)) {
		s.fault("timer %d came with %d of its script, not %d", c.ID, c.User, s.Book.At(i+entryUser))
	}
	left := s.Book.At(i+entryLeft) - 1
	if left > 0 {
		_ = s.Book.SetAt(i+entryLeft, left)
		_ = s.Book.SetAt(i+entryDue, uint32(gametime.Again(due, clockFew, s.Now())/time.Millisecond))
		return
	}
	several := s.Cancel(c.ID)
	_ = s.Book.Delete(i, i+entrySize)
	if !several && s.Chance().IntN(3) == 0 {
		s.start()
	}
}

// OnTick notes that there was a tick.
func (s *clockCell) OnTick(c entity.Callback) {
	if c.User != userTick {
		s.fault("the tick came with %d of its script", c.User)
	}
	s.Before.Set(s.Pulse.Get())
	s.Pulse.Set(s.now())
	s.Speed.Set(s.WalkingSpeed())
}

// lastTick is when there was a tick before this one.
func (s *clockCell) lastTick() time.Duration {
	if s.Pulse.Get() == s.now() {
		return time.Duration(s.Before.Get())
	}
	return time.Duration(s.Pulse.Get())
}

// period checks that a periodic timer missed no period in which there was a tick, and notes that it
// ran.
func (s *clockCell) period(name string, last *property.Int64, every time.Duration) {
	if late := s.lastTick() - time.Duration(last.Get()); late > every {
		s.fault("%s did not run for %v, though there was a tick then", name, late)
	}
	last.Set(s.now())
}

// OnThird runs about every third beat.
func (s *clockCell) OnThird(c entity.Callback) {
	if c.User != userThird {
		s.fault("the third came with %d of its script", c.User)
	}
	s.period("the third", &s.Thirds, clockThird)
}

// OnBeat looks through the book, starts timers, and cancels some.
func (s *clockCell) OnBeat(c entity.Callback) {
	if c.User != userBeat {
		s.fault("the beat came with %d of its script", c.User)
	}
	if hushed(s.Real) && s.Walk.Get() != 0 {
		s.Walk.Set(0)
		id, _ := s.MoveTo(s.Position(), 1, "", 0)
		s.fresh(id)
		s.Speed.Set(s.WalkingSpeed())
	}
	before := time.Duration(s.Beaten.Get())
	s.period("the beat", &s.Beaten, clockBeat)
	for i := 0; i+entrySize <= s.Book.Len(); i += entrySize {
		// What was due a tick before the last beat had its turn at that beat at the latest. After a
		// restore the book may be a tick off. At the end of a long tick it may then take the next
		// time for one that the timer has passed over (seed 150698).
		late := 2 * clockTick
		if s.Lives.Get() > 0 {
			late += clockFew
		}
		if due := time.Duration(s.Book.At(i+entryDue)) * time.Millisecond; due+late < before {
			s.fault("timer %d was due at %v and has not run at %v", s.Book.At(i+entryID), due, before)
		}
	}
	if s.Walk.Get() != 0 && s.Position().X == s.WasX.Get() && s.Position().Z == s.WasZ.Get() && s.lastTick() > before {
		s.fault("walk %d stands still at %v", s.Walk.Get(), s.Position())
	}
	s.WasX.Set(s.Position().X)
	s.WasZ.Set(s.Position().Z)
	if s.Chance().IntN(2) == 0 {
		s.start()
	}
	if n := s.Book.Len() / entrySize; n > 0 && s.Chance().IntN(4) == 0 {
		i := s.Chance().IntN(n) * entrySize
		if id := entity.CallbackID(s.Book.At(i + entryID)); !s.Cancel(id) {
			s.fault("timer %d is not there to be cancelled", id)
		}
		_ = s.Book.Delete(i, i+entrySize)
	}
}

// gait is that of its next walk, by turns: at full speed at once, or from the speed of the walk
// before it, to rest or through.
func (s *clockCell) gait() space.Gait {
	g := space.Gait{KeepsFacing: true} // for the turns
	if n := s.Last.Get() % 3; n > 0 {
		g.Acceleration, g.Through = 9, n == 2
	}
	return g
}

func (s *clockCell) walk() {
	if hushed(s.Real) {
		s.Walk.Set(0)
		return
	}
	to := anywhere(s.Real)
	id, err := s.MoveTo(to, 30, "OnThere", int64(s.Last.Get()+1), s.gait())
	if err != nil {
		s.fault("walk: %v", err)
		return
	}
	s.fresh(id)
	s.Walk.Set(uint32(id))
	s.GoalX.Set(to.X)
	s.GoalZ.Set(to.Z)
	s.Speed.Set(s.WalkingSpeed())
}

// turn begins another turn, by more than half a turn to the right; so it goes to the left.
func (s *clockCell) turn() {
	if hushed(s.Real) {
		return
	}
	s.Yaw.Set(float32(math.Remainder(float64(s.Direction().X)+4, 2*math.Pi)))
	id, err := s.TurnTo(s.Yaw.Get(), 1.5, "OnTurned", int64(s.Last.Get()+1))
	if err != nil {
		s.fault("turn: %v", err)
		return
	}
	s.fresh(id)
}

// OnTurned turns on.
func (s *clockCell) OnTurned(c entity.Callback) {
	if d := s.Direction(); d.X != s.Yaw.Get() || c.User != int64(c.ID) {
		s.fault("turn %d (%d of its script) ended at %v, and was to %g", c.ID, c.User, d, s.Yaw.Get())
	}
	s.Turns.Set(s.Turns.Get() + 1)
	s.turn()
}

// OnThere walks on.
func (s *clockCell) OnThere(c entity.Callback) {
	if at := s.Position(); uint32(c.ID) != s.Walk.Get() || c.User != int64(c.ID) || at.X != s.GoalX.Get() || at.Z != s.GoalZ.Get() {
		s.fault("walk %d (%d of its script) ended at %v, walk %d was to (%g, %g)", c.ID, c.User, at, s.Walk.Get(), s.GoalX.Get(), s.GoalZ.Get())
	}
	s.walk()
}

// timersRun checks what clocks found wrong with their timers. It also checks that clocks tick at
// all, which they cannot find out themselves.
type timersRun struct {
	c *Cluster
	// seen is when a clock's last tick was first seen, in game time.
	seen map[entity.ID]tickSeen
}

type tickSeen struct {
	order      entity.Order
	pulse, now int64
}

// noTick is how long game time may go on without a tick of a clock's own timer: one tick of the
// cell is lost in a handoff, and the new cell's time is ahead of the former's by as much as a
// CellApp may be behind.
const noTick = int64(4 * clockTick)

func (k *timersRun) safe() error {
	if k.c.opts.Wild.Clocks == 0 {
		return nil
	}
	for v, s := range realsOf[*clockCell](k.c) {
		if s.Wrong.Get() != "" {
			return fmt.Errorf("timers: %s on %s (%v): %s", v.ID(), v.p.Name, v.Order(), s.Wrong.Get())
		}
		now := tickSeen{v.Order(), s.Pulse.Get(), s.now()}
		was, known := k.seen[v.ID()]
		if !known || was.order != now.order || was.pulse != now.pulse || k.c.still {
			k.seen[v.ID()] = now
		} else if now.now-was.now > noTick {
			return fmt.Errorf("timers: %s on %s (%v) has not ticked since %v", v.ID(), v.p.Name, v.Order(), time.Duration(was.pulse))
		}
	}
	return nil
}

func (k *timersRun) converged() error {
	ran, turns := uint64(0), uint64(0)
	for v, s := range realsOf[*clockCell](k.c) {
		ran += get(v, "ran")
		turns += uint64(s.Turns.Get())
	}
	if k.c.opts.Wild.Clocks > 0 && (ran == 0 || turns == 0) && !slices.ContainsFunc(k.c.baseApps, func(p *Process) bool { return p.starts > 1 }) {
		return fmt.Errorf("timers: %d clocks ran %d timers of their books, and turned %d times", k.c.opts.Wild.Clocks, ran, turns)
	}
	return nil
}
