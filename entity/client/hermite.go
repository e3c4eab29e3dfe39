package client

import (
	"math"
	"time"

	"github.com/cellscape/cellscape/property"
)

const (
	// DefaultLeastDelay and DefaultMostDelay bound how far behind its places a Hermite shows an entity.
	DefaultLeastDelay = 100 * time.Millisecond
	DefaultMostDelay  = time.Second
	// DefaultSnap is a step in metres that nobody walks.
	DefaultSnap = 30
	// hermiteSamples is how many places are remembered: those of the longest delay, and those to come.
	hermiteSamples = 16
	// hermiteFrames is how many places the delay spans: with two, one may be lost.
	hermiteFrames = 2
	// hermiteBlend is how long it takes until what was shown wrong is made good.
	hermiteBlend = 200 * time.Millisecond
	// hermitePause is the longest gap between two places from which the interval is learnt.
	hermitePause = time.Second
)

// Hermite is a Filter that shows an entity a little in the past, on a smooth curve through the places
// that have arrived. The zero value is ready.
//
// The delay follows what the network does: two intervals between places and their jitter, so that the
// next place has mostly come before it is needed. It changes slowly, so that an entity is never shown to
// run or stop for it. When no place has come in time, the entity goes on as it went, ever slower, for
// half a delay at the most; a place that then comes late is made good in 200 ms, without a jump.
// Between two places it is shown within the box that they span.
type Hermite struct {
	// Least and Most bound the delay. 0 is 100 ms and 1 s.
	Least, Most time.Duration
	// Snap is the distance in metres from which on a step is a jump. 0 is 30.
	Snap float32

	samples [hermiteSamples]sample // oldest first
	n       int

	delay    time.Duration
	interval time.Duration // between places, smoothed
	jitter   time.Duration // mean deviation of it
	at       time.Duration // of the last call
	heard    time.Duration // of the last Input

	off, turn property.Vector3 // what was shown wrong at offAt
	offAt     time.Duration
}

// sample is a place that has arrived, and the velocity of the curve there, in metres a second.
type sample struct {
	at                  time.Duration
	position, direction property.Vector3
	velocity            property.Vector3
	rests               bool // velocity is 0
}

// Input implements Filter.
func (f *Hermite) Input(now time.Duration, position, direction property.Vector3, says Word) {
	now = max(now, f.at)
	if says == Appears || f.n == 0 || property.Distance(f.samples[f.n-1].position, position) > f.snap() {
		f.begin(now, position, direction)
		return
	}
	shown, looks := f.Output(now)
	last := &f.samples[f.n-1]
	if now <= f.heard {
		last.position, last.direction, last.rests = position, direction, says == Rests
	} else {
		f.pace(now, now-f.heard)
		// What the network has held up comes at once with what follows, and was not walked in that time.
		at := max(now, f.samples[f.n-1].at+f.interval/2)
		f.push(sample{at: at, position: position, direction: direction, rests: says == Rests})
	}
	f.heard = now
	f.tangents()
	f.off, f.turn, f.offAt = property.Vector3{}, property.Vector3{}, now
	on, faces := f.curve(now - f.delay)
	f.off, f.turn = minus(shown, on), turnBetween(faces, looks)
}

// Map implements Mapper.
func (f *Hermite) Map(offset property.Vector3) {
	for i := range f.samples[:f.n] {
		p := &f.samples[i].position
		p.X, p.Y, p.Z = p.X+offset.X, p.Y+offset.Y, p.Z+offset.Z
	}
}

// begin forgets everything but a place.
func (f *Hermite) begin(now time.Duration, position, direction property.Vector3) {
	f.n, f.at, f.heard, f.off, f.turn = 0, now, now, property.Vector3{}, property.Vector3{}
	f.delay = max(f.delay, f.least())
	f.push(sample{at: now, position: position, direction: direction, rests: true})
}

// pace learns the interval from a gap between two places.
func (f *Hermite) pace(now, gap time.Duration) {
	if f.samples[f.n-1].rests { // it stood until one interval ago
		stood := f.samples[f.n-1]
		if stood.at = now - max(f.interval, f.least()); stood.at > f.samples[f.n-1].at {
			f.push(stood)
		}
		return
	}
	gap = min(gap, hermitePause)
	if f.interval == 0 {
		f.interval = gap
	}
	deviation := gap - f.interval
	f.interval += deviation / 8
	f.jitter += (max(deviation, -deviation) - f.jitter) / 8
}

func (f *Hermite) push(s sample) {
	if f.n == len(f.samples) {
		copy(f.samples[:], f.samples[1:])
		f.n--
	}
	f.samples[f.n] = s
	f.n++
}

