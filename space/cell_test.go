package space

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/entity/limits"
	"github.com/cellscape/cellscape/property"
)

func (r *rig) spawn(x float32) *Avatar {
	r.t.Helper()
	id, err := r.at(x).cell.Spawn("Avatar", property.Vector3{X: x}, property.Vector3{}, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	return r.avatar(id)
}

func TestSpawn(t *testing.T) {
	r := newRig(t, 1)
	c := r.apps[0].cell
	id, err := c.Spawn("Avatar", property.Vector3{X: -5}, property.Vector3{Y: 1}, func(v *property.Values) { _ = v.Set(hpProp, property.Uint(4)) })
	if err != nil {
		t.Fatal(err)
	}
	a := r.avatar(id)
	r.diary(id, "created;")
	if a.Hp.Get() != 4 || a.Space() != 1 || a.Direction().Y != 1 || a.HasClient() || a.Order().Incarnation != 1 {
		t.Error("it is not as it was spawned")
	}
	if _, err := c.Spawn("Rock", property.Vector3{X: -6}, property.Vector3{}, nil); err != nil {
		t.Fatal(err)
	}
	var seen []entity.ID
	for v := range a.EntitiesInRange(2) {
		seen = append(seen, v.ID())
		if _, ok := v.Get("hp"); ok || !v.IsReal() || v.Script() != nil {
			t.Error("a view shows what is not there")
		}
	}
	if len(seen) != 1 || seen[0] != id+1 {
		t.Errorf("in range: %v", seen)
	}
	n := 0
	for v := range c.Views() {
		n++
		if v.ID() == id && v.Script() != a {
			t.Error("a view has not the script")
		}
	}
	if n != 2 || r.apps[0].population.find(id).cell != c.Cell || r.apps[0].population.find(99) != nil {
		t.Errorf("%d views", n)
	}
	for _, err := range []error{
		func() error { _, err := c.Spawn("Stone", property.Vector3{}, property.Vector3{}, nil); return err }(),
		func() error { _, err := c.Spawn("Account", property.Vector3{}, property.Vector3{}, nil); return err }(),
		func() error {
			_, err := c.Spawn("Rock", property.Vector3{X: float32(math.NaN())}, property.Vector3{}, nil)
			return err
		}(),
		a.SetPosition(property.Vector3{X: float32(math.Inf(1))}),
		a.SetPosition(property.Vector3{X: 2 * property.MaxCoordinate}),
	} {
		if err == nil {
			t.Error("a fault is not told")
		}
	}
	r.tick(2)
	if got := c.Cost().Total; got != 2000 {
		t.Errorf("load %d", got)
	}
	a.Destroy()
	if err := a.SetDirection(property.Vector3{}); err != entity.ErrGone {
		t.Error("a destroyed real turns")
	}
	r.tick(1)
	if c.Reals() != 1 {
		t.Error("it is still there")
	}
}

func TestTimers(t *testing.T) {
	r := newRig(t, 1)
	a := r.spawn(-5)
	a.Diary.Set("")
	add := func(after, every time.Duration, user int64) entity.CallbackID {
		t.Helper()
		id, err := a.AddTimer(after, every, "OnTimer", user)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	add(150*time.Millisecond, 0, 1)
	every := add(100*time.Millisecond, 300*time.Millisecond, 2)
	add(math.MaxInt64, math.MaxInt64, 3) // never
	cancelled := add(0, 0, 4)
	if !a.Cancel(cancelled) || a.Cancel(cancelled) {
		t.Error("Cancel does not say whether there was one")
	}
	r.tick(5)
	r.diary(a.ID(), "timer 2;timer 1;timer 2;")
	// A late tick calls once, and the next one not again for what was missed.
	a.Diary.Set("")
	r.now += 750 * time.Millisecond
	r.tick(2)
	r.diary(a.ID(), "timer 2;")
	a.Cancel(every)
	// One that is cancelled by another of the same tick is not called.
	a.Diary.Set("")
	second := add(50*time.Millisecond, 0, 6)
	add(10*time.Millisecond, 0, 5) // due earlier
	a.hook = func(a *Avatar, s string) { a.Cancel(second) }
	r.tick(2)
	r.diary(a.ID(), "timer 5;")
}

func TestTimerFaults(t *testing.T) {
	r := newRig(t, 1)
	a := r.spawn(-5)
	for _, name := range []string{"", "Nothing", "Hit", "OnCreated"} {
		if _, err := a.AddTimer(0, 0, name, 0); !errors.Is(err, entity.ErrNoCallback) {
			t.Errorf("timer %q: %v", name, err)
		}
	}
	for range limits.Timers {
		if _, err := a.AddTimer(time.Hour, 0, "OnTimer", 0); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := a.AddTimer(time.Hour, 0, "OnTimer", 0); !errors.Is(err, entity.ErrTooMany) {
		t.Errorf("above limits.Timers: %v", err)
	}
	nan := float32(math.NaN())
	for _, err := range []error{
		second(a.MoveTo(property.Vector3{X: nan}, 1, "", 0)), second(a.MoveTo(property.Vector3{}, nan, "", 0)),
		second(a.MoveTo(property.Vector3{}, 0, "", 0)), second(a.MoveTo(property.Vector3{}, float32(math.Inf(1)), "", 0)),
		second(a.MoveTo(property.Vector3{}, 1, "Nothing", 0)),
	} {
		if err == nil {
			t.Error("a walk that cannot be is begun")
		}
	}
	id, err := r.apps[0].cell.Spawn("Rock", property.Vector3{}, property.Vector3{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.real(id).AddTimer(0, 0, "OnTimer", 0); !errors.Is(err, entity.ErrNoCallback) {
		t.Errorf("a timer without a script: %v", err)
	}
}

// A timer may name a callback that only a script of another edition had: it is told, and the entity
// lives on.
func TestTimerOfAnotherEdition(t *testing.T) {
	r := newRig(t, 1)
	a := r.spawn(-5)
	if _, err := a.timers.Add(a.Now(), 0, 0, "OnSomething", 0); err != nil {
		t.Fatal(err)
	}
	r.tick(2)
	if got := r.apps[0]; got.count.Errors != 1 || got.cell.Reals() != 1 {
		t.Errorf("%d errors, %d reals", got.count.Errors, got.cell.Reals())
	}
}

func second[T any](_ T, err error) error { return err }

func TestMoveTo(t *testing.T) {
	r := newRig(t, 1)
	a := r.spawn(-5)
	a.Diary.Set("")
	if _, err := a.MoveTo(property.Vector3{X: -50}, 1, "OnArrival", 1); err != nil {
		t.Fatal(err)
	}
	r.tick(1)
	if _, err := a.MoveTo(property.Vector3{X: -5.1, Z: 10}, 10, "OnArrival", 2); err != nil { // ends the one before
		t.Fatal(err)
	}
	r.tick(5)
	if p := a.Position(); math.Abs(float64(p.Z)-5) > 0.001 || a.Direction().X != 0 {
		t.Errorf("half the way is %v, looking %v", p, a.Direction())
	}
	r.tick(10)
	r.diary(a.ID(), "arrival 2;")
	if p := a.Position(); p != (property.Vector3{X: -5.1, Z: 10}) {
		t.Errorf("arrived at %v", p)
	}
}

// A timer that is due when an arrival adds it is called in the same tick.
func TestArrivalAddsATimer(t *testing.T) {
	r := newRig(t, 1)
	a := r.spawn(-5)
	a.Diary.Set("")
	a.hook = func(a *Avatar, what string) {
		if what == "arrival 1" {
			if _, err := a.AddTimer(0, 0, "OnTimer", 2); err != nil {
				t.Error(err)
			}
		}
	}
	if _, err := a.MoveTo(a.Position(), 1, "OnArrival", 1); err != nil {
		t.Fatal(err)
	}
	r.tick(1)
	r.diary(a.ID(), "arrival 1;timer 2;")
}

// A cell that is made late in the life of its CellApp shows at once what it costs.
func TestFirstLoadIsWhole(t *testing.T) {
	r := newRig(t, 1, func(c *Config) { c.ArtificialLoad = 0 })
	c := r.apps[0].cell
	var clock time.Duration
	c.watch = load.NewStopwatch(func() time.Duration { clock += time.Millisecond; return clock })
	c.runTick(time.Hour, time.Hour, tickPeriod)
	if got := c.Cost().Total; got < int64(5*time.Millisecond) {
		t.Errorf("a tick with work of milliseconds shows a load of %d ns a second", got)
	}
}

func TestFreeze(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -50, 1)
	r.tick(3)
	a := r.avatar(7)
	a.Diary.Set("")
	if _, err := a.AddTimer(0, 0, "OnTimer", 1); err != nil {
		t.Fatal(err)
	}
	r.move(7, 50)
	for _, x := range r.apps {
		x.population.Freeze(true)
	}
	r.tick(20)
	r.diary(7, "")
	if r.real(7).cell.id != cellID(1) {
		t.Error("offloaded in a frozen world")
	}
	r.calm()
	for _, x := range r.apps {
		x.population.Freeze(false)
	}
	r.tick(3)
	r.diary(7, "timer 1;leaving;entering;entered;")
}

func TestAuditFindsADifference(t *testing.T) {
	r := newRig(t, 2)
	a := r.create(7, -50, 0)
	r.tick(3)
	_ = r.ghost(2, 7).Entity.Props.Load(hpProp, property.Uint(3))
	a.cell.auditGhosts()
	r.pump()
	if r.apps[1].count.GhostsDiffer != 1 {
		t.Errorf("%d ghosts differ, want 1", r.apps[1].count.GhostsDiffer)
	}
}

func TestClientMoves(t *testing.T) {
	r := newRig(t, 2)
	a := r.create(7, -50, 3)
	at := func(x float32) property.Vector3 { return property.Vector3{X: x} }
	for i, c := range []struct {
		session, sequence uint32
		x, want           float32
	}{
		{3, 1, -51, -51}, {3, 1, -52, -51}, {3, 3, -53, -53}, {3, 2, -54, -53}, {2, 9, -55, -53}, {0, 9, -55, -53},
		{3, 4, float32(math.NaN()), -53}, {3, 0x80000010, -56, -53}, {3, 0x70000000, -57, -57}, {3, 0xe0000000, -58, -58}, {3, 5, -59, -59},
	} {
		if on := a.population.ClientMove(7, &flow.ClientRest{Session: c.session, Sequence: c.sequence, Incarnation: 1, Forced: 1, Position: at(c.x), Direction: at(0)}); !on.To.IsZero() {
			t.Errorf("move %d goes on to %v", i, on)
		}
		if got := r.real(7).Position().X; got != c.want {
			t.Errorf("move %d: at %g, want %g", i, got, c.want)
		}
	}
	rest := flow.ClientRest{Session: 3, Sequence: 6, Incarnation: 1, Forced: 1, Position: at(-60)}
	r.say(7, rest.Append(nil))
	r.pump()
	if got := r.real(7).Position().X; got != -60 {
		t.Errorf("at rest at %g", got)
	}
	r.move(7, 50)
	r.tick(3)
	if on := a.population.ClientMove(7, &flow.ClientRest{Session: 3, Sequence: 7, Incarnation: 1, Position: at(51), Direction: at(0)}); on.To != addr(2) {
		t.Errorf("a move at the old place goes on to %v", on)
	}
	if on := a.population.ClientMove(99, &flow.ClientRest{Session: 3, Sequence: 7, Incarnation: 1, Position: at(51), Direction: at(0)}); !on.To.IsZero() {
		t.Error("a move of nobody goes on")
	}
}

func TestSession(t *testing.T) {
	r := newRig(t, 1)
	r.create(7, -50, 0)
	r.avatar(7).Diary.Set("")
	set := func(n uint32) {
		m := flow.Session{Number: n}
		r.say(7, m.Append(nil, flow.SetClientPayload))
		r.tick(2)
	}
	set(1)
	set(1)
	set(2) // another client at once
	set(0)
	r.diary(7, "client true;client false;")
	if r.avatar(7).HasClient() || r.real(7).witness != nil || len(r.apps[0].cell.triggers) != 0 {
		t.Error("the client is still there")
	}
	list, _ := r.bundles(7)
	if !slices.Equal(list, []protocol.ID{protocol.CellPlayerID, protocol.CellPlayerID}) {
		t.Errorf("the clients got %v", list)
	}
}

func TestSpaceData(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -50, 1)
	r.tick(2)
	a := r.avatar(7)
	if err := a.SetSpaceData(5, make([]byte, protocol.MaxSpaceDataValue+1)); err == nil {
		t.Error("space data above the limit is taken")
	}
	for _, v := range []string{"day", "night"} {
		if err := a.SetSpaceData(5, []byte(v)); err != nil {
			t.Fatal(err)
		}
	}
	if v, ok := a.SpaceData(5); string(v) != "night" || !ok {
		t.Errorf("space data %q", v)
	}
	if _, ok := a.SpaceData(6); ok {
		t.Error("there is an entry that nobody set")
	}
	r.bases[7].got = nil
	r.tick(1)
	list, bodies := r.bundles(7)
	var m protocol.SpaceData
	if len(list) != 1 || m.Parse(bodies[0]) != nil || m.Key != 5 || string(m.Value) != "night" {
		t.Errorf("the client got %v, %+v", list, m)
	}
	r.move(7, 50)
	r.tick(5)
	if list, _ := r.bundles(7); !slices.Equal(list, []protocol.ID{protocol.SpaceDataID, protocol.ForcedID}) {
		t.Errorf("it is told again after a move: %v", list)
	}
	// What is known is ignored; a client that comes late is told all there is.
	r.apps[1].cell.TakeData(DataEntry{Number: 3, Key: 6, Value: []byte("c")}, DataEntry{Number: 1, Key: 5, Value: []byte("old")},
		DataEntry{Number: 4, Key: 7, Value: make([]byte, protocol.MaxSpaceDataValue)})
	if v, _ := r.avatar(7).SpaceData(5); string(v) != "night" {
		t.Errorf("an older entry replaced %q", v)
	}
	for k := range uint16(60) {
		r.apps[1].cell.TakeData(DataEntry{Number: uint64(k) + 5, Key: 100 + k, Value: make([]byte, protocol.MaxSpaceDataValue)})
	}
	r.bases[7].got = nil
	s := flow.Session{Number: 2}
	r.say(7, s.Append(nil, flow.SetClientPayload))
	r.pump()
	r.tick(3)
	if list, _ := r.bundles(7); len(list) != 1+63 || r.apps[1].count.Errors != 0 {
		t.Errorf("the new client got %d messages, errors %d", len(list), r.apps[1].count.Errors)
	}
}
