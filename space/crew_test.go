package space

import (
	"bytes"
	"slices"
	"testing"

	"github.com/cellscape/cellscape/mercury/host"
	"github.com/cellscape/cellscape/property"
)

// Several workers send the same bytes as one, in the same order, and count the same. The race
// detector looks at what they share.
func TestWorkersSendTheSame(t *testing.T) {
	run := func(workers, budget int, forced bool) (sent []byte, rows []property.StatsRow) {
		schema := testSchema(t)
		stats := property.NewStats(schema)
		tick, out := throng{side: 200, line: 200, reals: 50, players: 40, budget: budget,
			schema: schema, stats: stats, forced: forced, workers: workers, parallel: host.Parallel(workers)}.begin(t)
		out.all = &sent
		for range 50 {
			tick()
		}
		for row := range stats.Rows() {
			row.Type, row.Property = nil, nil // of another schema
			rows = append(rows, row)
		}
		return sent, rows
	}
	for _, budget := range []int{0, 60, 100, 150, 250} { // room for all, and for few
		for _, forced := range []bool{false, true} {
			one, counted := run(0, budget, forced)
			for _, workers := range []int{2, 5} {
				sent, rows := run(workers, budget, forced)
				if !bytes.Equal(sent, one) || len(sent) == 0 {
					t.Errorf("budget %d, forced %v: %d workers send %d bytes, which are not the %d of one", budget, forced, workers, len(sent), len(one))
				}
				if !slices.Equal(rows, counted) || len(rows) == 0 {
					t.Errorf("budget %d, forced %v: %d workers count %v, one %v", budget, forced, workers, rows, counted)
				}
			}
		}
	}
}
