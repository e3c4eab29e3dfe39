package client

import (
	"cmp"
	"iter"
	"reflect"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/script"
	"github.com/cellscape/cellscape/property"
)

// Replica is the client's copy of an entity. Callers may read it but not change it.
type Replica struct {
	// What a place that arrives changes comes first: it is 64 bytes, so that of thousands of replicas
	// one line of the processor's cache is fetched for each. All of it is 128.

	Position property.Vector3
	// Direction is yaw, pitch and roll in radians, in X, Y and Z.
	Direction property.Vector3
	packet    uint32 // number of the last packet that had it, 0 before any
	heard     uint32 // when the last packet entry was used, in ms; 0 for none since the last reliable message
	placed    placed
	rare      *rare // nil while it has none of that
	// Tag is the caller's own, of whoever plays this client: the client keeps it and does not look
	// at it. It is 0 at first. Package bots has its own use for it.
	Tag uint64

	ID  entity.ID
	Def *property.Definition
	// Props holds what this client sees: the OwnClientSide of the player's own entity, the
	// OtherClientSide of others. A property above the detail level at which the entity is seen has
	// the last value that came, or the default.
	Props *property.Values

	// told is the number of the last bundle with a reliable word on the properties. Invariant: no news of
	// a packet with a smaller After is used.
	told uint64
	// entered is the number of the bundle that brought the entity into view.
	entered uint64
	client  *Client
	alias   uint32

	_ [20]byte // to 128: of a shorter size, most would lie across two lines
}

// rare is what most replicas of a crowd do not have.
type rare struct {
	filter Filter     // nil: places are shown as they arrive
	bound  *bound     // nil without a script
	ride   *ride      // nil on no vehicle
	news   []newsMark // of what packets have told
	// whisper is the packet with the last call that came in news, and called that call's place in it.
	whisper, called uint32
}

// extend is where r has what is rare.
func (r *Replica) extend() *rare {
	if r.rare == nil {
		r.rare = new(rare)
	}
	return r.rare
}

// script is the script of r, nil without one.
func (r *Replica) script() *bound {
	if r.rare == nil {
		return nil
	}
	return r.rare.bound
}

// bound is the script of a replica.
type bound struct {
	kind  *script.Type
	value reflect.Value
}

// Client returns the client whose copy it is, so that a script can ask for others that it sees.
func (r *Replica) Client() *Client { return r.client }

// Age is how long ago the place came that an entity in motion has here, by the clock of Tick
// (session.Session.Now), rounded to milliseconds. It is 0 for one at rest, which is where it says. The
// place of who rides is as old as its seat or the place of the vehicle, whichever is older.
func (r *Replica) Age(now time.Duration) (age time.Duration) {
	for range maxStack {
		if r.heard > 0 {
			age = max(age, time.Duration(int32(uint32(now/time.Millisecond)-r.heard))*time.Millisecond)
		}
		on := r.riding()
		if on == nil || r.client.Entity(on.vehicle) == nil {
			break
		}
		r = r.client.Entity(on.vehicle)
	}
	return age
}

// Own reports whether r is the player's own entity.
func (r *Replica) Own() bool { return r.Props.Side() == property.OwnClientSide }

// placed says from when a replica's place is: twice the number of the bundle that had it, or of the one
// after which the packet was sent that had it, which is one more.
type placed uint64

func byBundle(bundle uint64) placed { return placed(bundle << 1) }

func byPacket(after uint64) placed { return placed(after<<1 | 1) }

// isAfter reports whether the place is from a packet that was sent after a bundle.
func (p placed) isAfter(bundle uint64) bool { return p&1 != 0 && uint64(p>>1) >= bundle }

