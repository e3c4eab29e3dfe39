package witness

import (
	"cmp"
	"iter"
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
)

// Witness is the owner of one player's area of interest. Make it with New.
type Witness struct {
	cfg     Config
	entries []*entry // by id
	free    []*entry // entries to use again
	live    int      // entries that are not gone
	number  uint64   // of the last bundle
	deficit int      // bytes that earlier Updates sent beyond their budget
	now     float64  // virtual time
	factor  float32  // of distances that detail depends on, in (0, 1]
	spare   spare    // what the cell saves
	scale   float32  // of distances, from both

	queue   []turn
	changed []change // scratch of one entity
	props   []byte   // scratch of one message
	packed  []byte   // the same message, packed
	stats   *property.Stats
	pack    *property.Compressor
	bundle  []byte
	header  int // bytes of the bundle before its first message
	moves   moves
	aliases aliases
	dropped uint64
}

// New returns a Witness that knows nobody. It panics if Validate refuses cfg.
func New(cfg Config) *Witness {
	if err := cfg.Validate(); err != nil {
		panic(err)
	}
	cfg = cfg.withDefaults()
	w := &Witness{cfg: cfg, factor: cfg.DetailFactor, spare: spare{whole, whole}, moves: moves{most: DefaultPacket}}
	w.rescale()
	return w
}

// SetDetailFactor makes the radii and hystereses of detail levels, and the detail distances of
// broadcast calls, factor times as large for this watcher: 1 leaves them as defined, 0.5 halves
// them, for a player whose line or whose cell has more to do than it can. Details that the client
// has beyond the new distances stay, but are not kept up to date until the factor rises again.
// Priorities do not change. A factor that is not above 0 and at most 1 is ignored. The factor
// travels with the witness.
func (w *Witness) SetDetailFactor(factor float32) {
	if factor > 0 && factor <= 1 {
		w.factor = factor
		w.rescale()
	}
}

// CountIn counts what is made for the client about other entities, as property.ToOtherClients and
// Moves, including what is given back to Unsent; nil counts nothing. The properties with which an
// entity is met are not changes and are not counted.
func (w *Witness) CountIn(s *property.Stats) { w.stats = s }

// PackWith lets z pack the properties of an Enter for a type whose Compression.External asks for
// it; with nil they go unpacked.
func (w *Witness) PackWith(z *property.Compressor) { w.pack = z }

// entry is one entity of the area of interest, and what the client knows of it.
type entry struct {
	id          entity.ID
	e           *entity.Entity // nil after Read, until Enter
	incarnation uint32

	sent  bool // the client has it
	leave bool // the client must be told to forget it, or an older incarnation of it
	gone  bool // not in range any more

	fresh  bool    // at is not set yet
	at     float64 // virtual time of the next turn
	waited int     // Updates in which it was due but not served
	grace  int     // Updates left in which it may be linked

	// level is the detail level of the watcher.
	level int
	// have is, by level, 1 + the number up to which the client knows the properties of that level;
	// 0 if it never had them.
	have []uint64
	// heard is the number up to which calls were sent.
	heard property.EventNumber
	// rested is the MoveStamp last sent reliably, moved the one last sent at all.
	rested, moved uint32
	// alias names it in packets; held is where the client has it.
	alias uint32
	named bool // the client was told the alias
	held  held

	// Nothing was unsent when the history stood at seen and the level was seenLevel: the usual turn
	// compares just these two. -1 means unknown.
	seen      int64
	seenLevel int
	// stuck says that what is owed is above MaxEntity.
	stuck bool
}

// Enter says that e is in range from now on. If e is known already in the same incarnation (it came
// back before its leave was sent, or the witness was handed over), the client is not told; another
// incarnation is a leave and an enter. Call Enter again when the cell replaces its record of the
// entity by another, as when a ghost becomes the real. Entities of types without a client side are
// ignored, and so are those beyond MaxEntries.
func (w *Witness) Enter(e *entity.Entity) {
	if !e.Def.HasClient {
		return
	}
	i, known := w.find(e.ID)
	if !known {
		if len(w.entries) >= MaxEntries {
			return
		}
		en := w.take()
		en.id, en.fresh, en.alias = e.ID, true, w.aliases.take()
		en.begin(e)
		w.entries = slices.Insert(w.entries, i, en)
		w.live++
		return
	}
	en := w.entries[i]
	if en.gone {
		en.gone = false
		w.live++
	}
	if en.incarnation == e.Order.Incarnation && len(en.have) == len(e.Def.Levels)+1 {
		en.link(e)
		return
	}
	en.leave = en.leave || en.sent
	en.begin(e)
}

