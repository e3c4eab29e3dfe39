package cellappmgr

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/limits"
	"github.com/cellscape/cellscape/internal/spacekey"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/google/go-cmp/cmp"
)

// aRoom is what a game asks for.
func aRoom() entity.SpaceInfo {
	return entity.SpaceInfo{Bounds: bsp.Rect{MinX: -10, MinZ: -10, MaxX: 10, MaxZ: 10}, MaxCells: 1}
}

// ask asks for a space and returns the answer.
func (p *peer) ask(request uint64, info entity.SpaceInfo) wire.SpaceCreated {
	p.r.t.Helper()
	p.send(&wire.CreateSpace{Request: request, Number: request, Info: info})
	return one[wire.SpaceCreated](p)
}

// roomRig is a manager with a CellApp that has the first cell of space 1, and a BaseApp.
func roomRig(t testing.TB, change func(*Config)) (r *rig, a, base *peer) {
	t.Helper()
	r = newRig(t, change)
	a, base = r.join(wire.CellApp, 10), r.join(wire.BaseApp, 20)
	a.confirm()
	a.ids()
	return r, a, base
}

// reportRoom says that a cell of a room has so many reals with a base, beside a monster.
func (p *peer) reportRoom(space entity.SpaceID, cell bsp.CellID, reals uint32, held bool) {
	p.send(&wire.CellsReport{Cells: []wire.CellReport{{Space: space, Cell: cell, Version: bsp.Version{Term: 1, N: 2}, Reals: reals + 1, Occupied: reals > 0, Held: held}}})
}

func TestCreateSpace(t *testing.T) {
	r, a, base := roomRig(t, func(c *Config) { c.Term, c.RecoveryWindow = 7, -1 })
	got := base.ask(3, aRoom())
	if want := (wire.SpaceCreated{Request: 3, Space: 7<<24 | 1}); got != want {
		t.Fatalf("answered %+v, want %+v", got, want)
	}
	add := one[wire.AddCell](a)
	tree, err := bsp.Parse(add.Tree)
	if err != nil || !add.First || add.Space != got.Space || tree.Len() != 1 {
		t.Errorf("ordered %+v: %v", add, err)
	}
	o, err := parseSpaceInfo(add.Info)
	if d := cmp.Diff(origin{info: aRoom(), owner: base.addr, request: 3}, o, cmp.AllowUnexported(origin{}), cmp.Comparer(func(a, b mercury.Address) bool { return a == b })); err != nil || d != "" {
		t.Errorf("info %v:\n%s", err, d)
	}
	// The answer was lost: asked again, even over another channel, it is the same space.
	if again := base.ask(3, aRoom()); again != got {
		t.Errorf("asked again: %+v", again)
	}
	base.reconnect()
	base.sendJoin()
	if again := base.ask(3, aRoom()); again != got {
		t.Errorf("asked again over another channel: %+v", again)
	}
	if next := base.ask(4, aRoom()); next.Space != got.Space+1 {
		t.Errorf("the next space is %+v", next)
	}
	if other := r.join(wire.BaseApp, 21); other.ask(3, aRoom()).Space != got.Space+2 {
		t.Error("another BaseApp's request of that number is not its own")
	}
	r.logged("space created", "BaseApp 1")
}

// What a space begins with goes with its first cell, and is set once however often it is asked for.
func TestCreateSpaceWithData(t *testing.T) {
	_, a, base := roomRig(t, nil)
	info := aRoom()
	info.Data = []entity.SpaceDatum{{Key: 7, Value: []byte("hard")}, {Key: 8, Value: []byte("ann")}}
	got := base.ask(3, info)
	if again := base.ask(3, info); again != got {
		t.Errorf("asked again: %+v", again)
	}
	add := one[wire.AddCell](a)
	o, err := parseSpaceInfo(add.Info)
	if err != nil || o.info.Data != nil || len(add.Data) != 2 || add.Data[0].Key != 7 || string(add.Data[1].Value) != "ann" || add.Data[0].Number >= add.Data[1].Number {
		t.Errorf("ordered with %+v, info %+v, %v", add.Data, o, err)
	}
	none[wire.SpaceData](a)
	info.Data[0].Key = spacekey.First
	if got := base.ask(4, info); got.Space != 0 || !strings.Contains(got.Reason, "0xff00") || got.Full {
		t.Errorf("answered %+v", got)
	}
}

