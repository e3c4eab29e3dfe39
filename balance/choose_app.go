package balance

import (
	"math"
	"net/netip"

	"github.com/cellscape/cellscape/balance/load"
)

// search says which apps may get a new cell.
type search struct {
	// group is a group whose apps may not or, with inside, the only one whose apps may; -1 is none.
	group  int32
	inside bool
	// busy is the estimated load from which on an app may not.
	busy int64
	// whole means that the search is for a space without a cell; leaving means that only apps that
	// are being shut down may get it.
	whole, leaving bool
}

// anyApp is a search among all apps.
func anyApp() search { return search{group: -1, busy: math.MaxInt64} }

// outside is a search among the apps that are not in a group.
func outside(group int32) search { return search{group: group, busy: math.MaxInt64} }

func (s *search) takes(a *appView) bool {
	return a.Retiring == s.leaving && a.Estimated < s.busy && (s.group < 0 || (a.group == s.group) == s.inside)
}

// appChooser finds the best app for a new cell. Its slices are scratch memory for one space at a
// time.
type appChooser struct {
	host  []int32 // machine of each app, counted up
	alike []int32 // apps of the space on each machine
	// taken marks the apps that run a cell of the space with the number of the search, round.
	taken       []int32
	round       int32
	ranks, best []float64 // of the candidate, and of the best so far
	bestCells   int
	// candidate is kept here since scorers are given its address; its Space is set once for a
	// search.
	candidate Candidate
}

func newAppChooser(apps []appView, scorers int) appChooser {
	c := appChooser{
		host: make([]int32, len(apps)), taken: make([]int32, len(apps)),
		ranks: make([]float64, scorers), best: make([]float64, scorers),
	}
	hosts := make(map[netip.Addr]int32, len(apps))
	for i := range apps {
		at := apps[i].Addr.Addr().Unmap()
		h, ok := hosts[at]
		if !ok {
			h = int32(len(hosts))
			hosts[at] = h
		}
		c.host[i] = h
	}
	c.alike = make([]int32, len(hosts))
	return c
}

// begin notes which apps a space has.
func (c *appChooser) begin(s *spaceView, added []int32) {
	c.round++
	c.candidate.Space = s.Space
	clear(c.alike)
	for i := range s.leaves {
		c.take(s.leaves[i].app)
	}
	for _, app := range added {
		c.take(app)
	}
}

func (c *appChooser) take(app int32) {
	if app >= 0 && c.taken[app] != c.round {
		c.taken[app] = c.round
		c.alike[c.host[app]]++
	}
}

// bestApp returns the app that the scorers choose for a new cell of a space, -1 if there is none.
// It leaves out apps that are being shut down, and apps that already run a cell of the space, even
// a retiring one.
func (m *pass) bestApp(space int32, among search) int32 {
	return m.choose(&m.v.spaces[space], m.spaces[space].added, among)
}

// choose is bestApp for a space that has been given cells on some apps already.
func (m *pass) choose(s *spaceView, added []int32, among search) int32 {
	c := &m.apps
	c.begin(s, added)
	best := int32(-1)
	for i := range m.v.apps {
		a := &m.v.apps[i]
		if a.doubtful || c.taken[i] == c.round || !among.takes(a) {
			continue
		}
		if m.better(int32(i), best >= 0, among.whole) {
			best = int32(i)
			c.ranks, c.best, c.bestCells = c.best, c.ranks, c.candidate.Cells
		}
	}
	return best
}

// better ranks an app, and compares it with the best so far, scorer by scorer until they differ. A
// tie is not better, for a whole space unless it runs fewer cells: the app with the lower ID came
// first.
func (m *pass) better(app int32, compare, whole bool) bool {
	a := &m.v.apps[app]
	c := &m.apps.candidate
	c.App, c.Cells, c.Alike = &a.App, len(a.cells)+a.added, int(m.apps.alike[m.apps.host[app]])
	c.GroupLoad = load.Clamp(m.groups[a.group].average(0))
	for i := range m.cfg.Scorers {
		s := &m.cfg.Scorers[i]
		rank, ok := s.Rank(c)
		if !ok {
			return false
		}
		if math.IsNaN(rank) { // it compares with no other, so the result would depend on the order
			m.plan.fault(Fault{App: a.ID, What: "rank by the scorer " + s.Name})
			return false
		}
		m.apps.ranks[i] = rank
		if compare {
			if rank > m.apps.best[i] {
				return false
			}
			compare = rank == m.apps.best[i]
		}
	}
	return !compare || whole && c.Cells < m.apps.bestCells
}
