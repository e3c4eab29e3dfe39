package client

import (
	"cmp"
	"iter"
	"reflect"
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/script"
	"github.com/cellscape/cellscape/property"
)

// Replica is the client's copy of an entity. Callers read it and do not change it.
type Replica struct {
	ID  entity.ID
	Def *property.Definition
	// Props holds what this client sees: of the player's own entity the
	// OwnClientSide, of others the OtherClientSide. A property above the detail
	// level that the entity is seen at has the last value that came, or the default.
	Props    *property.Values
	Position property.Vector3
	// Direction is yaw, pitch and roll in radians, in X, Y and Z.
	Direction property.Vector3

	client *Client
	kind   *script.Type // nil if the game wrote none
	script reflect.Value
	stamp  uint32
	// born is the number of the bundle with the last reliable word on the place.
	// Invariant: no packet entry with a smaller After is used.
	born uint64
	// moved is the After of the last packet entry that was used, 0 before any. A
	// Rest in that bundle or an earlier one is older than the entry.
	moved uint64
}

// Own reports whether r is the player's own entity.
func (r *Replica) Own() bool { return r.Props.Side() == property.OwnClientSide }

// Stamp numbers the moves of the entity, as the server counts them: it says which one
// Position and Direction are of. Numbers count round.
func (r *Replica) Stamp() uint32 { return r.stamp }

// newer compares stamps, which may wrap around.
func newer(a, b uint32) bool { return int32(a-b) > 0 }

// follow uses an entry of a Positions packet, if it is newer than what r has.
func (r *Replica) follow(after uint64, stamp uint32, position, direction property.Vector3) bool {
	if after < r.born || !newer(stamp, r.stamp) {
		return false
	}
	r.moved = max(r.moved, after)
	r.stamp, r.Position, r.Direction = stamp, position, direction
	return true
}

// rest uses a Rest that came in a bundle, unless something sent after it was
// used. It does not ask for a newer stamp: after the restoration of the entity
// that it tells of, stamps may have gone back, and it is the server's last word.
func (r *Replica) rest(bundle uint64, stamp uint32, position, direction property.Vector3) (used, moves bool) {
	if r.moved >= bundle && !newer(stamp, r.stamp) {
		return false, false
	}
	moves = r.Position != position || r.Direction != direction
	r.born = bundle
	r.stamp, r.Position, r.Direction = stamp, position, direction
	return true, moves
}

// replicas is ordered by id, so that whoever walks it does so in the same order
// in every run.
type replicas []*Replica

func (s replicas) find(id entity.ID) (int, bool) {
	return slices.BinarySearchFunc(s, id, func(r *Replica, id entity.ID) int { return cmp.Compare(r.ID, id) })
}

func (s replicas) get(id entity.ID) *Replica {
	if i, ok := s.find(id); ok {
		return s[i]
	}
	return nil
}

// put adds r; there is none of its id.
func (s *replicas) put(r *Replica) {
	i, _ := s.find(r.ID)
	*s = slices.Insert(*s, i, r)
}

func (s *replicas) remove(id entity.ID) *Replica {
	i, ok := s.find(id)
	if !ok {
		return nil
	}
	r := (*s)[i]
	*s = slices.Delete(*s, i, i+1)
	return r
}

// Entities are the entities in the area of interest, in the order of their ids;
// the player's own is not among them. They must not change meanwhile: no message
// may be handed to the client.
func (c *Client) Entities() iter.Seq[*Replica] { return slices.Values(c.entities) }

// Len is the number of entities in the area of interest.
func (c *Client) Len() int { return len(c.entities) }

// Entity is the player's own entity, or the one of that id in the area of
// interest, or nil.
func (c *Client) Entity(id entity.ID) *Replica {
	if c.player != nil && c.player.ID == id {
		return c.player
	}
	return c.entities.get(id)
}

// Player is the player's own entity, nil before BasePlayer.
func (c *Client) Player() *Replica { return c.player }
