package balance

import (
	"math"
	"slices"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
)

// Profile is the policy that uses load profiles. It places a line where they show that the load is
// even, in one step if the cells can hand over that much. Make it with ProfileConfig.New.
type Profile struct {
	cfg    profileSettings
	budget float64 // reals that a cell hands over in a period
	lines  memory[profileLine]
	levels []spaceLevels // by id
	cells  []spaceCells  // by id
}

// Line implements Policy.
func (p *Profile) Line(space uint32, id bsp.NodeID) (LineState, bool) {
	l := p.lines.of(space, id)
	if l == nil {
		return LineState{}, false
	}
	return LineState{Aggression: 1 / l.width, Direction: l.direction}, true
}

// Balance implements Policy.
func (p *Profile) Balance(o *Observation) Plan {
	v := look(o)
	p.lines.recall(v, newProfileLine())
	plan := Plan{Ignored: v.ignored, Faults: v.faults}
	next := make([]spaceLevels, len(v.spaces))
	for i := range v.spaces {
		s := &v.spaces[i]
		plan.Removals = append(plan.Removals, removals(s)...)
		next[i] = p.moveLines(s, &plan)
	}
	p.levels = next
	return plan
}

// profileLine is the memory of a line.
type profileLine struct {
	direction int
	// width is how many times its dead band is as wide as that of a line that does not swing.
	width float64
	// at is where the last plan left it, NaN for a new one.
	at float64
}

func newProfileLine() profileLine { return profileLine{width: 1, at: math.NaN()} }

// A line that turns has gone too far, or its crowd swings. It then waits for a larger difference.
// It does not take smaller steps, since such damping locks lines for as long as the crowd moves,
// just when they are needed.
const (
	// turnFactor is the factor by which the dead band widens at a turn. The widening is at most
	// stillWidth around a crowd that stands still, and maxWidth around one of walkingPace or more.
	turnFactor, maxWidth, stillWidth, walkingPace = 1.5, 2.5, 3.0, 0.05
	// regainPace divided by the pace is how many periods it takes until a widening by 2 is taken
	// back. Around a crowd that stands still, or steps about on the spot, it is never taken back,
	// or lines would begin again and swing there for ever. In a walking crowd it takes some ten
	// seconds.
	regainPace = 5.0
)

// widest is the limit of a dead band's width about a crowd of a pace.
func widest(pace float64) float64 {
	return stillWidth + float64((maxWidth-stillWidth)*min(1, pace/walkingPace))
}

// turn notes that the line moves in a direction, or rests (0), about a crowd of a pace.
func (l *profileLine) turn(direction int, pace float64) {
	if direction != 0 && direction == -l.direction {
		l.width = max(l.width, min(l.width*turnFactor, widest(pace)))
	} else {
		// math.Exp2 would not do, since its last bits differ between processors.
		l.width = max(1, l.width/(1+float64(math.Ln2*pace/regainPace)))
	}
	if direction != 0 {
		l.direction = direction
	}
}

const (
	// minStep is the shortest move of a line, in metres. A shorter one divides no entities (see
	// load.Clump) and would only cost a new geometry.
	minStep = load.Clump

	// clumpOvershoot is how many times the load to move a single clump may be. At 1.5 at most half
	// of the difference remains, with the sides exchanged, so that a clump is not passed to and
	// fro.
	clumpOvershoot = 1.5
)

// mover plans the lines of one space, from the root down: later lines take account of what earlier
// ones have moved.
type mover struct {
	land
	p       *Profile
	average float64
	bound   float64   // that a leaf on the growing side must be under
	band    float64   // load that a line between two leaves may leave uneven
	yield   float64   // see spaceLevels
	pace    float64   // see spaceLevels
	jump    float64   // see spaceLevels
	unsure  float64   // see spaceLevels
	walkOn  float64   // share of the load within bands that lines reckon with
	due     []float64 // of each leaf, see cellLevel
	banded  []float64
	stirred []bool
	ahead   []float64 // of each leaf, what of its level is still to flow in
	parts   []float64 // of those that crossed sees: what each got
	levels  sums      // of the leaves, after the moves so far
	counts  counts
	going   []float64 // of each leaf, what share of it is about to be handed over
	given   []float64 // reals that those take from each leaf
	blocked []Ref
	held    []int32    // leaves of the growing sides that lines stopped short of
	edges   [2][]int32 // scratch of sides
	passing [2][]passing
}

