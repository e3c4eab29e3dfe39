package space

import (
	"slices"

	"github.com/cellscape/cellscape/aoi"
	"github.com/cellscape/cellscape/aoi/witness"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/property"
)

// image is an entity at one end of a gateway as a cell at the other end shows it to clients: the same
// values and history, at another place. Its record, real or ghost, is on this CellApp. Nobody but
// witnesses meets images: scripts find only who is in the space.
type image struct {
	rec  *record
	cell *Cell           // that shows it
	e    presence.Entity // as it appears
	seen witness.Subject
	node aoi.Node // of the cell that shows it
	// safe is up to where no witness here needed the history, when all were asked last.
	safe property.EventNumber
}

// showThrough brings up to date what is seen through the gateways. It does so in each tick, before the
// range events.
func (c *Cell) showThrough() {
	c.readGates()
	for i := range c.gates.ends {
		g := &c.gates.ends[i]
		g.images = slices.DeleteFunc(g.images, func(img *image) bool {
			if img.rec != nil && c.follow(img, g) {
				return false
			}
			c.unshow(img)
			return true
		})
		c.meetThrough(g)
	}
}

// meetThrough makes images of who has come to the area beyond a gate.
func (c *Cell) meetThrough(g *gate) {
	home, b := c.population.home(g.there), g.beyond
	if home == nil || b.Empty() {
		return
	}
	half := max(b.MaxX-b.MinX, b.MaxZ-b.MinZ) / 2
	for key, node := range home.ranges.InRange(float32((b.MinX+b.MaxX)/2), float32((b.MinZ+b.MaxZ)/2), float32(half)+1) {
		rec := c.population.find(entity.ID(key))
		if rec == nil || rec.node != node || rec.cell != home || !rec.e.Def.HasClient || rec.e.Def.ManualAoI || !inside(rec, b) || g.has(rec) {
			continue
		}
		if len(g.images) >= MaxThroughGateway {
			if unlogged, ok := c.population.lines.Allow(c.now, "too many through a gateway"); ok {
				c.log.Warn("a gateway shows no more entities", "space", c.space, "limit", MaxThroughGateway, "unlogged", unlogged)
			}
			return
		}
		c.show(rec, g)
	}
}

func (g *gate) has(rec *record) bool {
	return slices.ContainsFunc(rec.images, func(img *image) bool { return img.seen.Via == g.via })
}

// show makes an image.
func (c *Cell) show(rec *record, g *gate) {
	at := sum(rec.e.Position, g.back())
	if !property.Finite(at) {
		return
	}
	img := &image{rec: rec, cell: c, seen: witness.Subject{Via: g.via, Unseen: &rec.cell.unseen}}
	img.seen.Entity = &img.e
	img.e = presence.Entity{ID: rec.e.ID, Def: rec.e.Def, Space: c.space, MovedTick: c.tick}
	img.copy()
	img.e.Put(at, rec.e.Direction, rec.e.MoveStamp)
	img.node = c.ranges.InsertBig(uint64(rec.e.ID), at.X, at.Z, rec.e.Def.AppealRadius)
	rec.images, g.images = append(rec.images, img), append(g.images, img)
}

// back leads from there to here.
func (g *gate) back() property.Vector3 {
	return property.Vector3{X: -g.offset.X, Y: -g.offset.Y, Z: -g.offset.Z}
}

func (img *image) copy() {
	to, from := &img.e, img.rec.e
	to.Order, to.Base, to.Aspect, to.Props, to.History = from.Order, from.Base, from.Aspect, from.Props, from.History
}

// follow brings an image up to date, and reports whether it stays.
func (c *Cell) follow(img *image, g *gate) bool {
	rec, aspect := img.rec, img.e.Aspect
	at := sum(rec.e.Position, g.back())
	if !inside(rec, g.fringe) || !property.Finite(at) {
		return false
	}
	img.copy()
	if e := &img.e; e.Position != at || e.Direction != rec.e.Direction || e.MoveStamp != rec.e.MoveStamp {
		e.Put(at, rec.e.Direction, rec.e.MoveStamp)
		e.MovedTick = c.tick
		c.ranges.Move(img.node, at.X, at.Z)
	}
	if aspect != img.e.Aspect {
		for _, other := range c.reals {
			if other.real.witness != nil {
				other.real.look(rec)
			}
		}
	}
	return true
}

// unshow takes an image away. The range events that follow tell the witnesses.
func (c *Cell) unshow(img *image) {
	if img.rec == nil {
		return // its entity went first
	}
	c.ranges.Remove(img.node)
	if img.seen.Watched() || img.seen.Noted() {
		img.rec.cell.unseen.Note(&img.rec.seen) // who watches it lets go of it now, or just has
	}
	img.rec.images = slices.DeleteFunc(img.rec.images, func(x *image) bool { return x == img })
	img.rec = nil
}

// leaveGates takes all images of an entity away that leaves its cell.
func (rec *record) leaveGates() {
	for len(rec.images) > 0 {
		img := rec.images[0]
		img.cell.unshow(img)
		img.cell.gates.closed = true // its node goes now
	}
}

// look shows the client of a real an entity where it is, else through a gateway, or not at all. Where it
// is wins: a client has an entity once.
func (r *Real) look(rec *record) {
	s := r.sight(rec)
	if s == nil {
		r.witness.Leave(rec.e.ID)
		return
	}
	r.witness.Enter(s)
	rec.cell.noticeWatched(rec)
}

// sight is how the client of a real is to be shown an entity, nil if it is not.
func (r *Real) sight(rec *record) *witness.Subject {
	if r.inSight(rec) {
		return &rec.seen
	}
	if len(rec.images) == 0 || r.witness == nil || rec.real == r || rec.e.Aspect&presence.Withheld != 0 || r.witness.Hidden(rec.e.ID) {
		return nil
	}
	for _, img := range rec.images {
		if img.cell == r.cell && r.cell.ranges.Contains(r.trigger, img.node) {
			return &img.seen
		}
	}
	return nil
}

// watched reports whether any client on this CellApp sees the entity, here or through a gateway.
func (rec *record) watched() bool {
	return rec.seen.Watched() || slices.ContainsFunc(rec.images, func(img *image) bool { return img.seen.Watched() })
}

// noted reports whether the next check finds that nobody sees the entity.
func (rec *record) noted() bool {
	return rec.seen.Noted() || slices.ContainsFunc(rec.images, func(img *image) bool { return img.seen.Noted() })
}

// trimImages notes what the witnesses here need of the histories of whom they see through gateways. All
// have been asked.
func (c *Cell) trimImages() {
	for i := range c.gates.ends {
		for _, img := range c.gates.ends[i].images {
			if img.rec != nil {
				img.safe, img.e.Floor = img.e.Floor, img.e.History.Last()
			}
		}
	}
}

// floor is up to where nobody on this CellApp needs the history of an entity.
func (rec *record) floor() property.EventNumber {
	f := rec.e.Floor
	for _, img := range rec.images {
		f = min(f, img.safe, img.e.Floor)
	}
	return f
}

func inside(rec *record, area interface{ Contains(x, z float64) bool }) bool {
	return area.Contains(float64(rec.e.Position.X), float64(rec.e.Position.Z))
}
