package streamtest

import (
	"testing"

	"github.com/cellscape/cellscape/mercury/stream"
)

// Bench measures an adapter: Bulk and Echo between two Transports.
func Bench(b *testing.B, listen Listen) {
	for _, x := range []struct {
		name string
		run  func(b *testing.B, from, to *stream.Transport)
	}{{"Bulk", Bulk}, {"Echo", Echo}} {
		b.Run(x.name, func(b *testing.B) {
			from, to := listen(b, stream.Config{Salt: 1}), listen(b, stream.Config{Salt: 2})
			b.Cleanup(func() {
				Stop(b, from)
				Stop(b, to)
			})
			x.run(b, from, to)
		})
	}
}