// moveLines plans the lines of a space. It returns what is to be remembered of its levels.
func (p *Profile) moveLines(s *spaceView, plan *Plan) spaceLevels {
	if p.cfg.NoBalance || len(s.lines) == 0 && float64(s.leaves[0].level) < nanos(p.cfg.TargetLoad)/2 {
		// Of thousands of rooms next to none will be divided soon.
		g := newLand(s, &p.cfg.Config, &p.cfg.Border)
		plan.Unloaded = append(plan.Unloaded, g.unloaded(0, nil)...)
		return newLevels(s.ID)
	}
	old := p.levelsOf(s.ID)
	m := mover{
		land: newLand(s, &p.cfg.Config, &p.cfg.Border), p: p, counts: count(s), given: make([]float64, len(s.leaves)), going: make([]float64, len(s.leaves)),
		average: float64(s.average()), yield: old.yield(), pace: old.pace(), jump: old.jumps(), unsure: old.unsure(), walkOn: walkOn(old.pace()),
		due: make([]float64, len(s.leaves)), banded: make([]float64, len(s.leaves)), stirred: make([]bool, len(s.leaves)), ahead: make([]float64, len(s.leaves)),
	}
	m.bound = max(nanos(p.cfg.SafetyBound), m.average*p.cfg.SafetyRatio)
	m.band = m.deadBand()
	m.levels.reset(len(s.leaves))
	next := m.follow(old)
	for i := range s.lines {
		m.settle(&s.lines[i])
	}
	m.foresee(&old, &next)
	for i := range s.lines {
		l := &s.lines[i]
		mem := p.lines.of(s.ID, l.id)
		mem.at = l.at
		to, ok := m.moveLine(l)
		if !ok {
			continue
		}
		if m.work == s.Tree {
			m.work = s.Tree.Clone()
		}
		if m.work.MoveLine(l.id, to) == nil {
			mem.at = to
			plan.Moves = append(plan.Moves, Move{Space: s.ID, Node: l.id, To: to})
		}
	}
	plan.Blocked = append(plan.Blocked, m.blocked...)
	plan.Unloaded = append(plan.Unloaded, m.unloaded(0, m.held)...)
	for i := range next.cells {
		c := &next.cells[i]
		c.due, c.banded, c.stirred = m.due[i], m.banded[i], m.stirred[i]
		c.planned = m.levels.at(int32(i)) - m.ahead[i]
	}
	slices.SortFunc(next.cells, func(a, b cellLevel) int { return a.cell.Compare(b.cell) })
	return next
}

// deadBand is the load that a line between two leaves may leave uneven: as configured, and at least
// the cost of a real, since a line cannot pass part of one. Where ghosts make much of the load it
// is wider, by the square of what the yield lacks, because every move there shifts ghosts in cells
// all around, and lines would answer each other's moves.
func (m *mover) deadBand() float64 {
	reals := 1
	for i := range m.s.leaves {
		if c := m.s.leaves[i].cell; c != nil {
			reals += c.Reals
		}
	}
	one := m.average * float64(len(m.s.leaves)-m.s.retiring) / float64(reals)
	return max(nanos(m.p.cfg.MinMove), one, m.average*m.p.cfg.MinDifference, m.average*m.unsure) / (m.yield * m.yield)
}

