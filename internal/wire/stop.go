package wire

import (
	"encoding/json"
	"fmt"

	"github.com/cellscape/cellscape/entity/stored"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/enum"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// A controlled stop of the world is led by the CellAppMgr:
//
//	observer --EndWorld--> manager --Stop (number, step)--> every app
//	                               <--StopState------------
//	                               --KeepSpace--> DBApp --SpaceKept--> manager
//	         <--WorldEnding-------
//
// Each Stop has a number above those of all earlier ones, over all terms. An app answers the newest once it
// is in that step, and again when it hears it again.

// StopStep is how far the stop has come. Steps follow one another; a death takes the world back from
// StopHeld to StopPaused.
type StopStep uint8

const (
	// StopNone: the world is open. A manager says so to those who were told otherwise by an earlier one
	// that died before most had heard it.
	StopNone StopStep = iota
	// StopClosing: nobody is let in.
	StopClosing
	// StopPaused: timers, controllers and clients stand still. Calls that are under way are handled.
	StopPaused
	// StopHeld: no script is called. Cell parts are backed up, bases and spaces are written.
	StopHeld
	// StopSaved: all is written, and a death changes nothing any more.
	StopSaved
	// StopEnded: the process ends.
	StopEnded
	lastStopStep = StopEnded
)

// String names the step.
func (s StopStep) String() string {
	return enum.Name(s, "step", []string{
		StopClosing: "closing",
		StopPaused:  "settling",
		StopHeld:    "writing",
		StopSaved:   "saved",
		StopEnded:   "ended",
	})
}

// EndWorld is an operator's order to stop the world. It may be repeated.
type EndWorld struct {
	// Reason is for the players and the log.
	Reason string
}

func (m *EndWorld) code(c *codec.Coder) { c.String(&m.Reason, MaxReason) }

func (m *EndWorld) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *EndWorld) Parse(body []byte) error { return parse(body, m, m.code) }

// WorldEnding tells the operators who asked how far the stop is, and at the end what was saved,
// which managers that stand by are told, too. It is JSON, as a Status is.
type WorldEnding struct{ status.Stop }

// Append encodes m.
func (m *WorldEnding) Append(b []byte) []byte {
	j, err := json.Marshal(m)
	if err != nil {
		panic(fmt.Sprintf("wire: report of a stop: %v", err)) // it holds numbers and texts only
	}
	return append(b, j...)
}

// Parse decodes a body.
func (m *WorldEnding) Parse(body []byte) error {
	*m = WorldEnding{}
	if len(body) > MaxStatus {
		return fmt.Errorf("%w: report of a stop of %d bytes", ErrMalformed, len(body))
	}
	if err := json.Unmarshal(body, m); err != nil {
		return fmt.Errorf("%w: report of a stop: %w", ErrMalformed, err)
	}
	return nil
}

// Stop orders an app to be in a step of the stop.
type Stop struct {
	Number uint64
	Step   StopStep
	Reason string // as in EndWorld
}

func (m *Stop) code(c *codec.Coder) {
	c.Uvarint(&m.Number)
	codec.Enum(c, &m.Step, StopNone, lastStopStep)
	c.String(&m.Reason, MaxReason)
}

func (m *Stop) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *Stop) Parse(body []byte) error { return parse(body, m, m.code) }

const (
	// MaxLeft bounds the names of what is left over in one StopState: as many as a person reads.
	MaxLeft = 8
	// maxLeftName bounds one of them: a type, an id and what it waits for.
	maxLeftName = 256
	// maxSavedTypes bounds the types that an app reports: as many as there can be.
	maxSavedTypes = 1 << 16
)

// StopState answers a Stop: how the app is in that step.
type StopState struct {
	Number uint64
	// Pending counts what is under way here: in StopPaused what is to be settled, in StopHeld the writes.
	Pending uint64
	// Activity rises with whatever is sent or handled. If nobody's has changed and nothing is pending,
	// twice in a row, nothing is under way anywhere.
	Activity uint64
	// Left names some of what is pending.
	Left []string
	// Saved is what became of the entities of a BaseApp in StopHeld and later, in the order of the types'
	// names.
	Saved []status.Saved
}

func (m *StopState) code(c *codec.Coder) {
	c.Uvarint(&m.Number)
	c.Uvarint(&m.Pending)
	c.Uvarint(&m.Activity)
	codec.List(c, &m.Left, MaxLeft, 1, func(c *codec.Coder, s *string) { c.String(s, maxLeftName) })
	codec.List(c, &m.Saved, maxSavedTypes, 5, func(c *codec.Coder, s *status.Saved) {
		c.String(&s.Type, MaxTypeName)
		codec.Uint32(c, &s.Written)
		codec.Uint32(c, &s.Stale)
		codec.Uint32(c, &s.Failed)
		codec.Uint32(c, &s.Unkept)
	})
}

func (m *StopState) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *StopState) Parse(body []byte) error { return parse(body, m, m.code) }

// AddLeft names something that is pending, if there is room.
func (m *StopState) AddLeft(format string, args ...any) {
	if len(m.Left) < MaxLeft {
		s := fmt.Sprintf(format, args...)
		m.Left = append(m.Left, s[:min(len(s), maxLeftName)])
	}
}

// BringBack has a BaseApp load an entity that is to live again when the world starts. It means the same a
// second time, on any BaseApp: a row lives once.
type BringBack struct {
	Request uint64
	Type    string
	Row     uint64
}

func (m *BringBack) code(c *codec.Coder) {
	c.Uvarint(&m.Request)
	c.String(&m.Type, MaxTypeName)
	c.Uvarint(&m.Row)
}

func (m *BringBack) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *BringBack) Parse(body []byte) error { return parse(body, m, m.code) }
func (m *BringBack) Call() *uint64           { return &m.Request }

// BroughtBack answers a BringBack.
type BroughtBack struct {
	Request uint64
	Code    stored.Code
	Reason  string
}

func (m *BroughtBack) code(c *codec.Coder) {
	c.Uvarint(&m.Request)
	codec.Enum(c, &m.Code, stored.Done, stored.LastCode)
	c.String(&m.Reason, MaxReason)
}

func (m *BroughtBack) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *BroughtBack) Parse(body []byte) error { return parse(body, m, m.code) }
func (m *BroughtBack) Call() *uint64           { return &m.Request }
