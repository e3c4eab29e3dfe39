package wire

import (
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/mercury"
)

// MaxAreaApps bounds the CellApps that a LocatedArea names. The area around a gateway is a kilometre or
// two wide; where more CellApps share that, the cut is far too fine.
const MaxAreaApps = 64

// LocateArea asks which CellApps have cells that touch an area of a space: what goes on at one end of a
// gateway is told to them. It is asked again and again as long as anybody is near the gateway.
type LocateArea struct {
	Gateway uint64 // the end of a gateway, see spacekey.GatewayEnd; echoed in LocatedArea
	Space   entity.SpaceID
	Area    bsp.Rect
}

func (m *LocateArea) code(c *codec.Coder) {
	c.Uvarint(&m.Gateway)
	codec.Uint32(c, &m.Space)
	fields.Rect(c, &m.Area)
}

func (m *LocateArea) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *LocateArea) Parse(body []byte) error { return parse(body, m, m.code) }

// LocatedArea answers a LocateArea with the CellApps of the created cells that touch the area, each once:
// none if there is no such space, or it has no such gateway.
type LocatedArea struct {
	Gateway uint64
	Space   entity.SpaceID
	Apps    []mercury.Address
}

// minAddress is the fewest bytes of an address.
const minAddress = 2

func (m *LocatedArea) code(c *codec.Coder) {
	c.Uvarint(&m.Gateway)
	codec.Uint32(c, &m.Space)
	codec.List(c, &m.Apps, MaxAreaApps, minAddress, fields.Address)
}

func (m *LocatedArea) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *LocatedArea) Parse(body []byte) error { return parse(body, m, m.code) }
