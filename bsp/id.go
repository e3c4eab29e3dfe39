package bsp

import (
	"cmp"
	"fmt"
	"net/netip"
)

// CellID names a cell: the term of the manager that made it, and that manager's counter. The zero
// CellID names no cell.
type CellID struct{ Term, N uint32 }

// Compare orders by term, then by number.
func (c CellID) Compare(o CellID) int {
	if d := cmp.Compare(c.Term, o.Term); d != 0 {
		return d
	}
	return cmp.Compare(c.N, o.N)
}

// IsZero reports whether c names no cell.
func (c CellID) IsZero() bool { return c == CellID{} }

// String writes term.number.
func (c CellID) String() string { return fmt.Sprintf("%d.%d", c.Term, c.N) }

// Version orders the states of a space's geometry: by the manager's term, then by its counter. The
// zero Version belongs to no tree. A newer manager's version supersedes every version of an older
// one.
type Version struct{ Term, N uint32 }

// Compare orders by term, then by number.
func (v Version) Compare(o Version) int { return CellID(v).Compare(CellID(o)) }

// Less reports whether v is older than o.
func (v Version) Less(o Version) bool { return v.Compare(o) < 0 }

// String writes term.number.
func (v Version) String() string { return CellID(v).String() }

// Leaf is a cell as the tree knows it.
type Leaf struct {
	// Cell must not be changed while the leaf is in a Tree: the tree finds leaves by it.
	Cell CellID
	// App and Salt are the address and the start of the CellApp that runs the cell. IPv6 zones are
	// not carried.
	App  netip.AddrPort
	Salt uint32
	// Created is set once the CellApp has confirmed the cell. Nothing may be offloaded to it before
	// that.
	Created bool
	// Loading says that the cell has not loaded the geometry of its rectangle yet. No entity may be
	// handed over to it before it has; ghosts may be made there.
	Loading bool
	// Retiring says that the cell is on its way out. Only Retire, Unretire and Remove change it.
	Retiring bool
	// Overloaded is the manager's verdict that the cell's CellApp is above its safety bound, and
	// that nothing should grow towards it. Viewers and logs show it.
	Overloaded bool
	// Load is the cell's last known load, in nanoseconds of work per second; never negative on the
	// wire.
	Load int64
}

// NodeID names an inner node, which is a line, for as long as the line exists in a Tree and in its
// Clones. The ids of a parsed tree are its own. 0 names none.
type NodeID uint32

// A NodeID holds the node's slot plus one in the low bits, and in the high bits how often the slot
// was reused, so that a line that has gone is not mistaken for a later one.
const slotBits = 14

func makeNodeID(slot int32, generation uint32) NodeID {
	return NodeID(generation<<slotBits | uint32(slot+1))
}

func (id NodeID) slot() int32 { return int32(id&(1<<slotBits-1)) - 1 }
