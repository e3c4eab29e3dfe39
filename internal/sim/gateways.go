package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/internal/spacekey"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
)

// In a world with gateways, players see through two of them: one leads from the west of their space to its
// east, and one into another space, where figures walk about, in and out of its area.

// theOther is that space.
const theOther entity.SpaceID = 2

// figures is how many walk there.
const figures = 6

const figureDef = `
<root>
	<Volatile> <position/> <yaw/> </Volatile>
	<Properties>
		<steps> <Type> UINT32 </Type> <Flags> ALL_CLIENTS </Flags> </steps>
	</Properties>
</root>`

// inward and across are the gateways.
func inward() space.Gateway {
	return space.Gateway{
		Near:   space.GatewayEnd{Space: theSpace, Area: bsp.Rect{MinX: -75, MinZ: 150, MaxX: 75, MaxZ: 300}},
		Far:    space.GatewayEnd{Space: theOther, Area: bsp.Rect{MinX: -75, MinZ: -75, MaxX: 75, MaxZ: 75}},
		Offset: property.Vector3{Y: 5, Z: -150},
	}
}

func eastward() space.Gateway {
	return space.Gateway{
		Near:   space.GatewayEnd{Space: theSpace, Area: bsp.Rect{MinX: -300, MinZ: -75, MaxX: -150, MaxZ: 75}},
		Far:    space.GatewayEnd{Space: theSpace, Area: bsp.Rect{MinX: 150, MinZ: -75, MaxX: 300, MaxZ: 75}},
		Offset: property.Vector3{X: 300},
	}
}

// atGate is a place near one of their ends.
func atGate(c *rand.Rand) property.Vector3 {
	end := [...]property.Vector3{{Z: 130}, {X: -170}, {X: 170}}[c.IntN(3)]
	return property.Vector3{X: end.X + float32(c.IntN(80)-40), Z: end.Z + float32(c.IntN(80)-40)}
}

// openGates opens them, as soon as there is a cell.
func openGates(c *space.Cell) {
	for _, g := range []space.Gateway{inward(), eastward()} {
		if _, err := c.OpenGateway(g); err != nil {
			panic(err)
		}
	}
}

// figureBase is the base part of a figure.
type figureBase struct{ *entity.Base }

// OnCreated makes the cell part.
func (b *figureBase) OnCreated() {
	at := somewhere(uint64(b.ID()))
	_ = b.CreateCell(theOther, property.Vector3{X: at.X / 4, Z: at.Z / 4}, property.Vector3{}, nil)
}

// figureCell is its cell part.
type figureCell struct {
	*space.Real
	w     *world `cellscape:"local"`
	Steps property.Uint32
}

// OnCreated starts the steps.
func (s *figureCell) OnCreated() { _, _ = s.AddTimer(tick, tick, "OnStep", 0) }

// OnStep walks to and fro, some metres in a tick, and counts.
func (s *figureCell) OnStep(entity.Callback) {
	if s.w.calm && s.w.hush {
		return
	}
	n := s.Steps.Get() + 1
	s.Steps.Set(n)
	p := s.Position()
	if p.X += 2; p.X > 100 {
		p.X = -100
	}
	_ = s.SetPosition(p)
}

// wayIn is one end of a gateway, as those in the space of the players see through.
type wayIn struct {
	there  entity.SpaceID
	beyond bsp.Rect
	back   property.Vector3 // from there to here
}

// waysIn are those of a world with gateways.
func (c *Cluster) waysIn() []wayIn {
	if !c.opts.Gateway {
		return nil
	}
	in, east := inward(), eastward()
	minus := func(v property.Vector3) property.Vector3 { return property.Vector3{X: -v.X, Y: -v.Y, Z: -v.Z} }
	return []wayIn{
		{theOther, in.Far.Area, minus(in.Offset)},
		{theSpace, east.Far.Area, minus(east.Offset)},
		{theSpace, east.Near.Area, east.Offset},
	}
}

func (w *wayIn) place(v space.View) property.Vector3 {
	p := v.Position()
	return property.Vector3{X: p.X + w.back.X, Y: p.Y + w.back.Y, Z: p.Z + w.back.Z}
}

// images are the places at which a client at a place may see an entity of a space through gateways. owed
// says that it must see it.
func (c *Cluster) images(v space.View, in entity.SpaceID, from property.Vector3) (places []property.Vector3, owed bool) {
	at := v.Position()
	for _, w := range c.waysIn() {
		d := apart(from, w.place(v))
		if w.there != in || d > seenFrom(v)+aoiHysteresis || !w.beyond.Grow(space.DefaultGhostSlack).Contains(float64(at.X), float64(at.Z)) {
			continue
		}
		places = append(places, w.place(v))
		owed = owed || d <= seenFrom(v) && w.beyond.Contains(float64(at.X), float64(at.Z))
	}
	return places, owed
}

