package balance

import "github.com/cellscape/cellscape/bsp"

// Policy plans how the cells of a cluster follow its crowd. Classic and Profile are built in; a
// studio may write its own. A Policy remembers what its lines did. It must be used on one
// goroutine, and has no clock and no random numbers.
type Policy interface {
	// Balance moves the lines of all spaces, and removes cells that are swept to nothing. Its plan
	// has Moves and Removals; that of Classic also has Retires of cells that were squeezed to
	// nothing. It is called once per Config.Period.
	Balance(o *Observation) Plan
	// Meta adds cells and retires others. Its plan has Cancels, Adds and Retires. It is called once
	// per Config.MetaPeriod, and never while a plan of Balance has yet to be applied.
	Meta(o *Observation) Plan
	// Line returns what the policy remembers of a line; it reports false for one that the last
	// observation did not have.
	Line(space uint32, id bsp.NodeID) (LineState, bool)
}

// PolicyConfig has the settings of one policy, and makes it. ClassicConfig and ProfileConfig are
// built in; a studio's own policy brings its own.
type PolicyConfig interface {
	// Name names the policy, for logs.
	Name() string
	// Fill fills in the zero fields of the shared settings with this policy's defaults.
	Fill(shared Config) Config
	// Check reports every setting of the policy that makes no sense, alone or together with the
	// shared ones and the border, each with its remedy. It does not report faults of the shared
	// settings or the border alone.
	Check(shared Config, border Border) error
	// New returns the policy, or all faults of all three.
	New(shared Config, border Border) (Policy, error)
}

// LineState shows what a policy remembers of a line, for viewers and logs.
type LineState struct {
	// Aggression is 1 for a line that does not swing, and falls when the line turns. For Classic it
	// is the share of the wanted step that the line takes. For Profile, which takes whole steps, it
	// is 1 divided by the widening of the dead band.
	Aggression float64
	// Direction is -1 or +1 for where the line last moved, 0 if it never did. Classic also resets
	// it after a period in which the line could not move.
	Direction int
}
