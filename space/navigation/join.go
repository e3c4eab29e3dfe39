package navigation

import "math"

const (
	// gap is how far apart, in metres, two edges may lie that are taken for one: tools round.
	gap = 0.05
	// leastDoor is how long the common part of two edges must be, in metres, to lead anywhere.
	leastDoor = 0.05
)

// near reports whether edges of two tiles may lie on one another.
func (t *tile) near(o *tile) bool { return t.bounds.touches(&o.bounds, gap) }

// side is an edge by its corners, the lower number first.
type side struct{ low, high uint32 }

// maxLooks bounds how many polygons are looked at to join those of a tile, for each of them:
// tools leave a few by each edge. Polygons that lie on one another would cost their square.
const maxLooks = 256

// joinWithin joins the polygons of a tile: by their corners where two share an edge, and else by place. It
// reports false if too many lie in one place.
func (t *tile) joinWithin() bool {
	type half struct {
		p *polygon
		i int
	}
	open := make(map[side]half)
	for _, p := range t.polygons {
		for i := range p.ring {
			a, b := p.names[i], p.names[(i+1)%len(p.names)]
			s := side{min(a, b), max(a, b)}
			o, ok := open[s]
			if !ok {
				open[s] = half{p, i}
				continue
			}
			if o.p == p || o.p.joined[o.i] {
				continue
			}
			from, to := p.edge(i)
			p.links = append(p.links, link{o.p, from, to})
			o.p.links = append(o.p.links, link{p, to, from})
			p.joined[i], o.p.joined[o.i] = true, true
		}
	}
	return join(t, t, 0)
}

// join joins what is open of two tiles, which may be one, where edges lie on one another. It
// reports false if it has given up, since too many do.
func join(t, other *tile, climb float64) bool {
	looks := maxLooks * len(t.polygons)
	for _, p := range t.polygons {
		for i := range p.ring {
			if p.joined[i] {
				continue
			}
			a, b := p.edge(i)
			reach := box{min(a.x, b.x) - gap, min(a.z, b.z) - gap, max(a.x, b.x) + gap, max(a.z, b.z) + gap}
			if !other.bounds.touches(&reach, 0) {
				continue
			}
			other.each(reach, func(q *polygon) {
				if looks--; looks < 0 || q == p || t == other && q.index < p.index || p.leadsTo(q) {
					return // the other way round it has been seen, or more than once
				}
				meet(p, i, q, max(climb, gap))
			})
			if looks < 0 {
				return false
			}
		}
	}
	return true
}

func (p *polygon) leadsTo(q *polygon) bool {
	for i := range p.links {
		if p.links[i].to == q {
			return true
		}
	}
	return false
}

// meet joins an edge of p with the open edges of q that lie on it.
func meet(p *polygon, i int, q *polygon, climb float64) {
	a, b := p.edge(i)
	for j := range q.ring {
		if q.joined[j] {
			continue
		}
		c, d := q.edge(j)
		from, to, ok := common(a, b, c, d)
		if !ok || math.Abs(from.y-heightOn(c, d, from)) > climb || math.Abs(to.y-heightOn(c, d, to)) > climb {
			continue
		}
		p.links = append(p.links, link{q, from, to})
		q.links = append(q.links, link{p, to, from})
	}
}

func heightOn(a, b, at point) float64 { return a.towards(b, share(a, b, at)).y }

// common is the part of the edge from a to b, seen from above, on which the edge from c to d lies, which goes
// the other way since its polygon is on the other side.
func common(a, b, c, d point) (from, to point, ok bool) {
	dx, dz := b.x-a.x, b.z-a.z
	long := math.Hypot(dx, dz)
	if float64(dx*(d.x-c.x))+float64(dz*(d.z-c.z)) >= 0 {
		return from, to, false
	}
	if math.Abs(turn(a, b, c)) > gap*long || math.Abs(turn(a, b, d)) > gap*long {
		return from, to, false
	}
	begin, end := share(a, b, d), share(a, b, c)
	if (end-begin)*long < leastDoor {
		return from, to, false
	}
	return a.towards(b, begin), a.towards(b, end), true
}