func TestCreateSpaceWaitsForACellApp(t *testing.T) {
	r := newRig(t, func(c *Config) { c.MinCellApps = 2 })
	base := r.join(wire.BaseApp, 20)
	got := base.ask(1, aRoom())
	if got.Space == 0 {
		t.Fatalf("refused: %s", got.Reason)
	}
	base.send(&wire.Locate{ID: 5, Space: got.Space})
	if l := one[wire.Located](base); l.Gone || !l.App.IsZero() {
		t.Errorf("located %+v before there is a CellApp", l)
	}
	a, b := r.join(wire.CellApp, 10), r.join(wire.CellApp, 11)
	if n, m := len(a.confirm()), len(b.confirm()); n+m != 2 {
		t.Errorf("%d and %d cells", n, m)
	}
}

func TestRefusedSpaces(t *testing.T) {
	r, _, base := roomRig(t, nil)
	nan := math.NaN()
	for name, info := range map[string]entity.SpaceInfo{
		"Bounds":   {},
		"Bounds ":  {Bounds: bsp.Rect{MaxX: nan, MaxZ: 1}},
		"Bounds  ": {Bounds: bsp.Everything()},
		"MinCells": {Bounds: aRoom().Bounds, MinCells: 5, MaxCells: 4},
		"MaxCells": {Bounds: aRoom().Bounds, MaxCells: math.MaxUint32},
		"Geometry": {Bounds: aRoom().Bounds, Geometry: bsp.Rect{MinX: 1}},
		"MinLoad":  {Bounds: aRoom().Bounds, MinLoad: nan},
		"MinLoad ": {Bounds: aRoom().Bounds, MinLoad: -1},
		"KeepFor":  {Bounds: aRoom().Bounds, KeepFor: -time.Second},
		"KeepFor ": {Bounds: aRoom().Bounds, KeepFor: limits.LeastKeepFor - 1},
		"10s":      {Bounds: aRoom().Bounds, KeepFor: time.Nanosecond},
		"8760h":    {Bounds: aRoom().Bounds, KeepFor: math.MaxInt64},
		"Keep is":  {Bounds: aRoom().Bounds, KeepFor: time.Minute, Keep: true},
	} {
		got := base.ask(1, info)
		if got.Space != 0 || !strings.Contains(got.Reason, strings.TrimSpace(name)) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if n := strings.Count(r.log.String(), "refused"); n != 1 || r.m.Counts().RefusedSpaces != 13 {
		t.Errorf("%d lines in the log, counts %+v", n, r.m.Counts())
	}
}

// Only BaseApps ask for spaces. A CellApp would not hear the answer, and when it died nobody would
// end the spaces that it asked for.
func TestCellAppsAskForNoSpace(t *testing.T) {
	r, a, _ := roomRig(t, nil)
	a.send(&wire.CreateSpace{Request: 1, Number: 1, Info: aRoom()})
	if len(r.m.spaces) != 1 || r.m.Counts().Misplaced != 1 {
		t.Errorf("%d spaces, counts %+v", len(r.m.spaces), r.m.Counts())
	}
}

func TestTooManySpaces(t *testing.T) {
	r, _, base := roomRig(t, nil)
	for len(r.m.spaces) < MaxSpaces {
		r.m.enter(SpaceConfig{ID: entity.SpaceID(len(r.m.spaces) + 1)}, nil)
	}
	if got := base.ask(1, aRoom()); got.Space != 0 || !strings.Contains(got.Reason, "limit") || !got.Full {
		t.Errorf("beyond the limit: %+v", got)
	}
	r.m.spaces, r.m.lastSpace = r.m.spaces[:1], maxSpaceStarts
	if got := base.ask(1, aRoom()); got.Space != 0 || !strings.Contains(got.Reason, "higher") || got.Full {
		t.Errorf("after the last id of the term: %+v", got)
	}
}

// The first cell stays the first until one has been confirmed: nothing can have come of one that
// died before that.
func TestFirstUntilConfirmed(t *testing.T) {
	r := newRig(t, nil)
	a := r.join(wire.CellApp, 10)
	if !one[wire.AddCell](a).First {
		t.Error("not the first")
	}
	a.drop(mercury.ErrPeerRestarted)
	b := r.join(wire.CellApp, 11)
	if !b.confirm()[0].First {
		t.Error("the first was never made, but the next is not the first")
	}
	b.drop(mercury.ErrPeerRestarted)
	c := r.join(wire.CellApp, 12)
	if c.confirm()[0].First {
		t.Error("there is a second first cell")
	}
}

// Rooms are spread by load, and the expected cost of a new one is taken into account.
func TestRoomsAreSpread(t *testing.T) {
	r := newRig(t, nil)
	apps := []*peer{r.join(wire.CellApp, 10), r.join(wire.CellApp, 11), r.join(wire.CellApp, 12)}
	base := r.join(wire.BaseApp, 20)
	for i, a := range apps {
		a.confirm()
		a.send(&wire.CellsReport{Load: int64(i) * 2e8}) // 0, 0.2 and 0.4 of a core
	}
	for i := range 12 {
		base.ask(uint64(i+1), aRoom())
	}
	var got []int
	for _, a := range apps {
		got = append(got, len(a.confirm()))
	}
	if d := cmp.Diff([]int{6, 4, 2}, got); d != "" {
		t.Errorf("cells by app (-want +got):\n%s", d)
	}
}

// The further messages of one report say nothing about the load of the app.
func TestFurtherReport(t *testing.T) {
	r := newRig(t, nil)
	a := r.join(wire.CellApp, 10)
	cell := a.confirm()[0].Cell
	a.send(&wire.CellsReport{Load: 5e8})
	a.send(&wire.CellsReport{Further: true, Cells: []wire.CellReport{{Space: 1, Cell: cell, Load: 4e8, Reals: 7}}})
	if l := r.m.members[0].load.Load; l != 5e8 {
		t.Errorf("the load of the app is %d", l)
	}
	if n := r.m.spaces[0].cells[0].report.Reals; n != 7 {
		t.Errorf("%d reals", n)
	}
}

// Thousands of rooms come and go, and nothing is left of them.
func TestNothingIsLeft(t *testing.T) {
	r := newRig(t, nil)
	apps := []*peer{r.join(wire.CellApp, 10), r.join(wire.CellApp, 11)}
	base := r.join(wire.BaseApp, 20)
	for _, a := range apps {
		a.confirm()
	}
	for round := range 10 {
		var rooms []entity.SpaceID
		for i := range 100 {
			rooms = append(rooms, base.ask(uint64(100*round+i+1), aRoom()).Space)
		}
		for _, a := range apps {
			a.confirm()
		}
		r.pass(time.Second)
		for _, id := range rooms {
			base.destroy(id)
		}
		for _, a := range apps {
			for _, x := range take[wire.RemoveCell](a) {
				a.send(&wire.CellRemoved{Space: x.Space, Cell: x.Cell})
			}
		}
	}
	r.pass(time.Second)
	m, cells := r.m, 0
	for _, a := range m.members {
		cells += a.cells
	}
	lists := len(m.homeless) + len(m.expecting) + len(m.unpublished) + len(m.emptying) + len(m.paced)
	if len(m.spaces) != 1 || len(m.byID) != 1 || len(m.byRequest) != 0 || cells != 1 || lists != 0 || m.spacesEnded != 1000 {
		t.Errorf("%d spaces, %d ids, %d requests, %d cells, %d in lists are left; %d ended",
			len(m.spaces), len(m.byID), len(m.byRequest), cells, lists, m.spacesEnded)
	}
}

// Nor is anything left of rooms that end while there is no CellApp to make them, or in a frozen
// world, in which nothing ends by itself.
func TestNothingIsLeftWhileTheWorldWaits(t *testing.T) {
	r := newRig(t, func(c *Config) { c.MinCellApps = 1 })
	base, watch := r.join(wire.BaseApp, 20), r.join(wire.Observer, 30)
	for i := range uint64(100) {
		base.destroy(base.ask(i+1, aRoom()).Space)
	}
	a := r.join(wire.CellApp, 10)
	a.confirm()
	a.drop(mercury.ErrPeerRestarted)
	for i := range uint64(100) {
		base.destroy(base.ask(i+101, aRoom()).Space)
	}
	r.pass(time.Second)
	if n := len(r.m.homeless); n != 1 { // space 1
		t.Errorf("%d spaces wait for a CellApp", n)
	}
	a = r.join(wire.CellApp, 11)
	a.confirm()
	watch.send(&wire.Freeze{On: true})
	for i := range uint64(100) {
		id := base.ask(i+201, aRoom()).Space
		a.reportRoom(id, a.confirm()[0].Cell, 0, true)
		base.destroy(id)
		for _, m := range take[wire.RemoveCell](a) {
			a.send(&wire.CellRemoved{Space: m.Space, Cell: m.Cell})
		}
	}
	r.pass(time.Second)
	if n := len(r.m.emptying); n != 0 {
		t.Errorf("%d spaces are watched", n)
	}
}

// A room that takes one cell is made, and not divided, in a world whose spaces have at least two.
func TestRoomInAWorldThatIsCut(t *testing.T) {
	r, a, base := roomRig(t, func(c *Config) { c.Balance.MinCells = 2 })
	b := r.join(wire.CellApp, 11)
	got := base.ask(3, aRoom())
	if got.Reason != "" {
		t.Fatalf("refused: %s", got.Reason)
	}
	for range 10 {
		r.pass(time.Second)
		a.confirm()
		b.confirm()
	}
	if n := r.m.space(got.Space).tree.Len(); n != 1 {
		t.Errorf("the room has %d cells", n)
	}
	if n := r.m.space(1).tree.Len(); n != 2 {
		t.Errorf("space 1 has %d cells", n)
	}
}
