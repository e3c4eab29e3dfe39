package game

import (
	"math/rand/v2"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
)

// Player is the base part of an Avatar: it stays on the BaseApp where the player logged in, and
// keeps the score.
type Player struct {
	*entity.Base
	Score    property.Uint32 // all points so far
	Collects property.Uint32
	Praised  property.Uint64 // number of the last word that was praised
}

// OnCreated puts the player into the arena, at a place that its id decides.
func (p *Player) OnCreated() {
	chance := rand.New(rand.NewPCG(uint64(p.ID()), 1))
	err := p.CreateCell(SpaceID, Somewhere(chance, Spread), property.Vector3{}, func(v *property.Values) {
		set(v, "name", property.StringValue(p.Account()))
		set(v, "mood", property.StringValue("curious"))
	})
	if err != nil {
		p.Log().Error("no avatar", "error", err)
	}
}

// Collect is called by the player's client: the purse gets what it lacks of the score. The cell part is told
// the number and the sum, since a restored base, which hears the last words and collects again in another
// order, may pay again.
func (p *Player) Collect() {
	p.Collects.Set(p.Collects.Get() + 1)
	_ = p.Cell().Call("pay", p.Collects.Get(), p.Score.Get())
}

// Praise is called by the cell part when the avatar has spoken. A restored cell part repeats what
// it has said since its backup, but each word is praised once.
func (p *Player) Praise(points uint32) {
	if n := p.Call().Number; n > p.Praised.Get() {
		p.Praised.Set(n)
	} else {
		return
	}
	p.Score.Set(p.Score.Get() + points)
	if p.HasClient() {
		_ = p.Client().Call("richer", p.Score.Get())
	}
}

// Avatar is the cell part: it moves from CellApp to CellApp with its player.
type Avatar struct {
	*space.Real
	Name, Mood   property.String
	Hat, Cloak   property.Uint8
	Purse, Words property.Uint32
	Paid         property.Uint32 // the last collect that was paid
	// Worn and Waves count what the avatar was asked to do; Unseen counts those of its own waves
	// that nobody saw.
	Worn, Waves, Unseen property.Uint32
}

// Say is called by the player's own client; everyone nearby hears it.
func (a *Avatar) Say(_ entity.ID, text string) {
	a.Words.Set(a.Words.Get() + 1)
	_ = a.AllClients().Call("heard", text)
	_ = a.Base().Call("praise", uint32(1))
}

// Wear changes what others nearby see of the avatar.
func (a *Avatar) Wear(_ entity.ID, hat, cloak uint8) {
	a.Hat.Set(hat)
	a.Cloak.Set(cloak)
	a.Worn.Set(a.Worn.Get() + 1)
}

// Wave may be called by the client of anyone who sees the avatar.
func (a *Avatar) Wave(by entity.ID) {
	a.Mood.Set("greeted")
	a.Waves.Set(a.Waves.Get() + 1)
	_ = a.OwnClient().Call("waved", by)
}

// OnCallRefused hears that the player's own client waved to someone who is not there.
func (a *Avatar) OnCallRefused(space.RefusedCall) { a.Unseen.Set(a.Unseen.Get() + 1) }

// Pay is called by the base part. A collect that was skipped stays unpaid for ever.
func (a *Avatar) Pay(collect, coins uint32) {
	if collect == a.Paid.Get()+1 {
		a.Paid.Set(collect)
	}
	a.Purse.Set(max(a.Purse.Get(), coins))
}

// set gives a property its first value.
func set(v *property.Values, name string, value property.Value) {
	if err := v.Set(v.Definition().Property(name).Index, value); err != nil {
		panic(err) // this contradicts the definition: a fault of this program
	}
}
