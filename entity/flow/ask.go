package flow

import (
	"errors"
	"fmt"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/placement"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
)

// To make an entity near another one, the other one's cell part is asked. An ask is a two-way call of
// it, whose method no script has: its cell answers, wherever that is by then. So an ask follows the
// entity, is answered once, and ends as calls do if the entity does.
const (
	// AskPlace asks a cell part where it is. The answer is a Place.
	AskPlace uint16 = 0xfe00 + iota
	// AskSpawn asks its cell to make an entity without a base near it: a Spawn. The answer is a
	// Spawned.
	AskSpawn
	askEnds
)

// IsAsk reports whether a method is of an ask.
func IsAsk(method uint16) bool { return method >= AskPlace && method < askEnds }

// Place is where an entity was when it was asked.
type Place struct {
	Space    entity.SpaceID
	Position property.Vector3
}

func (m *Place) code(c *codec.Coder) {
	codec.Uint32(c, &m.Space)
	fields.Vector3(c, &m.Position)
}

// Append encodes m.
func (m *Place) Append(b []byte) []byte { return codec.Append(b, m.code) }

// Parse decodes m from all of b.
func (m *Place) Parse(b []byte) error { return parseAsk(b, "place", m.code) }

// Spawn says what to make, and where from the entity that is asked.
type Spawn struct {
	Type                uint16
	Position, Direction property.Vector3
	Props               []byte // property.CellStream, packed; aliases the input after Parse
}

func (m *Spawn) code(c *codec.Coder) {
	c.U16(&m.Type)
	fields.Vector3(c, &m.Position)
	fields.Vector3(c, &m.Direction)
	c.Rest(&m.Props, MaxArguments)
}

// Append encodes m.
func (m *Spawn) Append(b []byte) []byte { return codec.Append(b, m.code) }

// Parse decodes m from all of b.
func (m *Spawn) Parse(b []byte) error { return parseAsk(b, "spawn", m.code) }

// Spawned is what was made, or why nothing was.
type Spawned struct {
	// ID is 0 if nothing was made.
	ID   entity.ID
	Type uint16
	App  mercury.Address
	// Code is 0 if something was made.
	Code   placement.Code
	Reason string
}

func (m *Spawned) code(c *codec.Coder) {
	fields.ID(c, &m.ID)
	c.U16(&m.Type)
	fields.Address(c, &m.App)
	codec.Enum(c, &m.Code, 0, placement.LastCode)
	c.String(&m.Reason, MaxTeleportReason)
	if (m.ID == 0) == (m.Code == 0) {
		c.Fail(errSpawned)
	}
}

var errSpawned = errors.New("either an entity or why there is none")

// Append encodes m.
func (m *Spawned) Append(b []byte) []byte { return codec.Append(b, m.code) }

// Parse decodes m from all of b.
func (m *Spawned) Parse(b []byte) error { return parseAsk(b, "spawned", m.code) }

// Refuse makes m say why nothing was made.
func (m *Spawned) Refuse(code placement.Code, reason string) {
	*m = Spawned{Code: code, Reason: reason[:min(len(reason), MaxTeleportReason)]}
}

func parseAsk(b []byte, name string, code func(*codec.Coder)) error {
	if err := codec.Parse(b, code); err != nil {
		return fmt.Errorf("flow: %s: %w", name, err)
	}
	return nil
}
