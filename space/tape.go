package space

import (
	"errors"
	"time"

	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/internal/spacekey"
	"github.com/cellscape/cellscape/space/recording"
)

// This file has the recording of a cell: when it begins, goes on and ends. What is in it, and in which
// order, is in package recording; tape_real.go has what is said of one real.
//
//	no entry -- recording.Key is set --> waits -- the sink opens --> lives -- refused --> waits
//	   ^                                   |                           |
//	   +------------ the entry is removed, or another is set ----------+

// tape is the recording of one cell, while its space's data says that there is one.
type tape struct {
	number uint64 // of the entry
	label  string
	stream recording.Stream // nil while the sink has not opened one
	enc    recording.Encoder
	// live says that what happens is recorded; else the sink is asked again at retryAt. life counts
	// the times that it began: what a real has of an earlier one is of no use.
	live    bool
	gap     bool // the next key frame is the first after the sink has refused something
	life    uint64
	retryAt time.Duration
	key     bool   // a key frame is due
	epoch   int64  // of the last one, in KeyPeriods
	data    uint64 // the last change of the space's data that is recorded
	told    bool   // that the sink refuses
}

const (
	// tapeRetry is when a sink that was full is asked again: it has had a second to write.
	tapeRetry = time.Second
	// tapeReopen is when a sink that has failed is asked again: somebody may have freed the disk.
	tapeReopen = 30 * time.Second
)

var errNoSink = errors.New("space: this CellApp has no Recorder")

// runTape records what the tick has done. It costs a comparison while nothing is recorded.
func (c *Cell) runTape() {
	if c.tapeHeard != c.data.last {
		c.hearTape()
	}
	t := c.tape
	if t == nil {
		return
	}
	if !t.live && !c.openTape() {
		c.count.Unrecorded++
		return
	}
	if epoch := int64(c.game / recording.KeyPeriod); t.key || epoch != t.epoch {
		t.epoch = epoch
		c.tapeKey()
	} else {
		c.tapeData()
		c.tapeReals()
	}
	c.flushTape(false)
}

// hearTape looks whether the space's data has begun or ended a recording.
func (c *Cell) hearTape() {
	c.tapeHeard = c.data.last
	e, on := Hosted{c}.Data(recording.Key)
	if c.tape != nil && (!on || c.tape.number != e.Number) {
		c.endTape()
	}
	if on && c.tape == nil {
		c.tapes++
		c.tape = &tape{number: e.Number, label: string(e.Value[:min(len(e.Value), recording.MaxLabel)]), life: c.tapes}
	}
}

// endTape ends the recording in order.
func (c *Cell) endTape() {
	t := c.tape
	if t == nil {
		return
	}
	if t.live {
		t.enc.Close()
		c.flushTape(false)
	}
	c.closeTape()
	c.tape = nil
}

// closeTape closes the stream. What it had taken and lost is told.
func (c *Cell) closeTape() {
	t := c.tape
	if t.stream == nil {
		return
	}
	if err := t.stream.Close(); err != nil {
		c.tapeFails(err)
	}
	t.stream = nil
}

// openTape begins to record, if the sink takes it now.
func (c *Cell) openTape() bool {
	t := c.tape
	if t.retryAt != 0 && c.now < t.retryAt {
		return false
	}
	if t.stream == nil {
		stream, err := c.openStream()
		if err != nil {
			t.retryAt = c.now + tapeReopen
			c.tapeFails(err)
			return false
		}
		t.stream, t.gap = stream, false
	}
	c.tapes++
	t.life, t.live, t.key, t.data = c.tapes, true, true, 0
	t.enc = recording.Encoder{}
	return true
}

func (c *Cell) openStream() (recording.Stream, error) {
	env := &c.population.env
	if env.Recorder == nil {
		return nil, errNoSink
	}
	return env.Recorder.Open(&recording.Header{Digest: c.scripts.Schema().Digest, Space: c.space, Number: c.tape.number,
		Label: c.tape.label, App: c.self.String(), Cell: c.id.String()})
}

