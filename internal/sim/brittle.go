package sim

import (
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
)

// Brittle entities walk about and panic: in a method, a timer, at the end of a walk, before and
// after a handoff, when they come back, when they go, or in their base. Their base says in which
// hook and in which life, since a panic takes back everything that the cell part has noted of it.
// Each panic may cost the entity a life, and nobody else anything. With Wild.Bursts, and their
// bases in a world with cracks, they are also called with something that they panic at in each life,
// which has to be passed over in the end: what else is told to them comes behind it.

const brittleDef = `
<root>
	<Properties>
		<steps>   <Type> UINT32 </Type> <Flags> ALL_CLIENTS </Flags> </steps>
		<hook>    <Type> UINT8 </Type> <Flags> CELL_PRIVATE </Flags> </hook>
		<of>      <Type> UINT32 </Type> <Flags> CELL_PRIVATE </Flags> </of>
` + cellTallies + baseTallies + `
	</Properties>
	<CellMethods>
		<note> <Arg> UINT32 </Arg> <Arg> UINT32 </Arg> </note>
		<crack> <Arg> UINT8 </Arg> <Arg> UINT32 </Arg> </crack>
		<burst/>
		<spread/>
	</CellMethods>
	<BaseMethods>
		<told> <Arg> UINT32 </Arg> <Arg> UINT32 </Arg> </told>
		<crumble/>
	</BaseMethods>
</root>`

// wantedPanic is the value that they panic with.
const wantedPanic = "the world wants it"

// The hooks in which a cell part can be told to panic.
const (
	inNothing uint8 = iota
	inMethod
	inTimer
	inArrival
	inLeaving
	inEntering
	inRestored
	inDestroy
	hooks
	// In some lives these take the places of inLeaving and inEntering.
	inLeft
	inArriving
)

// brittleBase is the base part.
type brittleBase struct {
	*entity.Base
	past
	noter
	hearer
}

// OnCreated makes the cell part.
func (b *brittleBase) OnCreated() {
	_ = b.CreateCell(theSpace, somewhere(uint64(b.ID())), property.Vector3{}, nil)
	_, _ = b.AddTimer(beat, beat, "OnBeat", 0)
}

// OnBeat sends a number, and now and then asks for a panic.
func (b *brittleBase) OnBeat(entity.Callback) {
	b.note(b.Base, &b.past)
	if b.w.calm || b.Life.Get() == 0 {
		return
	}
	switch n := b.w.chance.game.IntN(240); {
	case n == 0:
		b.crumble(b.Base, &b.past)
	case n < 30:
		hook := uint8(1 + b.w.chance.game.IntN(int(hooks)-1))
		switch {
		case b.Life.Get()%2 == 0:
		case hook == inLeaving:
			hook = inLeft
		case hook == inEntering:
			hook = inArriving
		}
		_ = b.Cell().Call("crack", hook, b.Life.Get())
		if hook == inDestroy {
			_ = b.DestroyCell()
		}
	}
	if b.w.bursts && b.w.chance.game.IntN(120) == 0 {
		_ = b.Cell().Call("burst")
	}
	if b.w.cracks && b.w.chance.cracks.IntN(120) == 0 {
		_ = b.Cell().Call("spread")
	}
}

// Crumble panics, whenever it is called.
func (b *brittleBase) Crumble() { b.crumble(b.Base, &b.past) }

// OnRestored begins another life.
func (b *brittleBase) OnRestored() { b.begin(b.Base, &b.past) }

// OnKept does nothing: the numbers begin anew with each cell part.
func (b *brittleBase) OnKept(entity.Callback) {}

// OnLoseCell makes the cell part again, once a copy of the base knows that its numbers begin anew:
// a restored base meets no cell part that it knows nothing of.
func (b *brittleBase) OnLoseCell() {
	b.startAnew(b.Base, &b.past)
	if err := b.Backup("OnMayRenew", 0); err != nil {
		panic(err)
	}
}

// OnMayRenew makes the cell part.
func (b *brittleBase) OnMayRenew(entity.Callback) { b.renew() }

// renew makes a cell part after one was destroyed.
func (b *brittleBase) renew() {
	_ = b.CreateCell(theSpace, somewhere(uint64(b.ID())), property.Vector3{}, nil)
}

// Told does the same as that of walkerBase.
func (b *brittleBase) Told(life, n uint32) {
	b.hear(b.cellLife(b.ID()), life, n)
}

// brittleCell is the cell part.
type brittleCell struct {
	*space.Real
	noting
	Steps, Of, Said property.Uint32
	Hook            property.Uint8
}

// crack panics if this is the hook and the life that the base named.
func (s *brittleCell) crack(hook uint8) {
	life := s.Order().Incarnation
	if hook == inRestored {
		life-- // the order was given to the incarnation before
	}
	if s.Hook.Get() == hook && s.Of.Get() == life {
		panic(wantedPanic)
	}
}

// Crack is told which hook is to panic in which life.
func (s *brittleCell) Crack(hook uint8, life uint32) {
	s.Hook.Set(hook)
	s.Of.Set(life)
	s.crack(inMethod)
}

// Burst panics, whenever it is called.
func (s *brittleCell) Burst() { panic(wantedPanic) }

// Spread has the base panic. What the cell part tells it next comes behind that.
func (s *brittleCell) Spread() { _ = s.Base().Call("crumble") }

// OnCreated starts the beat and the walk.
func (s *brittleCell) OnCreated() {
	_, _ = s.AddTimer(beat, beat, "OnBeat", 0)
	s.OnThere(entity.Callback{})
}

// OnBeat tells the base a number, after a change that a panic takes back.
func (s *brittleCell) OnBeat(entity.Callback) {
	if settles(s.Real) {
		return
	}
	s.Steps.Set(s.Steps.Get() + 1)
	s.crack(inTimer)
	if s.Base().Call("told", s.Order().Incarnation, s.Said.Get()+1) == nil {
		s.Said.Set(s.Said.Get() + 1)
	}
}

// OnThere walks on.
func (s *brittleCell) OnThere(entity.Callback) {
	s.crack(inArrival)
	wander(s.Real, 40)
}

// OnLeavingCell panics before a handoff.
func (s *brittleCell) OnLeavingCell() { s.crack(inLeaving) }

// OnLeftCell panics where it has been, which costs nothing.
func (s *brittleCell) OnLeftCell() { s.crack(inLeft) }

// OnEnteringCell panics in the middle of a handoff.
func (s *brittleCell) OnEnteringCell() { s.crack(inArriving) }

// OnEnteredCell panics after a handoff.
func (s *brittleCell) OnEnteredCell() { s.crack(inEntering) }

// OnRestored begins the numbers to the base anew.
func (s *brittleCell) OnRestored() {
	s.Said.Set(0)
	s.crack(inRestored)
}

// OnDestroy panics at the end.
func (s *brittleCell) OnDestroy() { s.crack(inDestroy) }
