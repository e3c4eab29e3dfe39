package migrate

import (
	"errors"
	"fmt"

	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/enum"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/property"
)

// Tag names a part of a real's travelling state. Parts are sorted by tag, and each occurs at most
// once.
type Tag uint8

// These are the parts of a real. A first creation has Core and Props, and Heard if there was a real
// before; a backup leaves out what belongs to a place: history, haunts, witness, clock, load.
const (
	CorePart        Tag = 1 + iota // where it is (Core)
	PropsPart                      // property.CellStream, packed as the type's Compression.Internal says
	HistoryPart                    // property.History
	FlowsPart                      // what it sent and received
	TimersPart                     // its timers
	ControllersPart                // its controllers
	ClientPart                     // its client session
	WitnessPart                    // what its client knows
	HauntsPart                     // who mirrors it
	LoadPart                       // what it costs
	ClockPart                      // its game time
	CommitsPart                    // what waits for a backup
	SteeringPart                   // who moves it, and how fast
	RequestsPart                   // its two-way calls that are not answered
	TeleportPart                   // a teleport that has not ended
	ChargesPart                    // what its client knows to move beside it
	AnswersPart                    // calls that it answers later
	SightPart                      // what scripts have said of its client's view; of a backup only
	HeardPart                      // what a former cell part, which was destroyed, had handled; of a first creation only
	RidePart                       // the vehicle that it is on; of one that has ridden
	NewsPart                       // which changes of shared data and of its space's data it has heard of
	ExposedPart                    // property.BaseReplayStream, for recordings; of one whose base has any
	lastTag
)

// These are the parts of a base.
const (
	BaseCorePart     Tag = 64 + iota // what it is
	BasePropsPart                    // property.BaseStream, packed as above
	BaseCellPart                     // the link to its cell part, with the freshest copy of that
	BaseTimersPart                   // its timers
	BaseRequestsPart                 // its two-way calls that are not answered
	BaseFlowsPart                    // what it sent to other entities and received
	BaseAsksPart                     // its names, and what it waits for
	BaseClientPart                   // its client session
	BaseAnswersPart                  // calls that it answers later
	BaseStorePart                    // its row in the store
	BaseGivePart                     // clients that it gives away, or has given away
	BaseAutoPart                     // what is not done for it by itself
	lastBaseTag
)

// String names the part.
func (t Tag) String() string {
	return enum.Name(t, "part", []string{
		CorePart:         "core",
		PropsPart:        "props",
		HistoryPart:      "history",
		FlowsPart:        "flows",
		TimersPart:       "timers",
		ControllersPart:  "controllers",
		ClientPart:       "client",
		WitnessPart:      "witness",
		HauntsPart:       "haunts",
		LoadPart:         "load",
		ClockPart:        "clock",
		CommitsPart:      "commits",
		SteeringPart:     "steering",
		RequestsPart:     "requests",
		TeleportPart:     "teleport",
		ChargesPart:      "charges",
		AnswersPart:      "answers",
		SightPart:        "sight",
		HeardPart:        "heard",
		RidePart:         "ride",
		NewsPart:         "news",
		ExposedPart:      "exposed",
		BaseCorePart:     "base core",
		BasePropsPart:    "base props",
		BaseCellPart:     "base cell",
		BaseTimersPart:   "base timers",
		BaseRequestsPart: "base requests",
		BaseFlowsPart:    "base flows",
		BaseAsksPart:     "base asks",
		BaseClientPart:   "base client",
		BaseAnswersPart:  "base answers",
		BaseStorePart:    "base store",
		BaseGivePart:     "base give",
		BaseAutoPart:     "base auto",
	})
}

// AppendPart appends one part; f appends its body.
//
//	+-----+----------------+------+
//	| tag | length uvarint | body |
//	+-----+----------------+------+
func AppendPart(b []byte, tag Tag, f func(b []byte) []byte) []byte {
	b, mark := codec.BeginBytes(append(b, byte(tag)))
	return codec.EndBytes(f(b), mark)
}