// tapeFails logs, once for each recording of a cell, that something is not recorded.
func (c *Cell) tapeFails(err error) {
	if t := c.tape; !t.told {
		t.told = true
		c.log.Warn("the space is not recorded here, or not all of it", "space", c.space, "label", t.label, "error", err)
	}
}

// flushTape gives the sink what there is. A sink that refuses it is asked again later, and a key frame
// then says all anew.
func (c *Cell) flushTape(key bool) {
	t := c.tape
	if t.enc.Len() == 0 || !t.live {
		return
	}
	err := t.stream.Append(t.enc.Chunk(recording.Head{Game: c.game, Key: key, Gap: key && t.gap}))
	t.enc.Reset()
	if err == nil {
		t.gap = t.gap && !key
		return
	}
	t.gap = true
	c.count.Unrecorded++
	c.tapeFails(err)
	t.live, t.retryAt = false, c.now+tapeRetry
	if !errors.Is(err, recording.ErrFull) {
		t.retryAt = c.now + tapeReopen
		c.closeTape()
	}
}

// tapeKey writes a key frame, after what happened before it.
func (c *Cell) tapeKey() {
	t := c.tape
	for _, rec := range c.reals {
		if r := rec.real; !r.shownOnTape() {
			c.tapeLeft(r) // the key frame does not name it
		}
	}
	c.flushTape(false)
	if !t.live {
		return
	}
	t.key = false
	t.data = c.data.last
	t.enc.AllData(t.data, c.shownData(0, nil))
	c.shownData(0, t.enc.Datum)
	first := true
	for _, rec := range c.reals {
		r := rec.real
		if !r.shownOnTape() {
			continue
		}
		if t.enc.Len() >= recording.FlushAt {
			c.flushTape(first)
			first = false
		}
		r.tapeState()
	}
	t.enc.EndKey()
	c.flushTape(first)
}

// shownData tells the entries of the space's data after a number that clients are told of, and returns
// how many there are.
func (c *Cell) shownData(after uint64, tell func(d *recording.Datum)) (n int) {
	for i := range c.data.entries {
		e := &c.data.entries[i]
		if e.Number <= after || e.Key == spacekey.LostArea || e.Key == spacekey.Gateway || after == 0 && e.Removed {
			continue
		}
		if n++; tell != nil {
			d := recording.Datum{Number: e.Number}
			d.Key, d.ID, d.Removed, d.Value = e.Key, e.ID, e.Removed, e.Value
			tell(&d)
		}
	}
	return n
}

// tapeData records changes of the space's data.
func (c *Cell) tapeData() {
	t := c.tape
	if t.data == c.data.last {
		return
	}
	c.shownData(t.data, func(d *recording.Datum) {
		c.spillTape()
		t.enc.Data(d)
	})
	t.data = c.data.last
}

// tapeReals records who is new or is shown again, who has moved, and who is hidden.
func (c *Cell) tapeReals() {
	t := c.tape
	for _, rec := range c.reals {
		r := rec.real
		switch has := r.onTape() != nil; {
		case !has && r.shownOnTape() && r.taped.tooLarge != t.life:
			r.tapeState()
		case !has:
		case !r.shownOnTape():
			c.tapeLeft(r)
		case r.taped.stamp != r.e.MoveStamp || r.e.Ride.Vehicle != 0 || r.taped.track.Vehicle() != 0:
			r.tapePlace()
		}
		c.spillTape()
	}
}

// spillTape begins another chunk if this one is long.
func (c *Cell) spillTape() {
	if c.tape.enc.Len() >= recording.FlushAt {
		c.flushTape(false)
	}
}

// shownOnTape reports whether others' clients may see a real.
func (r *Real) shownOnTape() bool {
	return r.e.Def.HasClient && r.e.Aspect&presence.Withheld == 0 && (r.gone == staying || r.gone == parting)
}
