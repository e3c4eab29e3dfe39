package sim

import (
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
)

// Stones do nothing for a long time: they neither move nor change and have no timer. They hear a
// number of their base so seldom that every lease has run out between two of them. Lines that move
// carry them from cell to cell. Beside each stone lies a pebble, which never does anything.

const stoneDef = `
<root>
	<Properties>
		<mark>   <Type> UINT32 </Type> <Flags> ALL_CLIENTS </Flags> </mark>
		<noted>  <Type> UINT32 </Type> <Flags> CELL_PRIVATE </Flags> </noted>
		<notedLife> <Type> UINT32 </Type> <Flags> CELL_PRIVATE </Flags> </notedLife>
		<notedMost> <Type> UINT32 </Type> <Flags> CELL_PRIVATE </Flags> </notedMost>
		<faults> <Type> UINT32 </Type> <Flags> CELL_PRIVATE </Flags> </faults>
		<sent>   <Type> UINT32 </Type> <Flags> BASE </Flags> </sent>
	</Properties>
	<CellMethods>
		<note> <Arg> UINT32 </Arg> <Arg> UINT32 </Arg> </note>
	</CellMethods>
</root>`

const pebbleDef = `
<root>
	<Properties>
		<mark> <Type> UINT32 </Type> <Flags> ALL_CLIENTS </Flags> </mark>
	</Properties>
</root>`

// stoneRest is how long a stone is left alone: longer than a ghost believes in a silent real, and
// longer than a silent channel lives.
const stoneRest = 13 * time.Second

// stoneBase is the base part of a stone.
type stoneBase struct {
	*entity.Base
	past
	noter
}

// OnCreated makes the cell part.
func (b *stoneBase) OnCreated() {
	_ = b.CreateCell(theSpace, somewhere(uint64(b.ID())), property.Vector3{}, nil)
	_, _ = b.AddTimer(stoneRest, stoneRest, "OnPoke", 0)
}

// OnPoke sends the cell part a number, until all falls silent. (A number that came at the moment in
// which the silent world was judged looked like one that clients were not told.)
func (b *stoneBase) OnPoke(entity.Callback) {
	b.w.crack(b.Base)
	if b.w.hush {
		return
	}
	b.note(b.Base, &b.past)
}

// OnRestored says at once what it may have said before, which shows.
func (b *stoneBase) OnRestored() {
	b.begin(b.Base, &b.past)
	b.OnPoke(entity.Callback{})
}

// OnKept does the same as that of walkerBase.
func (b *stoneBase) OnKept(c entity.Callback) { b.kept(b.ID(), c) }

// stoneCell is the cell part of a stone.
type stoneCell struct {
	*space.Real
	noting
	Mark property.Uint32
}

// OnCreated lays a pebble down.
func (s *stoneCell) OnCreated() {
	at := s.Position()
	at.X++
	_, _ = s.Spawn("Pebble", at, property.Vector3{}, nil)
}

// Note does the same as that of walkerCell; every second number shows.
func (s *stoneCell) Note(life, n uint32) {
	s.noting.Note(life, n)
	if n%2 == 0 {
		s.Mark.Set(n)
	}
}

// pebbleCell just lies there.
type pebbleCell struct {
	*space.Real
	Mark property.Uint32
}

// OnCreated is all that it ever does.
func (s *pebbleCell) OnCreated() { s.Mark.Set(1) }
