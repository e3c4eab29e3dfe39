package balance

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
)

// Defaults of Border.
const (
	DefaultGhostDistance = 550
	DefaultBand          = 10
	DefaultOffloadRate   = 500
	DefaultMaxSlice      = 0.02
)

// Border sets what happens along the lines between cells. Cells act by it and policies place lines
// by it, so give both the same one. The zero Border is valid; every zero field means its default.
// For no distance set a very small one.
type Border struct {
	// GhostDistance is how far beyond a line entities are mirrored, in metres, default 550. A cell
	// has to load the geometry that far around it.
	GhostDistance float64
	// Band is how far beyond its cell a real goes before it is offloaded, in metres, default 10.
	// Along an axis on which the cell is narrower than four bands it is a quarter of the cell's
	// width. Because of it, an entity that steps to and fro across a line, or stands near a line
	// that moves to and fro, is not handed over each time.
	Band float64
	// OffloadRate is how many reals a cell hands over in a second, default 500. A cell spreads them
	// over its checks, so that a moved line does not stop a tick, and a policy moves no line by
	// more than a cell hands over before the next plan.
	OffloadRate float64
	// MaxSlice is the load of the largest slice that a cell reports for each of its edges, as a
	// fraction of a core above 0 and at most 1, default 0.02. Policy Classic moves no line by more
	// at once. See load.Edges.
	MaxSlice float64
}

// WithDefaults returns b with its zero fields filled in.
func (b Border) WithDefaults() Border {
	def(&b.GhostDistance, DefaultGhostDistance)
	def(&b.Band, DefaultBand)
	def(&b.OffloadRate, DefaultOffloadRate)
	def(&b.MaxSlice, DefaultMaxSlice)
	return b
}

// Validate reports all fields that make no sense, each with its remedy.
func (b Border) Validate() error {
	var errs []error
	d := b.WithDefaults()
	within := func(v, hi float64, name, remedy string) {
		if !(v > 0 && v <= hi) {
			errs = append(errs, fmt.Errorf("border: %s is %v; set more than 0 and at most %v%s, or leave it zero for the default", name, v, hi, remedy))
		}
	}
	within(d.GhostDistance, bsp.MaxCoord, "GhostDistance", " metres")
	within(d.Band, bsp.MinSize/2, "Band", " metres, half of the narrowest cell")
	within(d.OffloadRate, math.MaxInt32, "OffloadRate", " reals a second")
	within(d.MaxSlice, 1, "MaxSlice", ", a whole core")
	return errors.Join(errs...)
}

// Budget is how many reals a cell hands over in a period, at least one.
func (b Border) Budget(period time.Duration) int {
	return int(min(max(1, math.Round(b.OffloadRate*period.Seconds())), math.MaxInt32))
}

// Slice is the most load that a cell reports for an edge, in nanoseconds of work per second.
func (b Border) Slice() int64 { return int64(b.MaxSlice * float64(load.Core)) }
