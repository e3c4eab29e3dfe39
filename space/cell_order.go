package space

import (
	"cmp"
	"slices"

	"github.com/cellscape/cellscape/property"
)

// neighbours is the reals of a cell in an order in which those that stand near each other follow each
// other. The witnesses of a tick are served in it: each reads what the one before it has read, and
// memory is far away. By id, a client-tick of 10,000 players cost three times that of 1,000.
//
// The order is made anew now and then; in between it is a little out of date, which does no harm.
type neighbours []neighbour

type neighbour struct {
	rec  *record
	spot uint32
}

const (
	// spotSize is the square, in metres, whose entities stand in any order: some tens in a crowd.
	spotSize = 32
	// orderEvery is after how many ticks the order is made anew: a runner has left a spot then.
	orderEvery = 32
)

func (n *neighbours) add(rec *record) { *n = append(*n, neighbour{rec, spotOf(rec.e.Position)}) }

func (n *neighbours) remove(rec *record) {
	if i := slices.IndexFunc(*n, func(x neighbour) bool { return x.rec == rec }); i >= 0 {
		*n = slices.Delete(*n, i, i+1)
	}
}

// arrange makes the order anew.
func (n neighbours) arrange() {
	for i := range n {
		n[i].spot = spotOf(n[i].rec.e.Position)
	}
	slices.SortFunc(n, func(a, b neighbour) int {
		return cmp.Or(cmp.Compare(a.spot, b.spot), cmp.Compare(a.rec.e.ID, b.rec.e.ID))
	})
}

// spotOf numbers the squares so that near ones have near numbers: the bits of X and Z take turns
// (Morton's order). Squares far from each other may share a number.
func spotOf(at property.Vector3) uint32 {
	return spread(uint16(int32(at.X)/spotSize)) | spread(uint16(int32(at.Z)/spotSize))<<1
}

// spread puts a zero before each bit.
func spread(x uint16) (out uint32) {
	for i := range 16 {
		out |= uint32(x>>i&1) << (2 * i)
	}
	return out
}
