package balance

import (
	"fmt"
	"time"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
)

// Move is a line to move.
type Move struct {
	Node bsp.NodeID
	To   float64
}

// Split is a leaf to cut in two for a new cell.
type Split struct {
	// Cell is the leaf to cut, At the line of the given Axis.
	Cell bsp.CellID
	Axis bsp.Axis
	At   float64
	// NewOnHigherSide says which side the new cell gets: the one with less load.
	NewOnHigherSide bool
	// App is the ID of the app that is to run the new cell.
	App uint32
}

// Plan is what the manager should do now.
type Plan struct {
	// Moves are to be applied in order.
	Moves []Move
	// Split is nil if no cell is to be added. A plan that splits moves no line.
	Split *Split
	// Crowded are cells loaded above Config.AddAbove that no line can divide: their load sits on one spot. Balancing
	// cannot help them; thinning out what is sent to clients, or slowing time, can.
	Crowded []bsp.CellID
	// Ignored counts figures in the observation that cannot be true, or belong to no leaf.
	Ignored int
}

// Empty reports whether the plan changes nothing.
func (p *Plan) Empty() bool { return len(p.Moves) == 0 && p.Split == nil }

// Apply does what the plan says to a tree. The new cell's leaf is used only if there is a Split. An error means that the
// tree is not the one that was observed; it may then be changed in part.
func (p *Plan) Apply(t *bsp.Tree, newLeaf bsp.Leaf) error {
	for _, m := range p.Moves {
		if err := t.MoveLine(m.Node, m.To); err != nil {
			return fmt.Errorf("balance: plan does not fit the tree: %w", err)
		}
	}
	if s := p.Split; s != nil {
		if err := t.Split(s.Cell, s.Axis, s.At, newLeaf, s.NewOnHigherSide); err != nil {
			return fmt.Errorf("balance: plan does not fit the tree: %w", err)
		}
	}
	return nil
}

// Balancer makes the plans for one space. Make it with New.
type Balancer struct {
	cfg   Config
	lines []line // memory of the lines, sorted by id

	leaves  int           // of the last observation
	waiting bool          // for a leaf to be created
	changed time.Duration // when the tree last gained, lost or completed a cell, or was to gain one
}

// New returns a balancer, or what Config.Validate finds.
func New(cfg Config) (*Balancer, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &Balancer{cfg: cfg.withDefaults()}, nil
}

// Plan looks at a space and says what to do. See the package comment for when to call it.
func (b *Balancer) Plan(o Observation) Plan {
	f := observe(o)
	p := Plan{Ignored: f.ignored}
	p.Split, p.Crowded = b.add(o, f)
	b.recall(o.Tree)
	if p.Split == nil {
		p.Moves = b.move(o.Tree, f)
	}
	return p
}

// nanos turns a fraction of a core into load.
func nanos(fraction float64) float64 { return fraction * float64(load.Core) }
