package game

import (
	"errors"
	"math/rand/v2"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/stored"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
)

const (
	// beat is how far from its post a guard wanders, in metres; guardPace is its speed in metres
	// per second.
	beat      = 60
	guardPace = 4
	// earshot is how near someone must come to be shouted at, in metres.
	earshot = 25
	// AlarmKey is the entry of the space's data that tells of the last alarm.
	AlarmKey = 1
)

// Post is the base part of a Guard: it makes the guard, and counts its alarms.
type Post struct {
	*entity.Base
	Alarms property.Uint32
}

// OnCreated posts a new guard at a place that its id decides. One that comes back from a store is
// made where it stood.
func (p *Post) OnCreated() {
	if p.Row() != 0 {
		return
	}
	chance := rand.New(rand.NewPCG(uint64(p.ID()), 2))
	at := Somewhere(chance, Spread)
	err := p.CreateCell(SpaceID, at, property.Vector3{}, func(v *property.Values) {
		set(v, "post", property.Vec3(at))
		set(v, "rank", property.Uint(uint64(chance.IntN(3))))
	})
	if err != nil {
		p.Log().Error("no guard", "error", err)
	}
	if err := p.Write("OnKept", 0); err != nil && !errors.Is(err, stored.ErrNotKept) {
		p.Log().Error("the guard is not kept", "error", err)
	}
}

// OnKept is told that the store has the guard.
func (p *Post) OnKept(r stored.Reply) {
	if r.Err != nil {
		p.Log().Error("the guard is not kept", "error", r.Err)
	}
}

// Alarmed is called by the cell part.
func (p *Post) Alarmed(string) { p.Alarms.Set(p.Alarms.Get() + 1) }

// Guard is the cell part: it wanders, looks around and shouts.
type Guard struct {
	*space.Real
	Post  property.Field[property.Vector3]
	Rank  property.Uint8
	Alert property.Bool
}

// OnCreated sets the guard going. Its timers and its walk travel with it.
func (g *Guard) OnCreated() {
	g.wander()
	first := time.Duration(g.Chance().Int64N(int64(2 * time.Second)))
	if _, err := g.AddTimer(first, 2*time.Second, "OnLook", 0); err != nil {
		g.Log().Error("no timer", "error", err)
	}
}

// OnArrived waits a moment and wanders on.
func (g *Guard) OnArrived(entity.Callback) {
	pause := time.Second + time.Duration(g.Chance().Int64N(int64(4*time.Second)))
	_, _ = g.AddTimer(pause, 0, "OnRested", 0)
}

// OnRested ends a pause.
func (g *Guard) OnRested(entity.Callback) { g.wander() }

func (g *Guard) wander() {
	to := g.Post.Get()
	to.X += (g.Chance().Float32()*2 - 1) * beat
	to.Z += (g.Chance().Float32()*2 - 1) * beat
	_, _ = g.MoveTo(to, guardPace, "OnArrived", 0)
}

// OnLook shouts at the first avatar in earshot, even at one on another cell.
func (g *Guard) OnLook(entity.Callback) {
	for view := range g.EntitiesInRange(earshot) {
		name, ok := view.Get("name")
		if !ok {
			continue
		}
		if !g.Alert.Get() {
			_ = g.AllClients().Call("shout", "Halt, "+name.Str()+"!")
			_ = g.Base().Call("alarmed", name.Str())
			if g.Chance().IntN(100) == 0 {
				_ = g.SetSpaceData(AlarmKey, []byte(name.Str()))
			}
		}
		g.Alert.Set(true)
		return
	}
	g.Alert.Set(false)
}
