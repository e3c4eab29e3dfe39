package balance

import "github.com/cellscape/cellscape/bsp"

// Policy plans how the cells of a cluster follow its crowd. Classic and Profile are built in; a studio may write its
// own. A Policy remembers what its lines did, and belongs to one goroutine; it has no clock and no chance.
type Policy interface {
	// Balance moves the lines of all spaces, and takes out the cells that are swept to nothing. Its plan has Moves and
	// Removals, that of Classic also Retires of cells that are squeezed to nothing. It is called once per Config.Period.
	Balance(o *Observation) Plan
	// Meta adds cells, and lets others retire. Its plan has Cancels, Adds and Retires. It is called once per
	// Config.MetaPeriod, never at a time when Balance has a plan that is not applied yet.
	Meta(o *Observation) Plan
	// Line returns what the policy remembers of a line; it reports false for one that the last observation did not
	// have.
	Line(space uint32, id bsp.NodeID) (LineState, bool)
}

// PolicyConfig are the settings of one policy, which make it. ClassicConfig and ProfileConfig are built in; a studio's own policy
// brings its own.
type PolicyConfig interface {
	// Name names the policy, for logs.
	Name() string
	// Fill fills in the zero fields of the shared settings with the defaults that this policy has.
	Fill(shared Config) Config
	// Check reports every setting of the policy that makes no sense, or not beside the shared ones and the border, each
	// with its remedy. What is wrong with those alone is theirs to report.
	Check(shared Config, border Border) error
	// New returns the policy, or every fault of all three.
	New(shared Config, border Border) (Policy, error)
}

// LineState shows what a policy remembers of a line, for viewers and logs.
type LineState struct {
	// Aggression is 1 for a line that does not swing, and is lowered when the line turns. Of Classic it is the share of
	// the wanted step that the line takes; of Profile, which takes whole steps, 1 by how much the dead band is widened.
	Aggression float64
	// Direction is -1 or +1 for where it last moved, 0 if it never did. Classic also forgets it over a period in which
	// the line could not move.
	Direction int
}
