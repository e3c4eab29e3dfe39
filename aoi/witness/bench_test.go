package witness

import (
	"math/rand/v2"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/property"
)

// 60 entities within 240 m all move every tick, with the default budget; one in ten changes a
// property. One op is one Update.
func BenchmarkUpdate60Moving(b *testing.B) {
	wd := crowd(b, Config{}, 60, 4)
	b.ReportAllocs()
	bytes := 0
	for b.Loop() {
		b.StopTimer()
		wd.everyoneMoves()
		for i := range 6 {
			e := wd.all[(int(wd.tick)+i*10)%60]
			e.History.Record(e.Props, &property.Change{Index: hp})
		}
		b.StartTimer()
		bundle, packets := wd.w.Update(wd.watcher, wd.tick, nil, false)
		bytes += len(bundle) + total(packets)
		wd.tick++
	}
	b.ReportMetric(float64(bytes)/float64(b.N), "bytes/op")
}

// 100 entities with nothing new: the price of a still world, per player and tick.
func BenchmarkUpdate100Still(b *testing.B) {
	wd := crowd(b, Config{}, 100, 2)
	b.ReportAllocs()
	for b.Loop() {
		wd.tick++
		wd.w.Update(wd.watcher, wd.tick, nil, false)
	}
}

// A cell of 500 players who all walk, each with 62 others in sight, and whose clients say what they
// have seen a tick later. One op is one Update; ns/op has its share of what is done for all watchers at once.
func BenchmarkCrowd(b *testing.B) {
	const players, view = 500, 62
	d := testDefinition(b)
	subjects := make([]*Subject, players)
	watchers := make([]*Witness, players)
	for i := range subjects {
		subjects[i] = &Subject{Entity: newEntity(d, entity.ID(i+1), 1, float32(i%25)*4, float32(i/25)*4)}
		watchers[i] = New(Config{})
	}
	for i, w := range watchers {
		for k := range view {
			w.Enter(subjects[(i+1+k*7)%players])
		}
	}
	tick, bytes := uint64(100), 0
	round := func() {
		tick++
		for i, s := range subjects {
			p := s.Entity.Position
			p.X += 0.5
			s.Entity.MoveTo(tick, p, property.Vector3{X: float32(i)})
		}
		for i, w := range watchers {
			w.Saw(&protocol.Seen{Bundle: w.number, Packet: max(w.moves.number, 1) - 1, Earlier: 1<<32 - 1})
			bundle, packets := w.Update(subjects[i].Entity, tick, nil, false)
			bytes += len(bundle) + total(packets)
		}
	}
	for range 10 {
		round()
	}
	bytes = 0
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		if n%players == 0 {
			round()
		}
		n++
	}
	b.ReportMetric(float64(bytes)/float64(n+players-n%players), "bytes/op")
}

// A crowd of 2,000 on 300 by 300 m, all of whom walk and see all others, and 20 kbit/s for each: room
// for some seventy places of two thousand. One op is one Update; ns/op has its share of what is done
// for all watchers at once.
func BenchmarkPackedCrowd(b *testing.B) {
	const players, side = 2000, 300
	d, rng := testDefinition(b), rand.New(rand.NewPCG(1, 1))
	subjects := make([]*Subject, players)
	watchers := make([]*Witness, players)
	for i := range subjects {
		subjects[i] = &Subject{Entity: newEntity(d, entity.ID(i+1), 1, rng.Float32()*side, rng.Float32()*side)}
		watchers[i] = New(Config{BytesPerTick: 250})
	}
	for i, w := range watchers {
		for k := range players - 1 {
			w.Enter(subjects[(i+1+k)%players])
		}
		w.Update(subjects[i].Entity, 1, nil, true)
	}
	tick, bytes, places := uint64(100), 0, 0
	round := func() {
		tick++
		for i, s := range subjects {
			p := s.Entity.Position
			p.X += 0.5 - float32(tick/100%2)
			s.Entity.MoveTo(tick, p, property.Vector3{X: float32(i)})
		}
		for i, w := range watchers {
			w.Saw(&protocol.Seen{Bundle: w.number, Packet: max(w.moves.number, 1) - 1, Earlier: 1<<32 - 1})
			bundle, packets := w.Update(subjects[i].Entity, tick, nil, false)
			bytes += len(bundle) + total(packets)
			places += len(w.moves.told)
		}
	}
	for range 20 {
		round()
	}
	bytes, places = 0, 0
	n := 0
	for b.Loop() {
		if n%players == 0 {
			round()
		}
		n++
	}
	rounds := float64(n + players - 1 - (n-1)%players)
	b.ReportMetric(float64(bytes)/rounds, "bytes/op")
	b.ReportMetric(float64(places)/rounds, "places/op")
}
