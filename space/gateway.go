package space

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/internal/spacekey"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
)

// Gateway joins two places, of two spaces or of one, so that players see through: a portal, or the
// entrance of a dungeon. See "Gateways" in the package documentation, and examples/portal.
type Gateway struct {
	// Near and Far are its two ends.
	Near, Far GatewayEnd
	// Offset leads from where something is at the near end to where it is seen at the far end, in
	// metres. What is at the far end is seen at the near end the other way round.
	Offset property.Vector3
}

// GatewayEnd is one end of a gateway.
type GatewayEnd struct {
	Space entity.SpaceID
	// Area is whose entities are seen at the other end. Nobody is in an empty one.
	Area bsp.Rect
}

const (
	// MaxGateways bounds the gateways of one space: each move of an entity is compared with all of them.
	MaxGateways = 64
	// MaxThroughGateway is how many entities of the other end a cell shows through one gateway. A
	// crowd that is larger is shown in part, until some of it has gone.
	MaxThroughGateway = 512
	// LocateAreaRetry is how often a cell asks which CellApps have the other end of a gateway, while
	// anybody stands at this one.
	LocateAreaRetry = time.Second
)

func (g *Gateway) code(c *codec.Coder) {
	g.Near.code(c)
	g.Far.code(c)
	codec.Field(c, &g.Offset, fields.AppendVector3, fields.ReadVector3)
}

func (e *GatewayEnd) code(c *codec.Coder) {
	codec.Uint32(c, &e.Space)
	fields.Rect(c, &e.Area)
}

// Append encodes g as the value of an entry of a space's data.
func (g *Gateway) Append(b []byte) []byte { return codec.Append(b, g.code) }

// Parse decodes a whole value. It refuses areas and offsets that are out of range.
func (g *Gateway) Parse(b []byte) error {
	if err := codec.Parse(b, g.code); err != nil {
		return fmt.Errorf("space: a gateway: %w", err)
	}
	return g.check(property.MaxCoordinate)
}

var errGateway = errors.New("space: impossible gateway")

// check finds what is wrong with a gateway whose areas may have sides of a length.
func (g *Gateway) check(longest float64) error {
	for _, e := range []*GatewayEnd{&g.Near, &g.Far} {
		a := e.Area
		corners := property.Finite(property.Vector3{X: float32(a.MinX), Z: float32(a.MinZ)}) && property.Finite(property.Vector3{X: float32(a.MaxX), Z: float32(a.MaxZ)})
		switch {
		case e.Space == 0:
			return fmt.Errorf("%w: an end has no space", errGateway)
		case a != (bsp.Rect{}) && (!corners || a.Empty()):
			return fmt.Errorf("%w: %v is no area", errGateway, a)
		case a.MaxX-a.MinX > longest || a.MaxZ-a.MinZ > longest:
			return fmt.Errorf("%w: the area %v has a side of more than %g m", errGateway, a, longest)
		}
	}
	if !property.Finite(g.Offset) {
		return fmt.Errorf("%w: its offset is out of range", errGateway)
	}
	return nil
}

// OpenGateway opens a gateway. Both spaces keep it in their data, so it lasts until CloseGateway, or until
// one of the spaces ends; clients are not told of it. The id closes it. Players see through some tenths of
// a second later.
//
// The sides of its areas are at most Config.Border.GhostDistance long, since nobody sees farther. Other
// errors are entity.ErrTooMany if this space has MaxGateways already, and those of impossible numbers.
// This space must be one of the two. The other may have any cells, or none yet. If that has MaxGateways,
// the CellAppMgr refuses this one there, counts it and says so in its log, and nobody sees through.
func (c *Cell) OpenGateway(g Gateway) (entity.DataID, error) {
	if err := g.check(c.cfg.Border.GhostDistance); err != nil {
		return 0, err
	}
	if g.Near.Space != c.space && g.Far.Space != c.space {
		return 0, fmt.Errorf("%w: none of its ends is in space %d", errGateway, c.space)
	}
	n := 0
	for range c.AllSpaceData(spacekey.Gateway) {
		n++
	}
	if n >= MaxGateways {
		return 0, fmt.Errorf("%w: a space has at most %d gateways", entity.ErrTooMany, MaxGateways)
	}
	id, err := c.out.NewID()
	if err != nil {
		return 0, err
	}
	c.setGateway(g, entity.SpaceDatum{Key: spacekey.Gateway, ID: entity.DataID(id), Value: g.Append(nil)})
	return entity.DataID(id), nil
}

// CloseGateway closes a gateway of this space: nobody sees through any more some tenths of a second
// later. It is an error if the cell knows of no such gateway.
func (c *Cell) CloseGateway(id entity.DataID) error {
	for known, value := range c.AllSpaceData(spacekey.Gateway) {
		var g Gateway
		if known == id && g.Parse(value) == nil {
			c.setGateway(g, entity.SpaceDatum{Key: spacekey.Gateway, ID: id, Removed: true})
			return nil
		}
	}
	return fmt.Errorf("space: space %d has no gateway %d", c.space, id)
}

func (c *Cell) setGateway(g Gateway, d entity.SpaceDatum) {
	c.out.SetSpaceData(g.Near.Space, d)
	if g.Far.Space != g.Near.Space {
		c.out.SetSpaceData(g.Far.Space, d)
	}
}

// OpenGateway and CloseGateway are those of the Cell.
func (r *Real) OpenGateway(g Gateway) (entity.DataID, error) { return r.cell.OpenGateway(g) }

