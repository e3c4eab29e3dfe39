package witness

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/property"
)

// rising is the name of an unreliable property that only ever rises.
const rising = "rising"

// Properties and methods of the test type.
const (
	name   = iota // everywhere
	weapon        // within 100 m
	badge         // within 20 m
	secret        // for nobody
	hp            // everywhere
	extra         // the first property that a test adds
)

const (
	say  = iota // within 50 m
	jump        // everywhere
	wave        // everywhere, unless it is lost
)

// testDefinition is the Walker, with further properties if a test wants some.
func testDefinition(t testing.TB, more ...*property.Property) *property.Definition {
	t.Helper()
	u32 := property.Scalar(property.KindUint32)
	s, err := property.NewSchema(
		&property.Definition{Name: "Hidden", HasCell: true},
		&property.Definition{
			Name: "Walker", HasCell: true, HasClient: true,
			Levels: []property.DetailLevel{{Label: "NEAR", Radius: 20, Hysteresis: 4}, {Label: "MEDIUM", Radius: 100, Hysteresis: 10}},
			Properties: append([]*property.Property{
				{Name: "name", Type: property.Scalar(property.KindString), Flags: property.AllClients},
				{Name: "weapon", Type: u32, Flags: property.OtherClients, Detail: "MEDIUM"},
				{Name: "badge", Type: u32, Flags: property.OtherClients, Detail: "NEAR"},
				{Name: "secret", Type: u32, Flags: property.CellPrivate},
				{Name: "hp", Type: u32, Flags: property.AllClients},
			}, more...),
			ClientMethods: []*property.Method{
				{Name: "say", Args: []property.Arg{{Type: u32}}, DetailDistance: 50},
				{Name: "jump", Args: []property.Arg{{Type: u32}}},
				{Name: "wave", Args: []property.Arg{{Type: u32}}, Unreliable: true},
			},
		})
	if err != nil {
		t.Fatal(err)
	}
	return s.Type("Walker")
}

// body is the holder of a real's properties: it numbers the changes.
type body struct{ *presence.Entity }

func (b body) PropertyChanged(c *property.Change) { b.History.Record(b.Props, c) }

func newEntity(d *property.Definition, id entity.ID, incarnation uint32, x, z float32) *presence.Entity {
	e := &presence.Entity{ID: id, Def: d, Order: entity.Order{Incarnation: incarnation}}
	e.Put(property.Vector3{X: x, Z: z}, property.Vector3{}, 0)
	e.History = property.NewHistory(d)
	e.Props = property.NewValues(d, property.CellSide, nil)
	_ = e.Props.Load(name, property.StringValue(fmt.Sprint("walker ", id)))
	e.Props.SetHolder(body{e})
	return e
}

func set(t testing.TB, e *presence.Entity, i int, v uint64) {
	t.Helper()
	if err := e.Props.Set(i, property.Uint(v)); err != nil {
		t.Fatal(err)
	}
}

func call(e *presence.Entity, method int, arg uint32) property.EventNumber {
	return e.History.Add(method, binary.LittleEndian.AppendUint32(nil, arg))
}

// ghostOf copies an entity as a ghost on another cell: later changes do not reach it.
func ghostOf(t testing.TB, e *presence.Entity) *presence.Entity {
	t.Helper()
	g := *e
	g.MovedTick = 0
	g.History = property.NewHistory(e.Def)
	if _, err := g.History.Read(e.History.Append(nil)); err != nil {
		t.Fatal(err)
	}
	g.Props = property.NewValues(e.Def, property.GhostSide, nil)
	if _, err := g.Props.ReadStream(e.Props.AppendStream(nil, property.GhostStream), property.GhostStream); err != nil {
		t.Fatal(err)
	}
	return &g
}

// world is a small cell: it knows who is in range, with hysteresis.
type world struct {
	t        testing.TB
	rng      *rand.Rand
	def      *property.Definition
	watcher  *presence.Entity
	all      []*presence.Entity
	within   map[entity.ID]bool
	tick     uint64
	w        *Witness
	client   *model
	late     [][]byte // packets that have not arrived yet
	behind   bool     // bundles are late, too
	bundles  [][]byte // those that are
	lateSeen *protocol.Seen
	subjects map[*presence.Entity]*Subject
}

// subject is what the cell keeps beside a record.
func (wd *world) subject(e *presence.Entity) *Subject {
	s := wd.subjects[e]
	if s == nil {
		s = &Subject{Entity: e}
		wd.subjects[e] = s
	}
	return s
}

const aoiRadius, aoiHysteresis = 150, 5

func newWorld(t testing.TB, cfg Config, seed uint64, n int) *world {
	return newWorldOf(t, testDefinition(t), cfg, seed, n)
}

func newWorldOf(t testing.TB, d *property.Definition, cfg Config, seed uint64, n int) *world {
	wd := &world{t: t, rng: rand.New(rand.NewPCG(seed, 1)), def: d, watcher: newEntity(d, 1000, 1, 0, 0), within: map[entity.ID]bool{}, subjects: map[*presence.Entity]*Subject{},
		tick: 100, w: New(cfg), client: newModel(t, d)}
	for i := range n {
		wd.all = append(wd.all, newEntity(d, entity.ID(i+1), 1, wd.coordinate(), wd.coordinate()))
	}
	return wd
}

func (wd *world) coordinate() float32 { return wd.rng.Float32()*400 - 200 }

func (wd *world) interest() { wd.interestIn(aoiRadius) }

