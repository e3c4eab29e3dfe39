package witness

import (
	"iter"
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/property"
)

// Witness is the owner of one player's area of interest. Make it with New.
//
// What each Update reads and writes comes first, side by side.
type Witness struct {
	*desk
	entries []entry // by alias, and by id, with gaps
	odd     []ref   // entries without a Subject to look at, and some that have one again
	number  uint64  // of the last bundle
	updates uint32  // counts round, without 0
	fetched uint32  // nobody reads it: see fetch.go
	scale   float32 // of distances, from factor and spare
	spare   spare   // what the cell saves
	deficit int     // bytes that earlier Updates sent beyond their budget
	line    int     // bytes of an Update that the path to the client carries; 0 for no limit
	cfg     Config
	view    view  // of the last Update
	queue   queue // of a client for whose crowd the budget has no room
	aliases aliases
	moves   moves

	names  index    // the entries, by id
	where  []uint16 // by alias, where the entry stood when it was looked for last
	gaps   int      // in entries
	free   []*account
	live   int     // entries that are not gone
	factor float32 // of distances that detail depends on, in (0, 1]
	// reach is the radius and the hysteresis of the area of interest, 0 if they are the cell's.
	reach   [2]float32
	kept    kept
	pairs   []pair // by id
	dropped uint64
}

