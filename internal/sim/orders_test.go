package sim

import (
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/balance"
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// orders is a balance that a test gives by hand: once it is held, cells are added, retired and
// moved as next says, and not otherwise. It outlives the manager.
type orders struct {
	held bool
	next func(o *balance.Observation) balance.Plan
}

// scripted returns the options of n cells on four CellApps, with the balance given by hand.
func scripted(seed uint64, n int) (Options, *orders) {
	in := &orders{}
	cfg := still(n)
	cfg.Policy, cfg.Calm = handConfig{cfg.Policy, in}, true
	return Options{Seed: seed, Balance: cfg}, in
}

// handConfig makes the policy of each start of the CellAppMgr take orders.
type handConfig struct {
	balance.PolicyConfig
	in *orders
}

// New implements balance.PolicyConfig.
func (h handConfig) New(shared balance.Config, border balance.Border) (balance.Policy, error) {
	p, err := h.PolicyConfig.New(shared, border)
	return &byHand{p, h.in}, err
}

type byHand struct {
	balance.Policy
	in *orders
}

// Meta implements balance.Policy.
func (p *byHand) Meta(o *balance.Observation) balance.Plan {
	switch {
	case p.in.next != nil:
		plan := p.in.next(o)
		p.in.next = nil
		return plan
	case p.in.held:
		return balance.Plan{}
	}
	return p.Policy.Meta(o)
}

// give makes the manager carry out a plan at its next chance.
func (in *orders) give(plan func(o *balance.Observation) balance.Plan) { in.held, in.next = true, plan }

// add cuts the leaf in the middle of the plane for a CellApp that has none.
func add(o *balance.Observation) balance.Plan {
	t := o.Spaces[0].Tree
	leaf := t.At(1, 1)
	for _, a := range o.Apps {
		if _, _, busy := t.OfApp(a.Addr, a.Salt); !busy {
			_, r, _ := t.Leaf(leaf.Cell)
			at := max(r.MinX, -half)/2 + min(r.MaxX, half)/2
			return balance.Plan{Adds: []balance.Add{{Space: 1, Cell: leaf.Cell, Axis: bsp.AxisX, At: at, NewOnHigherSide: true, App: a.ID}}}
		}
	}
	return balance.Plan{}
}

// retire lets the cell of a CellApp go.
func retire(app *Process) func(o *balance.Observation) balance.Plan {
	return func(o *balance.Observation) balance.Plan {
		leaf, _, ok := o.Spaces[0].Tree.OfApp(app.at, app.salt)
		if !ok {
			return balance.Plan{}
		}
		return balance.Plan{Retires: []balance.Ref{{Space: 1, Cell: leaf.Cell}}}
	}
}

// move moves the first line that has room by some metres.
func move(by float64) func(o *balance.Observation) balance.Plan {
	return func(o *balance.Observation) balance.Plan {
		t := o.Spaces[0].Tree
		for n := range t.Nodes() {
			if lo, hi, ok := t.LineLimits(n.ID); ok && n.Line+by > lo && n.Line+by < hi {
				return balance.Plan{Moves: []balance.Move{{Space: 1, Node: n.ID, To: n.Line + by}}}
			}
		}
		return balance.Plan{}
	}
}

// cells returns the cells that run now, without those that are going.
func (r *rig) cells() map[bsp.CellID]*Process {
	out := map[bsp.CellID]*Process{}
	for p, a := range r.liveCellApps() {
		for c := range a.Cells() {
			if !a.Removing(c.Space()) {
				out[c.ID()] = p
			}
		}
	}
	return out
}

// newest is the newest geometry that a CellApp knows.
func (r *rig) newest() *bsp.Tree {
	r.t.Helper()
	var t *bsp.Tree
	for _, a := range r.liveCellApps() {
		for c := range a.Cells() {
			if t == nil || t.Version().Less(c.Tree().Version()) {
				t = c.Tree()
			}
		}
	}
	if t == nil {
		r.t.Fatal("no CellApp has a cell")
	}
	return t
}

// tampered is what a test wants to see of a message to a process.
type tampered struct {
	p   *Process
	id  wire.ID
	msg []byte
}

// on sets the hook of the moment: see gets every message to the CellAppMgr or a CellApp, and lets
// it pass or not, until see says that it is done. Messages of clients have ids of their own and are
// left out.
func (r *rig) on(see func(m tampered) (pass, done bool)) {
	r.hook = func(p *Process, _ mercury.ChannelID, msg []byte) []byte {
		if len(msg) == 0 || p != r.manager && !slices.Contains(r.cellApps, p) {
			return msg
		}
		pass, done := see(tampered{p, wire.ID(msg[0]), msg})
		if done {
			r.hook = nil
		}
		if !pass {
			return nil
		}
		return msg
	}
}

// nextTerm starts a CellAppMgr where one has died, and waits until it has taken over.
func (r *rig) nextTerm() {
	r.t.Helper()
	r.hook = nil
	r.until("the CellAppMgr is dead", time.Second, func() bool { return !r.manager.alive })
	r.manager.restartAt = r.now + 300*time.Millisecond
	term := r.terms + 1
	r.until("every CellApp has its geometry", 15*time.Second, func() bool { return r.everyoneIn(term) })
}

// everyoneIn reports whether all cells have a geometry of a term, except for cells of spaces that
// have ended, which have none.
func (r *rig) everyoneIn(term uint32) bool {
	n, all := 0, true
	for _, a := range r.liveCellApps() {
		for c := range a.Cells() {
			n++
			all = all && (c.Tree().Version().Term == term || c.Ended())
		}
	}
	return all && n > 0
}

// sameCells fails unless the same cells run in the same places as before.
func sameCells(t *testing.T, before, after map[bsp.CellID]*Process) {
	t.Helper()
	if len(before) != len(after) {
		t.Errorf("%d cells, were %d", len(after), len(before))
	}
	for id, p := range before {
		if after[id] != p {
			t.Errorf("cell %v is gone from %s", id, p.Name)
		}
	}
}
