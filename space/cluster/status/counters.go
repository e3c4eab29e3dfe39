package status

import (
	"iter"
	"reflect"
)

// Counters are end-to-end counts, of one process since it started or of all processes. In a world
// at rest the sums of messages sent and handled are equal, as long as nothing has died. After a
// death the counts only show activity: those of the dead process since its last report are gone,
// and messages that it had not backed up are handled again.
type Counters struct {
	// Calls of clients: passed on by proxies, and handled by bases and cells.
	ClientCallsSent, ClientCallsHandled uint64
	// Messages of flows between bases and cells.
	FlowSent, FlowHandled uint64
	// FlowLost counts flow messages that nobody has handled or ever will, by the gaps in their
	// numbers. It is exact, and is zero whatever dies. Repeats counts calls that restored callers
	// made again and that were not handled again.
	FlowLost, Repeats uint64
	// Reliable bundles to clients, as far as a cell numbers them: at most one a tick.
	BundlesSent uint64
	// Bytes of protocol messages to and from clients.
	BytesDown, BytesUp uint64
	// Migrations counts entities that went from one cell to another.
	Migrations uint64
	// PacketsUnsent counts packets of places that found no room in a channel, at a cell or at a
	// proxy. A cell tells again what it could not send.
	PacketsUnsent uint64
	// Refused counts calls and messages that were refused: not exposed, malformed, too many.
	Refused uint64
	// GhostsDiffer counts ghosts that were found to differ from their real.
	GhostsDiffer uint64
	// Errors counts what should not happen: panics of scripts, lost flows.
	Errors uint64
	// PassedOver counts messages that cell parts and bases took without their script, which had panicked over
	// each of them three times.
	PassedOver uint64 `json:",omitempty"`
	// StaleGhosts counts messages to ghosts that a newer message had overtaken, or that came before
	// the ghost or after its end. A world in motion has some.
	StaleGhosts uint64 `json:",omitempty"`
	// LateAnswers counts answers to calls that had timed out or had been answered before, or whose caller
	// has ended.
	LateAnswers uint64 `json:",omitempty"`
	// EarlyAnswers counts answers to calls that a restored cell part had yet to make again. They come
	// again.
	EarlyAnswers uint64 `json:",omitempty"`
	// Doubted counts messages of flows that their target may have forgotten. They wait until their
	// sender has said what it still keeps.
	Doubted uint64 `json:",omitempty"`
	// Unproved counts what a CellApp said of an entity that only another may say, as far as was
	// known. A message that a move of the entity overtook is among it, now and then; it is said
	// again.
	Unproved uint64 `json:",omitempty"`
	// Corrected counts moves of clients that were not taken as they were: too fast, or refused or
	// changed by the game's check. The client was put where the server had its entity.
	Corrected uint64 `json:",omitempty"`
	// Overruled counts moves of clients that the server's word had overtaken: a forced place that
	// the client did not know yet, a walk by the server, or the loss of the control. So it also counts
	// moves of entities that the client never controlled.
	Overruled uint64 `json:",omitempty"`
	// OversizeCalls counts calls of scripts whose arguments were larger than their method's WarnBytes
	// (VariableLengthHeaderSize in a definition). They were made; the log names the methods.
	OversizeCalls uint64 `json:",omitempty"`
	// Interrupted counts sessions of clients that lost their channel and whose place was kept, Resumed
	// those that went on over another one.
	Interrupted uint64 `json:",omitempty"`
	Resumed     uint64 `json:",omitempty"`
	// TurnedAway counts entities that were teleported, created or spawned into a space that had as many
	// as it takes (space.Cell.SetMaxEntities).
	TurnedAway uint64 `json:",omitempty"`
	// Unrecorded counts what is missing in recordings: ticks of cells in which a CellApp without a
	// Recorder, or whose Recorder was full or had failed, recorded nothing of a space that is recorded,
	// and entities that were too large.
	Unrecorded uint64 `json:",omitempty"`
	// BackupsSent counts the copies of bases that BaseApps have sent to one another. BackupsRefused
	// are those that found no room there, or were too large to be sent; BackupsPutOff waited because a
	// channel was full.
	BackupsSent, BackupsRefused, BackupsPutOff uint64 `json:",omitempty"`
	// Moved counts the bases that BaseApps which go on, or leave, gave to others a part at a time.
	Moved uint64 `json:",omitempty"`
	// CopiesLeft counts the copies of others' bases that a BaseApp took with it when it retired, because
	// their BaseApps had not put them elsewhere in time. They do so then; until that, those bases have a
	// copy less.
	CopiesLeft uint64 `json:",omitempty"`
	// Inherited counts the copies of bases whose BaseApp died that came to the BaseApp which goes on
	// with them.
	Inherited uint64 `json:",omitempty"`
	// Restarted counts the bases that went on from their newest copy, since their script had panicked.
	Restarted uint64 `json:",omitempty"`
	// Unsaid counts what a client was not told since it is too long for it: calls to all who see an
	// entity, and entities of which there is too much to see. The log says so.
	Unsaid uint64 `json:",omitempty"`
	// Unanswered counts calls that a script said it would answer later and has not: the caller's time
	// was over, or nothing more could be sent to it when the called entity ended.
	Unanswered uint64 `json:",omitempty"`
}

// All yields the name and a pointer of every counter, in order, to add, encode or publish them one
// by one.
func (c *Counters) All() iter.Seq2[string, *uint64] {
	return func(yield func(string, *uint64) bool) {
		for f, v := range reflect.ValueOf(c).Elem().Fields() {
			if !yield(f.Name, v.Addr().Interface().(*uint64)) {
				return
			}
		}
	}
}

// Add adds d to c. It goes by the order of the fields: by their names, it was a fifth of all work
// where a simulated world asks for its status at each step.
func (c *Counters) Add(d *Counters) {
	to, from := reflect.ValueOf(c).Elem(), reflect.ValueOf(d).Elem()
	for i := range to.NumField() {
		to.Field(i).SetUint(to.Field(i).Uint() + from.Field(i).Uint())
	}
}
