package space

import (
	"log/slog"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space/cluster/status"
	"github.com/cellscape/cellscape/space/internal/hosting"
)

// walkers makes a cell of 4 km in the square with reals that walk about by controllers, all with
// witnesses if players. A tick sends those who have arrived elsewhere, which is left out of took.
func walkers(t testing.TB, reals entity.ID, players bool, watch *load.Stopwatch) (tick func() (took time.Duration)) {
	t.Helper()
	const side = 4000
	scripts := NewScripts(testSchema(t))
	Register[Avatar](scripts, "Avatar")
	out := &benchOutbox{}
	population := NewPopulation(Config{BackupPeriod: time.Hour}.WithDefaults(), scripts, hosting.Env{
		Self: addr(1), Out: out, Counters: new(status.Counters),
		Chance: rand.New(rand.NewPCG(1, 1)), Log: slog.New(slog.DiscardHandler), Watch: watch,
	})
	c := population.NewCell(0, 0, 1, cellID(1), bsp.New(bsp.Version{Term: 1, N: 1}, leaf(1)), nil)
	chance := rand.New(rand.NewPCG(2, 2))
	at := func() property.Vector3 { return anywhere(chance, side) }
	clients := entity.ID(0)
	if players {
		clients = reals
	}
	populate(population, reals, clients, at)
	var now time.Duration
	tick = func() time.Duration {
		now += tickPeriod
		for _, rec := range c.reals {
			if len(rec.real.controllers.list) == 0 {
				if _, err := rec.real.MoveTo(at(), 5, "", 0); err != nil {
					t.Fatal(err)
				}
			}
		}
		for i := range out.acks {
			population.HandleAck(&out.acks[i], addr(100))
		}
		out.acks = out.acks[:0]
		begun := time.Now()
		c.runTick(now, now, tickPeriod)
		return time.Since(begun)
	}
	for range 50 {
		tick()
	}
	return tick
}

// BenchmarkMeasuredTick runs ticks of two equal cells in turn, of which one measures with the
// host's kind of clock. It compares the ticks that a tenth of all are faster than, which a busy
// machine disturbs least, and reports beside what the readings cost alone.
func BenchmarkMeasuredTick(b *testing.B) {
	for _, load := range []struct {
		name    string
		reals   entity.ID
		players bool
	}{{"500 players walk", 500, true}, {"500 others walk", 500, false}} {
		b.Run(load.name, func(b *testing.B) { measuredTick(b, load.reals, load.players) })
	}
}

func measuredTick(b *testing.B, reals entity.ID, players bool) {
	begun, readings := time.Now(), 0
	measured := walkers(b, reals, players, load.NewStopwatch(func() time.Duration { readings++; return time.Since(begun) }))
	plain := walkers(b, reals, players, nil)
	readings = 0
	var with, without []time.Duration
	for b.Loop() {
		if len(with)%2 == 0 { // neither is always the one after the other
			with, without = append(with, measured()), append(without, plain())
		} else {
			without, with = append(without, plain()), append(with, measured())
		}
	}
	n := readings
	at := time.Now()
	for range n {
		_ = time.Since(begun)
	}
	reading := float64(time.Since(at)) / float64(b.N)
	slices.Sort(with)
	slices.Sort(without)
	tick := float64(without[len(without)/10])
	b.ReportMetric(float64(with[len(with)/10])/tick, "measured/plain")
	b.ReportMetric(tick, "plain-ns/tick")
	b.ReportMetric(float64(n)/float64(b.N), "readings/tick")
	b.ReportMetric(100*reading/tick, "readings-%")
}
