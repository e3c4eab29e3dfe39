package aoi

// Node is a handle of one point of an [Index]. It is checked on use: after [Index.Remove] it is
// dead, even when another point uses its slot. The zero Node stands for none.
type Node uint64

// Trigger is a handle of one range trigger of an [Index], checked on use as a [Node] is. The zero
// Trigger stands for none.
type Trigger uint64

// A handle holds a slot, counted from one, in its low half, and in its high half the number of
// times that slot was given up before.
func handle(slot, generation uint32) uint64 { return uint64(generation)<<32 | uint64(slot+1) }

// node is a slot for a point.
type node struct {
	key        uint64
	at         spot // where it is
	was        spot // where it was at the last Update, if it is known
	placed     spot // where the grid has it
	appeal     float32
	generation uint32
	triggers   uint32 // handle slot of the first trigger that rides on it; 0 is none

	live  bool
	known bool // it was there at the last Update
	moved bool // it came, moved or went since
	leaps bool // in the Update in progress; see pace
	stray bool // it is not where the grid has it, and among Index.strays
}

// Index holds the points of one space and the triggers that ride on them. The zero Index is empty
// and ready for use. It must not be copied after first use and is not safe for concurrent use.
type Index struct {
	nodes     []node
	live      int
	freeNodes []uint32
	big       []uint32 // nodes with an appeal; they are not in the grid
	triggers  []trigger
	freeTrigs []uint32
	order     []rank // all triggers, by their owners' keys

	grid   grid
	tuning tuning
	strays []uint32
	drift  float64 // what is not a stray is no farther than this from where the grid has it

	moved    []uint32 // since the last Update
	ranges   ranges
	pace     pace
	notices  []notice
	places   []place  // of all nodes in the grid, as it has them
	crossed  []uint32 // nodes that crossed the edge of the core of the trigger in hand, see came
	suspect  []uint32 // nodes that may have
	returned []uint32 // from the band of that trigger to its core
	queue    queue
	buffers  [][]found // from queries that have ended
}

// Len returns how many nodes the Index holds.
func (ix *Index) Len() int { return ix.live }

// Has reports whether n is a node of the Index that has not been removed.
func (ix *Index) Has(n Node) bool {
	slot := uint64(uint32(n))
	if slot == 0 || slot > uint64(len(ix.nodes)) {
		return false
	}
	nd := &ix.nodes[slot-1]
	return nd.live && nd.generation == uint32(n>>32)
}

func (ix *Index) nodeSlot(n Node) uint32 {
	if !ix.Has(n) {
		panic("aoi: no such node")
	}
	return uint32(n) - 1
}

func (ix *Index) nodeHandle(slot uint32) Node { return Node(handle(slot, ix.nodes[slot].generation)) }

// Insert adds a point at (x, z) metres. Events and queries call it by its key; keys order them and
// need not be unique. Insert panics if the position is not [Finite].
func (ix *Index) Insert(key uint64, x, z float32) Node { return ix.InsertBig(key, x, z, 0) }

// InsertBig adds a point that is seen from farther away, such as a tower: it enters and leaves
// triggers as if their ranges were longer by appeal metres. Each trigger tests each such point in
// each [Index.Update], so there should be few of them; queries do the same. InsertBig panics if the
// position is not [Finite], or appeal is negative or not finite.
func (ix *Index) InsertBig(key uint64, x, z, appeal float32) Node {
	at := newSpot(x, z)
	checkRange(appeal, appeal)
	var slot uint32
	if k := len(ix.freeNodes); k > 0 {
		slot, ix.freeNodes = ix.freeNodes[k-1], ix.freeNodes[:k-1]
	} else {
		slot = uint32(len(ix.nodes))
		ix.nodes = append(ix.nodes, node{})
	}
	nd := &ix.nodes[slot]
	*nd = node{key: key, at: at, appeal: appeal, generation: nd.generation, live: true, moved: true}
	ix.live++
	ix.moved = append(ix.moved, slot)
	if appeal > 0 {
		ix.big = append(ix.big, slot)
	} else {
		ix.stray(slot)
	}
	return ix.nodeHandle(slot)
}

// Move puts n at (x, z) metres, along with the triggers that ride on it. It is cheap, since all that
// comes of it is left to the next [Index.Update]. Move panics if n is not in the Index or the
// position is not [Finite].
func (ix *Index) Move(n Node, x, z float32) {
	slot, to := ix.nodeSlot(n), newSpot(x, z)
	nd := &ix.nodes[slot]
	if nd.at == to {
		return
	}
	nd.at = to
	if !nd.moved {
		nd.moved = true
		ix.moved = append(ix.moved, slot)
	}
	if nd.stray || nd.appeal > 0 {
		return
	}
	if d := distance(to, nd.placed); d > ix.grid.cell {
		ix.stray(slot)
	} else if d > ix.drift {
		ix.drift = d
	}
}

func (ix *Index) stray(slot uint32) {
	ix.nodes[slot].stray = true
	ix.strays = append(ix.strays, slot)
}

// Remove takes n out of the Index, along with the triggers that ride on it, which report nothing
// from then on. Every trigger that has reported n as entering reports it as leaving in the next
// [Index.Update]. Remove panics if n is not in the Index.
func (ix *Index) Remove(n Node) {
	slot := ix.nodeSlot(n)
	nd := &ix.nodes[slot]
	for nd.triggers != 0 {
		ix.dropTrigger(nd.triggers - 1)
	}
	nd.live = false
	ix.live--
	ix.queue.doubtful = true
	if !nd.moved {
		nd.moved = true
		ix.moved = append(ix.moved, slot)
	}
}

// Position returns where n is, in metres. It panics if n is not in the Index.
func (ix *Index) Position(n Node) (x, z float32) {
	at := ix.nodes[ix.nodeSlot(n)].at
	return at[0], at[1]
}

// Key returns the key that n was inserted with. It panics if n is not in the Index.
func (ix *Index) Key(n Node) uint64 { return ix.nodes[ix.nodeSlot(n)].key }