// throughGates checks what clients see of those of another space, and that nobody is seen twice or where
// it is not. Of those who are in the space of the players, clientsConverge knows where they may be seen.
func (k *clientsConverge) throughGates(bad func(string, ...any), pl *player, from property.Vector3) {
	for v := range k.c.reals() {
		if v.cell.Space() != theOther {
			continue
		}
		places, owed := k.c.images(v.View, theOther, from)
		r := pl.client.Entity(v.ID())
		switch {
		case r == nil && owed && gated(v.cell):
			bad("misses %s through a gateway", v.ID())
		case r != nil && !slices.Contains(places, r.Position):
			bad("has %s at %v, through gateways it is at %v", v.ID(), r.Position, places)
		case r != nil:
			k.c.seenThrough++
			k.same(bad, v.ID().String(), r, v.View, r.Def.Property("steps").Index)
		}
	}
}

// gated reports whether a cell knows of gateways. A space loses its data if the manager dies
// together with both of the space's keepers and all CellApps that have a cell of it.
func gated(cell space.Hosted) bool {
	for range cell.AllSpaceData(spacekey.Gateway) {
		return true
	}
	return false
}

// gatesFresh checks that what clients see through a gateway while all walk is late by no more than
// staleLimit, unless all that time the budget of the client was spent: in a sound network, every
// place of a figure that a client holds is one where that was then. Without the exception, tight
// worlds failed.
type gatesFresh struct {
	c       *Cluster
	way     map[entity.ID][]property.Vector3 // of the last staleLimit, by the checks
	seen    map[entity.ID]time.Duration      // the last check that found it
	told    [][]uint64                       // bytes to each player, by the same
	budget  map[entity.ID]int                // of each player, of the last check
	met     map[[2]entity.ID]meeting
	app     map[entity.ID]string // of the players and figures
	changed time.Duration        // when one of them came to another app, or the network was bad
}

func (k *gatesFresh) safe() error {
	if !k.c.opts.Gateway {
		return nil
	}
	k.follow()
	if !k.c.calm {
		k.changed = k.c.now
	}
	if k.c.now < k.changed+freshAfter {
		return nil
	}
	way := k.c.waysIn()[0]
	for i, pl := range k.c.players {
		// Of one whose base is gone, its client has yet to hear.
		if !pl.playing() || k.c.forsaken(pl.id()) || k.spent(i) {
			continue
		}
		for r := range pl.client.Entities() {
			if err := k.place(pl, r, &way); err != nil {
				return err
			}
		}
	}
	return nil
}

// meeting is for how long a client has had an entity in sight.
type meeting struct{ since, seen time.Duration }

// follow keeps where figures have been, and whether anybody has moved to another app.
func (k *gatesFresh) follow() {
	for v := range k.c.reals() {
		id := v.ID()
		if v.cell.Space() != theOther && v.Def().Name != "Walker" {
			continue
		}
		if k.app[id] != v.p.Name {
			k.app[id], k.changed = v.p.Name, k.c.now
		}
		if v.cell.Space() == theOther {
			k.way[id], k.seen[id] = lastOf(k.way[id], v.Position()), k.c.now
		} else {
			k.budget[id] = v.ClientBudget()
		}
	}
	for i, pl := range k.c.players {
		if i == len(k.told) {
			k.told = append(k.told, nil)
		}
		k.told[i] = lastOf(k.told[i], pl.told)
	}
}

// lastOf adds what a check has found to what those of the last staleLimit have.
func lastOf[T any](list []T, x T) []T {
	list = append(list, x)
	return list[max(0, len(list)-int(staleLimit/checkPeriod)-1):]
}

// spent reports whether all that a player may be told was needed in the last staleLimit.
func (k *gatesFresh) spent(player int) bool {
	told := k.told[player]
	used := float64(told[len(told)-1] - told[0])
	ticks := float64(len(told)-1) * float64(checkPeriod) / float64(tick)
	return used >= spent*ticks*float64(k.budget[k.c.players[player].id()])
}

func (k *gatesFresh) place(pl *player, r *client.Replica, way *wayIn) error {
	been := k.way[r.ID]
	if len(been) == 0 || k.seen[r.ID] != k.c.now {
		return nil
	}
	pair := [2]entity.ID{pl.id(), r.ID}
	m := k.met[pair]
	if m.seen < k.c.now-2*checkPeriod {
		m.since = k.c.now
	}
	m.seen = k.c.now
	if k.met[pair] = m; k.c.now < m.since+steadyFor {
		return nil
	}
	k.c.throughFresh++
	for _, at := range been {
		x := property.Vector3{X: at.X + way.back.X, Y: at.Y + way.back.Y, Z: at.Z + way.back.Z}
		if apart(x, r.Position) < 0.1 {
			return nil
		}
	}
	return fmt.Errorf("gateways: %s has %s at %v, in the last second that was at %v and so on", pl.name, r.ID, r.Position, been[len(been)-1])
}

func (k *gatesFresh) converged() error { return nil } // clientsConverge sees to that
