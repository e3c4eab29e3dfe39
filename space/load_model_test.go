package space

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/space/internal/hosting"
)

// Whom the time of the model is for, beside entities by their ids.
const (
	forCell entity.ID = 1<<63 + iota
	forNobody
)

// model is a clock that moves by what work costs, and the books of whom it was for.
type model struct {
	now   time.Duration
	spent map[entity.ID]time.Duration
}

func (m *model) work(who entity.ID, d time.Duration) {
	m.now += d
	m.spent[who] += d
}

// modelledOutbox takes time to send: the last step of most things that a cell does.
type modelledOutbox struct {
	*testApp
	model *model
}

func (o modelledOutbox) Send(to mercury.Address, m hosting.Message) {
	switch m := m.(type) {
	case *flow.Message:
		switch flow.Payload(m.Payload[0]) {
		case flow.BundlePayload:
			o.model.work(m.From, time.Millisecond)
		case flow.BackupPayload:
			o.model.work(m.From, 4*time.Millisecond)
		}
	case *ghost.Update, *ghost.Delete: // no real of these tests goes out of a haunt's reach
		o.model.work(forCell, 500*time.Microsecond)
	case *ghost.State, *migrate.Onload, *migrate.OnloadAck:
		o.model.work(forNobody, 50*time.Millisecond)
	}
	o.testApp.Send(to, m)
}

// arrives takes time to read a message.
func (m *model) arrives(p packet) {
	switch x := p.m.(type) {
	case *flow.Message:
		m.work(x.To, 200*time.Microsecond)
	case *flow.Ack:
		m.work(x.To, 100*time.Microsecond)
	case *ghost.Update, *migrate.Create, *migrate.Refuse:
		m.work(forCell, 300*time.Microsecond)
	case *ghost.State, *ghost.Delete, *migrate.Onload, *migrate.OnloadAck:
		m.work(forNobody, 50*time.Millisecond)
	}
}

// modelled is a rig whose cells measure with the clock of a model.
func modelled(t *testing.T, n int) (*rig, *model) {
	t.Helper()
	m := &model{spent: map[entity.ID]time.Duration{}}
	r := newRig(t, n, func(c *Config) { c.ArtificialLoad = 0; c.Border.MaxSlice = 1 })
	for _, a := range r.apps {
		a.cell.watch = load.NewStopwatch(func() time.Duration { return m.now })
		a.cell.out = modelledOutbox{a, m}
		a.population.env.Watch, a.population.env.Out = a.cell.watch, a.cell.out
	}
	r.arrive = m.arrives
	return r, m
}

// begin opens the books: what was before is measured, and forgotten.
func (m *model) begin(r *rig) {
	m.tickAll(r)
	clear(m.spent)
}

func (m *model) tickAll(r *rig) {
	r.now += tickPeriod
	for _, a := range r.apps {
		a.population.Tick(r.now, r.now, tickPeriod)
	}
}

// tick runs one tick of all cells and compares what each measured since the last with the books.
func (m *model) tick(t *testing.T, r *rig) {
	t.Helper()
	m.tickAll(r)
	var rest, cells int64
	for _, a := range r.apps {
		a.own.Tick(tickPeriod, 0) // messages for those who are gone
		rest += a.cell.work.rest.Raw() + a.own.Raw()
		var reals int64
		for _, rec := range a.cell.reals {
			id := rec.e.ID
			if rec.real.madeTick == a.cell.tick {
				continue
			}
			if got, want := rec.real.meter.Raw(), int64(m.spent[id])*10; got != want {
				t.Errorf("entity %d: measured %d ns/s, modelled %d", id, got, want)
			}
			delete(m.spent, id)
			reals += rec.real.Load()
		}
		l := a.cell.Cost()
		cells += l.Total
		if l.Total != reals+a.cell.work.rest.Load() {
			t.Errorf("cell %v: load %d, its reals %d and the rest %d", a.cell.id, l.Total, reals, a.cell.work.rest.Load())
		}
		if n := int64(a.cell.Reals()); n > 0 {
			if whole := l.Edges[0][0][0].Load; whole > l.Total || whole <= l.Total-n {
				t.Errorf("cell %v: the whole slice has %d of %d", a.cell.id, whole, l.Total)
			}
		}
	}
	delete(m.spent, forNobody)
	var want time.Duration // who came or left in this tick has worked for the cell
	for _, d := range m.spent {
		want += d
	}
	clear(m.spent)
	if rest != int64(want)*10 {
		t.Errorf("cells: measured %d ns/s beside reals, modelled %d", rest, want*10)
	}
}

// readingClock makes a cell measure with a clock that moves by step each time that it is read, so
// that what is measured together shows.
func readingClock(c *Cell, step time.Duration) (readings *int) {
	readings = new(int)
	c.watch = load.NewStopwatch(func() time.Duration { *readings++; return time.Duration(*readings) * step })
	return readings
}
