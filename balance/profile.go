package balance

import (
	"math"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
)

// Profile is the policy that goes by load profiles: it places a line where they say that the load is even, in one step
// if the offload budget allows it. Make it with NewProfile.
type Profile struct {
	cfg   Config
	lines memory[profileLine]
	cells []spaceCells // by id
}

// NewProfile returns the policy, or what Config.Validate finds.
func NewProfile(cfg Config) (*Profile, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &Profile{cfg: cfg.withDefaults()}, nil
}

// Line implements Policy.
func (p *Profile) Line(space uint32, id bsp.NodeID) (LineState, bool) {
	l := p.lines.of(space, id)
	if l == nil {
		return LineState{}, false
	}
	return LineState{Aggression: l.aggression, Direction: l.direction}, true
}

// Balance implements Policy.
func (p *Profile) Balance(o *Observation) Plan {
	v := look(o)
	p.lines.recall(v, profileLine{aggression: 1})
	plan := Plan{Ignored: v.ignored, Faults: v.faults}
	for i := range v.spaces {
		s := &v.spaces[i]
		plan.Removals = append(plan.Removals, removals(s)...)
		if !p.cfg.NoBalance {
			p.moveLines(s, &plan)
		}
	}
	return plan
}

// removals are the retiring cells that are swept and empty.
func removals(s *spaceView) []Ref {
	var refs []Ref
	for i := range s.leaves {
		x := &s.leaves[i]
		if x.leaf.Retiring && x.empty() && s.Tree.Swept(x.leaf.Cell) {
			refs = append(refs, Ref{s.ID, x.leaf.Cell})
		}
	}
	return refs
}

// empty reports whether the cell has said that nobody is in it.
func (l *leafView) empty() bool {
	return l.cell != nil && l.cell.Reals == 0 && l.cell.Ghosts == 0 && l.cell.Handoffs == 0
}

const (
	// A line that turns round has overshot: its step is halved. It regains that over ten periods, whether it moves on
	// or rests, down to a sixteenth at worst, so that it is never locked.
	turnFactor    = 0.5
	regainFactor  = 1.0717734625362931 // 2^(1/10)
	minAggression = 1.0 / 16
)

// profileLine is what is remembered of a line.
type profileLine struct {
	aggression float64 // share of the wanted step that is taken
	// direction is -1 or +1 for where it last moved, 0 if it never did. It survives periods of rest: a line that goes
	// left, rests and goes right is swinging as well.
	direction int
	moving    bool
}

// turn notes that the line is about to move in a direction, or to rest (0).
func (l *profileLine) turn(direction int) {
	if direction != 0 && direction == -l.direction {
		l.aggression = max(minAggression, l.aggression*turnFactor)
	} else {
		l.aggression = min(1, l.aggression*regainFactor)
	}
	if direction != 0 {
		l.direction = direction
	}
}

const (
	// minStep is the shortest way, in metres, that a line is moved: less parts no entities (see load.Clump) and would
	// only cost a new geometry.
	minStep = load.Clump

	// clumpOvershoot is how much of the load to be moved a single clump may be. At 1.5 at most half of the difference
	// is left, the other way round, so that a clump is not passed to and fro.
	clumpOvershoot = 1.5
)

// mover plans the lines of one space, from the root down: later lines take account of what earlier ones have moved.
type mover struct {
	p       *Profile
	s       *spaceView
	work    *bsp.Tree
	levels  []float64 // of the leaves, after the moves so far
	given   []float64 // reals that those take from each leaf
	bound   float64
	average float64
	blocked []Ref
}

func (p *Profile) moveLines(s *spaceView, plan *Plan) {
	if len(s.lines) == 0 {
		return
	}
	m := mover{p: p, s: s, work: s.Tree, levels: make([]float64, len(s.leaves)), given: make([]float64, len(s.leaves)), average: float64(s.average())}
	m.bound = max(nanos(p.cfg.SafetyBound), m.average*p.cfg.SafetyRatio)
	for i := range s.leaves {
		m.levels[i] = float64(s.leaves[i].level)
	}
	for i := range s.lines {
		l := &s.lines[i]
		to, ok := m.moveLine(l)
		if !ok {
			continue
		}
		if m.work == s.Tree {
			m.work = s.Tree.Clone()
		}
		if m.work.MoveLine(l.id, to) == nil {
			plan.Moves = append(plan.Moves, Move{Space: s.ID, Node: l.id, To: to})
		}
	}
	plan.Blocked = append(plan.Blocked, m.blocked...)
}

