package space

import (
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/daytime"
	"github.com/cellscape/cellscape/internal/spacekey"
)

// SetTimeOfDay makes it this time of day in the space, from 0 to daytime.Day, for all cells and
// clients; from then on speed seconds of the day go by in each second of game time. It is an entry
// of the space's data: see SetSpaceData.
func (c *Cell) SetTimeOfDay(day time.Duration, speed float64) error {
	if err := (daytime.Clock{Start: day, Speed: speed}).Check(); err != nil {
		return err
	}
	return c.askData(entity.SpaceDatum{Key: spacekey.TimeOfDay, Value: daytime.At(day, c.game, speed).Append(nil)})
}

// TimeOfDay is the time of day in the space; ok is false if it has none.
func (c *Cell) TimeOfDay() (day time.Duration, ok bool) {
	d, ok := c.dayClock()
	return d.At(c.game), ok
}

// SetTimeOfDay is that of the Cell.
func (r *Real) SetTimeOfDay(day time.Duration, speed float64) error {
	return r.cell.SetTimeOfDay(day, speed)
}

// TimeOfDay is that of the Cell.
func (r *Real) TimeOfDay() (day time.Duration, ok bool) { return r.cell.TimeOfDay() }

func (c *Cell) dayClock() (daytime.Clock, bool) {
	value, ok := c.data.get(spacekey.TimeOfDay)
	if !ok {
		return daytime.Clock{}, false
	}
	d, err := daytime.Parse(value)
	return d, err == nil
}

// dayTold is what a client knows of the time of day: of which data, and at which pace of game time.
type dayTold struct {
	data uint64
	rate uint16
}

// tellDay tells the client what time of day it is and how fast that goes by, when it may be news.
// A client on a new cell hears it anew.
func (r *Real) tellDay() {
	now := dayTold{r.cell.data.last, r.cell.pace.rate}
	if r.dayTold == now {
		return
	}
	r.dayTold = now
	if d, ok := r.cell.dayClock(); ok {
		m := protocol.TimeOfDay{Day: d.At(r.cell.game), Speed: float32(d.Speed * r.Rate())}
		r.direct = m.Append(r.direct)
		r.spill()
	}
}