// CloseGateway is that of the Cell.
func (r *Real) CloseGateway(id entity.DataID) error { return r.cell.CloseGateway(id) }

// gates are the gateways of a cell's space.
type gates struct {
	ends   []gate
	read   uint64 // the newest number of the space's data when they were read
	closed bool   // one was, since the last range events
}

// gate is one end of a gateway, as the cells of its space have it.
type gate struct {
	via    uint64           // names it in the cluster; clients here see through it
	offset property.Vector3 // from here to there
	there  entity.SpaceID

	// area is whose entities are shown there. Whoever comes to outer has ghosts there, and keeps them to
	// the edge of rim.
	area, outer, rim bsp.Rect
	// beyond is whose entities of the space there are shown here. Whoever is shown stays so to the edge of
	// fringe.
	beyond, fringe bsp.Rect

	apps   []mercury.Address // that have what is near the other end, as the manager said last
	wanted bool              // somebody is in outer
	askAt  time.Duration

	images []*image
}

// readGates takes in changes of the gateways.
func (c *Cell) readGates() {
	if c.gates.read == c.data.last {
		return
	}
	c.gates.read = c.data.last
	was := c.gates.ends
	var now []gate
	read := 0
	for id, value := range c.AllSpaceData(spacekey.Gateway) {
		var g Gateway
		if err := g.Parse(value); err != nil || !entity.ID(id).Valid() {
			c.count.Refused++
			continue
		}
		if read++; read > MaxGateways {
			c.count.Refused++
			continue
		}
		now = append(now, c.gatesOf(entity.ID(id), &g)...)
	}
	for i := range was {
		k := slices.IndexFunc(now, func(g gate) bool { return g.same(&was[i]) })
		if k >= 0 {
			now[k].apps, now[k].askAt, now[k].images = was[i].apps, was[i].askAt, was[i].images
			continue
		}
		c.shut(&was[i])
	}
	if len(was)+len(now) > 0 {
		c.gates.ends = now
		c.relist()
	}
}

// gatesOf are the ends of a gateway that are in this space: one, or both.
func (c *Cell) gatesOf(id entity.ID, g *Gateway) (ends []gate) {
	if g.Near.Space == c.space {
		ends = append(ends, c.gate(spacekey.GatewayEnd(uint64(id), false), &g.Near, &g.Far, g.Offset))
	}
	if g.Far.Space == c.space {
		ends = append(ends, c.gate(spacekey.GatewayEnd(uint64(id), true), &g.Far, &g.Near, property.Vector3{X: -g.Offset.X, Y: -g.Offset.Y, Z: -g.Offset.Z}))
	}
	return ends
}

func (c *Cell) gate(via uint64, here, there *GatewayEnd, offset property.Vector3) gate {
	slack := float64(c.cfg.GhostSlack)
	return gate{
		via: via, offset: offset, there: there.Space,
		area: here.Area, outer: grown(here.Area, slack), rim: grown(here.Area, 2*slack),
		beyond: there.Area, fringe: grown(there.Area, slack),
	}
}

// grown is an area with more around it, if it is one.
func grown(a bsp.Rect, by float64) bsp.Rect {
	if a.Empty() {
		return a
	}
	return a.Grow(by)
}

// same reports whether g is what the other was: a gateway does not change, but space data can.
func (g *gate) same(x *gate) bool {
	return g.via == x.via && g.offset == x.offset && g.there == x.there && g.area == x.area && g.beyond == x.beyond
}

// shut stops showing what is beyond a gate.
func (c *Cell) shut(g *gate) {
	for _, img := range g.images {
		c.unshow(img)
	}
	g.images, c.gates.closed = nil, true
}

// atGate reports whether a place is so near one end of a gateway that the other may have ghosts of who is
// there.
func (c *Cell) atGate(x, z float64) bool {
	for i := range c.gates.ends {
		if c.gates.ends[i].rim.Contains(x, z) {
			return true
		}
	}
	return false
}

// behindGate reports whether a gateway is a reason for an app to have a ghost of who is at a place.
func (c *Cell) behindGate(app mercury.Address, x, z float64) bool {
	for i := range c.gates.ends {
		if g := &c.gates.ends[i]; g.rim.Contains(x, z) && slices.Contains(g.apps, app) {
			return true
		}
	}
	return false
}

// askForApps asks where the other ends of gateways are, as long as anybody stands at these.
func (c *Cell) askForApps() {
	for i := range c.gates.ends {
		g := &c.gates.ends[i]
		if !g.wanted || c.now < g.askAt {
			continue
		}
		g.wanted, g.askAt = false, c.now+LocateAreaRetry
		x, z := float64(g.offset.X), float64(g.offset.Z)
		there := bsp.Rect{MinX: g.area.MinX + x, MinZ: g.area.MinZ + z, MaxX: g.area.MaxX + x, MaxZ: g.area.MaxZ + z}
		c.out.LocateArea(g.via, g.there, there.Grow(c.cfg.Border.GhostDistance))
	}
}

// LocatedArea takes the CellAppMgr's answer to an Outbox.LocateArea: the CellApps that have cells near the
// other end of a gateway.
func (p *Population) LocatedArea(gateway uint64, in entity.SpaceID, apps []mercury.Address) {
	for _, c := range p.cells {
		for i := range c.gates.ends {
			if g := &c.gates.ends[i]; g.via == gateway && g.there == in && !slices.Equal(g.apps, apps) {
				g.apps, c.checkAt = slices.Clone(apps), 0
			}
		}
	}
}
