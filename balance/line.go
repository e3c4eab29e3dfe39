package balance

import (
	"slices"

	"github.com/cellscape/cellscape/bsp"
)

const (
	// A line that turns round has overshot: its step is halved. It regains that over ten periods, whether it moves on
	// or rests, down to a sixteenth at worst, so that it is never locked.
	turnFactor    = 0.5
	regainFactor  = 1.0717734625362931 // 2^(1/10)
	minAggression = 1.0 / 16
)

// line is what is remembered of a line.
type line struct {
	id         bsp.NodeID
	axis       bsp.Axis
	aggression float64 // share of the wanted step that is taken
	// direction is -1 or +1 for where it last moved, 0 if it never did. It survives periods of rest: a line that goes
	// left, rests and goes right is swinging as well.
	direction int
	moving    bool
}

// turn notes that the line is about to move in a direction, or to rest (0).
func (l *line) turn(direction int) {
	if direction != 0 && direction == -l.direction {
		l.aggression = max(minAggression, l.aggression*turnFactor)
	} else {
		l.aggression = min(1, l.aggression*regainFactor)
	}
	if direction != 0 {
		l.direction = direction
	}
}

// recall drops the memory of lines that have gone, and starts that of new ones.
func (b *Balancer) recall(t *bsp.Tree) {
	lines := make([]line, 0, t.Len())
	for n := range t.Nodes() {
		if l := b.line(n.ID); l != nil && l.axis == n.Axis {
			lines = append(lines, *l)
		} else {
			lines = append(lines, line{id: n.ID, axis: n.Axis, aggression: 1})
		}
	}
	slices.SortFunc(lines, func(a, b line) int { return compare(uint32(a.id), uint32(b.id)) })
	b.lines = lines
}

func (b *Balancer) line(id bsp.NodeID) *line {
	i, ok := slices.BinarySearchFunc(b.lines, id, func(l line, id bsp.NodeID) int { return compare(uint32(l.id), uint32(id)) })
	if !ok {
		return nil
	}
	return &b.lines[i]
}

// LineState shows what the balancer remembers of a line, for viewers and logs.
type LineState struct {
	// Aggression is the share of the wanted step that the line takes, 1/16 to 1; it is halved when the line turns.
	Aggression float64
	// Direction is -1 or +1 for where it last moved, 0 if it never did.
	Direction int
}

// Line returns the state of a line; it reports false for one that the last observation did not have.
func (b *Balancer) Line(id bsp.NodeID) (LineState, bool) {
	l := b.line(id)
	if l == nil {
		return LineState{}, false
	}
	return LineState{Aggression: l.aggression, Direction: l.direction}, true
}
