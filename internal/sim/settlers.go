package sim

import (
	"errors"
	"fmt"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/placement"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
)

// Settlers have their cell parts made near others, in spaces that are there and in some that are not,
// give them up, and have them made again. Their cell parts have seedlings made near others, which have
// no base and soon wither. They want to be near settlers, seedlings and travellers, who walk, are
// teleported, and end. Each of their questions is answered once, and a base that hears that it has no
// cell part can ask for another one.

const settlerDef = `
<root>
	<Properties>
		<asked> <Type> UINT32 </Type> <Flags> CELL_PRIVATE </Flags> </asked>
		<open>  <Type> MAP <key> UINT32 </key> <of> BOOL </of> </Type> <Flags> CELL_PRIVATE </Flags> </open>
		<wrong> <Type> STRING </Type> <Flags> CELL_PRIVATE </Flags> </wrong>
		<begs>   <Type> INT64 </Type> <Flags> BASE </Flags> </begs>
		<begged> <Type> MAP <key> INT64 </key> <of> BOOL </of> </Type> <Flags> BASE </Flags> </begged>
		<has>    <Type> BOOL </Type> <Flags> BASE </Flags> </has>
		<amiss>  <Type> STRING </Type> <Flags> BASE </Flags> </amiss>
	</Properties>
</root>`

const seedlingDef = `<root><Properties><born> <Type> UINT32 </Type> <Flags> CELL_PRIVATE </Flags> </born></Properties></root>`

const (
	// withersIn is how long a seedling lives.
	withersIn = 4 * time.Second
	// settleIn is how long the last questions may take: a seedling that is nowhere to be found is looked
	// for for space.FlowGiveUp, a cell part of an entity that is away for limits.DefaultCallTime, and then
	// a cell part is made for baseapp.CreatePatience.
	settleIn = 40 * time.Second
	// manySeedlings is how many of the last seedlings settlers know.
	manySeedlings = 8
)

// settlerBase is the base part of a settler.
type settlerBase struct {
	*entity.Base
	w *world `cellscape:"local"`
	// Begs counts its questions, Begged are those without an answer. Has says that it has a cell part.
	Begs   property.Int64
	Begged property.Map[int64, bool]
	Has    property.Bool
	Amiss  property.String
}

// OnCreated starts the beat.
func (b *settlerBase) OnCreated() {
	b.w.settlers = append(b.w.settlers, b.Lookup(b.ID(), "Settler", entity.CellViaBase).Value())
	_, _ = b.AddTimer(beat, beat, "OnBeat", 0)
}

// OnBeat asks for a cell part, or gives it up.
func (b *settlerBase) OnBeat(entity.Callback) {
	b.w.crack(b.Base)
	give := !b.w.calm && b.w.chance.settle.IntN(8) == 0
	switch {
	case give:
		_ = b.DestroyCell() // perhaps it is being destroyed
	case !b.Has.Get() && b.Begged.Len() == 0:
		n := b.Begs.Get() + 1
		if err := b.CreateCellAt(b.w.site(b.ID()), "OnCell", n); err != nil {
			b.Amiss.Set(fmt.Sprintf("it has no cell part, and cannot have one: %v", err))
			return
		}
		b.Begs.Set(n)
		_ = b.Begged.Set(n, true)
	}
}

// OnGetCell believes it.
func (b *settlerBase) OnGetCell() { b.Has.Set(true) }

// OnLoseCell believes it, too.
func (b *settlerBase) OnLoseCell() {
	if !b.Has.Get() {
		b.Amiss.Set("it lost a cell part that it never had")
	}
	b.Has.Set(false)
}

// OnCell hears what became of what it asked for.
func (b *settlerBase) OnCell(r entity.CellReply) {
	switch open, _ := b.Begged.Get(r.User); {
	case !open:
		b.Amiss.Set(fmt.Sprintf("request %d ended, which was not open", r.User))
	case b.Has.Get() != (r.Err == nil):
		b.Amiss.Set(fmt.Sprintf("request %d ended with %v; it has a cell part: %v", r.User, r.Err, b.Has.Get()))
	}
	_ = b.Begged.Delete(r.User)
	b.w.count(&b.w.settled, r.Err)
}

// site is where a settler's cell part is to be.
func (w *world) site(id entity.ID) entity.CellInfo {
	c := w.chance.settle
	info := entity.CellInfo{Position: property.Vector3{X: 1 + float32(c.IntN(9)), Z: float32(c.IntN(9))}}
	switch what := c.IntN(12); {
	case w.calm || what < 2:
		info.Space, info.Position = theSpace, somewhere(uint64(id))
	case what == 2:
		info.Space = noSpace
	default:
		info.Near = w.neighbour(id)
	}
	return info
}

// neighbour is somebody to be near to, who may be gone, but never id.
func (w *world) neighbour(id entity.ID) property.Mailbox {
	c := w.chance.settle
	t := w.schema.Type("Traveller").ID
	switch what := c.IntN(3); {
	case what == 0 && len(w.seedlings) > 0:
		return w.seedlings[c.IntN(len(w.seedlings))]
	case what == 1 && len(w.travellers) > 0:
		return property.Mailbox{Entity: uint64(w.travellers[c.IntN(len(w.travellers))]), Type: t, Kind: uint8(entity.CellMailbox)}
	}
	if m := w.settlers[c.IntN(len(w.settlers))]; m.Entity != uint64(id) {
		return m
	}
	return property.Mailbox{Entity: uint64(id) + 1<<20, Type: t, Kind: uint8(entity.CellMailbox)} // who never was
}

