package space

import (
	"cmp"
	"encoding/binary"
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/property"
)

func TestLoadIsWhatWasModelled(t *testing.T) {
	r, m := modelled(t, 2)
	const timed, called, player, silent = 1, 2, 3, 4
	for id := entity.ID(timed); id <= silent; id++ {
		session := uint32(0)
		if id == player {
			session = 1
		}
		r.create(id, -60, session)
	}
	r.avatar(timed).hook = func(a *Avatar, _ string) {
		m.work(timed, 2*time.Millisecond)
		a.Hp.Set(a.Hp.Get() + 1)
	}
	if _, err := r.avatar(timed).AddTimer(0, time.Nanosecond, "OnTimer", 1); err != nil {
		t.Fatal(err)
	}
	r.avatar(called).hook = func(*Avatar, string) { m.work(called, 3*time.Millisecond) }
	r.tick(5)
	m.begin(r)
	for i := range 150 { // through a few backups
		r.call(called, hitMethod, arg(1)...)
		if i%3 == 0 {
			r.clientCall(player, called, allMethod, arg(2)...)
		}
		r.pump()
		m.tick(t, r)
	}
	if l := r.real(called).Load(); l < 30e6 || l > 60e6 {
		t.Errorf("a call of 3 ms a tick is shown as %d ns/s", l)
	}
}

// Scripts that act on others, die, panic, come and go: every bit of work is counted once, for whom
// it was, and migration for nobody.
func TestWorkIsCountedOnce(t *testing.T) {
	r, m := modelled(t, 2)
	for id := entity.ID(1); id <= 6; id++ {
		r.create(id, -60, uint32(id%2))
	}
	r.tick(5)
	spawned := entity.ID(0)
	hook := func(a *Avatar, what string) {
		m.work(a.ID(), time.Millisecond)
		if what == "leaving" || what == "left" || what == "entering" || what == "entered" { // caused by the handover, and counted with it
			m.spent[a.ID()] -= time.Millisecond
			m.spent[forNobody] += time.Millisecond
		}
		if what == "timer 1" {
			var err error
			if spawned, err = a.Spawn("Avatar", a.Position(), a.Direction(), func(*property.Values) { m.work(a.ID(), time.Millisecond) }); err != nil {
				t.Error(err)
			}
			m.work(a.ID(), 2*time.Millisecond) // after the nested scope
		}
	}
	for id := entity.ID(1); id <= 6; id++ {
		r.avatar(id).hook = hook
	}
	m.begin(r)
	step := func(n int) {
		t.Helper()
		for range n {
			m.tick(t, r)
			r.pump()
		}
	}
	if _, err := r.avatar(1).AddTimer(0, 0, "OnTimer", 1); err != nil {
		t.Fatal(err)
	}
	step(1)
	if spawned == 0 || r.real(spawned).Load() != 0 {
		t.Fatal("the spawned one has a load in the tick that it was made in")
	}
	r.avatar(spawned).hook = hook
	step(2)
	r.move(2, 60)
	r.move(3, 60)
	r.avatar(4).Destroy()
	r.call(5, boomMethod)
	r.pump()
	step(6)
	r.avatar(2).hook, r.avatar(3).hook = hook, hook // local fields stay behind
	r.move(2, -60)
	step(6)
	r.create(9, 60, 1)
	m.spent[forCell] += 5 * time.Millisecond // its first backup, and the greeting of its client ahead of it
	m.spent[9] -= 5 * time.Millisecond
	step(3)
	if r.apps[0].cell.Reals() != 4 || r.apps[1].cell.Reals() != 2 || r.apps[0].count.Errors != 1 {
		t.Errorf("%d and %d reals, %d panics: the test does not do what it says", r.apps[0].cell.Reals(), r.apps[1].cell.Reals(), r.apps[0].count.Errors)
	}
	m.work(forNobody, time.Hour) // between messages and ticks; no scope may have stayed open
	step(1)
}

