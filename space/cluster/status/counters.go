package status

import (
	"iter"
	"reflect"
)

// Counters are end-to-end counts, of one process since it started or of all: in a world at rest the
// sums of what was sent and what was handled are equal, as long as nothing has died. After a death
// they tell of activity alone: what the dead process had counted since its last report is gone, and
// what it had not backed up is handled again.
type Counters struct {
	// Calls of clients: handed on by proxies, handled by bases and cells.
	ClientCallsSent, ClientCallsHandled uint64
	// Messages of flows between bases and cells.
	FlowSent, FlowHandled uint64
	// FlowLost counts those that nobody handled, nor will, by the gaps in their numbers:
	// exact, and zero, whatever dies. Repeats counts calls that restored callers made
	// again, and that were not handled again.
	FlowLost, Repeats uint64
	// Reliable bundles to clients, of those that a cell numbers: one a tick at most.
	BundlesSent uint64
	// Bytes of protocol messages to and from clients.
	BytesDown, BytesUp uint64
	// Migrations are entities that went from one cell to another.
	Migrations uint64
	// PacketsUnsent counts packets of places that no channel took: made by a cell, or on their
	// way through a proxy. A cell tells again what it could not send.
	PacketsUnsent uint64
	// Refused counts calls and messages refused: not exposed, malformed, flooding.
	Refused uint64
	// GhostsDiffer counts ghosts that were found unequal to their real.
	GhostsDiffer uint64
	// Errors counts what should not happen: panics of scripts, lost flows.
	Errors uint64
	// StaleGhosts counts messages to ghosts that a newer one had overtaken, or that came before
	// the ghost or after its end. A world in motion has some.
	StaleGhosts uint64 `json:",omitempty"`
}

// All yields the name and the place of every counter, in order: for those who add, encode or
// publish them one by one.
func (c *Counters) All() iter.Seq2[string, *uint64] {
	return func(yield func(string, *uint64) bool) {
		for f, v := range reflect.ValueOf(c).Elem().Fields() {
			if !yield(f.Name, v.Addr().Interface().(*uint64)) {
				return
			}
		}
	}
}

// Add adds d to c.
func (c *Counters) Add(d *Counters) {
	from := reflect.ValueOf(d).Elem()
	for name, n := range c.All() {
		*n += from.FieldByName(name).Uint()
	}
}
