package main

import (
	"math"
	"time"
)

// The star is the balance demonstration of the BigWorld whitepaper: a crowd in the shape of a star,
// in a world of 40 by 40 km, that shifts all the time. Its arms swing, reach out and draw back.
// Their people walk up and down them and, every now and then, through the middle into another arm,
// more of them into the arm that is the fashion of the hour.
const (
	starArms = 8
	// starReach is how long an arm is, starWidth the sigma of its people to both sides, as shares
	// of the world's side.
	starReach = 0.45
	starWidth = 0.025
	// An arm swings by starSwing (radians) in starSwingPeriod: at its tip, 18 km out, at up to 5
	// m/s.
	starSwing       = 0.08
	starSwingPeriod = 30 * time.Minute
	// It draws back by starBreath of its length in starBreathPeriod, at up to 3 m/s.
	starBreath       = 0.06
	starBreathPeriod = 20 * time.Minute
	// starStroll is how far along the arm, as a share of it, someone walks at a time; starLeave is
	// how likely it is that someone within that distance of the middle goes into another arm
	// instead.
	starStroll = 0.08
	starLeave  = 0.5
	// starFashion is how much more likely the arm of the hour is than the one across; it goes round
	// in starFashionPeriod.
	starFashion       = 0.6
	starFashionPeriod = 10 * time.Minute
	// starNear is how near to a goal, in metres, someone has to be to have arrived. People slower
	// than their arm's tip trail behind it.
	starNear = 5.0
)

type star struct {
	crowd
	people []starPerson
	arms   [starArms]arm
}

// starPerson has a place in an arm: how far out, as a share of its length, and how far to the side
// in metres.
type starPerson struct {
	arm       int
	out, side float64
	speed     float64
}

// arm is where an arm is now: its direction and its length in metres.
type arm struct{ sin, cos, length float64 }

func newStar(c crowd, _ *config) scenario {
	s := &star{crowd: c, people: make([]starPerson, c.entities)}
	s.tick(0)
	return s
}

func (s *star) start(i int) point {
	p := &s.people[i]
	p.arm, p.out = i%starArms, s.chance.Float64()
	p.side, p.speed = s.aside(), s.speed(walking, riding)
	return s.place(p)
}

func (s *star) aside() float64 {
	return min(max(s.chance.NormFloat64(), -3), 3) * starWidth * s.size
}

func (s *star) tick(now time.Duration) {
	s.now = now
	for i := range s.arms {
		// Neighbours swing against each other, and no two breathe alike.
		phase := float64(i) * 2.4
		angle := 2*math.Pi*float64(i)/starArms + starSwing*math.Sin(turns(now, starSwingPeriod)+phase)
		sin, cos := math.Sincos(angle)
		breath := 1 - starBreath*(1-math.Cos(turns(now, starBreathPeriod)+2*phase))/2
		s.arms[i] = arm{sin, cos, starReach * s.size * breath}
	}
}

// turns is the position of a time in a cycle, in radians.
func turns(now, period time.Duration) float64 { return 2 * math.Pi * float64(now) / float64(period) }

func (s *star) place(p *starPerson) point {
	a := &s.arms[p.arm]
	along := p.out * a.length
	return s.within(point{
		float64(along*a.cos) - float64(p.side*a.sin),
		float64(along*a.sin) + float64(p.side*a.cos),
	})
}

func (s *star) goal(i int, at point) (point, float64) {
	p := &s.people[i]
	to := s.place(p)
	if at.distance(to) < starNear {
		s.stroll(p)
		to = s.place(p)
	}
	return to, p.speed
}

// stroll chooses the next place.
func (s *star) stroll(p *starPerson) {
	p.side = s.aside()
	if p.out < starStroll && s.chance.Float64() < starLeave {
		p.arm, p.out = s.fashion(), starStroll*s.chance.Float64()
		return
	}
	step := (2*s.chance.Float64() - 1) * starStroll
	p.out = math.Abs(p.out + step)
	if p.out > 1 {
		p.out = 2 - p.out
	}
}

// fashion draws an arm; the arm of the hour is likelier than the others.
func (s *star) fashion() int {
	for {
		i := s.chance.IntN(starArms)
		liking := 1 + starFashion*math.Cos(turns(s.now, starFashionPeriod)-2*math.Pi*float64(i)/starArms)
		if s.chance.Float64()*(1+starFashion) < liking {
			return i
		}
	}
}