func TestLoadTravels(t *testing.T) {
	r, m := modelled(t, 2)
	const boss = 1
	for id := entity.ID(1); id <= 4; id++ {
		r.create(id, -60, 0)
	}
	r.avatar(boss).hook = func(*Avatar, string) { m.work(boss, 10*time.Millisecond) }
	if _, err := r.avatar(boss).AddTimer(0, time.Nanosecond, "OnTimer", 1); err != nil {
		t.Fatal(err)
	}
	r.tick(40)
	r.real(boss).SetArtificialLoad(70e6)
	cells := func() (left, right int64) { return r.apps[0].cell.Cost().Total, r.apps[1].cell.Cost().Total }
	left, right := cells()
	shown := r.real(boss).meter.Load()
	if shown < 95e6 || shown > 105e6 || left < shown || right > 40e6 {
		t.Fatalf("the boss shows %d, the cells %d and %d", shown, left, right)
	}
	r.move(boss, 60)
	r.hold = func(p packet) bool { _, is := p.m.(*migrate.Onload); return is }
	r.tick(2)
	if r.real(boss) != nil {
		t.Fatal("it has not left")
	}
	if l, _ := cells(); l > left-shown+20e6 {
		t.Errorf("the cell that it left shows %d, and showed %d with it", l, left)
	}
	r.hold = nil
	_, before := cells()
	r.pump()
	if got := r.real(boss).meter.Load(); got != shown {
		t.Errorf("it arrives with %d, and left with %d", got, shown)
	}
	if _, l := cells(); l != before+shown {
		t.Errorf("the cell that it came to shows %d, and showed %d without it", l, before)
	}
	r.real(boss).meter.Set(0)
	if got := r.real(boss).Load(); got != 70e6 {
		t.Errorf("its artificial load is %d", got)
	}
	r.tick(200)
	if l, _ := cells(); l > 20e6 {
		t.Errorf("half a minute later the cell that it left shows %d", l)
	}
}

