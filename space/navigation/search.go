package navigation

import (
	"fmt"

	"github.com/cellscape/cellscape/property"
)

// search is the scratch of A*, kept from one search to the next.
type search struct {
	number uint32 // of this search
	nodes  []node // by id of the polygon
	open   frontier
}

// node is what a search knows of a polygon.
type node struct {
	number uint32 // of the search that has met it
	closed bool
	cost   float64
	entry  point // where the way comes in
	from   int32 // polygon, -1 for the first
	by     int32 // link of that
}

// waiting is a polygon to be looked at.
type waiting struct {
	sum float64 // of the way there, and of the least that is left
	id  int32
}

func (w waiting) before(o waiting) bool { return w.sum < o.sum || w.sum == o.sum && w.id < o.id }

// frontier is a heap of those.
type frontier []waiting

func (f *frontier) push(w waiting) {
	*f = append(*f, w)
	h := *f
	for i := len(h) - 1; i > 0; {
		up := (i - 1) / 2
		if !h[i].before(h[up]) {
			return
		}
		h[i], h[up] = h[up], h[i]
		i = up
	}
}

func (f *frontier) pop() waiting {
	h := *f
	first, last := h[0], len(h)-1
	h[0] = h[last]
	h = h[:last]
	*f = h
	for i := 0; ; {
		down := 2*i + 1
		if down+1 < last && h[down+1].before(h[down]) {
			down++
		}
		if down >= last || !h[down].before(h[i]) {
			return first
		}
		h[i], h[down] = h[down], h[i]
		i = down
	}
}

// Path appends the corners of the way from one place to another, the last of which is that place, on the
// ground. Errors are ErrOffMesh, of either place, ErrNoPath and ErrTooFar.
func (m *Mesh) Path(corners []property.Vector3, from, to property.Vector3) ([]property.Vector3, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !from.Finite() || !to.Finite() {
		return corners, fmt.Errorf("%w: from %v to %v", ErrOffMesh, from, to)
	}
	a, b := pointOf(from), pointOf(to)
	first, last := m.locate(a), m.locate(b)
	if first == nil {
		return corners, fmt.Errorf("%w: from %v", ErrOffMesh, from)
	}
	if last == nil {
		return corners, fmt.Errorf("%w: to %v", ErrOffMesh, to)
	}
	a.y, b.y = first.height(a.x, a.z), last.height(b.x, b.z)
	doors, ok := m.kept.get(first, last)
	if !ok {
		var err error
		if doors, err = m.doors(first, last, a, b); err != nil {
			return corners, fmt.Errorf("%w: from %v to %v", err, from, to)
		}
		m.kept.put(first, last, doors)
	}
	return pull(corners, a, b, doors), nil
}

// doors finds the links that lead from one polygon to another.
func (m *Mesh) doors(first, last *polygon, a, b point) ([]link, error) {
	s := &m.search
	s.begin(len(m.polys))
	s.meet(first.id, node{entry: a, from: -1}, a.distance(b))
	for visited := 0; len(s.open) > 0; visited++ {
		w := s.open.pop()
		n := &s.nodes[w.id]
		if n.closed {
			continue
		}
		if w.id == last.id {
			return m.trace(last), nil
		}
		if visited >= MaxVisited {
			return nil, ErrTooFar
		}
		n.closed = true
		p := m.polys[w.id]
		for i := range p.links {
			l := &p.links[i]
			entry := l.a.towards(l.b, 0.5)
			if l.to == last {
				entry = l.a.towards(l.b, share(l.a, l.b, b))
			}
			cost := n.cost + n.entry.distance(entry)
			s.meet(l.to.id, node{cost: cost, entry: entry, from: w.id, by: int32(i)}, entry.distance(b))
		}
	}
	return nil, ErrNoPath
}

// begin forgets the search before.
func (s *search) begin(polygons int) {
	s.number++
	if s.number == 0 { // after four thousand million
		clear(s.nodes)
		s.number = 1
	}
	if polygons > len(s.nodes) {
		s.nodes = append(s.nodes, make([]node, polygons-len(s.nodes))...)
	}
	s.open = s.open[:0]
}

// meet notes a way to a polygon, if it is the best so far.
func (s *search) meet(id int32, by node, left float64) {
	n := &s.nodes[id]
	if n.number == s.number && (n.closed || n.cost <= by.cost) {
		return
	}
	by.number = s.number
	*n = by
	s.open.push(waiting{by.cost + left, id})
}

// trace lists the links that the search has gone through.
func (m *Mesh) trace(last *polygon) []link {
	n := 0
	for id := last.id; m.search.nodes[id].from >= 0; id = m.search.nodes[id].from {
		n++
	}
	doors := make([]link, n)
	for id := last.id; n > 0; {
		at := &m.search.nodes[id]
		n--
		doors[n] = m.polys[at.from].links[at.by]
		id = at.from
	}
	return doors
}

// kept are ways that were found before: many walk between the same places.
type kept struct {
	ways map[pair][]link
	ring []pair // in the order in which they came
	next int    // of ring, to be forgotten
}

type pair struct{ from, to int32 }

func (k *kept) clear() {
	clear(k.ways)
	k.ring, k.next = k.ring[:0], 0
}

func (k *kept) get(from, to *polygon) ([]link, bool) {
	doors, ok := k.ways[pair{from.id, to.id}]
	return doors, ok
}

func (k *kept) put(from, to *polygon, doors []link) {
	if k.ways == nil {
		k.ways = make(map[pair][]link)
	}
	p := pair{from.id, to.id}
	if len(k.ring) < MaxKept {
		k.ring = append(k.ring, p)
	} else {
		delete(k.ways, k.ring[k.next])
		k.ring[k.next] = p
		k.next = (k.next + 1) % MaxKept
	}
	k.ways[p] = doors
}