// Reconfigure gives the witness another Config from its next Update on, as if it had been made with it;
// DetailFactor is left to SetDetailFactor. It panics if Validate refuses cfg.
func (w *Witness) Reconfigure(cfg Config) {
	if err := cfg.Validate(); err != nil {
		panic(err)
	}
	cfg = cfg.withDefaults()
	cfg.DetailFactor = w.cfg.DetailFactor
	w.cfg, w.deficit = cfg, min(w.deficit, cfg.MaxDeficit)
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

// SetReach notes a radius of the area of interest, and a hysteresis, of this watcher alone, in metres:
// the cell asks for them (Reach), and the priority of the queue goes by the radius. With 0 and 0 they
// are the cell's again. The reach travels with the witness.
func (w *Witness) SetReach(radius, hysteresis float32) { w.reach = [2]float32{radius, hysteresis} }

// Reach is what SetReach has noted.
func (w *Witness) Reach() (radius, hysteresis float32) { return w.reach[0], w.reach[1] }

// Enter says that s.Entity is in range from now on. If it is known already in the same incarnation
// (it came back before its leave was sent, or the witness was handed over), the client is not told;
// another incarnation, or another Via, is a leave and an enter. Call Enter again when the cell
// replaces its record of the entity by another, as when a ghost becomes the real. Entities of types
// without a client side are ignored, and so are those beyond MaxEntries.
func (w *Witness) Enter(s *Subject) {
	e := s.Entity
	if !e.Def.HasClient {
		return
	}
	i, known := w.find(e.ID)
	if !known {
		if w.names.n < MaxEntries {
			w.meet(s)
		}
		return
	}
	en := &w.entries[i]
	was := en.s
	if en.a.gone {
		en.a.gone = false
		w.live++
	}
	if en.a.incarnation == e.Order.Incarnation && en.a.via == s.Via && len(en.a.have) == len(e.Def.Levels)+1 && len(en.a.lossy) == len(e.Def.Lossy()) {
		en.link(s)
	} else {
		en.a.leave = en.a.leave || en.sent
		en.begin(s)
	}
	w.reseat(en, was)
}

// meet adds an entry for somebody who is not known.
func (w *Witness) meet(s *Subject) {
	en := entry{a: w.take(), alias: w.aliases.take(), since: w.updates}
	en.a.id = s.Entity.ID
	en.a.scheme = w.schemeFor(en.a.id)
	en.begin(s)
	w.live++
	if at := w.insert(en); w.queue.on {
		w.join(at)
	}
}

// reseat takes in that the Subject of an entry may not be what it was: who has none is listed, and
// who has one again waits for a turn.
func (w *Witness) reseat(en *entry, was *sight) {
	if was != nil && en.s != was {
		w.queue.forget(en.alias)
	}
	if en.s == nil {
		w.queue.turns.drop(en.alias)
	}
	switch {
	case en.s == nil && !en.listed:
		en.listed = true
		w.odd = append(w.odd, ref{en.a.id, en.alias})
	case en.s != nil && was == nil && w.queue.on:
		w.join(en)
	}
}

// HoldHistory lowers the Floor of each entity of the area of interest to what the client has been
// told of it: what is above the Floor is still needed here. The cell calls it now and then, while
// nothing else works on its entities.
func (w *Witness) HoldHistory() {
	for i := range w.entries {
		if en := &w.entries[i]; en.a != nil && en.a.s != nil && en.sent {
			en.hold()
		}
	}
}

// Leave says that an entity is out of range. The client keeps what it knows of it, as long as there is
// room; see the package comment.
func (w *Witness) Leave(id entity.ID) {
	if i, known := w.find(id); known && !w.entries[i].a.gone {
		a := w.entries[i].a
		if a.s != nil {
			a.size = int32(min(sizeOf(a.s.Entity), maxKeptOne+1)) // more is not kept
		}
		w.gone(i)
	}
}

// AppendLastCalls appends the calls of an entity that the client sees and has not been told of, as direct
// messages of the next Update: to be asked before Gone, which forgets them. Direct messages come before
// leaves. Calls beyond MaxCall bytes are dropped.
func (w *Witness) AppendLastCalls(b []byte, watcher *presence.Entity, id entity.ID) []byte {
	i, known := w.find(id)
	if !known {
		return b
	}
	en := &w.entries[i]
	if !en.sent || en.a.gone || en.a.leave || en.a.stuck || en.a.s == nil || en.a.incarnation != en.entity().Order.Incarnation {
		return b
	}
	e, start := en.entity(), len(b)
	dist := property.Distance(watcher.Position, e.Position)
	for ev := range e.History.Since(en.a.heard) {
		if !w.hears(en, &ev, dist) {
			continue
		}
		if len(b)-start+len(ev.Payload) > MaxCall {
			w.dropped++
			continue
		}
		call := protocol.Call{ID: e.ID, Method: uint16(ev.Method), Args: ev.Payload}
		b = call.Append(b)
	}
	return b
}

// Gone says that an entity is no longer in this cell, neither as a real nor as a ghost: as a rule it is
// no more. The client forgets it.
func (w *Witness) Gone(id entity.ID) {
	if i, known := w.find(id); known {
		if w.entries[i].a.size = 0; !w.entries[i].a.gone {
			w.gone(i)
		}
	}
}

// gone takes an entry out of range.
func (w *Witness) gone(i int) {
	en := &w.entries[i]
	w.live--
	en.a.leave = en.a.leave || en.sent
	was := en.s
	en.s, en.a.gone = nil, true
	w.reseat(en, was)
	en.a.watch(nil)
	if !en.a.leave {
		w.remove(i)
	}
}

// Close ends the watching: no Subject counts the witness any more, which is of no more use here.
func (w *Witness) Close() {
	for i := range w.entries {
		if en := &w.entries[i]; en.a != nil {
			was := en.s
			en.s = nil
			w.reseat(en, was)
			en.a.watch(nil)
		}
	}
}

// Known yields the ids of the entities in range, ascending: all that entered and did not leave,
// whether or not the client was told.
func (w *Witness) Known() iter.Seq[entity.ID] {
	ids := make([]entity.ID, 0, w.live)
	for i := range w.entries {
		if a := w.entries[i].a; a != nil && !a.gone {
			ids = append(ids, a.id)
		}
	}
	slices.Sort(ids)
	return slices.Values(ids)
}

// Len is the number of ids that Known yields.
func (w *Witness) Len() int { return w.live }

// Crowded reports whether the budget had no room for all that was due in the last Update, or in an
// earlier one, and not all have had their turns since.
func (w *Witness) Crowded() bool { return w.queue.on }

// Has reports whether the client has been told of an entity in an incarnation, where it is and not through
// anything (Subject.Via), and not yet that it has left.
func (w *Witness) Has(id entity.ID, incarnation uint32) bool {
	i, known := w.find(id)
	if !known {
		return false
	}
	en := &w.entries[i]
	return en.sent && !en.a.gone && !en.a.leave && en.a.via == 0 && en.a.incarnation == incarnation
}

// Dropped counts what no bundle can carry: calls above MaxEntity, and turns of entities whose
// visible properties are above it. The count is local and does not travel. A game whose count grows
// must send less at once.
func (w *Witness) Dropped() uint64 { return w.dropped }

func (w *Witness) take() *account {
	if n := len(w.free); n > 0 {
		a := w.free[n-1]
		w.free = w.free[:n-1]
		return a
	}
	return new(account)
}

// giveUp takes back the alias of an entry that goes. The client may know it from bundles up to the
// present one, which has the leave if there is one.
func (w *Witness) giveUp(en *entry) {
	if en.a.named {
		w.aliases.leave(en.alias, w.number+1)
	} else {
		w.aliases.unused(en.alias)
	}
}

func (w *Witness) release(a *account) {
	*a = account{have: a.have[:0], lossy: a.lossy[:0]}
	w.free = append(w.free, a)
}
