package replay

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/internal/spacekey"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space/recording"
)

func testSchema(t testing.TB) *property.Schema {
	t.Helper()
	num := property.Scalar(property.KindUint32)
	s, err := property.NewSchema(
		&property.Definition{Name: "Avatar", HasCell: true, HasBase: true, HasClient: true,
			Properties: []*property.Property{
				{Name: "hp", Type: num, Flags: property.AllClients},
				{Name: "rank", Type: num, Flags: property.Base, ExposedForReplay: true},
				{Name: "mana", Type: num, Flags: property.OwnClient},
			},
			ClientMethods: []*property.Method{{Name: "say", Args: []property.Arg{{Name: "n", Type: num}}}}},
		&property.Definition{Name: "Hidden", HasCell: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// writer makes a log by hand.
type writer struct {
	t      testing.TB
	schema *property.Schema
	recording.Encoder
	log []byte
}

func newWriter(t testing.TB, schema *property.Schema, app string) *writer {
	h := recording.Header{Digest: schema.Digest, Space: 1, Number: 5, Label: "x", App: app}
	return &writer{t: t, schema: schema, log: recording.AppendLog(nil, &h)}
}

func (w *writer) flush(at time.Duration, key bool) {
	w.log = recording.AppendFrame(w.log, w.Chunk(recording.Head{Game: at, Key: key}))
	w.Reset()
}

func (w *writer) state(had *recording.Track, id entity.ID, hop uint32, x float32, hp, rank uint64) *recording.Track {
	w.t.Helper()
	d := w.schema.Types[0]
	cell, base := property.NewValues(d, property.CellSide, nil), property.NewValues(d, property.BaseSide, nil)
	if err := errors.Join(cell.Load(0, property.Uint(hp)), base.Load(1, property.Uint(rank))); err != nil {
		w.t.Fatal(err)
	}
	track, ok := w.State(had, &recording.State{ID: id, Order: entity.Order{Incarnation: 1, Hop: hop}, Type: d.ID, Position: property.Vector3{X: x}, Cell: cell, Base: base})
	if !ok {
		w.t.Fatal("too large")
	}
	return track
}

func (w *writer) read() *recording.Log {
	l, err := recording.ReadLog(bytes.NewReader(w.log), int64(len(w.log)))
	if err != nil {
		w.t.Fatal(err)
	}
	return l
}

// watched is a player whose events are written down.
func watched(t testing.TB, schema *property.Schema, logs ...*recording.Log) (*Player, func() string) {
	t.Helper()
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"; ", args...) }
	p, err := New(Config{Schema: schema, Events: client.Events{
		Entered:     func(r *client.Replica) { say("%d enters at %v", uint64(r.ID), r.Position.X) },
		Left:        func(r *client.Replica) { say("%d leaves", uint64(r.ID)) },
		Moved:       func(r *client.Replica) { say("%d at %v", uint64(r.ID), r.Position.X) },
		RideChanged: func(r *client.Replica) { say("%d rides on %d", uint64(r.ID), uint64(r.Vehicle())) },
		PropertyChanged: func(r *client.Replica, c *property.Change) {
			say("%d: %d is %v, was %v", uint64(r.ID), c.Index, c.New, c.Old)
		},
		Called: func(r *client.Replica, m *property.Method, a []property.Value) {
			say("%d: %s %v", uint64(r.ID), m.Name, a[0])
		},
		SpaceData: func(d entity.SpaceDatum) { say("data %d %q %v", d.Key, d.Value, d.Removed) },
	}}, logs...)
	if err != nil {
		t.Fatal(err)
	}
	return p, func() string {
		defer b.Reset()
		return strings.TrimSuffix(b.String(), "; ")
	}
}

func advance(t testing.TB, p *Player, to time.Duration) {
	t.Helper()
	if err := p.Advance(to); err != nil {
		t.Fatal(err)
	}
}

// An entity goes over a border while the clocks of both cells differ: nothing of the old hop counts any
// more but its calls, and it goes on without a gap. Another one ends.
func TestHandover(t *testing.T) {
	schema := testSchema(t)
	a, b := newWriter(t, schema, "a"), newWriter(t, schema, "b")
	seven, eight := a.state(nil, 7, 0, 1, 10, 3), a.state(nil, 8, 0, 2, 20, 0)
	a.EndKey()
	a.flush(0, true)
	b.EndKey()
	b.flush(0, true)
	b.state(nil, 7, 1, 2, 11, 3)
	b.flush(95*time.Millisecond, false)
	a.Place(seven, property.Vector3{X: 1.5}, property.Vector3{})
	a.Call(seven, 0, false, []byte{9, 0, 0, 0})
	a.GoneOn(seven)
	a.End(eight)
	a.flush(100*time.Millisecond, false)
	p, said := watched(t, schema, b.read(), a.read())
	advance(t, p, 0)
	if got := said(); got != "7 enters at 1; 8 enters at 2" {
		t.Error(got)
	}
	if r := p.Client().Entity(7); r.Props.Get(1).Uint() != 3 || r.Props.Holds(2) {
		t.Error("a property of the base is missing, or one is there that nobody may see")
	}
	advance(t, p, time.Second)
	if got := said(); got != "7: 0 is 11, was 10; 7 at 2; 7: say 9; 8 leaves" {
		t.Error(got)
	}
	if p.Stats().Stale == 0 {
		t.Error("nothing was stale")
	}
	// Both logs end without a Close: who was left is shown for Grace.
	advance(t, p, recording.Grace)
	if got := said(); got != "" {
		t.Error(got)
	}
	advance(t, p, recording.Grace+time.Second)
	if got := said(); got != "7 leaves" || p.Stats().Lost != 1 {
		t.Error(got, p.Stats())
	}
}

// An entity that ended in a newer hop does not come back by an older log, and one that is handed over to
// a cell that dies is lost after Grace.
func TestEnds(t *testing.T) {
	schema := testSchema(t)
	a, b := newWriter(t, schema, "a"), newWriter(t, schema, "b")
	seven, eight := a.state(nil, 7, 0, 1, 0, 0), a.state(nil, 8, 0, 1, 0, 0)
	a.EndKey()
	a.flush(0, true)
	b.End(b.state(nil, 7, 1, 2, 0, 0))
	b.flush(90*time.Millisecond, true)
	a.state(seven, 7, 0, 1, 0, 0)
	a.state(eight, 8, 0, 1, 0, 0)
	a.EndKey()
	a.flush(95*time.Millisecond, true)
	a.GoneOn(seven)
	a.GoneOn(eight)
	a.flush(100*time.Millisecond, false)
	a.EndKey()
	a.flush(recording.Grace+time.Minute, true)
	p, said := watched(t, schema, a.read(), b.read())
	advance(t, p, 5*time.Second)
	if got := said(); got != "7 enters at 1; 8 enters at 1; 7 at 2; 7 leaves" {
		t.Error(got)
	}
	advance(t, p, recording.Grace+200*time.Millisecond)
	if got := said(); got != "8 leaves" {
		t.Error(got)
	}
}

// A passenger goes where its vehicle goes, whichever log has that; while the vehicle is in none, the passenger
// is where the last key frame had it.
func TestRide(t *testing.T) {
	schema := testSchema(t)
	a, b := newWriter(t, schema, "a"), newWriter(t, schema, "b")
	key := func(at time.Duration) { // of the passenger alone
		a.Encoder = recording.Encoder{}
		d := schema.Types[0]
		_, ok := a.State(nil, &recording.State{ID: 7, Order: entity.Order{Incarnation: 1}, Type: d.ID, Position: property.Vector3{X: float32(at / time.Second)},
			Vehicle: 8, SeatPosition: property.Vector3{X: 1}, Cell: property.NewValues(d, property.CellSide, nil)})
		if !ok {
			t.Fatal("too large")
		}
		a.EndKey()
		a.flush(at, true)
	}
	seven := a.state(nil, 7, 0, 1, 0, 0)
	ship := a.state(nil, 8, 0, 2, 0, 0)
	a.EndKey()
	a.flush(0, true)
	a.Ride(seven, 8, property.Vector3{X: 1}, property.Vector3{})
	a.flush(time.Second, false)
	a.Place(ship, property.Vector3{X: 5}, property.Vector3{})
	a.Place(seven, property.Vector3{X: 2}, property.Vector3{})
	a.GoneOn(ship)
	a.flush(2*time.Second, false)
	ship = b.state(nil, 8, 1, 6, 0, 0) // over the line, and its passenger not yet
	b.EndKey()
	b.flush(3*time.Second, true)
	b.Place(ship, property.Vector3{X: 10}, property.Vector3{})
	b.flush(4*time.Second, false)
	a.Ride(seven, 0, property.Vector3{X: 20}, property.Vector3{})
	a.flush(5*time.Second, false)
	b.Place(ship, property.Vector3{X: 11}, property.Vector3{})
	b.flush(6*time.Second, false)
	key(10 * time.Second)
	b.Place(ship, property.Vector3{X: 12}, property.Vector3{})
	b.flush(11*time.Second, false) // and then its CellApp dies
	key(20 * time.Second)
	key(30 * time.Second)
	key(50 * time.Second)
	p, said := watched(t, schema, a.read(), b.read())
	for _, step := range []struct {
		to   time.Duration
		want string
	}{
		{time.Second, "7 enters at 1; 8 enters at 2; 7 rides on 8; 7 at 3"},
		{2 * time.Second, "8 at 5; 7 at 6; 7 at 7"},
		{4 * time.Second, "8 at 6; 7 at 8; 8 at 10; 7 at 12"},
		{6 * time.Second, "7 rides on 0; 7 at 20; 8 at 11"},
		{10 * time.Second, "7 rides on 8; 7 at 12"},
		{11 * time.Second, "8 at 12; 7 at 13"},
		{20 * time.Second, ""},
		{29 * time.Second, "8 leaves; 7 at 20"},
		{30 * time.Second, "7 at 30"},
	} {
		advance(t, p, step.to)
		if got := said(); got != step.want {
			t.Errorf("up to %v: %s, want %s", step.to, got, step.want)
		}
	}
	for _, to := range []time.Duration{time.Second, 11 * time.Second, 25 * time.Second} {
		if err := p.Seek(to); err != nil {
			t.Fatal(err)
		}
		want := map[time.Duration]float32{time.Second: 3, 11 * time.Second: 13, 25 * time.Second: 20}[to]
		if r := p.Client().Entity(7); r.Position.X != want || r.Vehicle() != 8 {
			t.Errorf("after a seek to %v it is at %v on %v, want %v", to, r.Position.X, r.Vehicle(), want)
		}
		said()
	}
}

// A key frame after a gap: what it lacks is adrift, and aliases are given anew.
func TestGap(t *testing.T) {
	schema := testSchema(t)
	a := newWriter(t, schema, "a")
	a.state(nil, 7, 0, 1, 0, 0)
	a.state(nil, 8, 0, 1, 0, 0)
	a.EndKey()
	a.flush(0, true)
	a.Encoder = recording.Encoder{}
	eight := a.state(nil, 8, 0, 5, 2, 0) // has the alias that 7 had
	a.EndKey()
	a.flush(3*time.Second, true)
	a.Place(eight, property.Vector3{X: 6}, property.Vector3{})
	a.flush(4*time.Second, false)
	a.flush(20*time.Second, false)
	p, said := watched(t, schema, a.read())
	advance(t, p, 5*time.Second)
	if got := said(); got != "7 enters at 1; 8 enters at 1; 8: 0 is 2, was 0; 8 at 5; 8 at 6" {
		t.Error(got)
	}
	advance(t, p, 14*time.Second)
	if got := said(); got != "7 leaves" {
		t.Error(got)
	}
}

// A gap that the log tells of lasts: nobody is shown for longer than Grace where nothing says that it is.
func TestLongGap(t *testing.T) {
	schema := testSchema(t)
	a := newWriter(t, schema, "a")
	seven := a.state(nil, 7, 0, 1, 0, 0)
	a.EndKey()
	a.flush(0, true)
	a.Place(seven, property.Vector3{X: 2}, property.Vector3{})
	a.flush(time.Second, false)
	a.Encoder = recording.Encoder{}
	a.state(nil, 7, 0, 9, 0, 0)
	a.EndKey()
	a.log = recording.AppendFrame(a.log, a.Chunk(recording.Head{Game: time.Minute, Key: true, Gap: true}))
	p, said := watched(t, schema, a.read())
	advance(t, p, 10*time.Second)
	if got := said(); got != "7 enters at 1; 7 at 2" || p.Stats().Gaps != 1 {
		t.Error(got, p.Stats())
	}
	advance(t, p, 59*time.Second)
	if got := said(); got != "7 leaves" {
		t.Error(got)
	}
	advance(t, p, time.Minute)
	if got := said(); got != "7 enters at 9" {
		t.Error(got)
	}
	if all := p.Gaps(); len(all) != 1 || all[0] != (Gap{"a", time.Second, time.Minute}) {
		t.Error(all)
	}
	for to, want := range map[time.Duration]int{10 * time.Second: 1, 30 * time.Second: 0, time.Minute: 1} {
		if err := p.Seek(to); err != nil || p.Client().Len() != want {
			t.Errorf("after a seek to %v, %d are shown, %v", to, p.Client().Len(), err)
		}
	}
}

func TestData(t *testing.T) {
	schema := testSchema(t)
	a, b := newWriter(t, schema, "a"), newWriter(t, schema, "b")
	datum := func(number uint64, key uint16, value string) *recording.Datum {
		d := recording.Datum{Number: number}
		d.Key, d.Value, d.Removed = key, []byte(value), value == ""
		return &d
	}
	for _, w := range []*writer{a, b} {
		w.AllData(3, 2)
		w.Datum(datum(2, 1, "one"))
		w.Datum(datum(3, 2, "two"))
		w.EndKey()
		w.flush(0, true)
		w.Data(datum(4, 1, ""))
		w.Data(datum(5, 2, "2"))
		w.flush(time.Second, false)
	}
	b.AllData(9, 1)
	b.Datum(datum(9, 7, "seven"))
	b.EndKey()
	b.flush(2*time.Second, true)
	a.Data(datum(6, 8, "missed"))
	a.flush(3*time.Second, false)
	p, said := watched(t, schema, a.read(), b.read())
	advance(t, p, 4*time.Second)
	if got := said(); got != `data 1 "one" false; data 2 "two" false; data 1 "" true; data 2 "2" false; data 2 "" true; data 7 "seven" false` {
		t.Error(got)
	}
	if err := p.Seek(time.Second); err != nil {
		t.Fatal(err)
	}
	if v, ok := p.Client().SpaceData(2); !ok || string(v) != "2" || said() != `data 2 "2" false` {
		t.Errorf("after a seek it is %q", v)
	}
}

// The time of day runs as it did.
func TestDay(t *testing.T) {
	schema := testSchema(t)
	a := newWriter(t, schema, "a")
	d := recording.Datum{Number: 1}
	d.Key, d.Value = spacekey.TimeOfDay, []byte("nonsense")
	a.EndKey()
	a.flush(0, true)
	a.Data(&d)
	a.flush(time.Second, false)
	p, _ := watched(t, schema, a.read())
	if err := p.Advance(2 * time.Second); err == nil {
		t.Error("nonsense is a time of day")
	}
}

func TestNewRefuses(t *testing.T) {
	schema := testSchema(t)
	a := newWriter(t, schema, "a")
	empty := a.read()
	if _, err := New(Config{Schema: schema}, empty); !errors.Is(err, ErrEmpty) {
		t.Error(err)
	}
	if _, err := New(Config{Schema: schema}); !errors.Is(err, ErrEmpty) {
		t.Error(err)
	}
	other := *empty
	other.Number++
	if _, err := New(Config{Schema: schema}, empty, &other); !errors.Is(err, ErrMixed) {
		t.Error(err)
	}
	other.Digest[0]++
	if _, err := New(Config{Schema: schema}, &other); !errors.Is(err, ErrSchema) {
		t.Error(err)
	}
	if _, err := New(Config{}, empty); err == nil {
		t.Error("no schema is needed")
	}
}

// Whatever makes no sense is an error that says so.
func TestMalformed(t *testing.T) {
	schema := testSchema(t)
	for name, f := range map[string]func(w *writer){
		"an alias that names nothing": func(w *writer) { w.EndKey(); w.End(new(recording.Track)) },
		"a type without a client": func(w *writer) {
			w.State(nil, &recording.State{ID: 7, Type: schema.Types[1].ID, Cell: property.NewValues(schema.Types[1], property.CellSide, nil)})
		},
		"a change that does not fit": func(w *writer) {
			d := schema.Types[0]
			v := property.NewValues(d, property.CellSide, nil)
			w.Change(w.state(nil, 7, 0, 0, 0, 0), v, &property.Change{Index: 2, New: property.Uint(1)})
		},
		"a method that is not there": func(w *writer) { w.Call(w.state(nil, 7, 0, 0, 0, 0), 1, false, nil) },
		"arguments that do not fit":  func(w *writer) { w.Call(w.state(nil, 7, 0, 0, 0, 0), 0, false, nil) },
		"a ride on itself":           func(w *writer) { w.Ride(w.state(nil, 7, 0, 0, 0, 0), 7, property.Vector3{}, property.Vector3{}) },
		"too much space data": func(w *writer) {
			for n := range uint64(client.MaxSpaceData + 1) {
				d := recording.Datum{Number: n + 1}
				d.Key, d.ID = 3, entity.DataID(n+1)
				w.Data(&d)
			}
		},
	} {
		w := newWriter(t, schema, "a")
		f(w)
		w.flush(0, true)
		p, _ := watched(t, schema, w.read())
		if err := p.Advance(0); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

// Step stops at each moment, and at the end.
func TestStep(t *testing.T) {
	schema := testSchema(t)
	a := newWriter(t, schema, "a")
	for n := range 3 {
		a.EndKey()
		a.flush(time.Duration(n)*time.Second, n == 0)
	}
	p, _ := watched(t, schema, a.read())
	var at []time.Duration
	for {
		more, err := p.Step()
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			break
		}
		at = append(at, p.Now())
	}
	if first, last := p.Span(); fmt.Sprint(at) != "[0s 1s 2s]" || first != 0 || last != 2*time.Second {
		t.Error(at, first, last)
	}
}

func FuzzPlayer(f *testing.F) {
	schema := testSchema(f)
	w := newWriter(f, schema, "a")
	seven := w.state(nil, 7, 0, 1, 10, 3)
	w.EndKey()
	w.Call(seven, 0, false, []byte{9, 0, 0, 0})
	w.Place(seven, property.Vector3{X: 6}, property.Vector3{})
	w.Ride(seven, 8, property.Vector3{X: 6}, property.Vector3{})
	w.Ride(w.state(nil, 8, 0, 1, 10, 3), 7, property.Vector3{X: 6}, property.Vector3{})
	w.Place(seven, property.Vector3{X: 7}, property.Vector3{})
	w.GoneOn(seven)
	f.Add(bytes.Clone(w.Chunk(recording.Head{Game: time.Second, Key: true})), bytes.Clone(w.Chunk(recording.Head{Game: 2 * time.Second})))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		h := recording.Header{Digest: schema.Digest}
		log := recording.AppendFrame(recording.AppendFrame(recording.AppendLog(nil, &h), a), b)
		l, err := recording.ReadLog(bytes.NewReader(log), int64(len(log)))
		if err != nil {
			return
		}
		p, err := New(Config{Schema: schema}, l, l)
		if err != nil {
			return
		}
		_, last := p.Span()
		if p.Advance(last) == nil {
			_ = p.Seek(last / 2)
		}
	})
}
