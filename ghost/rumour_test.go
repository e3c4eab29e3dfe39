package ghost

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
)

func TestRumours(t *testing.T) {
	var r Rumours
	head := func(id entity.ID, hop, sequence uint32) Head {
		return Head{ID: id, Order: entity.Order{Incarnation: 1, Hop: hop}, Sequence: sequence}
	}
	r.Hear(head(1, 2, 5), 0)
	if r.Forbid(head(1, 2, 6), 0) || r.Forbid(head(1, 3, 1), 0) || r.Forbid(head(2, 1, 1), 0) {
		t.Error("a newer State, or one of another entity, is held up")
	}
	for range 2 {
		if !r.Forbid(head(1, 2, 5), 0) || !r.Forbid(head(1, 1, 9), 0) {
			t.Error("an older one is not held up")
		}
	}
	r.Hear(head(1, 2, 5), 9*time.Second)
	if r.Forbid(head(1, 1, 9), Moment(time.Second)) {
		t.Error("a rumour of what is not here holds up an answer to a question asked since the first")
	}
	r.End(head(1, 2, 5), 9*time.Second)
	if !r.Forbid(head(1, 1, 9), Moment(time.Second)) || !r.Forbid(head(1, 1, 9), Moment(9*time.Second)) || r.Forbid(head(1, 1, 9), Moment(10*time.Second)) {
		t.Error("an answer is not believed, or one to a question asked before the end is")
	}
	order := func(hop uint32) entity.Order { return entity.Order{Incarnation: 1, Hop: hop} }
	if first, again := r.Deny(1, order(0)), r.Deny(1, order(0)); !first || !again || r.Deny(1, order(1)) || r.Deny(1, order(2)) || r.Deny(2, order(0)) {
		t.Error("a real is denied that is newer than one denied before, or than the rumour; or none is")
	}
	r.Hear(head(1, 9, 1), TombstoneLease-1)
	if !r.Forbid(head(1, 9, 1), 0) {
		t.Error("a newer rumour holds up nothing more")
	}
	r.Hear(head(1, 9, 1), 2*TombstoneLease-2)
	r.Expire(TombstoneLease)
	if len(r.byID) != 1 {
		t.Error("a newer rumour ended with the older one")
	}
	r.Expire(2*TombstoneLease - 1)
	if len(r.byID)+len(r.queue) != 0 {
		t.Error("a rumour that is repeated stands for ever")
	}
	for id := range entity.ID(MaxTombstones + 9) {
		r.Hear(head(id+1, 1, 1), 0)
	}
	if len(r.byID) != MaxTombstones || len(r.queue) != MaxTombstones || r.Forbid(head(9, 1, 1), 0) || !r.Forbid(head(10, 1, 1), 0) {
		t.Errorf("%d rumours", len(r.byID))
	}
}

// A rumour of a newer hop lasts its whole lease, also if there was an older one.
func TestNewerRumourLasts(t *testing.T) {
	var r Rumours
	head := func(hop, sequence uint32) Head {
		return Head{ID: 1, Order: entity.Order{Incarnation: 1, Hop: hop}, Sequence: sequence}
	}
	r.Hear(head(5, 40), 0)
	r.Hear(Head{ID: 2, Order: entity.Order{Incarnation: 1}}, time.Second)
	r.Hear(head(5, 40), 2*time.Second)
	r.End(head(6, 23), TombstoneLease-time.Second)
	r.Expire(TombstoneLease + 2*time.Second)
	if !r.Forbid(head(5, 85), 0) {
		t.Error("the newer rumour ended with the older one")
	}
	if len(r.queue) != 1 || len(r.byID) != 1 {
		t.Errorf("%d rumours stand, %d in the queue", len(r.byID), len(r.queue))
	}
	r.Expire(2*TombstoneLease - time.Second)
	if r.Forbid(head(5, 85), 0) || len(r.queue) != 0 || len(r.byID) != 0 {
		t.Error("it stands for ever")
	}
}
