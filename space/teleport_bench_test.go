package space

import (
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
)

// BenchmarkTeleport takes players to and fro between the spaces of two CellApps: each has properties
// of 500 bytes, a witness and two timers. ns/op is what one teleport costs both CellApps together,
// with the encoding and the reading of all messages; next-tick-ns is by how much the ticks after it
// are longer than at rest, and all/s counts that, too. The players see nobody, or all of their group
// of ten.
func BenchmarkTeleport(b *testing.B) {
	b.Run("alone", func(b *testing.B) { journeys(b, 1000, false) })
	b.Run("in tens", func(b *testing.B) { journeys(b, 10, false) })
}

// BenchmarkBorder takes the players of BenchmarkTeleport to and fro over a line instead, where each
// leaves a ghost. They see nobody, or their group of ten, or all the others.
func BenchmarkBorder(b *testing.B) {
	b.Run("alone", func(b *testing.B) { journeys(b, 1000, true) })
	b.Run("in tens", func(b *testing.B) { journeys(b, 10, true) })
	b.Run("crowd", func(b *testing.B) { journeys(b, 1, true) })
}

// journeys measures the moves of players who are some metres apart, ten in a group if that is 10.
func journeys(b *testing.B, apart int, border bool) {
	const players = 100
	diary := strings.Repeat("diary of", 500/8)
	r := newRig(b, 2)
	r.room(1, 2)
	r.room(2, 3)
	c := &crossing{rig: r}
	for _, a := range r.apps {
		o := &post{testApp: a, mail: &c.mail}
		for _, cell := range a.population.cells {
			cell.out, cell.checkAt = o, never
		}
		a.population.env.Out = o
		c.posts = append(c.posts, o)
	}
	place := func(id entity.ID, side int) property.Vector3 {
		if !border {
			side = 1
		}
		return property.Vector3{X: float32(30 * (2*side - 1)), Z: float32(apart * int(id))}
	}
	for id := entity.ID(1); id <= players; id++ {
		r.create(id, -30, 1)
		a := r.avatar(id)
		if err := a.SetPosition(place(id, 0)); err != nil { // before the next one sees it
			b.Fatal(err)
		}
		a.Diary.Set(diary)
		for range 2 {
			if _, err := a.AddTimer(time.Hour, time.Hour, "OnTimer", 1); err != nil {
				b.Fatal(err)
			}
		}
	}
	spaces := [2]entity.SpaceID{2, 3}
	ticks := func() (d time.Duration) {
		begun := time.Now()
		for range 2 {
			c.now += tickPeriod
			for k, a := range r.apps {
				for i := range c.posts[k].acks {
					a.population.HandleAck(&c.posts[k].acks[i], c.base)
				}
				c.posts[k].acks = c.posts[k].acks[:0]
				a.population.Tick(c.now, c.now, tickPeriod)
			}
			c.deliver(new([3]time.Duration))
		}
		return time.Since(begun)
	}
	ids := make([]*Real, players)
	var next time.Duration
	side := 1
	ticks()
	b.ResetTimer()
	for n := 0; n < b.N; n += players {
		b.StopTimer()
		for i := range ids {
			ids[i] = r.real(entity.ID(i + 1))
			r.avatar(entity.ID(i + 1)).Diary.Set(diary) // which has grown
			if border {
				if err := ids[i].SetPosition(place(ids[i].ID(), side)); err != nil {
					b.Fatal(err)
				}
				ids[i].cell.tell(ids[i])
			}
		}
		b.StartTimer()
		for _, x := range ids {
			if border {
				x.cell.offload(x)
			} else if err := x.Teleport(entity.Destination{Space: spaces[side], Position: place(x.ID(), side)}, 1); err != nil {
				b.Fatal(err)
			}
		}
		for range 2 { // the manager's answer comes in between
			for _, a := range r.apps {
				a.population.runTeleports()
			}
			c.deliver(new([3]time.Duration))
		}
		b.StopTimer()
		first := ticks()
		for range 3 {
			ticks()
		}
		next += first - ticks()
		if x := r.real(1); x == nil || x.cell.self != addr(1+side) {
			b.Fatal("it has not arrived")
		}
		side = 1 - side
		b.StartTimer()
	}
	b.ReportMetric(float64(time.Second)/(float64(b.Elapsed())/float64(b.N)), "moves/s")
	b.ReportMetric(float64(next)/float64(b.N), "next-tick-ns")
	b.ReportMetric(float64(time.Second)/(float64(b.Elapsed()+next)/float64(b.N)), "all/s")
}
