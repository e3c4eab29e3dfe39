package balance

import (
	"math"
	"slices"

	"github.com/cellscape/cellscape/balance/load"
)

// Placer chooses the CellApp for a space that has no cell: a new one, or one that has lost its
// last. It uses the same scorers, with the same vetoes, as a policy that adds a cell. Ties go to
// the app with fewer cells, since thousands of idle rooms have no load, and then to the lower ID.
// Apps that are being shut down are chosen only if all are; they run until somebody takes their
// cells over.
//
// It knows the groups of apps as they were when it was made. Making one costs about as much as a
// plan. Make a new one when apps come, go or retire, and once in a while.
type Placer struct {
	m     *pass
	extra []int64 // by index of the app: what is kept free on it for its spaces, beyond what it reports
}

// NewPlacer returns a Placer for an observation, of which it keeps nothing.
func NewPlacer(cfg Config, o *Observation) *Placer {
	cfg = cfg.withDefaults()
	v := look(o)
	p := &Placer{m: &pass{cfg: &cfg, v: v}, extra: make([]int64, len(v.apps))}
	p.m.groups = v.groups()
	p.m.apps = newAppChooser(v.apps, len(cfg.Scorers))
	for _, a := range o.Apps {
		if i := v.appByID(a.ID); i >= 0 && !v.apps[i].doubtful {
			p.extra[i] = max(0, v.apps[i].Estimated-a.Estimated)
		}
	}
	v.spaces = nil
	return p
}

// Heard takes a new report of an app.
func (p *Placer) Heard(app uint32, l AppLoad) {
	i := p.m.v.appByID(app)
	if i < 0 {
		return
	}
	for _, v := range [...]*int64{&l.Load, &l.Smoothed, &l.Estimated} {
		*v = load.Clamp(*v + p.extra[i])
	}
	p.m.v.apps[i].AppLoad = l
}

// Place returns the app for a space, and counts the space there. ok is false if there is no app, or
// the scorers refuse all. faults names ranks that are not numbers.
func (p *Placer) Place(s *Space) (app uint32, ok bool, faults []Fault) {
	p.m.plan.Faults, p.m.plan.Ignored = nil, 0
	leaving := !slices.ContainsFunc(p.m.v.apps, func(a appView) bool { return !a.Retiring })
	best := p.m.choose(&spaceView{Space: s}, nil, search{group: -1, busy: math.MaxInt64, whole: true, leaving: leaving})
	if best < 0 {
		return 0, false, p.m.plan.Faults
	}
	a := &p.m.v.apps[best]
	a.added++
	a.Given(p.m.cfg.InitialCellLoad)
	return a.ID, true, p.m.plan.Faults
}