// count counts how requests end, by code.
func (w *world) count(tally *map[placement.Code]int, err error) {
	if *tally == nil {
		*tally = map[placement.Code]int{}
	}
	code := placement.Code(0)
	if why := new(placement.CreateError); errors.As(err, &why) {
		code = why.Code
	}
	(*tally)[code]++
}

// settlerCell is the cell part of a settler.
type settlerCell struct {
	*space.Real
	w     *world `cellscape:"local"`
	Asked property.Uint32
	Open  property.Map[uint32, bool]
	Wrong property.String
}

// OnCreated starts the beat.
func (s *settlerCell) OnCreated() { _, _ = s.AddTimer(beat, beat, "OnBeat", 0) }

// OnBeat walks on, and asks for a seedling. In the end those elsewhere go, to come home.
func (s *settlerCell) OnBeat(entity.Callback) {
	if s.w.calm {
		if s.Space() != theSpace {
			s.Destroy()
		}
		return
	}
	c := s.w.chance.settle
	p := s.Position()
	p.X = min(max(p.X+float32(c.IntN(31)-15), -half+1), half-1)
	_ = s.SetPosition(p)
	if c.IntN(3) > 0 {
		return
	}
	n := s.Asked.Get() + 1
	s.Asked.Set(n)
	_ = s.Open.Set(n, true)
	near := s.w.neighbour(s.ID())
	if c.IntN(8) == 0 {
		near = s.MailboxValue()
	}
	info := space.SpawnInfo{Type: "Seedling", Near: near, Position: property.Vector3{X: float32(c.IntN(60) - 30)}}
	if err := s.SpawnNear(info, "OnSpawned", int64(n)); err != nil {
		_ = s.Open.Delete(n)
	}
}

// OnSpawned hears of a seedling.
func (s *settlerCell) OnSpawned(r space.SpawnReply) {
	if open, _ := s.Open.Get(uint32(r.User)); !open {
		s.Wrong.Set(fmt.Sprintf("seedling %d was told of, which was not open", r.User))
	}
	_ = s.Open.Delete(uint32(r.User))
	s.w.count(&s.w.sown, r.Err)
	if r.Err == nil {
		s.w.seedlings = append(s.w.seedlings[max(0, len(s.w.seedlings)-manySeedlings+1):], r.Entity)
	}
}

// seedlingCell is a seedling.
type seedlingCell struct{ *space.Real }

// OnCreated winds it up.
func (s *seedlingCell) OnCreated() { _, _ = s.AddTimer(withersIn, 0, "OnWither", 0) }

// OnWither ends it.
func (s *seedlingCell) OnWither(entity.Callback) { s.Destroy() }

// settlersTold checks that each question of a settler is answered once.
type settlersTold struct{ c *Cluster }

func (k *settlersTold) safe() error {
	for at, b := range basesOf[*settlerBase](k.c) {
		if wrong := b.Amiss.Get(); wrong != "" {
			return fmt.Errorf("settlers: the base of %s on %s: %s", b.ID(), at.p.Name, wrong)
		}
	}
	for v, s := range realsOf[*settlerCell](k.c) {
		if wrong := s.Wrong.Get(); wrong != "" {
			return fmt.Errorf("settlers: %s on %s: %s", v.ID(), v.p.Name, wrong)
		}
	}
	return k.havenFits()
}

// havenFits checks that a small haven has no more than it takes. It may have two cells, which hear late
// that it is full, and whoever is restored there is not counted.
func (k *settlersTold) havenFits() error {
	const late = 8 // who arrives before two cells have heard
	n := 0
	for v := range k.c.reals() {
		if v.cell.MaxEntities() == havenTakes {
			n++
		}
	}
	if n > havenTakes+late && k.c.verdicts() == 0 {
		return fmt.Errorf("settlers: a haven that takes %d has %d", havenTakes, n)
	}
	return nil
}

func (k *settlersTold) converged() error {
	faults := []error{k.safe()}
	for at, b := range basesOf[*settlerBase](k.c) {
		if b.Begged.Len() > 0 || !b.Has.Get() {
			faults = append(faults, fmt.Errorf("settlers: the base of %s on %s waits for %d answers; it has a cell part: %v", b.ID(), at.p.Name, b.Begged.Len(), b.Has.Get()))
		}
	}
	for v, s := range realsOf[*settlerCell](k.c) {
		if open := s.Open.Len(); open > 0 {
			faults = append(faults, fmt.Errorf("settlers: %s on %s waits for %d seedlings", v.ID(), v.p.Name, open))
		}
	}
	return errors.Join(faults...)
}

// settlersRest reports whether all settlers are at home and wait for nothing.
func (c *Cluster) settlersRest() bool { return (&settlersTold{c}).converged() == nil }
