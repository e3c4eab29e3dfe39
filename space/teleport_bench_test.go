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
// are longer than at rest. The players see nobody, or all of their group of ten.
func BenchmarkTeleport(b *testing.B) {
	b.Run("alone", func(b *testing.B) { teleports(b, 1000) })
	b.Run("in tens", func(b *testing.B) { teleports(b, 10) })
	b.Run("border", func(b *testing.B) { teleports(b, 0) })
}

// teleports measures it with groups that are some metres apart; 0 stands for players who cross a
// border instead, one each.
func teleports(b *testing.B, apart int) {
	const players = 100
	diary := strings.Repeat("diary of", 500/8)
	r := newRig(b, 2)
	r.room(1, 2)
	r.room(2, 3)
	c := &crossing{rig: r}
	for id := entity.ID(1); id <= players; id++ {
		r.create(id, -20, 1)
		a := r.avatar(id)
		a.Diary.Set(diary)
		for range 2 {
			if _, err := a.AddTimer(time.Hour, time.Hour, "OnTimer", 1); err != nil {
				b.Fatal(err)
			}
		}
	}
	for _, a := range r.apps {
		o := &post{testApp: a, sent: &c.sent}
		for _, cell := range a.population.cells {
			cell.out, cell.checkAt = o, never
		}
		a.population.env.Out = o
		c.posts = append(c.posts, o)
	}
	place := func(id entity.ID, side float32) property.Vector3 {
		if apart > 0 {
			return property.Vector3{X: float32(apart * int(id)), Z: 3}
		}
		return property.Vector3{X: side * (30 + float32(id)), Z: 3}
	}
	spaces := [2]entity.SpaceID{2, 3}
	if apart == 0 {
		spaces = [2]entity.SpaceID{1, 1}
	}
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
			if apart == 0 {
				if err := ids[i].SetPosition(place(ids[i].ID(), float32(2*side-1))); err != nil {
					b.Fatal(err)
				}
				ids[i].cell.tell(ids[i])
			}
		}
		b.StartTimer()
		for _, x := range ids {
			if apart == 0 {
				x.cell.offload(x)
			} else if err := x.Teleport(entity.Destination{Space: spaces[side], Position: place(x.ID(), 1)}, 1); err != nil {
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
}
