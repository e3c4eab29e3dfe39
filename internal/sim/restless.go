package sim

import (
	"math/rand/v2"

	"github.com/cellscape/cellscape/balance"
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/space/cellapp"
)

// Balancing is how the cells of a run follow its crowd.
type Balancing struct {
	balance.Config
	Border balance.Border
	// Policy makes the policy of each start of the CellAppMgr; nil means balance.ProfileConfig with
	// a low target.
	Policy balance.PolicyConfig
	// Calm says that cells retire by the policy alone, even under Options.Retire.
	Calm bool
}

// restless is a policy that lets a cell retire every few seconds, whatever the loads are, since
// loads do not fall and rise often enough in a short run. The policy that it wraps adds and cancels
// as always, and goes on alone when the bad time is over.
type restless struct {
	balance.Policy
	c      *Cluster
	chance *rand.Rand
}

// retireEvery says in one of how many MetaPeriods a cell retires.
const retireEvery = 3

// restlessConfig makes the policy of each start of the CellAppMgr restless.
type restlessConfig struct {
	balance.PolicyConfig
	c *Cluster
}

// New implements balance.PolicyConfig.
func (r restlessConfig) New(shared balance.Config, border balance.Border) (balance.Policy, error) {
	inner, err := r.PolicyConfig.New(shared, border)
	if err != nil {
		return nil, err
	}
	return &restless{inner, r.c, rand.New(rand.NewPCG(r.c.opts.Seed, 0x4e57<<16|uint64(r.c.terms)))}, nil
}

// Meta implements balance.Policy.
func (p *restless) Meta(o *balance.Observation) balance.Plan {
	plan := p.Policy.Meta(o)
	if p.c.calm || p.chance.IntN(retireEvery) != 0 || len(o.Spaces) == 0 {
		return plan
	}
	s := o.Spaces[p.chance.IntN(len(o.Spaces))]
	if p.chance.IntN(2) == 0 {
		s = o.Spaces[0] // the others are rooms of a cell or two
	}
	cell, ok := p.mayRetire(s.Tree)
	for _, id := range plan.Spaces() {
		ok = ok && id != s.ID // the plan would not fit
	}
	if ok {
		plan.Retires = append(plan.Retires, balance.Ref{Space: s.ID, Cell: cell})
	}
	return plan
}

// mayRetire draws a cell. The cell may retire if another one stays that can take entities.
func (p *restless) mayRetire(t *bsp.Tree) (bsp.CellID, bool) {
	var ids []bsp.CellID
	staying := 0
	for _, leaf := range t.Leaves() {
		ids = append(ids, leaf.Cell)
		if leaf.Created && !leaf.Retiring {
			staying++
		}
	}
	id := ids[p.chance.IntN(len(ids))]
	leaf, _, _ := t.Leaf(id)
	return id, staying > 1 && !leaf.Retiring && t.Clone().Retire(id) == nil
}

// retireOne asks a CellApp to let all its cells go; it starts anew when they have gone.
func (c *Cluster) retireOne() {
	p := c.cellApps[c.leaving.IntN(len(c.cellApps))]
	if p.alive && !p.paused() {
		c.trace.Event(c.now, "retire", "%s", p.Name)
		p.app.(*cellapp.CellApp).Retire("drawn")
	}
}
