package witness

import (
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
)

// Restart begins an empty view: the watcher is somewhere else, and the next bundle, which the caller
// has put a LeaveSpace into, makes the client forget all that it has seen. The numbers of bundles and
// packets go on, so the client can tell what is late, and what names somebody of the old view. The
// witness must be closed: call Enter for whatever is in range.
func (w *Witness) Restart() {
	for i := range w.entries {
		if en := &w.entries[i]; en.a != nil {
			w.giveUp(en)
			w.release(en.a)
		}
	}
	clear(w.entries)
	w.entries, w.odd = w.entries[:0], w.odd[:0]
	w.names.reset()
	w.live, w.gaps = 0, 0
	w.queue, w.kept = queue{}, kept{}
	w.moves.seen, w.moves.bits = protocol.Seen{}, 0
}

// Carry takes the view along through a transition: the next bundle, which the caller has put a Transit
// into, maps the client's coordinates of the companions who go through it with the watcher. elsewhere says
// that it leads to another space: then the client loses sight of everybody else at once. Of the companions
// it returns those that the client has.
//
// A companion has a new place, with a new stamp, so the client is told of it as of any move. Whoever is not
// moved is where the client has it. What the client says that it has seen counts anew, since no place of
// before tells the next.
func (w *Witness) Carry(companions []entity.ID, elsewhere bool) (seen []entity.ID) {
	for i := len(w.entries) - 1; i >= 0; i-- { // who goes may be removed
		a := w.entries[i].a
		if a == nil {
			continue
		}
		switch with := slices.Contains(companions, a.id); {
		case with && w.entries[i].sent && !a.gone && !a.leave:
			seen = append(seen, a.id)
		case !with && elsewhere:
			w.Gone(a.id)
		}
	}
	w.moves.seen, w.moves.bits = protocol.Seen{}, 0
	slices.Sort(seen)
	return seen
}

// Met reports whether the client has been told of everybody in range whom a bundle can carry.
func (w *Witness) Met() bool {
	for i := range w.entries {
		if en := &w.entries[i]; en.a != nil && !en.sent && !en.a.gone && !en.a.stuck {
			return false
		}
	}
	return true
}