func (m *mover) moveLine(l *lineView) (float64, bool) {
	left, right := m.sides(l)
	mem := m.p.lines.of(m.s.ID, l.id)
	turned := 0
	defer func() { mem.turn(turned, m.pace) }()
	want := m.wanted(&left, &right, mem.width)
	give, grow, direction := &left, &right, -1
	if want < 0 {
		give, grow, direction = &right, &left, 1
	}
	want = math.Abs(want)
	if want == 0 {
		return 0, false
	}
	if grow.highest >= m.bound {
		m.noteBlocked(give, want)
		return 0, false
	}
	sweep := give.weight == 0
	if !sweep && (m.waits(l) || m.busy(&left, &right)) {
		return 0, false
	}
	s := step{m: m, from: l.at, direction: direction, axis: l.axis, most: want, budget: m.p.budget}
	s.setEdges(give.edge, grow.edge)
	if sweep {
		s.most = math.Inf(1) // everything there must go, and those about to come need not
	}
	if len(give.edge) == 0 || !s.setRange(l.id, sweep) {
		return 0, false
	}
	if !sweep && !s.limit(l) {
		m.held = append(m.held, m.beside(l, direction > 0)...)
		return 0, false
	}
	to, moved := s.farthest()
	if moved < nanos(m.p.cfg.MinMove) && !sweep {
		s.most *= clumpOvershoot
		if past, ok := s.pastClump(to); ok {
			to = past
		}
	}
	if to == l.at || math.Abs(to-l.at) < minStep && !sweep {
		return 0, false
	}
	turned = direction
	for _, edge := range m.edges {
		for _, i := range edge {
			m.stirred[i] = true
		}
	}
	s.spend(to, give.edge, grow.edge)
	return to, true
}

// A line rests while the cells beside it are still at the handovers of its last moves: one of
// busyShare of their reals, and more than busyLeast, since a few walk over a line at any time. Apps
// that get little of their processors need seconds for a handover. Lines that went on had half of all
// reals on the way, where nobody runs them.
const busyShare, busyLeast = 20, 4

func (m *mover) busy(left, right *side) bool {
	handoffs, reals := 0, 0
	for _, edge := range [...][]int32{left.edge, right.edge} {
		for _, i := range edge {
			c := m.s.leaves[i].cell
			handoffs, reals = handoffs+c.Handoffs, reals+c.Reals
		}
	}
	return handoffs > max(busyLeast, (reals+handoffs)/busyShare)
}

// noteBlocked reports a retiring cell that still has area but only neighbours above their bound.
func (m *mover) noteBlocked(give *side, want float64) {
	if want == 0 || give.weight > 0 || len(give.edge) == 0 {
		return
	}
	if c := m.s.leaves[give.edge[0]].leaf.Cell; !m.s.Tree.Swept(c) {
		m.blocked = append(m.blocked, Ref{m.s.ID, c})
	}
}

// wanted returns how much load should pass from the left to the right, negative for the other way;
// 0 inside the dead band, or if not everything is known.
//
// The error of what n cells are expected to report is the root of n times that of one, and so is
// the difference that two sides of n cells may have. So relative to the load the band is narrower
// the higher the line is, and differences do not add up on the way down.
func (m *mover) wanted(left, right *side, width float64) float64 {
	if !left.known || !right.known || left.weight+right.weight == 0 {
		return 0
	}
	nl, nr := float64(left.weight), float64(right.weight)
	// The load that makes both sides' averages equal.
	transfer := (float64(left.sum*nr) - float64(right.sum*nl)) / (nl + nr)
	switch {
	case left.weight == 0:
		return max(transfer, 1) // however little: the line must reach the end
	case right.weight == 0:
		return min(transfer, -1)
	}
	if math.Abs(transfer) <= width*m.band*math.Sqrt(2*nl*nr/(nl+nr)) {
		return 0
	}
	return transfer
}

// crossed moves load from the leaf x to the leaves that now have its place, and leaves their parts
// in m.parts.
func (m *mover) crossed(x int32, amount float64, axis bsp.Axis, grow []int32) {
	m.levels.set(x, max(0, m.levels.at(x)-amount))
	q := quantiles(m.s.leaves[x].cell, axis.Other())
	m.parts = m.parts[:0]
	for _, y := range grow {
		lo, hi := m.s.leaves[y].rect.Span(axis.Other())
		part := max(0, (middle(q.Below(hi))-middle(q.Below(lo)))/load.Slices)
		m.parts = append(m.parts, part)
		m.levels.set(y, max(0, m.levels.at(y)+float64(amount*part)))
	}
}
