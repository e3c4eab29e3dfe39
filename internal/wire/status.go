package wire

import (
	"encoding/json"
	"fmt"

	"github.com/cellscape/cellscape/bsp"
)

// MaxStatus bounds an encoded Status.
const MaxStatus = 1 << 20

// MaxStatusSpaces is how many spaces a Status describes one by one: more rooms than a
// person looks at, and with a cell each a quarter of MaxStatus.
const MaxStatusSpaces = 1024

// Status is what the CellAppMgr tells observers every second: the feed of a
// space viewer and of status lines. It is JSON, since browsers read it and its
// size does not matter at one a second.
type Status struct {
	// GameTime in seconds, of a space that never ran slower.
	GameTime float64       `json:"game_time"`
	Spaces   []SpaceStatus `json:"spaces"`
	Apps     []AppStatus   `json:"apps"`

	// SpaceCount is how many spaces there are, also those that are not in Spaces.
	SpaceCount int `json:"space_count"`
	Cells      int `json:"cells"`
	Retiring   int `json:"retiring"` // of the cells
	CellsAdded int `json:"cells_added"`
	// CellsRemoved are those that retired, not those of dead CellApps.
	CellsRemoved int `json:"cells_removed"`
	// Removing are cells that are out of their spaces, and that their CellApps have not
	// dropped yet.
	Removing   int `json:"removing"`
	LinesMoved int `json:"lines_moved"`
	Reals      int `json:"reals"`
	Ghosts     int `json:"ghosts"`
	Clients    int `json:"clients"`
	Deaths     int `json:"deaths"`
	// LoginsRefused says that the world is full.
	LoginsRefused bool `json:"logins_refused"`

	// The sums of all apps' reports.
	Ticks     uint64              `json:"ticks"`
	Late      uint64              `json:"late_ticks"`
	TickTimes [TickBuckets]uint64 `json:"tick_times"`
	CPU       float64             `json:"cpu_s"`
	Pending   uint64              `json:"pending"`
	// ReportsSinceFreeze is how many times every app has reported since the
	// last Freeze: Pending means something once it is 2 or more.
	ReportsSinceFreeze int      `json:"reports_since_freeze"`
	Counters           Counters `json:"counters"`
	// Unsent are the messages that were not sent, of all apps.
	Unsent []UnsentStatus `json:"unsent,omitempty"`
}

// SpaceStatus is one space of a Status.
type SpaceStatus struct {
	ID      uint32      `json:"id"`
	Version bsp.Version `json:"version"`
	// GameTime in seconds, and how fast it runs: 1 is normal.
	GameTime float64      `json:"game_time"`
	Rate     float64      `json:"rate"`
	Cells    []CellStatus `json:"cells"`
	Lines    []LineStatus `json:"lines"`
}

// CellStatus is one cell: its rectangle, cut to the bounds that its space shows
// on a map, and what its CellApp reported.
type CellStatus struct {
	Cell    string     `json:"cell"`
	App     uint32     `json:"app"`
	Rect    [4]float64 `json:"rect"` // min x, min z, max x, max z
	Load    float64    `json:"load"` // fraction of a core
	Reals   uint32     `json:"reals"`
	Ghosts  uint32     `json:"ghosts"`
	Created bool       `json:"created"`
	// Loading says that it has not loaded the geometry of its area, so that nobody is let in.
	Loading bool `json:"loading,omitempty"`
	// Retiring says that its area is being taken from it, Overloaded that its CellApp is
	// over the bound up to which cells grow.
	Retiring   bool `json:"retiring,omitempty"`
	Overloaded bool `json:"overloaded,omitempty"`
	// Crowd is where its reals are, as Rect; Loaded the part of the space's geometry
	// that it has loaded. Left out where there is nothing.
	Crowd  *[4]float64 `json:"crowd,omitempty"`
	Loaded *[4]float64 `json:"loaded,omitempty"`
}

// LineStatus is one line of the partition.
type LineStatus struct {
	Vertical bool    `json:"vertical"` // a line of constant x
	At       float64 `json:"at"`
	From     float64 `json:"from"`
	To       float64 `json:"to"`
	// Moved is by how many metres the last balance moved it.
	Moved float64 `json:"moved"`
	// Average is the mean load of the cells on both sides, a fraction of a core each.
	Average float64 `json:"average"`
	// Aggression is the share of a wanted step that the line takes now, Direction -1 or
	// 1 for where it last moved, 0 if it has not; see balance.LineState.
	Aggression float64 `json:"aggression"`
	Direction  int     `json:"direction"`
	// Depth is how many lines are above it.
	Depth int `json:"depth"`
}

// AppStatus is one process.
type AppStatus struct {
	Role    string  `json:"role"`
	Number  uint32  `json:"number"`
	Address string  `json:"address"`
	Load    float64 `json:"load"` // fraction of a core, as balance sees it
	CPU     float64 `json:"cpu_s"`
	// PID is the OS process that it runs in, 0 if unknown, and ProcessCPU what the system
	// counts of that, user and system; CPU above is of the app's own thread. All apps of
	// one process tell the same.
	PID        uint32  `json:"pid,omitempty"`
	ProcessCPU float64 `json:"process_cpu_s,omitempty"`
	// Thrift is how many steps a CellApp has gone down to save work.
	Thrift int `json:"thrift"`
	// Backlog is the app that does not keep up with this one most of all, and Full what
	// part of the queue towards it is taken; left out where all keep up.
	Backlog string  `json:"backlog,omitempty"`
	Full    float64 `json:"full,omitempty"`
	// Unsent are the messages that the app could not send.
	Unsent []UnsentStatus `json:"unsent,omitempty"`
}

// UnsentStatus counts the messages of one id that were not sent for one reason.
type UnsentStatus struct {
	Reason  string `json:"reason"`
	Message uint8  `json:"message"` // its id
	Count   uint64 `json:"count"`
	// Fault says that no reason takes care of them.
	Fault bool `json:"fault,omitempty"`
}

// Append encodes m.
func (m *Status) Append(b []byte) []byte {
	j, err := json.Marshal(m)
	if err != nil {
		// Only unsupported numbers can do this; the loads are integers divided
		// by constants and the rectangles are cut to finite bounds.
		panic(fmt.Sprintf("wire: status: %v", err))
	}
	return append(b, j...)
}

// Parse decodes a body.
func (m *Status) Parse(body []byte) error {
	*m = Status{} // a field that is not sent leaves nothing behind
	if len(body) > MaxStatus {
		return fmt.Errorf("%w: status of %d bytes", ErrMalformed, len(body))
	}
	if err := json.Unmarshal(body, m); err != nil {
		return fmt.Errorf("%w: status: %w", ErrMalformed, err)
	}
	return nil
}