func (m *mover) moveLine(l *lineView) (float64, bool) {
	mem := m.p.lines.of(m.s.ID, l.id)
	left, right := m.gather(l, true), m.gather(l, false)
	want := m.wanted(&left, &right, mem.moving)
	mem.moving = false
	give, grow, direction := &left, &right, -1
	if want < 0 {
		give, grow, direction = &right, &left, 1
	}
	want = math.Abs(want)
	if want == 0 || grow.highest >= m.bound {
		m.noteBlocked(give, want)
		mem.turn(0)
		return 0, false
	}
	s := step{m: m, from: l.at, direction: direction, axis: l.axis, edge: give.edge, budget: float64(m.p.cfg.OffloadBudget)}
	if !s.setRange(l.id, give.weight == 0) {
		mem.turn(0)
		return 0, false
	}
	// The aggression to use is that after a turn, should this be one; a line that finds nothing to move rests.
	tried := *mem
	tried.turn(direction)
	s.most = want
	if give.weight > 0 {
		s.most *= tried.aggression
	}
	to, moved := s.farthest()
	if moved < nanos(m.p.cfg.MinMove) && give.weight > 0 {
		s.most *= clumpOvershoot
		if past, ok := s.pastClump(to); ok {
			to = past
		}
	}
	if math.Abs(to-l.at) < minStep {
		mem.turn(0)
		return 0, false
	}
	*mem = tried
	mem.moving = true
	s.spend(to, grow)
	return to, true
}

// noteBlocked reports a retiring cell that still has area, and beside it only cells over their bound.
func (m *mover) noteBlocked(give *side, want float64) {
	if want == 0 || give.weight > 0 || len(give.edge) == 0 {
		return
	}
	if c := m.s.leaves[give.edge[0]].leaf.Cell; !m.s.Tree.Swept(c) {
		m.blocked = append(m.blocked, Ref{m.s.ID, c})
	}
}

// side is what lies on one side of a line.
type side struct {
	sum     float64 // of levels
	highest float64 // level
	weight  int     // leaves that do not retire
	known   bool    // all created and reported
	edge    []int32 // the leaves that touch the line
	pending float64 // load of reals that stand beyond the line and are still to be handed over
}

func (m *mover) gather(l *lineView, isLeft bool) side {
	s := side{known: true}
	first, last := l.mid, l.last
	if isLeft {
		first, last = l.first, l.mid
	}
	for i := first; i < last; i++ {
		x := &m.s.leaves[i]
		s.sum += m.levels[i]
		s.highest = max(s.highest, m.levels[i])
		if !x.leaf.Retiring {
			s.weight++
		}
		if !x.known() {
			s.known = false
			continue
		}
		lo, hi := x.rect.Span(l.axis)
		if touches := (isLeft && hi == l.at) || (!isLeft && lo == l.at); !touches {
			continue
		}
		s.edge = append(s.edge, i)
		if !x.cell.Profile.Empty() {
			least, most := beyond(x, l.axis, l.at, isLeft)
			s.pending += float64(x.cell.Load) * ((least + most) / 2)
		}
	}
	return s
}

// beyond returns what share of a cell's load, at least and at most, lies across a line from it.
func beyond(x *leafView, a bsp.Axis, at float64, cellIsBelow bool) (least, most float64) {
	if x.cell.Profile.Empty() {
		return 0, 0
	}
	least, most = quantiles(x.cell, a).Below(at)
	if cellIsBelow {
		least, most = load.Slices-most, load.Slices-least
	}
	return least / load.Slices, most / load.Slices
}

// wanted returns how much load should pass from the left to the right, or the other way if negative; 0 inside the
// dead band, or if not all is known.
func (m *mover) wanted(left, right *side, moving bool) float64 {
	if !left.known || !right.known || left.weight+right.weight == 0 {
		return 0
	}
	nl, nr := float64(left.weight), float64(right.weight)
	l := left.sum - left.pending + right.pending
	r := right.sum - right.pending + left.pending
	// The load that makes both sides' averages equal.
	transfer := (float64(l*nr) - float64(r*nl)) / (nl + nr)
	switch {
	case left.weight == 0:
		return max(transfer, 1) // however little: the line must reach the end
	case right.weight == 0:
		return min(transfer, -1)
	}
	band := m.p.cfg.MinDifference
	if moving {
		band /= 2
	}
	if math.Abs(transfer)/min(nl, nr) <= band*m.average || math.Abs(transfer) < nanos(m.p.cfg.MinMove) {
		return 0
	}
	return transfer
}

// crossed books the load that a move takes from the leaf x, and gives it to the leaves that now have its place.
func (m *mover) crossed(x int32, amount float64, axis bsp.Axis, grow []int32) {
	m.levels[x] = max(0, m.levels[x]-amount)
	q := quantiles(m.s.leaves[x].cell, axis.Other())
	for _, y := range grow {
		lo, hi := m.s.leaves[y].rect.Span(axis.Other())
		a, b := q.Below(lo)
		c, d := q.Below(hi)
		m.levels[y] += amount * max(0, (c+d-a-b)/2) / load.Slices
	}
}
