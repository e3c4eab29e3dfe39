package bots

import (
	"math"
	"time"

	"github.com/cellscape/cellscape/property"
)

// Behaviour is what a bot does. Act is called once a tick while the bot's entity is in the world.
type Behaviour interface{ Act(b *Bot) }

// Func is a Behaviour without memory.
type Func func(b *Bot)

// Act implements Behaviour.
func (f Func) Act(b *Bot) { f(b) }

// All does one after another in each tick.
type All []Behaviour

// Act implements Behaviour.
func (a All) Act(b *Bot) {
	for _, one := range a {
		one.Act(b)
	}
}

// Walk goes from one random place of a rectangle to the next, straight and without rest: the random
// waypoint of network research. Coordinates are metres on the ground.
type Walk struct {
	MinX, MinZ, MaxX, MaxZ float32
	// Speed is in metres a second.
	Speed float32

	to  property.Vector3
	set bool
}

// Head has the bot go to a place before it draws others.
func (w *Walk) Head(to property.Vector3) { w.to, w.set = to, true }

// Act implements Behaviour.
func (w *Walk) Act(b *Bot) {
	at := b.Player().Position
	if !w.set || at == w.to {
		w.set = true
		w.to = property.Vector3{X: between(b, w.MinX, w.MaxX), Y: at.Y, Z: between(b, w.MinZ, w.MaxZ)}
	}
	towards(b, w.to, w.Speed)
}

func between(b *Bot, least, most float32) float32 { return least + b.Chance.Float32()*(most-least) }

// Towards is one step of so many metres on the ground from a place towards another, and the yaw of who
// goes it.
func Towards(from, to property.Vector3, step float32) (next property.Vector3, yaw float32) {
	dx, dz := to.X-from.X, to.Z-from.Z
	far := float32(math.Hypot(float64(dx), float64(dz)))
	next, yaw = to, float32(math.Atan2(float64(dx), float64(dz)))
	if far > step {
		next = property.Vector3{X: from.X + dx/far*step, Y: from.Y, Z: from.Z + dz/far*step}
	}
	return next, yaw
}

// towards goes one step.
func towards(b *Bot, to property.Vector3, speed float32) {
	at := b.Player().Position
	if next, yaw := Towards(at, to, b.Step(speed)); next != at {
		b.Try(b.Go(next, property.Vector3{X: yaw}))
	}
}

// Star gathers the crowd: bots walk from the tip of a ray to the centre and out along another, so
// that the load moves and is dense in the middle.
type Star struct {
	// X and Z are the centre, Radius the length of a ray, in metres.
	X, Z, Radius float32
	// Rays is how many there are; 0 is 8.
	Rays int
	// Speed is in metres a second.
	Speed float32

	to      property.Vector3
	outward bool
	set     bool
}

// Act implements Behaviour.
func (s *Star) Act(b *Bot) {
	at := b.Player().Position
	if !s.set || at == s.to {
		s.set, s.outward = true, !s.outward
		s.to = property.Vector3{X: s.X, Y: at.Y, Z: s.Z}
		if s.outward {
			rays := s.Rays
			if rays <= 0 {
				rays = 8
			}
			sin, cos := math.Sincos(2 * math.Pi * float64(b.Chance.IntN(rays)) / float64(rays))
			s.to.X += s.Radius * float32(sin)
			s.to.Z += s.Radius * float32(cos)
		}
	}
	towards(b, s.to, s.Speed)
}

// Chat calls an exposed cell method of the bot's own entity now and then.
type Chat struct {
	Method string
	// Every is the mean time between two calls.
	Every time.Duration
	// Args makes the arguments; nil for a method without any.
	Args func(b *Bot) []any
}

// Act implements Behaviour.
func (c *Chat) Act(b *Bot) {
	if !b.Every(c.Every) {
		return
	}
	var args []any
	if c.Args != nil {
		args = c.Args(b)
	}
	b.Try(b.Player().Cell().Call(c.Method, args...))
}

// Fight calls an exposed cell method of someone near by now and then.
type Fight struct {
	Method string
	// Type is the entity type of whom it picks on.
	Type string
	// Reach is how near the other must be, in metres.
	Reach float32
	// Every is the mean time between two blows while someone is there.
	Every time.Duration
}

// Act implements Behaviour.
func (f *Fight) Act(b *Bot) {
	if !b.Every(f.Every) {
		return
	}
	at := b.Player().Position
	for r := range b.Entities() {
		if r.Def.Name == f.Type && property.Distance(at, r.Position) <= f.Reach {
			b.Try(r.Cell().Call(f.Method))
			return
		}
	}
}

// Leave logs out now and then, and comes back after a while.
type Leave struct {
	// Every is the mean time of a stay, Away how long the bot is away.
	Every, Away time.Duration
}

// Act implements Behaviour.
func (l *Leave) Act(b *Bot) {
	if b.Every(l.Every) {
		b.LeaveFor(max(l.Away, time.Millisecond))
	}
}

// Try counts what a behaviour could not do, and logs the first errors.
func (b *Bot) Try(err error) {
	if err != nil {
		b.refused++
		if b.refused <= logged {
			b.group.swarm.cfg.Log.Error("a bot cannot do what it wants", "bot", b.Number, "error", err)
		}
	}
}
