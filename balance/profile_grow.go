package balance

import (
	"cmp"
	"slices"
	"time"
)

// maxRooms is the most rooms of one app that a pass divides, so that an app with hundreds of them
// does not occupy all others before their loads show the gain.
const maxRooms = 4

// grow adds cells for load. A group that was joined with another in this pass waits for the next,
// since the load that they share is not known yet.
func (p *Profile) grow(m *pass, now time.Duration) {
	for _, i := range worstFirst(m.groups) {
		switch g := &m.groups[i]; {
		case g.joined:
		case len(g.spaces) == 1:
			p.growSpace(m, now, g.spaces[0])
		case len(g.spaces) > 1:
			p.growAlone(m, now, g)
			p.growRooms(m, g)
			p.growGroup(m, now, i)
		}
	}
	for i := range m.v.spaces {
		if m.v.groupOf(int32(i)) < 0 {
			p.growSpace(m, now, int32(i))
		}
	}
}

// growSpace gives cells to a space whose apps have no other.
func (p *Profile) growSpace(m *pass, now time.Duration, at int32) {
	s := &m.v.spaces[at]
	p.growTo(m, now, at, p.needed(p.total(s), addRatio), demand{among: []search{{group: m.v.groupOf(at), busy: s.average()}}})
}

// growTo gives a space as many cells as given, within its limits, first by cancelling retirements.
func (p *Profile) growTo(m *pass, now time.Duration, at int32, cells int, d demand) {
	s, c := &m.v.spaces[at], &m.spaces[at]
	if !s.complete() || len(c.added) > 0 {
		return // loads do not yet show the effect of the last cells
	}
	want := min(max(cells, c.least), c.most) - c.staying
	want -= m.cancelIn(at, want)
	if want > 0 && now-p.cells[at].completed >= p.cfg.Period {
		p.addCells(m, at, want, d)
	}
}

// growAlone gives each space of a group the cells that its own load needs, the heaviest space
// first. The average of a group can be low while all apps of one of its spaces are busy with just
// that space, and no line can relieve those.
func (p *Profile) growAlone(m *pass, now time.Duration, g *group) {
	for _, at := range heaviestFirst(m, g.spaces) {
		own := m.v.spaces[at].own()
		n := p.needed(own, addRatio)
		p.growTo(m, now, at, n, p.relief(m, at, own/int64(max(1, n))))
	}
}

// relief is the demand for a cell that will bring an app a load. Apps of the space's own group with
// room for that come first. If others were taken each time, the group would soon have more than its
// load needs, and give them back. If there are no others, an app of the group that is below the
// target must do.
func (p *Profile) relief(m *pass, at int32, brings int64) demand {
	g, target := m.v.groupOf(at), int64(nanos(p.cfg.TargetLoad*addRatio))
	return demand{brings: brings, among: []search{
		{group: g, inside: true, busy: target - brings}, {group: g, busy: target}, {group: g, inside: true, busy: target}}}
}

// growRooms relieves apps that have too much load from spaces of one cell, which lines cannot take
// away and the average of the group hides.
func (p *Profile) growRooms(m *pass, g *group) {
	for _, i := range slices.Clone(g.apps) {
		var rooms []int32
		excess := -int64(nanos(p.cfg.TargetLoad * addRatio))
		for _, c := range m.v.apps[i].cells {
			s := &m.v.spaces[c.space]
			if len(s.leaves) == 1 && len(m.spaces[c.space].added) == 0 && m.spaces[c.space].most > 1 && s.complete() {
				rooms = append(rooms, c.space)
				excess += s.own()
			}
		}
		rooms = heaviestFirst(m, rooms)
		for _, space := range rooms[:min(len(rooms), maxRooms)] {
			own := m.v.spaces[space].own()
			if excess > 0 && p.addCells(m, space, 1, p.relief(m, space, own)) > 0 {
				excess -= own
			}
		}
	}
}

// heaviestFirst returns spaces by what they cause themselves.
func heaviestFirst(m *pass, spaces []int32) []int32 {
	return slices.SortedStableFunc(slices.Values(spaces), func(a, b int32) int {
		return cmp.Compare(m.v.spaces[b].own(), m.v.spaces[a].own())
	})
}

// growGroup adds cells to the spaces of a group, in the order of the scheme, until there are as
// many apps as the load of them all asks for.
func (p *Profile) growGroup(m *pass, now time.Duration, group int32) {
	g := &m.groups[group]
	want := p.needed(g.total, addRatio) - useful(m, g)
	if want <= 0 || m.cancelApp(g) || !p.allDivided(g, func(c *spaceCells) bool { return now-c.completed >= p.cfg.Period }) {
		return
	}
	average := g.average(0)
	for _, space := range m.connectionSpaces(g) {
		s, c := &m.v.spaces[space], &m.spaces[space]
		n := min(want, c.most-c.staying)
		if n <= 0 || len(c.added) > 0 || !s.complete() {
			continue
		}
		want -= p.addCells(m, space, n, demand{among: []search{{group: group, busy: average}}, least: average})
		if want == 0 || slices.Contains(m.plan.Wanting, s.ID) {
			return
		}
	}
}
