package witness

import (
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/property"
)

// entry is one entity of the area of interest: what each Update looks at. Entries stand side by side
// in the order of their aliases, which is their order in a packet, and fill a line of memory each. A gap
// among them has an alias alone.
type entry struct {
	s *sight   // of account.s; nil while there is more to do than to look: see Witness.tend
	a *account // nil for a gap

	at    virtual // time of the next turn, if it is placed
	since uint32  // the last Update after which it was owed nothing

	// Nothing of the history was owed when it stood at seen, if it is settled.
	seen property.EventNumber
	// moved is the MoveStamp last sent, or the Ride.Stamp if the client is aboard.
	moved uint32
	// told has a bit for each of the last 32 packets up to packet that tell of the entity, the lowest
	// for packet itself.
	told, packet uint32
	// sure is when the client was told the place that it is known to have had last: what it holds now
	// is that one, or a later one that was sent to it.
	sure moment
	// Between these squares of distances the detail level stays. If the first is above the other, they
	// are not worked out.
	nearest, farthest float32

	alias   uint16
	stepped halfSteps // from the last turn to the next
	unseen  unseen
	level   uint8 // detail level of the watcher
	sent    bool  // the client has it
	settled bool
	rested  bool // the place of moved was sent reliably
	placed  bool // it has its turn in virtual time
	listed  bool // in Witness.odd
	bundled bool // account.bundle is one that the client has not confirmed
}

// account is what the client knows of an entity apart from its place, and what becomes of the entry. It
// takes two lines of memory.
type account struct {
	s *Subject // nil after Read, until Enter, and once the entity is gone

	// have is, by level, 1 + the number up to which the client knows the properties of that level;
	// 0 if it never had them. Of most types there is one level: its number stands in few.
	have []uint64
	few  [1]uint64
	// lossy is the same of each of the Lossy properties, which no level counts.
	lossy []lossy
	// heard is the number up to which calls were sent, whispered that of the last call that went into
	// a packet.
	heard, whispered property.EventNumber
	// bundle has the last reliable word on the place, told at a moment, if the entry is bundled.
	bundle  uint64
	telling moment

	size  int32 // what the client is to keep of it, if it is gone; 0 for nothing
	leave bool  // the client must be told to forget it, or an older incarnation of it
	gone  bool  // not in range any more
	named bool  // the client was told the alias
	stuck bool  // what is owed is above MaxEntity
	grace uint8 // Updates left in which it may be linked
	// seenLevel is the detail level at which the entry was settled last.
	seenLevel   uint8
	incarnation uint32
	ridden      uint32 // presence.Ride.Stamp of what the client was told last
	id          entity.ID
	via         uint64 // Subject.Via of what the client was told
	// scheme is what a script has set for this client, zero if it has not.
	scheme property.UpdateScheme
}

// entity is the record that is watched. Only a linked entry has one.
func (en *entry) entity() *presence.Entity { return en.a.s.Entity }

// before reports whether the entry comes before another in the order of entries: by alias, and by id
// among those without one.
func (en *entry) before(n ref) bool {
	if en.alias != n.alias || n.alias != none {
		return en.alias < n.alias
	}
	return en.a.id < n.id
}

// begin makes s an entry that the client knows nothing of.
func (en *entry) begin(s *Subject) {
	a, d := en.a, s.Entity.Def
	a.incarnation, a.via, en.sent = s.Entity.Order.Incarnation, s.Via, false
	a.ridden, en.unseen = 0, 0
	en.level, a.heard, a.whispered, en.moved, en.rested = uint8(len(d.Levels)), 0, 0, 0, true
	if len(d.Levels) < len(a.few) && a.have == nil {
		a.have = a.few[:0]
	}
	a.have = append(a.have[:0], make([]uint64, len(d.Levels)+1)...)
	a.lossy = append(a.lossy[:0], make([]lossy, len(d.Lossy()))...)
	en.link(s)
}

// link joins the entry with the record that this cell has of the entity. The record may be behind
// what the client was told elsewhere.
func (en *entry) link(s *Subject) {
	a := en.a
	a.watch(s)
	a.stuck, a.grace = false, 0
	en.settled, en.bundled, en.told, en.packet, en.sure = false, false, 0, 0, 0
	en.nearest, en.farthest = 1, 0
	if en.sent {
		a.leave = false
		en.hold() // a sweep may be past this witness
	}
	if en.s = s.hot(); a.leave {
		en.s = nil
	}
}

// watch changes the Subject, which counts who has it.
func (a *account) watch(s *Subject) {
	if a.s == s {
		return // an Update may meet an entity anew, and others read the Subject then
	}
	if a.s != nil {
		if a.s.witnesses--; a.s.witnesses == 0 {
			a.s.Unseen.note(a.s)
		}
	}
	if a.s = s; s != nil {
		s.witnesses++
	}
}

// hold lowers the floor of the entity to what the client has of calls and of the levels that it sees.
// It may have less of the other levels: those it is sent whole when it comes nearer.
func (en *entry) hold() {
	floor := uint64(en.a.heard)
	for l := int(en.level); l < len(en.a.have); l++ {
		if have := en.a.have[l]; have > 0 {
			floor = min(floor, have-1)
		}
	}
	e := en.entity()
	e.Floor = min(e.Floor, property.EventNumber(floor))
}

// ahead reports whether the client was told, by another cell, of later moves than this copy knows of:
// it has to catch up first.
func (en *entry) ahead() bool { return newer(en.moved, en.stamp()) }

// atRest reports whether the client was told the present place reliably.
func (en *entry) atRest() bool { return en.rested && en.moved == en.stamp() }

// stamp is what moved counts by.
func (en *entry) stamp() uint32 {
	if en.aboard() {
		return en.entity().Ride.Stamp
	}
	return en.entity().MoveStamp
}

// newer compares move stamps, which wrap around.
func newer(a, b uint32) bool { return int32(a-b) > 0 }
