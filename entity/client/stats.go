package client

import (
	"math"
	"math/bits"
	"time"
)

// Stats counts what a client has done and met.
type Stats struct {
	// CallsSent counts calls of cell and base methods.
	CallsSent uint64
	// MovesSent counts Moves, reliable ones included.
	MovesSent uint64
	// Bundles counts the proxy's reliable messages, and CellBundles those of them that its cell
	// part made. BundlesMissed counts the gaps and repeats in the numbers of the latter, which no death
	// excuses.
	Bundles, CellBundles, BundlesMissed uint64
	// Packets counts Positions packets, PositionBytes their bytes.
	Packets, PositionBytes uint64
	// Places counts the places in them that were used. Ages says how long the one before had been
	// held, for entities that had not come to rest in between.
	Places uint64
	Ages   Ages
	// BytesDown and BytesUp count bytes of protocol messages.
	BytesDown, BytesUp uint64
	// Kept is how many entities that have left are kept now, and KeptBytes what their values take;
	// Returned counts those that have come back and were told in part.
	Kept, KeptBytes, Returned uint64
	// UnknownEntities counts messages and packet entries for entities that the client does not
	// have, mostly from late packets.
	UnknownEntities uint64
	// StalePositions counts packet entries and Rests that were older than what the client has.
	StalePositions uint64
	// News counts the values and calls in packets that were used. StaleNews counts those, and those values
	// in bundles, that were older than what the client has.
	News, StaleNews uint64
	// UnknownMessages counts messages with ids that this client does not know.
	UnknownMessages uint64
	// Malformed counts messages that could not be read; the first ends the session.
	Malformed uint64
	// Audits counts answers to RequestAudit, AuditDiffs the lines of difference in them.
	Audits, AuditDiffs uint64
	// Forced counts forced places of the player's entity, without those of a CellPlayer.
	Forced uint64
	// Unsent counts messages that could not be sent although the session goes on: too long, or too
	// many for a server that does not keep up. It does not count what an ended session could not
	// send.
	Unsent uint64
	// Interrupted counts losses of the connection in play, and Resumed those after which the session went
	// on.
	Interrupted, Resumed uint64
	// Switched counts how often a server that was shut down, or had too much to do, sent the
	// session to another one.
	Switched uint64
}

// Add adds what another client, or another session, has counted.
func (s *Stats) Add(o *Stats) {
	for _, x := range [...]struct {
		sum   *uint64
		other uint64
	}{
		{&s.CallsSent, o.CallsSent}, {&s.MovesSent, o.MovesSent}, {&s.Bundles, o.Bundles}, {&s.CellBundles, o.CellBundles}, {&s.BundlesMissed, o.BundlesMissed},
		{&s.Packets, o.Packets}, {&s.PositionBytes, o.PositionBytes}, {&s.Places, o.Places}, {&s.News, o.News}, {&s.StaleNews, o.StaleNews},
		{&s.BytesDown, o.BytesDown}, {&s.BytesUp, o.BytesUp}, {&s.UnknownEntities, o.UnknownEntities},
		{&s.Kept, o.Kept}, {&s.KeptBytes, o.KeptBytes}, {&s.Returned, o.Returned}, {&s.StalePositions, o.StalePositions}, {&s.UnknownMessages, o.UnknownMessages}, {&s.Malformed, o.Malformed},
		{&s.Audits, o.Audits}, {&s.AuditDiffs, o.AuditDiffs}, {&s.Forced, o.Forced}, {&s.Unsent, o.Unsent},
		{&s.Interrupted, o.Interrupted}, {&s.Resumed, o.Resumed}, {&s.Switched, o.Switched},
	} {
		*x.sum += x.other
	}
	for i, n := range o.Ages.counts {
		s.Ages.counts[i] += n
	}
	s.Ages.Worst = max(s.Ages.Worst, o.Ages.Worst)
}

// ageUnit is the age below which all ages count as one: a packet brings the places of a tick.
const ageUnit = 25 * time.Millisecond

// Ages tells how old places were when newer ones came, to within a factor of two.
type Ages struct {
	// Worst is the oldest.
	Worst time.Duration

	counts [12]uint64 // by powers of two of ageUnit: below 25 ms, 50 ms, up to 25.6 s, and beyond
}

func (a *Ages) note(age time.Duration) {
	a.counts[min(bits.Len64(uint64(max(age, 0)/ageUnit)), len(a.counts)-1)]++
	a.Worst = max(a.Worst, age)
}

// Quantile is an age that a share q of the places had not reached, 0 to 1; 0 if there are none. It is
// at most twice too much.
func (a *Ages) Quantile(q float64) time.Duration {
	all := uint64(0)
	for _, n := range a.counts {
		all += n
	}
	left := int64(math.Ceil(q * float64(all)))
	if left <= 0 {
		return 0
	}
	for i, n := range a.counts[:len(a.counts)-1] {
		if left -= int64(n); left <= 0 {
			return min(ageUnit<<i, a.Worst)
		}
	}
	return a.Worst
}
