package entity

import (
	"cmp"
	"fmt"

	"github.com/cellscape/cellscape/internal/enum"
)

// ID names an entity in the whole cluster and is never reused. It has an allocator number of 21
// bits, issued once for each start of an app, above a counter of 32 bits. So it fits 53 bits, which
// a browser's numbers can hold.
type ID uint64

const (
	// MaxID is the largest entity id: 2^53-1, the largest integer that a JavaScript number holds
	// exactly.
	MaxID ID = 1<<53 - 1

	counterBits = 32
)

// String gives the id as allocator.counter, which shows at a glance which app made it.
func (id ID) String() string {
	return fmt.Sprintf("%d.%d", uint64(id)>>counterBits, uint64(id)&(1<<counterBits-1))
}

// Valid reports whether the id can name an entity.
func (id ID) Valid() bool { return id != 0 && id <= MaxID }

// SpaceID names a space in the whole cluster. Zero names none.
type SpaceID uint32

// Order places a real in time. Each offload adds one to Hop. Only the base starts a new
// Incarnation, whose hops count from zero again.
type Order struct {
	Incarnation uint32
	Hop         uint32
}

// Compare returns -1, 0 or +1; incarnation decides before hop.
func (o Order) Compare(p Order) int {
	if c := cmp.Compare(o.Incarnation, p.Incarnation); c != 0 {
		return c
	}
	return cmp.Compare(o.Hop, p.Hop)
}

// Before reports whether o is older than p.
func (o Order) Before(p Order) bool { return o.Compare(p) < 0 }

// NextHop is the order of the real after one more offload.
func (o Order) NextHop() Order { return Order{o.Incarnation, o.Hop + 1} }

// String gives incarnation/hop.
func (o Order) String() string { return fmt.Sprintf("%d/%d", o.Incarnation, o.Hop) }

// Part is the part of an entity that a flow or a mailbox means.
type Part uint8

// The parts of an entity.
const (
	CellPart Part = 1 + iota
	BasePart
	ClientPart
)

// String names the part.
func (s Part) String() string {
	return enum.Name(s, "part", []string{
		CellPart:   "cell",
		BasePart:   "base",
		ClientPart: "client",
	})
}