// begin makes e an entry that the client knows nothing of.
func (en *entry) begin(e *entity.Entity) {
	en.incarnation, en.sent = e.Order.Incarnation, false
	en.level, en.heard, en.rested, en.moved = len(e.Def.Levels), 0, 0, 0
	en.have = append(en.have[:0], make([]uint64, len(e.Def.Levels)+1)...)
	en.link(e)
}

// link joins the entry with the record that this cell has of the entity. The record may be behind
// what the client was told elsewhere.
func (en *entry) link(e *entity.Entity) {
	en.e, en.seen, en.stuck, en.grace = e, -1, false, 0
	en.held.forget()
	if en.sent {
		en.leave = false
		en.hold() // a sweep may be past this witness
	}
}

// HoldHistory lowers the Floor of each entity of the area of interest to what the client has been
// told of it: what is above the Floor is still needed here. The cell calls it now and then, while
// nothing else works on its entities.
func (w *Witness) HoldHistory() {
	for _, en := range w.entries {
		if en.e != nil && en.sent {
			en.hold()
		}
	}
}

// hold lowers the floor to what the client has of calls and of the levels that it sees. It may have
// less of the other levels: those it is sent whole when it comes nearer.
func (en *entry) hold() {
	floor := uint64(en.heard)
	for l := en.level; l < len(en.have); l++ {
		if have := en.have[l]; have > 0 {
			floor = min(floor, have-1)
		}
	}
	en.e.Floor = min(en.e.Floor, property.EventNumber(floor))
}

// refresh makes the client forget the entity and meet it anew, since it missed a call that it
// should have heard.
func (en *entry) refresh() {
	en.leave = true
	en.begin(en.e)
}

// Leave says that an entity is out of range, or no longer in this cell.
func (w *Witness) Leave(id entity.ID) {
	i, known := w.find(id)
	if !known || w.entries[i].gone {
		return
	}
	en := w.entries[i]
	w.live--
	en.leave = en.leave || en.sent
	if !en.leave {
		w.entries = slices.Delete(w.entries, i, i+1)
		w.giveUp(en)
		w.release(en)
		return
	}
	en.gone, en.e = true, nil
}

// Known yields the ids of the entities in range, ascending: all that entered and did not leave,
// whether or not the client was told. The set must not be changed during the iteration.
func (w *Witness) Known() iter.Seq[entity.ID] {
	return func(yield func(entity.ID) bool) {
		for _, en := range w.entries {
			if !en.gone && !yield(en.id) {
				return
			}
		}
	}
}

// Len is the number of ids that Known yields.
func (w *Witness) Len() int { return w.live }

// Dropped counts what no bundle can carry: calls above MaxEntity, and turns of entities whose
// visible properties are above it. The count is local and does not travel. A game whose count grows
// must send less at once.
func (w *Witness) Dropped() uint64 { return w.dropped }

func (w *Witness) find(id entity.ID) (int, bool) {
	return slices.BinarySearchFunc(w.entries, id, func(en *entry, id entity.ID) int { return cmp.Compare(en.id, id) })
}

func (w *Witness) take() *entry {
	if n := len(w.free); n > 0 {
		en := w.free[n-1]
		w.free = w.free[:n-1]
		return en
	}
	return new(entry)
}

// giveUp takes back the alias of an entry that goes. The client may know it from bundles up to the
// present one, which has the leave if there is one.
func (w *Witness) giveUp(en *entry) {
	if en.named {
		w.aliases.leave(en.alias, w.number+1)
	} else {
		w.aliases.unused(en.alias)
	}
}

func (w *Witness) release(en *entry) {
	*en = entry{have: en.have[:0]}
	w.free = append(w.free, en)
}
