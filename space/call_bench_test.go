package space

import (
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
)

// BenchmarkOwnCall is a call of a cell part to itself, beside the same call of the Go method.
func BenchmarkOwnCall(b *testing.B) {
	r := newRig(b, 1)
	r.create(7, -50, 0)
	r.tick(3)
	a := r.avatar(7)
	b.Run("by mailbox", func(b *testing.B) {
		box := a.Cell()
		b.ReportAllocs()
		for b.Loop() {
			if err := box.Call("mark", uint32(5)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("by Go", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			a.Mark(5)
		}
	})
}

// BenchmarkThousandCallers is a tick in which a thousand cell parts on the cell call one of them, and
// each is answered.
func BenchmarkThousandCallers(b *testing.B) {
	r := newRig(b, 1, func(c *Config) { c.ArtificialLoad = 0 })
	const n = 1000
	for id := range entity.ID(n + 1) {
		if _, err := r.apps[0].cell.Spawn("Avatar", property.Vector3{X: -float32(id % 300), Z: float32(id / 300)}, property.Vector3{}, nil); err != nil {
			b.Fatal(err)
		}
	}
	first := r.lastID - n
	target := r.real(first)
	r.tick(3)
	b.ReportAllocs()
	for b.Loop() {
		for i := range entity.ID(n) {
			_ = r.real(first+1+i).Mailbox(target.MailboxValue()).Call("mark", uint32(5))
		}
		r.tick(1)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/call")
}