// EachPart calls f with each part in order. Unknown, doubled or unsorted tags are errors: half a
// real must not come to life.
func EachPart(parts []byte, f func(tag Tag, body []byte) error) error {
	return eachPart(parts, 0, lastTag, f)
}

// EachBasePart is EachPart for the parts of a base.
func EachBasePart(parts []byte, f func(tag Tag, body []byte) error) error {
	return eachPart(parts, BaseCorePart-1, lastBaseTag, f)
}

// eachPart takes tags between two others.
func eachPart(parts []byte, last, end Tag, f func(tag Tag, body []byte) error) error {
	r := codec.NewReader(parts)
	for r.Len() > 0 {
		tag := Tag(r.U8())
		if tag <= last || tag >= end {
			return fmt.Errorf("%w: %v after %v", ErrMalformed, tag, last)
		}
		last = tag
		body := r.Bytes(MaxParts)
		if err := r.Err(); err != nil {
			return fmt.Errorf("%w: %v: %w", ErrMalformed, tag, err)
		}
		if err := f(tag, body); err != nil {
			return fmt.Errorf("%v: %w", tag, err)
		}
	}
	if err := r.Err(); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return nil
}

// Core is where a real is, and how it shows itself.
type Core struct {
	MoveStamp uint32
	Position  property.Vector3
	Direction property.Vector3
	Aspect    presence.Aspect
}

// Append encodes c.
func (c *Core) Append(b []byte) []byte {
	return append(fields.AppendPlace(b, c.MoveStamp, c.Position, c.Direction), byte(c.Aspect))
}

// Parse decodes a body.
func (c *Core) Parse(body []byte) error {
	r := codec.NewReader(body)
	c.MoveStamp, c.Position, c.Direction = fields.ReadPlace(&r)
	c.Aspect = fields.ReadAspect(&r)
	if err := r.Close(); err != nil {
		return fmt.Errorf("%w: core: %w", ErrMalformed, err)
	}
	return nil
}

// ErrNoCore is returned for parts that do not say where the real is.
var ErrNoCore = errors.New("migrate: parts without a core")

// AppendFirst appends the parts of an entity's first cell part, for a Create; z packs its
// properties.
func AppendFirst(b []byte, position, direction property.Vector3, cell *property.Values, z *property.Compressor) []byte {
	core := Core{Position: position, Direction: direction}
	b = AppendPart(b, CorePart, core.Append)
	return AppendProps(b, cell, z)
}

// AppendProps appends the part with a real's properties, packed by z. Properties that are longer
// than MaxParts stay unpacked, so that whoever looks at the size of the parts sees it.
func AppendProps(b []byte, cell *property.Values, z *property.Compressor) []byte {
	return AppendPart(b, PropsPart, func(b []byte) []byte {
		return z.AppendStream(b, cell, property.CellStream, MaxParts)
	})
}

// AppendExposed appends the part with what a base has that is exposed for replay.
func AppendExposed(b []byte, base *property.Values) []byte {
	return AppendPart(b, ExposedPart, func(b []byte) []byte { return base.AppendStream(b, property.BaseReplayStream) })
}

// ReadProps reads the body of that part.
func ReadProps(body []byte, cell *property.Values, z *property.Compressor) error {
	if err := z.ReadStream(body, cell, property.CellStream, MaxParts); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return nil
}

// Placed returns a copy of parts in which the real stands at another place.
func Placed(parts []byte, position, direction property.Vector3) ([]byte, error) {
	placed, found := make([]byte, 0, len(parts)), false
	err := EachPart(parts, func(tag Tag, body []byte) error {
		if tag == CorePart {
			var core Core
			if err := core.Parse(body); err != nil {
				return err
			}
			core.Position, core.Direction, found = position, direction, true
			core.MoveStamp++
			placed = AppendPart(placed, tag, core.Append)
			return nil
		}
		placed = AppendPart(placed, tag, func(b []byte) []byte { return append(b, body...) })
		return nil
	})
	if err == nil && !found {
		err = ErrNoCore
	}
	return placed, err
}