func TestLoadOfAHandoffIsBounded(t *testing.T) {
	r, _ := modelled(t, 1)
	r.create(1, -60, 0)
	r.tick(1)
	a := r.real(1)
	for _, tt := range []struct {
		name        string
		load, least uint64
		ok          bool
	}{{"all that there is", uint64(load.Max), uint64(load.Max), true}, {"too much", uint64(load.Max) + 1, 0, false}, {"too much, artificial", 0, 1 << 63, false}} {
		body := binary.AppendUvarint(binary.AppendUvarint(nil, tt.load), tt.least)
		if err := a.readPlaced(migrate.LoadPart, body); (err == nil) != tt.ok {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	if a.Load() != load.Max {
		t.Errorf("load %d", a.Load())
	}
	if err := a.readPlaced(migrate.LoadPart, []byte{1, 2, 3}); err == nil {
		t.Error("bytes left over are taken")
	}
}

func TestArtificialLoadOfAReal(t *testing.T) {
	r, m := modelled(t, 1)
	r.create(1, -60, 0)
	r.create(2, -40, 0)
	r.avatar(1).hook = func(*Avatar, string) { m.work(1, time.Millisecond) }
	if _, err := r.avatar(1).AddTimer(0, time.Nanosecond, "OnTimer", 1); err != nil {
		t.Fatal(err)
	}
	r.tick(200)
	measured, whole := r.real(1).Load(), r.apps[0].cell.Cost().Total
	for _, tt := range []struct{ least, want int64 }{
		{measured / 2, measured}, {50e6, 50e6}, {-5, measured}, {1 << 62, load.Max}, {0, measured},
	} {
		r.real(1).SetArtificialLoad(tt.least)
		got, cell := r.real(1).Load(), r.apps[0].cell.Cost()
		if want := min(whole-measured+tt.want, load.Max); got != tt.want || cell.Total != want {
			t.Errorf("SetArtificialLoad(%d): the real has %d, the cell %d, want %d and %d", tt.least, got, cell.Total, tt.want, want)
		}
	}
	r.real(2).SetArtificialLoad(900e6)
	l := r.apps[0].cell.Cost()
	if at := l.Profile.X[load.Slices/2]; at <= -50 {
		t.Errorf("half of the load is said to lie below %g, where the light one is", at)
	}
	if e := l.Edges[0][0][1]; e.Load < 900e6 {
		t.Errorf("the slice of half a core has %+v", e)
	}
}

// What tests demand of Config.ArtificialLoad: nothing that is measured shows.
func TestArtificialLoadReplacesWhatIsMeasured(t *testing.T) {
	r, m := modelled(t, 2)
	for _, a := range r.apps {
		a.cell.cfg.ArtificialLoad = 1000
	}
	r.create(1, -60, 0)
	r.create(2, -40, 0)
	r.avatar(1).hook = func(*Avatar, string) { m.work(1, time.Millisecond) }
	if _, err := r.avatar(1).AddTimer(0, time.Nanosecond, "OnTimer", 1); err != nil {
		t.Fatal(err)
	}
	r.tick(10)
	if l := r.apps[0].cell.Cost(); l.Total != 2000 || l.Edges[0][0][0] != (load.Bound{At: -39.9, Load: 2000}) {
		t.Errorf("two reals: %d, %+v", l.Total, l.Edges[0][0][0])
	}
	if l := r.apps[1].cell.Cost(); l.Total != 200 || !l.Edges.Empty() {
		t.Errorf("two ghosts: %d, %+v", l.Total, l.Edges)
	}
	r.real(1).SetArtificialLoad(5000)
	if l := r.apps[0].cell.Cost(); l.Total != 6000 {
		t.Errorf("one of them with more: %d", l.Total)
	}
}

func TestTypeLoads(t *testing.T) {
	r, m := modelled(t, 1)
	c := r.apps[0].cell
	if got := c.population.TypeLoads(); len(got) != 0 {
		t.Errorf("an empty cell: %+v", got)
	}
	for id := entity.ID(1); id <= 3; id++ {
		r.create(id, -60, 0)
		r.avatar(id).hook = func(a *Avatar, _ string) { m.work(id, time.Duration(a.ID())*time.Millisecond) }
		if _, err := r.avatar(id).AddTimer(time.Second, time.Nanosecond, "OnTimer", 1); err != nil {
			t.Fatal(err)
		}
	}
	rock, err := c.Spawn("Rock", property.Vector3{X: -5}, property.Vector3{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.tick(8)
	m.begin(r)
	for range 10 {
		m.tick(t, r)
		r.pump()
	}
	r.real(rock).SetArtificialLoad(9e6)
	m.tick(t, r)
	var avatars int64
	for id := entity.ID(1); id <= 3; id++ {
		avatars += r.real(id).Load()
	}
	id := func(name string) uint16 { return r.scripts.Schema().Type(name).ID }
	got := c.population.TypeLoads()
	want := []TypeLoad{{Type: id("Avatar"), Reals: 3, Raw: 60e6, Load: avatars}, {Type: id("Rock"), Reals: 1, Load: 9e6}}
	if !slices.Equal(got, want) || id("Avatar") > id("Rock") {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestWalkersShareTheirSteps(t *testing.T) {
	r, m := modelled(t, 1)
	for id := entity.ID(1); id <= 6; id++ {
		r.create(id, -60, 0)
	}
	c := r.apps[0].cell
	m.begin(r)
	for _, id := range []entity.ID{1, 2, 3} {
		if _, err := r.real(id).MoveTo(property.Vector3{X: -500}, 1, "", 0); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.real(5).AddTimer(0, 0, "OnTimer", 1); err != nil {
		t.Fatal(err)
	}
	if _, err := r.real(6).MoveTo(property.Vector3{X: -60}, 1, "OnArrival", 0); err != nil {
		t.Fatal(err)
	}
	readings := readingClock(c.Cell, time.Millisecond+1)
	r.now += tickPeriod
	c.checkAt = time.Hour
	c.runTick(r.now, r.now, tickPeriod)
	// The rest, walks of 1 to 3, the rest for 4, timers of 5, the walk of 6 until it arrives, its
	// callback, the end of its step, the rest, the end.
	if *readings != 9 {
		t.Errorf("%d readings", *readings)
	}
	const once, walk = 10000010, 7500000 // three times a millisecond for four
	for id, want := range map[entity.ID]int64{1: walk, 2: walk, 3: walk, 4: 0, 5: once, 6: walk + once} {
		if got := r.real(id).meter.Raw(); got != want {
			t.Errorf("%d: %d ns/s, want %d", id, got, want)
		}
	}
	if got := c.work.rest.Raw(); got != 3*once+30 {
		t.Errorf("the cell: %d ns/s", got)
	}
}

// What it costs to make a real is the cell's, so that its meter begins with what it costs to have
// it.
func TestMakingIsTheCells(t *testing.T) {
	r, _ := modelled(t, 1)
	c := r.apps[0].cell
	readingClock(c.Cell, time.Millisecond)
	r.hold = func(p packet) bool { _, is := p.m.(*flow.Ack); return is } // of its backup
	r.create(1, -60, 0)
	if got, cell := r.real(1).meter.Drain(), c.work.rest.Drain(); got != 0 || cell < 3*time.Millisecond {
		t.Errorf("created: %v for the real, %v for the cell", got, cell)
	}
	r.hold = nil
	r.pump()
	c.work.rest.Drain()
	a := r.spawn(-60)
	if got, cell := a.meter.Drain(), c.work.rest.Drain(); got != 0 || cell != time.Millisecond {
		t.Errorf("spawned: %v for the real, %v for the cell", got, cell)
	}
	r.tick(3)
	var spawned *Avatar
	a.hook = func(a *Avatar, _ string) { spawned = r.spawn(-60) }
	if _, err := a.AddTimer(0, 0, "OnTimer", 1); err != nil {
		t.Fatal(err)
	}
	r.tick(1)
	if got := spawned.Load(); got != 0 {
		t.Errorf("in the tick that it is made in, a real has a load of %d", got)
	}
	if _, err := spawned.AddTimer(0, time.Nanosecond, "OnTimer", 1); err != nil {
		t.Fatal(err)
	}
	r.tick(1)
	if got := spawned.Load(); got < 10e6 || got != spawned.meter.Raw() {
		t.Errorf("its first whole tick shows as %d, of %d", got, spawned.meter.Raw())
	}
}

// A message between reals of one cell is work for the one that it is for, even if no script hears
// of it.
func TestLoopbackIsTheTargets(t *testing.T) {
	r, m := modelled(t, 1)
	for id := entity.ID(1); id <= 3; id++ {
		r.create(id, -60, 0)
	}
	m.begin(r)
	r.pump()
	c, from := r.apps[0].cell, r.real(1)
	for _, id := range []entity.ID{2, 2, 3} {
		p, err := from.peer(id, entity.CellPart)
		if err != nil {
			t.Fatal(err)
		}
		call := flow.MethodCall{Method: 99}
		if err := from.send(p, call.Append(nil, flow.RemoteCallPayload)); err != nil {
			t.Fatal(err)
		}
	}
	readingClock(c.Cell, time.Millisecond)
	r.now += tickPeriod
	c.checkAt = time.Hour
	c.runTick(r.now, r.now, tickPeriod)
	for id, want := range map[entity.ID]int64{1: 0, 2: 10e6, 3: 10e6} {
		if got := r.real(id).meter.Raw(); got != want {
			t.Errorf("%d: %d ns/s, want %d", id, got, want)
		}
	}
	if c.count.Refused != 3 {
		t.Errorf("%d calls were refused", c.count.Refused)
	}
}

// The loads of reals and of the cell are smoothed by the weight of the configuration.
func TestLoadWeight(t *testing.T) {
	for _, weight := range []load.Weight{0, 200, 1000} {
		r := newRig(t, 1, func(c *Config) { c.LoadWeight = cmp.Or(weight, c.LoadWeight) })
		r.create(7, -50, 0)
		r.tick(2) // at rest
		real, c := r.real(7), r.apps[0].cell
		real.meter.Add(10 * time.Millisecond)
		c.work.rest.Add(20 * time.Millisecond)
		r.tick(1)
		want := int64(100*time.Millisecond) * int64(cmp.Or(weight, load.DefaultWeight)) / 1000
		if mine, rest := real.meter.Load(), c.work.rest.Load(); mine != want || rest != 2*want {
			t.Errorf("at a weight of %d the real's load is %d and the cell's %d, want %d and twice that", weight, mine, rest, want)
		}
	}
}
