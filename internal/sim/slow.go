package sim

import (
	"math/rand/v2"
	"time"

	"github.com/cellscape/cellscape/mercury"
)

// These are the costs of a process that has a tenth of its processor. At full speed a datagram
// would take it 2 ms and a tick, with what its game does, 6 ms. So it has more to do than it can,
// and misses some ticks.
const (
	slowDatagram = 20 * time.Millisecond
	slowTick     = 60 * time.Millisecond
	// slowBatch is how many datagrams it takes before it looks at the clock, as a runner does.
	slowBatch = 16
)

// SmallQueue is the limit of queues and messages of a run with small ones.
const SmallQueue = 32 << 10

// bulkyQueue is that limit for the seeds, whose reals and bases grow larger: while BaseApps are gone,
// what waits for its base alone has made a real of 75 KB. What has more than a message may have stays
// where it is, and of several that are too long together the teleport fails; but a base could not be
// told its backup. The product's default is above the largest, migrate.MaxParts.
const bulkyQueue = 3 * SmallQueue

// endpoint is how the endpoints of a run behave.
func (o *Options) endpoint(salt uint32, secret [16]byte) mercury.Config {
	cfg := mercury.Config{Salt: salt, Secret: secret, MaxQueued: o.MaxQueued, MTU: o.MTU}
	if o.MaxQueued > 0 {
		cfg.MaxMessage = min(o.MaxQueued, mercury.DefaultMaxMessage)
	}
	return cfg
}

// sluggish is the fault that a process has too little processor time. Its draws are of their own,
// so runs without it stay the same.
type sluggish struct{ chance *rand.Rand }

func newSluggish(seed uint64) sluggish {
	return sluggish{rand.New(rand.NewPCG(seed, 0x510e))}
}

// withSlow adds processes that are slow now and then to a third of the seeds, and small queues to a
// fourth.
func withSlow(o Options) Options {
	r := rand.New(rand.NewPCG(o.Seed, 0x510d))
	o.Slow = r.IntN(3) == 0
	if r.IntN(4) == 0 {
		o.MaxQueued = bulkyQueue
	}
	return o
}

// slowOne gives one of the apps a tenth of its processor, for 20 s or less.
func (c *Cluster) slowOne() {
	if !c.opts.Slow || c.sluggish.chance.IntN(4) != 0 {
		return
	}
	apps := c.cellApps
	if c.sluggish.chance.IntN(2) == 0 {
		apps = c.baseApps
	}
	p := apps[c.sluggish.chance.IntN(len(apps))]
	d := time.Duration(2000+c.sluggish.chance.IntN(18_000)) * time.Millisecond
	if p.alive && !p.paused() && !p.slow() {
		p.slowDown(d)
	}
}

// slowDown gives the process a tenth of its processor for a while.
func (p *Process) slowDown(d time.Duration) {
	p.slowUntil, p.freeAt = p.c.now+d, p.c.now
	p.c.trace.Event(p.c.now, "slow", "%s for %v", p.Name, d)
}

func (p *Process) slow() bool { return p.slowUntil > p.c.now }

// batch is how many of the waiting datagrams are taken now.
func (p *Process) batch() int {
	if p.slow() {
		return min(len(p.waiting), slowBatch)
	}
	return len(p.waiting)
}

// worked books the processor time of a turn that took n datagrams.
func (p *Process) worked(n int, ticked bool) {
	if !p.slow() {
		return
	}
	cost := time.Duration(n) * slowDatagram
	if ticked {
		cost += slowTick
	}
	p.freeAt = p.c.now + cost
}
