package witness

import "github.com/cellscape/cellscape/entity/client/protocol"

// Restart begins an empty view: the watcher is somewhere else, and the next bundle, which the caller
// has put a LeaveSpace into, makes the client forget all that it has seen. The numbers of bundles and
// packets go on, so the client can tell what is late, and what names somebody of the old view. The
// witness must be closed: call Enter for whatever is in range.
func (w *Witness) Restart() {
	for i := range w.entries {
		w.giveUp(&w.entries[i])
		w.release(w.entries[i].a)
	}
	clear(w.entries)
	w.entries, w.names = w.entries[:0], w.names[:0]
	w.live, w.odd = 0, 0
	w.queue, w.kept = queue{}, kept{}
	w.moves.seen, w.moves.bits = protocol.Seen{}, 0
}

// Met reports whether the client has been told of everybody in range whom a bundle can carry.
func (w *Witness) Met() bool {
	for i := range w.entries {
		if en := &w.entries[i]; !en.sent && !en.a.gone && !en.a.stuck {
			return false
		}
	}
	return true
}