// follow uses an entry of a packet, unless r has later news of its place. ok is false for an
// impossible place.
func (r *Replica) follow(h *protocol.PacketHead, m *protocol.Moved) (used, ok bool) {
	if byPacket(h.After) < r.placed || h.Number <= r.packet {
		return false, true
	}
	if m.Seated() {
		return r.shift(h, m)
	}
	position, direction, ok := m.From(r.Position, r.Direction)
	if !ok {
		return false, false
	}
	if r.riding() != nil {
		r.client.alight(r) // it is told as of one who rides nothing: this comes before the word on that
	}
	r.placed, r.packet = byPacket(h.After), h.Number
	r.Position, r.Direction = position, direction
	return true, true
}

// rest uses a Rest that came in a bundle, unless a packet that was sent after it has been used.
func (r *Replica) rest(bundle uint64, position, direction property.Vector3) (used, moves bool) {
	if r.placed.isAfter(bundle) {
		return false, false
	}
	moves = r.Position != position || r.Direction != direction
	r.placed = byBundle(bundle)
	r.Position, r.Direction = position, direction
	return true, moves
}

// aliases finds replicas by the aliases that packets use.
type aliases []*Replica

func (a aliases) get(alias uint32) *Replica {
	if alias < uint32(len(a)) {
		return a[alias]
	}
	return nil
}

// put gives a replica its alias. It reports false if another replica has it.
func (a *aliases) put(r *Replica) bool {
	if r.alias == protocol.NoAlias {
		return true
	}
	for uint32(len(*a)) <= r.alias {
		*a = append(*a, nil)
	}
	if (*a)[r.alias] != nil {
		return false
	}
	(*a)[r.alias] = r
	return true
}

func (a aliases) remove(r *Replica) {
	if a.get(r.alias) == r {
		a[r.alias] = nil
	}
}

func (a *aliases) clear() { *a = nil }

// replicas finds replicas by id, and is walked in the order of their ids, so that a walk has the
// same order in every run. The ids lie together, so that a search does not fetch a line of the
// processor's cache for each replica it passes; and apart from the pointers, so that the collector
// has no part in it when half of them move for one that comes or goes. (In a crowd that was an
// eighth of a client's work.)
type replicas struct {
	order []member // by id
	at    []*Replica
	free  []uint32 // of at
}

type member struct {
	id entity.ID
	at uint32 // in replicas.at
}

func (s *replicas) find(id entity.ID) (int, bool) {
	return slices.BinarySearchFunc(s.order, id, func(k member, id entity.ID) int { return cmp.Compare(k.id, id) })
}

func (s *replicas) get(id entity.ID) *Replica {
	if i, ok := s.find(id); ok {
		return s.at[s.order[i].at]
	}
	return nil
}

// put adds r; there is none of its id.
func (s *replicas) put(r *Replica) {
	at := uint32(len(s.at))
	if n := len(s.free); n > 0 {
		at, s.free = s.free[n-1], s.free[:n-1]
		s.at[at] = r
	} else {
		s.at = append(s.at, r)
	}
	i, _ := s.find(r.ID)
	s.order = slices.Insert(s.order, i, member{r.ID, at})
}

func (s *replicas) remove(id entity.ID) *Replica {
	i, ok := s.find(id)
	if !ok {
		return nil
	}
	at := s.order[i].at
	r := s.at[at]
	s.at[at], s.free = nil, append(s.free, at)
	s.order = slices.Delete(s.order, i, i+1)
	return r
}

// Entities yields the entities in the area of interest in order of their ids, without the player's
// own. They must not change in the loop, so pass no message to the client in it.
func (c *Client) Entities() iter.Seq[*Replica] {
	return func(yield func(*Replica) bool) {
		for _, k := range c.entities.order {
			if !yield(c.entities.at[k.at]) {
				return
			}
		}
	}
}

// Len is the number of entities in the area of interest.
func (c *Client) Len() int { return len(c.entities.order) }

// Entity returns the entity with an id: the player's own, or one in the area of interest; otherwise
// nil.
func (c *Client) Entity(id entity.ID) *Replica {
	if c.player != nil && c.player.ID == id {
		return c.player
	}
	return c.entities.get(id)
}

// Player is the player's own entity, nil before BasePlayer.
func (c *Client) Player() *Replica { return c.player }
