package space

import (
	"testing"

	"github.com/cellscape/cellscape/space/recording"
)

type discardSink struct{ discards }

func (s *discardSink) Open(*recording.Header) (recording.Stream, error) { return &s.discards, nil }

// BenchmarkRecordedCell is a tick of a cell with 1,000 players who walk, see nobody, and change something
// every five seconds, recorded or not: a key frame in every hundredth tick counts.
func BenchmarkRecordedCell(b *testing.B) {
	for _, name := range []string{"off", "on"} {
		b.Run(name, func(b *testing.B) {
			var c *Cell
			tick, _ := throng{side: 20_000, line: 1e6, reals: 1000, players: 1000, radius: 10, walk: true, cell: &c}.begin(b)
			sink := new(discardSink)
			if name == "on" {
				c.population.env.Recorder = sink
				Hosted{c}.TakeData(DataEntry{Number: 1, Key: recording.Key})
			}
			tick()
			sink.bytes = 0
			b.ReportAllocs()
			for b.Loop() {
				tick()
			}
			b.ReportMetric(float64(sink.bytes)/float64(b.N), "recorded-bytes/tick")
		})
	}
}