// interestIn is interest with another radius.
func (wd *world) interestIn(radius float32) {
	for _, e := range wd.all {
		dist := property.Distance(wd.watcher.Position, e.Position)
		switch {
		case !wd.within[e.ID] && dist < radius:
			wd.within[e.ID] = true
			wd.w.Enter(wd.subject(e))
		case wd.within[e.ID] && dist > radius+aoiHysteresis:
			delete(wd.within, e.ID)
			wd.w.Leave(e.ID)
		}
	}
}

func (wd *world) act() { wd.actIf(func(*presence.Entity) bool { return true }) }

// actAbout is act in which nobody who rides walks by itself, or begins a new life.
func (wd *world) actAbout() {
	wd.actIf(func(e *presence.Entity) bool { return e.Ride.Vehicle == 0 })
}

func (wd *world) actIf(free func(*presence.Entity) bool) {
	move := func(e *presence.Entity, far float32) {
		if !free(e) {
			return
		}
		p := e.Position
		p.X, p.Z = p.X+(wd.rng.Float32()-0.5)*far, p.Z+(wd.rng.Float32()-0.5)*far
		e.MoveTo(wd.tick, p, property.Vector3{X: wd.rng.Float32()})
	}
	move(wd.watcher, 20)
	for k, e := range wd.all {
		switch wd.rng.IntN(12) {
		case 0, 1, 2:
			move(e, 10)
		case 3:
			move(e, 200)
		case 4:
			set(wd.t, e, weapon, wd.rng.Uint64N(1000))
		case 5:
			set(wd.t, e, badge, wd.rng.Uint64N(1000))
		case 6:
			set(wd.t, e, hp, wd.rng.Uint64N(1000))
		case 7:
			set(wd.t, e, secret, wd.rng.Uint64N(1000))
		case 8:
			call(e, wd.rng.IntN(2), uint32(e.History.Next()))
		case 10, 11:
			if i := wd.def.Property(rising); i != nil {
				set(wd.t, e, i.Index, uint64(e.History.Next()))
				call(e, wave, uint32(e.History.Next()))
			}
		case 9:
			if wd.rng.IntN(20) == 0 && free(e) {
				wd.reincarnate(k)
			}
		}
	}
}

func (wd *world) reincarnate(k int) {
	old := wd.all[k]
	e := newEntity(wd.def, old.ID, old.Order.Incarnation+1, old.Position.X, old.Position.Z)
	set(wd.t, e, hp, wd.rng.Uint64N(1000))
	wd.all[k] = e
	if wd.within[e.ID] {
		if wd.rng.IntN(2) == 0 {
			wd.w.Leave(e.ID)
		}
		wd.w.Enter(wd.subject(e))
	}
}

// update makes one tick's messages. Packets cannot be sent, get lost, come late, or come in order.
func (wd *world) update(unlimited bool) (bundle int) {
	most := MinPacket + wd.rng.IntN(1000)
	wd.w.SetMaxPacket(most)
	b, packets := wd.w.Update(wd.watcher, wd.tick, nil, unlimited)
	wd.tick++
	wd.client.made(packets, wd.all)
	wd.arrive(b)
	for i, p := range packets {
		if len(p) > most {
			wd.t.Fatalf("a packet of %d bytes, at most %d go", len(p), most)
		}
		switch p := slices.Clone(p); wd.rng.IntN(4) {
		case 0:
			wd.late = append(wd.late, p)
		case 1:
			wd.client.packet(p)
		case 2:
			wd.w.Unsent(i)
		}
	}
	if len(wd.late) > 0 && wd.rng.IntN(4) == 0 {
		wd.client.packet(wd.late[0])
		wd.late = wd.late[1:]
	}
	wd.saw()
	return len(b)
}

// arrive brings the client a bundle, and those before it, perhaps later.
func (wd *world) arrive(b []byte) {
	if b != nil {
		wd.bundles = append(wd.bundles, slices.Clone(b))
	}
	if wd.behind && wd.rng.IntN(3) > 0 {
		return
	}
	for _, b := range wd.bundles {
		wd.client.bundle(b)
	}
	wd.bundles = wd.bundles[:0]
}

// saw is what the client says of what it has: at times nothing, at times late.
func (wd *world) saw() {
	wd.client.seen.Bundle = wd.client.number
	switch wd.rng.IntN(4) {
	case 0:
		s := wd.client.seen
		wd.lateSeen = &s
	case 1:
		if wd.lateSeen != nil {
			wd.w.Saw(wd.lateSeen)
		}
	default:
		wd.w.Saw(&wd.client.seen)
	}
}

func (wd *world) expected() []protocol.Expected {
	var want []protocol.Expected
	for _, e := range wd.all {
		if wd.within[e.ID] {
			want = wd.w.AppendExpected(want, wd.watcher, e)
		}
	}
	return want
}

// settle runs a still world until nothing is pending, and checks the client.
func (wd *world) settle(ticks int) {
	wd.t.Helper()
	n := 0
	for ; wd.w.Pending(wd.watcher) > 0; n++ {
		if n > ticks {
			wd.t.Fatalf("%d still pending after %d ticks", wd.w.Pending(wd.watcher), n)
		}
		wd.update(false)
	}
	wd.behind = false
	wd.arrive(nil)
	for _, p := range wd.late {
		wd.client.packet(p) // late packets must not move anything back
	}
	wd.late = nil
	wd.client.check(wd.expected())
	var known []entity.ID
	for id := range wd.w.Known() {
		known = append(known, id)
	}
	if len(known) != len(wd.within) || wd.w.Len() != len(known) || !slices.IsSorted(known) {
		wd.t.Fatalf("known are %v, %d in range, Len %d", known, len(wd.within), wd.w.Len())
	}
}

func equalState(a, b *Witness) bool { return bytes.Equal(a.Append(nil), b.Append(nil)) }
