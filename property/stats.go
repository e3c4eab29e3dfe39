package property

import (
	"iter"
	"log/slog"

	"github.com/cellscape/cellscape/internal/enum"
)

// Traffic is a way that properties travel.
type Traffic uint8

// The ways. What is sent to several at once counts once for each.
const (
	ToGhosts       Traffic = iota // changes, from the real to its ghosts
	ToOwnClient                   // changes, to the entity's own client
	ToOtherClients                // changes, to the clients of others
	Received                      // changes, at a ghost or a client
	IntoHistory                   // changes that other clients see, numbered at the real
	Moves                         // position and direction, to clients; counted by type
	traffics
)

// String returns the name of the way.
func (t Traffic) String() string {
	return enum.Name(t, "traffic", []string{
		ToGhosts:       "to ghosts",
		ToOwnClient:    "to own client",
		ToOtherClients: "to other clients",
		Received:       "received",
		IntoHistory:    "into history",
		Moves:          "moves",
	})
}

// Count is how much has travelled.
type Count struct{ Changes, Bytes uint64 }

func (c *Count) add(bytes int) { c.Changes, c.Bytes = c.Changes+1, c.Bytes+uint64(bytes) }

// Stats counts property traffic by type and property for one app; it belongs to the app's
// goroutine. Nil counts nothing.
type Stats struct {
	// Oversize, if not nil, hears of changes larger than their property's WarnBytes: of the first,
	// and then each time that their number has doubled. This keeps a log readable.
	Oversize func(d *Definition, p *Property, bytes int)
	// OversizeCall is the same of calls whose arguments are larger than their method's WarnBytes.
	OversizeCall func(d *Definition, m *Method, bytes int)

	schema *Schema
	types  []typeStats        // by id
	calls  map[*Method]uint64 // oversize ones
}

type typeStats struct {
	moves Count
	props [][traffics]Count
	large []uint64 // oversize changes
}

// NewStats returns zero counts for the types of s. A type takes memory, some 100 bytes a property,
// once it is counted.
func NewStats(s *Schema) *Stats { return &Stats{schema: s, types: make([]typeStats, len(s.Types))} }

// NewLoggedStats is NewStats where a change larger than its property's WarnBytes, or a call larger than
// its method's, is logged as a warning: the first, and then each time that their number has doubled.
func NewLoggedStats(s *Schema, log *slog.Logger) *Stats {
	stats := NewStats(s)
	stats.Oversize = func(d *Definition, p *Property, bytes int) {
		log.Warn("a change is larger than its property should have", "type", d.Name, "property", p.Name, "bytes", bytes, "limit", p.WarnBytes)
	}
	stats.OversizeCall = func(d *Definition, m *Method, bytes int) {
		log.Warn("the arguments of a call are larger than its method should have", "type", d.Name, "method", m.Name, "bytes", bytes, "limit", m.WarnBytes)
	}
	return stats
}

// AddOversizeCall counts a call of a method of type d whose arguments are larger than WarnBytes.
func (s *Stats) AddOversizeCall(d *Definition, m *Method, bytes int) {
	if s == nil {
		return
	}
	if s.calls == nil {
		s.calls = make(map[*Method]uint64)
	}
	s.calls[m]++
	if n := s.calls[m]; s.OversizeCall != nil && n&(n-1) == 0 {
		s.OversizeCall(d, m, bytes)
	}
}

// OversizeCalls is how many calls of a method had arguments larger than its WarnBytes.
func (s *Stats) OversizeCalls(m *Method) uint64 {
	if s == nil {
		return 0
	}
	return s.calls[m]
}

func (s *Stats) of(d *Definition) *typeStats {
	x := &s.types[d.ID]
	if x.props == nil {
		*x = typeStats{props: make([][traffics]Count, len(d.Properties)), large: make([]uint64, len(d.Properties))}
	}
	return x
}

// Add counts one change of property i of type d.
func (s *Stats) Add(d *Definition, i int, t Traffic, bytes int) {
	if s == nil {
		return
	}
	x := s.of(d)
	x.props[i][t].add(bytes)
	p := d.Properties[i]
	if p.WarnBytes == 0 || bytes <= p.WarnBytes || t == Received {
		return
	}
	x.large[i]++
	if n := x.large[i]; s.Oversize != nil && n&(n-1) == 0 {
		s.Oversize(d, p, bytes)
	}
}

// AddMoves counts n positions and directions of entities of type d, with the bytes of all.
func (s *Stats) AddMoves(d *Definition, n, bytes int) {
	if s != nil {
		moves := &s.of(d).moves
		moves.Changes, moves.Bytes = moves.Changes+uint64(n), moves.Bytes+uint64(bytes)
	}
}

// Merge adds the counts of another Stats of the same Schema, and makes that one zero.
func (s *Stats) Merge(from *Stats) {
	if s == nil || from == nil {
		return
	}
	for i := range from.types {
		x := &from.types[i]
		if x.props == nil {
			continue
		}
		to := s.of(s.schema.Types[i])
		to.moves.merge(&x.moves)
		for p := range x.props {
			to.large[p], x.large[p] = to.large[p]+x.large[p], 0
			for t := range x.props[p] {
				to.props[p][t].merge(&x.props[p][t])
			}
		}
	}
	// order does not show: each method has a sum of its own
	for m, n := range from.calls {
		if s.calls == nil {
			s.calls = make(map[*Method]uint64)
		}
		s.calls[m] += n
	}
	clear(from.calls)
}

func (c *Count) merge(from *Count) {
	c.Changes, c.Bytes = c.Changes+from.Changes, c.Bytes+from.Bytes
	*from = Count{}
}

// StatsRow is the traffic of one property, or the moves of a type.
type StatsRow struct {
	Type     *Definition
	Property *Property // nil for Moves
	Traffic  Traffic
	Count    Count
	Oversize uint64 // changes larger than the property's WarnBytes, all ways together
}

// Rows yields what is not zero, by type, property and way.
func (s *Stats) Rows() iter.Seq[StatsRow] {
	return func(yield func(StatsRow) bool) {
		if s == nil {
			return
		}
		for id := range s.types {
			if !s.rowsOf(s.schema.Types[id], yield) {
				return
			}
		}
	}
}

func (s *Stats) rowsOf(d *Definition, yield func(StatsRow) bool) bool {
	x := &s.types[d.ID]
	for i := range x.props {
		for t, c := range x.props[i] {
			if c.Changes > 0 && !yield(StatsRow{d, d.Properties[i], Traffic(t), c, x.large[i]}) {
				return false
			}
		}
	}
	return x.moves.Changes == 0 || yield(StatsRow{d, nil, Moves, x.moves, 0})
}
