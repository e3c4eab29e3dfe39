package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
)

// lab is a simulated space: its crowd, its CellApps and its manager. It has no clock and no
// goroutine; the same configuration gives the same run to the byte.
type lab struct {
	cfg      config
	now      time.Duration
	scenario scenario
	entities []entity // those in the world are the range first to last
	first    int
	last     int
	density  *density
	apps     []cellApp
	tree     *bsp.Tree // as the CellApps know it
	manager  manager
	noise    *rand.Rand
	factors  *rand.Rand

	coming  []geometry // on its way to the CellApps
	making  []creation // cells that are being created
	offload int        // entities handed over in the present second

	seconds []second
	cuts    []cut
}

// entity is one of the crowd. A copy of its own elsewhere is a ghost, which is only counted.
type entity struct {
	at     point
	app    int32   // the app that has the real
	factor float64 // of its cost, see spread
	meter  load.Meter
	// alone is its load without ghosts in the last second, raw its load with them.
	alone, raw int64
}

// geometry is a tree that reaches the CellApps at a time.
type geometry struct {
	at   time.Duration
	tree *bsp.Tree
}

// creation is a cell that its CellApp confirms at a time.
type creation struct {
	at   time.Duration
	cell bsp.CellID
}

// newLab prepares a run. clock only measures the manager's CPU time; nil means that it is not
// measured.
func newLab(cfg config, clock func() time.Duration) (*lab, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	policy, err := cfg.policy().New(cfg.balance, cfg.border)
	if err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	l := &lab{
		scenario: newScenario(&cfg), // fills in the size
		entities: make([]entity, cfg.entities),
		apps:     make([]cellApp, cfg.cellApps),
		noise:    rand.New(rand.NewPCG(cfg.seed, noiseStream)),
		factors:  rand.New(rand.NewPCG(cfg.seed, factorStream)),
	}
	l.cfg = cfg
	l.density = newDensity(cfg.size)
	l.manager = newManager(&l.cfg, policy, clock)
	l.apps[0].hold(l.manager.first())
	l.publish()
	l.receive(l.manager.publisher.Tree())
	l.populate()
	l.measure()
	return l, nil
}

// step runs one second.
func (l *lab) step() (*second, error) {
	l.offload = 0
	for range time.Second / pulse {
		l.now += pulse
		if err := l.pulse(); err != nil {
			return nil, fmt.Errorf("at %v: %w", l.now, err)
		}
	}
	return &l.seconds[len(l.seconds)-1], nil
}

// pulse does what is due at this time: what has arrived comes first, then the crowd, the CellApps
// and the manager.
func (l *lab) pulse() error {
	l.arrive()
	if l.now%checkPeriod == 0 {
		l.move()
		l.check()
	}
	if l.now%time.Second == 0 {
		l.measure()
		l.record()
	}
	// The manager plans before the reports of this pulse arrive: its figures are figureAge old.
	if period := l.cfg.balance.Period; l.now >= period && (l.now-figureAge)%period == 0 {
		if err := l.balance(); err != nil {
			return err
		}
	}
	if l.now%reportPeriod == 0 {
		l.report()
	}
	return nil
}

// arrive delivers what was sent a while ago.
func (l *lab) arrive() {
	for len(l.coming) > 0 && l.coming[0].at <= l.now {
		l.receive(l.coming[0].tree)
		l.coming = l.coming[1:]
	}
	created := false
	for len(l.making) > 0 && l.making[0].at <= l.now {
		created = l.manager.created(l.making[0].cell) || created
		l.making = l.making[1:]
	}
	if created {
		l.publish()
	}
}

// populate lets entities come into the world and leave it.
func (l *lab) populate() {
	l.scenario.tick(l.now)
	first, last := l.scenario.present()
	for ; l.last < last; l.last++ {
		e := &l.entities[l.last]
		factor := math.Exp(l.factors.NormFloat64() * spread)
		*e = entity{at: l.scenario.start(l.last), factor: min(max(factor, leastFactor), mostFactor)}
		e.app = appOf(l.tree.At(e.at.x, e.at.z))
		if !l.apps[e.app].ready {
			e.app = l.oldest()
		}
		l.apps[e.app].reals++
	}
	for ; l.first < first; l.first++ {
		e := &l.entities[l.first]
		a := &l.apps[e.app]
		a.reals--
		a.smoothed -= e.meter.Load()
		a.gained -= e.meter.Load()
	}
}

// move walks everyone on by one check period.
func (l *lab) move() {
	l.populate()
	const dt = float64(checkPeriod) / float64(time.Second)
	for i := l.first; i < l.last; i++ {
		e := &l.entities[i]
		to, speed := l.scenario.goal(i, e.at)
		dx, dz := to.x-e.at.x, to.z-e.at.z
		left := math.Sqrt(float64(dx*dx) + float64(dz*dz))
		if step := speed * dt; left > step {
			e.at = e.at.plus(float64(dx*step)/left, float64(dz*step)/left)
		} else if left > 0 {
			e.at = to
		}
	}
}

func (l *lab) present() []entity { return l.entities[l.first:l.last] }
