package balance

import (
	"fmt"
	"slices"

	"github.com/cellscape/cellscape/bsp"
)

// Ref names a cell.
type Ref struct {
	Space uint32
	Cell  bsp.CellID
}

// Move is a line to move.
type Move struct {
	Space uint32
	Node  bsp.NodeID
	To    float64
}

// Add is a leaf to cut in two for a new cell.
type Add struct {
	Space uint32
	// Cell is the leaf to cut. The line has the given Axis and is at At.
	Cell bsp.CellID
	Axis bsp.Axis
	At   float64
	// NewOnHigherSide says which side the new cell gets.
	NewOnHigherSide bool
	// App is the ID of the app that is to run the new cell.
	App uint32
}

// maxFaults bounds the described faults of one observation; others are only counted.
const maxFaults = 16

// Fault is a figure of an observation that is impossible or belongs to nothing, and was left out.
type Fault struct {
	Space uint32     // 0 for a fault of an app
	Cell  bsp.CellID // zero for one of a whole space
	App   uint32
	What  string
}

// String names the fault for a log line.
func (f Fault) String() string {
	switch {
	case f.Space == 0:
		return fmt.Sprintf("app %d: %s", f.App, f.What)
	case f.Cell.IsZero():
		return fmt.Sprintf("space %d: %s", f.Space, f.What)
	}
	return fmt.Sprintf("space %d, cell %v, app %d: %s", f.Space, f.Cell, f.App, f.What)
}

// Plan is what the manager should do now. Apply its parts in the order of the fields, as Plan.Apply
// does.
type Plan struct {
	// Moves of lines. A line may move twice in one plan.
	Moves []Move
	// Removals are cells that are swept to nothing and hold no entities.
	Removals []Ref
	// Cancels are retirements to cancel, and Retires those to begin.
	Cancels []Ref
	Adds    []Add
	Retires []Ref

	// Blocked are retiring cells whose neighbours are above their bounds and cannot take over now.
	// They go on later.
	Blocked []Ref
	// Crowded are cells above the load at which a cell is added whose load is on one spot, so that
	// no line can divide it. Balancing cannot help them; sending clients less, or slowing time,
	// can.
	Crowded []Ref
	// Unloaded are cells that have not loaded their part of the geometry, and those that must load
	// more before the line beside them can go on. That is normal for a while wherever lines move. A
	// cell that stays here has a game that does not load.
	Unloaded []Ref
	// Wanting are spaces that need a cell but find no app.
	Wanting []uint32
	// Ignored counts figures of the observation that were left out; Faults describes the first of
	// them.
	Ignored int
	Faults  []Fault
}

// fault notes a figure that is left out.
func (p *Plan) fault(f Fault) {
	p.Ignored++
	if len(p.Faults) < maxFaults {
		p.Faults = append(p.Faults, f)
	}
}

// Empty reports whether the plan changes nothing.
func (p *Plan) Empty() bool {
	return len(p.Moves)+len(p.Removals)+len(p.Cancels)+len(p.Adds)+len(p.Retires) == 0
}

// Spaces returns the spaces that the plan changes, in the order of their ids.
func (p *Plan) Spaces() []uint32 {
	var ids []uint32
	for _, m := range p.Moves {
		ids = append(ids, m.Space)
	}
	for _, a := range p.Adds {
		ids = append(ids, a.Space)
	}
	for _, refs := range [...][]Ref{p.Removals, p.Cancels, p.Retires} {
		for _, r := range refs {
			ids = append(ids, r.Space)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// ApplyTo applies the plan to the tree of one space. newLeaf makes the leaf of an added cell. An
// error means that the tree is not the observed one; it may then be partly changed.
func (p *Plan) ApplyTo(space uint32, t *bsp.Tree, newLeaf func(*Add) bsp.Leaf) error {
	var failed error
	do := func(in uint32, change func() error) {
		if failed == nil && in == space {
			failed = change()
		}
	}
	for _, m := range p.Moves {
		do(m.Space, func() error { return t.MoveLine(m.Node, m.To) })
	}
	for _, r := range p.Removals {
		do(r.Space, func() error { return t.Remove(r.Cell) })
	}
	for _, r := range p.Cancels {
		do(r.Space, func() error { return t.Unretire(r.Cell) })
	}
	for i := range p.Adds {
		a := &p.Adds[i]
		do(a.Space, func() error { return t.Split(a.Cell, a.Axis, a.At, newLeaf(a), a.NewOnHigherSide) })
	}
	for _, r := range p.Retires {
		do(r.Space, func() error { return t.Retire(r.Cell) })
	}
	if failed != nil {
		return fmt.Errorf("balance: plan does not fit space %d: %w", space, failed)
	}
	return nil
}

// Apply applies the plan to all its trees, which tree returns. See ApplyTo.
func (p *Plan) Apply(tree func(space uint32) *bsp.Tree, newLeaf func(*Add) bsp.Leaf) error {
	for _, id := range p.Spaces() {
		t := tree(id)
		if t == nil {
			return fmt.Errorf("balance: plan does not fit: there is no space %d", id)
		}
		if err := p.ApplyTo(id, t, newLeaf); err != nil {
			return err
		}
	}
	return nil
}
