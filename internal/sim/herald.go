package sim

import (
	"fmt"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/shared"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
)

// Heralds set the space's data under many keys, so that at any time some entries are old and some
// new, in no order of their keys. They also announce that the world is to fall silent.

const heraldDef = `
<root>
	<Properties>
		<said> <Type> UINT32 </Type> <Flags> CELL_PRIVATE </Flags> </said>
	</Properties>
	<CellMethods>
		<proclaim> <Arg> UINT16 </Arg> <Arg> STRING </Arg> </proclaim>
	</CellMethods>
</root>`

const (
	// firstKey is the lowest of the heralds' keys, manyKeys the number of their keys.
	firstKey, manyKeys = 20, 40
	// hushKey is set when everyone is to fall silent.
	hushKey = 6
)

// heraldBase draws what is to be said: it knows the run, which no cell part does.
type heraldBase struct {
	*entity.Base
	w *world `cellscape:"local"`
	n int    `cellscape:"local"`
	// last is what it last set under its own key of what the cluster shares; "" for nothing in this life.
	last string `cellscape:"local"`
}

// OnSharedData notes what it hears.
func (b *heraldBase) OnSharedData(c shared.Change) {
	b.w.hearShared(sharedHearer{b.ID(), entity.BasePart}, 0, c)
}

// OnSharedData notes what it hears.
func (s *heraldCell) OnSharedData(c shared.Change) {
	s.w.hearShared(sharedHearer{s.ID(), entity.CellPart}, s.Order().Incarnation, c)
}

// OnCreated makes the cell part.
func (b *heraldBase) OnCreated() {
	_ = b.CreateCell(theSpace, somewhere(uint64(b.ID())), property.Vector3{}, nil)
	_, _ = b.AddTimer(beat, beat, "OnBeat", 0)
}

// OnBeat makes the cell part say something, in the bad time.
func (b *heraldBase) OnBeat(entity.Callback) {
	b.w.crack(b.Base)
	key := firstKey + b.w.chance.game.IntN(manyKeys)
	switch {
	case b.w.silent:
		return
	case b.w.hush:
		key = hushKey
	case b.w.calm:
		return
	}
	b.n++
	if !b.w.hush { // the world is about to stand still, and nobody hears of the last changes
		b.share(key)
		b.consult()
	}
	if b.n%4 == 0 && !b.w.hush {
		_, _ = b.AddSpaceData(theSpace, uint16(key), fmt.Appendf(nil, "%s:%d", b.ID(), b.n))
		return
	}
	_ = b.Cell().Call("proclaim", uint16(key), fmt.Sprintf("%s:%d", b.ID(), b.n))
}

// heraldCell is the cell part of a herald.
type heraldCell struct {
	*space.Real
	Said property.Uint32
	w    *world `cellscape:"local"`
}

// Proclaim changes an entry: it sets the only one of the key, adds one, gives the newest that it
// knows of another value, or removes that.
func (s *heraldCell) Proclaim(key uint16, text string) {
	s.Said.Set(s.Said.Get() + 1)
	if !s.w.hush {
		_ = s.Shared().Set(fmt.Sprintf("news/%d", key%sharedKeys), text)
	}
	newest, known := entity.DataID(0), false
	for id := range s.AllSpaceData(key) {
		newest, known = id, true
	}
	switch n := s.Said.Get() % 8; {
	case key == hushKey || n == 0:
		_ = s.SetSpaceData(key, []byte(text))
	case known && n < 3:
		_ = s.RemoveSpaceData(key, newest)
	case known && n == 3:
		_ = s.ReplaceSpaceData(key, newest, []byte(text))
	default:
		_, _ = s.AddSpaceData(key, []byte(text))
	}
}

// hushed reports whether the game is over, as far as a real's cell knows.
func hushed(r *space.Real) bool {
	_, ok := r.SpaceData(hushKey)
	return ok
}