// tangents sets the velocities at the last samples, where a new one changes them. Of each coordinate
// the curve rises or falls only where the samples do (Fritsch and Butland), so that it stays between them.
func (f *Hermite) tangents() {
	for i := max(0, f.n-3); i < f.n; i++ {
		s := &f.samples[i]
		switch {
		case s.rests:
			s.velocity = property.Vector3{}
		case i == 0:
			s.velocity = slope(s, &f.samples[1])
		case i == f.n-1: // over two steps, since one may have taken longer or shorter on its way than it looks
			over, step := slope(&f.samples[max(0, i-2)], s), slope(&f.samples[i-1], s)
			s.velocity = property.Vector3{X: tamed(over.X, step.X), Y: tamed(over.Y, step.Y), Z: tamed(over.Z, step.Z)}
		default:
			a, b := slope(&f.samples[i-1], s), slope(s, &f.samples[i+1])
			s.velocity = property.Vector3{X: middle(a.X, b.X), Y: middle(a.Y, b.Y), Z: middle(a.Z, b.Z)}
		}
	}
}

// middle is the harmonic mean of two slopes of one sign, else 0.
func middle(a, b float32) float32 {
	if a*b <= 0 {
		return 0
	}
	return 2 * a * b / (a + b)
}

// tamed is a slope as far as a curve may end with it after a step of another: with one more than
// three times as steep, or the other way, it would not stay between its ends (Fritsch and Carlson).
func tamed(slope, step float32) float32 {
	if slope*step <= 0 {
		return 0
	}
	return max(-3*abs(step), min(slope, 3*abs(step)))
}

func abs(x float32) float32 { return max(x, -x) }

func slope(a, b *sample) property.Vector3 {
	return scale(minus(b.position, a.position), float32(1/(b.at-a.at).Seconds()))
}

// Output implements Filter.
func (f *Hermite) Output(now time.Duration) (position, direction property.Vector3) {
	if f.n == 0 {
		return position, direction
	}
	now = max(now, f.at)
	f.adapt(now - f.at)
	f.at = now
	position, direction = f.curve(now - f.delay)
	if left := 1 - float32(now-f.offAt)/float32(hermiteBlend); left > 0 {
		position = plus(position, scale(f.off, left*left))
		direction = turned(direction, scale(f.turn, left*left))
	}
	return position, direction
}

// adapt moves the delay to what is wanted, by a quarter of the time that passes at the most.
func (f *Hermite) adapt(passed time.Duration) {
	want := min(max(hermiteFrames*f.interval+2*f.jitter, f.least()), f.most())
	f.delay += min(max(want-f.delay, -passed/4), passed/4)
}

// curve is the place at a time of the past.
func (f *Hermite) curve(at time.Duration) (position, direction property.Vector3) {
	last := &f.samples[f.n-1]
	if at >= last.at {
		return plus(last.position, scale(last.velocity, f.coast(at-last.at))), last.direction
	}
	i := f.n - 1
	for i > 0 && f.samples[i].at > at {
		i--
	}
	a, b := &f.samples[i], &f.samples[i+1]
	if at <= a.at {
		return a.position, a.direction
	}
	span := float32((b.at - a.at).Seconds())
	x := float32((at - a.at).Seconds()) / span
	xx, xxx := x*x, x*x*x
	step := minus(b.position, a.position)
	position = plus(a.position, scale(step, 3*xx-2*xxx))
	position = plus(position, scale(a.velocity, (xxx-2*xx+x)*span))
	position = plus(position, scale(b.velocity, (xxx-xx)*span))
	return position, turned(a.direction, scale(turnBetween(a.direction, b.direction), x))
}

// coast is for how many seconds at full speed an entity goes on of which nothing has come for a time: ever
// slower, until it stands after a whole delay.
func (f *Hermite) coast(silent time.Duration) float32 {
	most := f.delay.Seconds()
	t := min(silent.Seconds(), most)
	return float32(t - t*t/(2*most))
}

func (f *Hermite) least() time.Duration {
	if f.Least > 0 {
		return f.Least
	}
	return DefaultLeastDelay
}

func (f *Hermite) most() time.Duration {
	if f.Most > 0 {
		return max(f.Most, f.least())
	}
	return max(DefaultMostDelay, f.least())
}

func (f *Hermite) snap() float32 {
	if f.Snap > 0 {
		return f.Snap
	}
	return DefaultSnap
}

func plus(a, b property.Vector3) property.Vector3 {
	return property.Vector3{X: a.X + b.X, Y: a.Y + b.Y, Z: a.Z + b.Z}
}

func minus(a, b property.Vector3) property.Vector3 {
	return property.Vector3{X: a.X - b.X, Y: a.Y - b.Y, Z: a.Z - b.Z}
}

func scale(a property.Vector3, by float32) property.Vector3 {
	return property.Vector3{X: a.X * by, Y: a.Y * by, Z: a.Z * by}
}

// turnBetween is the short way from one direction to another, each angle from -π to π.
func turnBetween(from, to property.Vector3) property.Vector3 {
	d := minus(to, from)
	return property.Vector3{X: short(d.X), Y: short(d.Y), Z: short(d.Z)}
}

// turned is a direction after a turn.
func turned(from, by property.Vector3) property.Vector3 {
	d := plus(from, by)
	return property.Vector3{X: short(d.X), Y: short(d.Y), Z: short(d.Z)}
}

// short is an angle as it is between -π and π.
func short(a float32) float32 {
	if a >= -math.Pi && a <= math.Pi {
		return a
	}
	return float32(math.Remainder(float64(a), 2*math.Pi))
}
