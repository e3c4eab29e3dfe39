package space

import (
	"errors"
	"log/slog"
	"maps"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/internal/spacekey"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space/internal/hosting"
)

// addApp adds a CellApp without a cell of the first space, but with a room.
func (r *rig) addApp(in entity.SpaceID) int {
	k := len(r.apps) + 1
	a := &testApp{rig: r, self: addr(k), room: 900}
	a.population = NewPopulation(*r.apps[0].cell.cfg, r.scripts, hosting.Env{
		Self: a.self, Out: a, Counters: &a.count,
		Chance: rand.New(rand.NewPCG(1, uint64(k))), Log: slog.New(slog.DiscardHandler), Compressor: new(property.Compressor),
	})
	r.apps = append(r.apps, a)
	a.cell = Hosted{r.room(k, in)}
	return k
}

// clientView is what a client has of others at rest: x, by id.
type clientView map[entity.ID]float32

// view is what the client of an entity has been told, all in all.
func (r *rig) view(id entity.ID) clientView {
	r.t.Helper()
	v, alias, slot := clientView{}, map[uint32]entity.ID{}, map[uint8]entity.ID{}
	places := clientView{}
	ids, bodies := r.bundles(id)
	for i, m := range ids {
		switch m {
		case protocol.EnterID:
			var x protocol.Enter
			r.must(x.Parse(bodies[i]))
			if _, twice := v[x.ID]; twice {
				r.t.Errorf("the client of %d has %d twice", id, x.ID)
			}
			v[x.ID], alias[x.Alias] = x.Position.X, x.ID
		case protocol.RestID:
			var x protocol.Place
			r.must(x.ParseRest(bodies[i]))
			if _, has := v[x.ID]; has {
				v[x.ID] = x.Position.X
			}
		case protocol.LeaveID:
			x, err := protocol.ParseLeave(bodies[i])
			r.must(err)
			delete(v, x)
		case protocol.KeepID:
			var x protocol.Keep
			r.must(x.Parse(bodies[i]))
			kept := alias[x.Alias]
			slot[x.Slot], places[kept] = kept, v[kept]
			delete(v, kept)
		case protocol.ReturnID:
			var x protocol.Return
			r.must(x.Parse(bodies[i]))
			back := slot[x.Slot]
			v[back], alias[x.Alias] = places[back], back // a Rest follows if it has moved
		case protocol.LeaveSpaceID, protocol.ResetID:
			clear(v)
		}
	}
	return v
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) sights(id entity.ID, want clientView) {
	r.t.Helper()
	if got := r.view(id); !maps.Equal(got, want) {
		r.t.Errorf("the client of %d sees %v, want %v", id, got, want)
	}
}

// portal is seen through from 30 m on both sides: x in space 1 is x + 110 in space 2.
func portal() Gateway {
	return Gateway{
		Near:   GatewayEnd{1, bsp.Rect{MinX: -40, MinZ: -20, MaxX: -10, MaxZ: 20}},
		Far:    GatewayEnd{2, bsp.Rect{MinX: 100, MinZ: -20, MaxX: 130, MaxZ: 20}},
		Offset: at(110),
	}
}

// newPortal makes space 1 on two apps, with its line near the portal, and space 2 on an app: that of the
// portal's cell, that of its neighbour, or one that has no cell of space 1. Players 7 and 9 are in space
// 1, 9 not in the area of the portal; 10 is beyond the line. 8 is in space 2.
func newPortal(t *testing.T, app int) (*rig, entity.DataID) {
	r := newRig(t, 2)
	if app == 3 {
		r.addApp(2)
	} else {
		r.room(app, 2)
	}
	r.create(8, -500, 1)
	r.tick(2)
	r.teleport(8, entity.Destination{Space: 2, Position: at(110)}, 1)
	r.tick(3)
	r.create(7, -20, 1)
	r.create(9, -70, 1)
	r.create(10, 30, 1)
	r.tick(10)
	r.sights(7, clientView{9: -70, 10: 30})
	r.sights(8, clientView{})
	id, err := r.real(7).OpenGateway(portal())
	r.must(err)
	r.tick(20)
	return r, id
}

// Players near one end of a gateway see those at the other end where they belong, whichever CellApps the
// cells are on, and no more when the gateway is closed. Nobody is seen from outside the areas.
func TestGateway(t *testing.T) {
	for app := 1; app <= 3; app++ {
		r, id := newPortal(t, app)
		r.sights(7, clientView{8: 0, 9: -70, 10: 30})
		r.sights(9, clientView{8: 0, 7: -20, 10: 30})
		r.sights(10, clientView{8: 0, 7: -20, 9: -70})
		r.sights(8, clientView{7: 90})

		r.move(8, 120)
		r.avatar(8).Hp.Set(12)
		r.move(7, -35)
		r.tick(30)
		r.sights(7, clientView{8: 10, 9: -70, 10: 30})
		r.sights(8, clientView{7: 75})

		r.clientCall(7, 8, allMethod, arg(5)...)
		r.clientCall(8, 7, allMethod, arg(6)...)
		r.clientCall(8, 9, allMethod, arg(7)...) // whom it does not see
		r.tick(5)
		if d := r.avatar(8).Diary.Get(); !strings.HasSuffix(d, "all 5 by 7;") {
			t.Errorf("on app %d: the diary of 8 is %q", app, d)
		}
		if d := r.avatar(7).Diary.Get(); !strings.HasSuffix(d, "all 6 by 8;") {
			t.Errorf("on app %d: the diary of 7 is %q", app, d)
		}
		if d := r.avatar(9).Diary.Get(); strings.Contains(d, "all 7") {
			t.Errorf("on app %d: the diary of 9 is %q", app, d)
		}
		for range r.real(8).EntitiesInRange(1000) {
			t.Errorf("on app %d: a script meets somebody who is not in its space", app)
		}

		r.move(7, -45) // in the band: it stays
		r.tick(30)
		r.sights(8, clientView{7: 65})
		r.move(7, -65)
		r.tick(30)
		r.sights(8, clientView{})
		r.sights(7, clientView{8: 10, 9: -70, 10: 30})
		r.move(7, -20)
		r.tick(30)
		r.sights(8, clientView{7: 90})
		r.calm()

		r.must(r.apps[0].cell.CloseGateway(id))
		r.tick(40)
		r.sights(7, clientView{9: -70, 10: 30})
		r.sights(8, clientView{})
		for k, a := range r.apps {
			for i := entity.ID(7); i <= 10; i++ {
				if rec := a.population.find(i); rec != nil && (len(rec.images) > 0 || rec.cell.annex) {
					t.Errorf("on app %d: %d is still seen through the gateway at app %d", app, i, k+1)
				}
			}
			if len(a.population.annexes) > 0 {
				t.Errorf("on app %d: app %d has an annex", app, k+1)
			}
		}
		r.calm()
	}
}

// Whoever can be seen where it is and through a gateway is seen where it is, once; and through the
// gateway when it has gone out of sight. This is one space, whose ends are on two apps.
func TestGatewayInOneSpace(t *testing.T) {
	r := newRig(t, 2)
	g := Gateway{
		Near:   GatewayEnd{1, bsp.Rect{MinX: -60, MinZ: -20, MaxX: -10, MaxZ: 20}},
		Far:    GatewayEnd{1, bsp.Rect{MinX: 50, MinZ: -20, MaxX: 150, MaxZ: 20}},
		Offset: at(210),
	}
	r.create(7, -20, 1)
	r.create(8, 60, 1) // both ways
	r.tick(10)
	id, err := r.real(7).OpenGateway(g)
	r.must(err)
	r.tick(20)
	r.sights(7, clientView{8: 60})
	r.sights(8, clientView{7: -20})
	r.move(8, 140) // 160 m away, or 50 m through the gateway
	r.tick(30)
	r.sights(7, clientView{8: -70})
	r.sights(8, clientView{7: 190})
	r.move(8, 70)
	r.tick(30)
	r.sights(7, clientView{8: 70})
	r.sights(8, clientView{7: -20})
	r.move(8, 140)
	r.must(r.real(8).CloseGateway(id))
	r.tick(30)
	r.sights(7, clientView{})
	r.sights(8, clientView{})
	if err := r.real(8).CloseGateway(id); err == nil {
		t.Error("it was closed twice")
	}
	r.calm()
}

// What is seen through a gateway stays when its watcher goes over a line, and when its real does, without
// a flicker.
func TestGatewayAcrossLines(t *testing.T) {
	r, _ := newPortal(t, 3)
	for id := entity.ID(7); id <= 10; id++ {
		r.bases[id].got = nil
	}
	r.move(10, -30) // from app 2 to app 1
	r.tick(30)
	r.stands(10, 1, 1, -30)
	ids, bodies := r.bundles(10)
	for i, m := range ids {
		if m == protocol.LeaveID || m == protocol.EnterID {
			t.Errorf("the client of 10 is told %v %v", m, bodies[i])
		}
	}
	ids, _ = r.bundles(8)
	if n := count(ids, protocol.EnterID); n != 1 || count(ids, protocol.LeaveID) > 0 {
		t.Errorf("the client of 8 is told %v", ids)
	}
	r.sights(8, clientView{10: 80})
	r.calm()
}

// A cell of a space comes to a CellApp that had only looked into the space, and takes over whom it had
// ghosts of. Nobody who looks sees anything of it.
func TestGatewayAnnexIsAdopted(t *testing.T) {
	r, _ := newPortal(t, 3)
	p := r.apps[2].population
	if len(p.annexes) != 1 || p.find(7).cell != p.annexes[0] {
		t.Fatal("7 is in no annex")
	}
	r.bases[8].got = nil
	tree := bsp.New(bsp.Version{Term: 1, N: 1}, leaf(1))
	r.must(tree.Split(cellID(1), bsp.AxisX, 0, leaf(2), true))
	r.must(tree.Split(cellID(2), bsp.AxisX, 400, leaf(3), true))
	var data []DataEntry
	for e := range r.apps[0].cell.AllData() {
		data = append(data, e)
	}
	c := p.NewCell(r.now, r.now, 1, cellID(3), tree, data)
	if len(p.annexes) != 0 || p.find(7).cell != c.Cell {
		t.Fatal("the cell has not taken over 7")
	}
	r.tick(30)
	if ids, _ := r.bundles(8); len(ids) > 0 {
		t.Errorf("the client of 8 was told %v", ids)
	}
	r.move(7, -30)
	r.tick(30)
	if ids, _ := r.bundles(8); count(ids, protocol.RestID) != 1 || count(ids, protocol.EnterID)+count(ids, protocol.LeaveID) > 0 {
		t.Errorf("the client of 8 was told %v", ids)
	}

	// The cell leaves the space again, which must not wait for the gateway.
	alone := bsp.New(bsp.Version{Term: 1, N: 9}, leaf(1))
	r.must(alone.Split(cellID(1), bsp.AxisX, 0, leaf(2), true))
	c.SetTree(alone)
	r.bases[8].got = nil
	r.tick(5)
	if !c.Idle() {
		t.Error("the cell waits for ghosts that are seen through a gateway")
	}
	c.Drop()
	r.tick(30)
	if ids, _ := r.bundles(8); len(ids) > 0 {
		t.Errorf("the client of 8 was told %v", ids)
	}
	r.calm()
}

// An app that dies takes its part of the view along, and has it back when it has its entities again.
func TestGatewaySurvivesDeath(t *testing.T) {
	r, _ := newPortal(t, 3)
	r.move(10, -60)
	r.tick(30)
	data := []DataEntry{}
	for e := range r.apps[0].cell.AllData() {
		data = append(data, e)
	}
	r.bases[7].got = nil
	r.die(r.apps[0], 7, 9, 10)
	r.apps[0].cell.TakeData(data...)
	r.tick(60)
	if got := r.view(8); len(got) != 1 || got[7] != 90 {
		t.Errorf("8 sees %v", got)
	}
	r.sights(7, clientView{8: 0, 9: -70, 10: -60})
}

// Only who may be seen is: nobody sees itself, who is withheld, or who is hidden from all.
func TestGatewayKeepsSecrets(t *testing.T) {
	r, _ := newPortal(t, 3)
	r.real(7).SetWithheld(true)
	r.tick(10)
	r.sights(8, clientView{})
	r.clientCall(8, 7, allMethod, arg(6)...)
	r.tick(5)
	if d := r.avatar(7).Diary.Get(); strings.Contains(d, "all 6") {
		t.Errorf("the diary of 7 is %q", d)
	}
	r.real(7).SetWithheld(false)
	r.tick(10)
	r.sights(8, clientView{7: 90})
	if ids, bodies := r.bundles(8); true {
		for i, m := range ids {
			var x protocol.SpaceData
			if m == protocol.SpaceDataID && x.Parse(bodies[i]) == nil && x.Key == spacekey.Gateway {
				t.Error("a client is told of a gateway")
			}
		}
	}
}

// What an entity does is told through a gateway in order, once, also to who comes later.
func TestGatewayTellsHistory(t *testing.T) {
	r, _ := newPortal(t, 3)
	for n := range 200 { // longer than histories are kept for nobody
		r.avatar(7).Hp.Set(uint32(n) + 1)
		r.tick(1)
	}
	r.calm()
	if p := r.apps[2].population; p.find(7).e.History.Last() < 200 {
		t.Error("the history did not grow")
	}
	ids, _ := r.bundles(8)
	if n := count(ids, protocol.ChangesID); n != 200 {
		t.Errorf("the client of 8 was told of %d changes", n)
	}
}

func TestGatewayRefused(t *testing.T) {
	r := newRig(t, 1)
	c := r.apps[0].cell
	bad := func(change func(*Gateway)) {
		t.Helper()
		g := portal()
		change(&g)
		if _, err := c.OpenGateway(g); err == nil {
			t.Errorf("%+v was opened", g)
		}
	}
	bad(func(g *Gateway) { g.Near.Space = 3 })
	bad(func(g *Gateway) { g.Far.Space = 0 })
	bad(func(g *Gateway) { g.Near.Area.MaxX = math.Inf(1) })
	bad(func(g *Gateway) { g.Near.Area.MinX = math.NaN() })
	bad(func(g *Gateway) { g.Near.Area.MaxX = g.Near.Area.MinX + c.cfg.Border.GhostDistance + 1 })
	bad(func(g *Gateway) { g.Near.Area.MaxX, g.Near.Area.MinX = g.Near.Area.MinX, g.Near.Area.MaxX })
	bad(func(g *Gateway) { g.Offset.Y = float32(math.NaN()) })
	if err := c.CloseGateway(5); err == nil {
		t.Error("what is not there was closed")
	}
	for n := range MaxGateways {
		if _, err := c.OpenGateway(portal()); err != nil {
			t.Fatal(n, err)
		}
	}
	if _, err := c.OpenGateway(portal()); !errors.Is(err, entity.ErrTooMany) {
		t.Errorf("one too many: %v", err)
	}
	c.TakeData(DataEntry{Number: 1 << 20, Key: spacekey.Gateway, ID: 77, Value: []byte("nonsense")})
	r.tick(2)
	if n := len(c.gates.ends); n != MaxGateways {
		t.Errorf("the cell has %d gateways", n)
	}
}

// An app cannot make others show entities of a space into which no gateway leads, nor without end.
func TestGatewayLies(t *testing.T) {
	r, id := newPortal(t, 3)
	state := r.real(7).state()
	for n := range entity.ID(3) {
		state.ID = 900 + n
		state.Space = 5
		r.must(r.apps[2].population.GhostState(clone(t, state).(*ghost.State), addr(1)))
	}
	if p := r.apps[2].population; len(p.annexes) != 1 || p.find(900) != nil {
		t.Error("a ghost of nowhere was made")
	}
	state.Space, state.Position = 1, at(-20)
	for n := range entity.ID(MaxThroughGateway + 10) {
		state.ID = 2000 + n
		r.must(r.apps[2].population.GhostState(clone(t, state).(*ghost.State), addr(1)))
	}
	r.tick(2)
	if c := r.apps[2].cell; len(c.gates.ends[0].images) != MaxThroughGateway {
		t.Errorf("%d entities are shown through a gateway", len(c.gates.ends[0].images))
	}
	r.must(r.apps[0].cell.CloseGateway(id))
	r.tick(300) // the ghosts ask for their reals, and hear that there are none
	if n := len(r.apps[2].population.annexes); n != 0 {
		t.Errorf("%d annexes are left", n)
	}
	r.sights(8, clientView{})
}

func FuzzGateway(f *testing.F) {
	g := portal()
	f.Add(g.Append(nil))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		var g Gateway
		if g.Parse(b) != nil {
			return
		}
		var again Gateway
		if err := again.Parse(g.Append(nil)); err != nil || again != g {
			t.Fatalf("%+v came back as %+v, %v", g, again, err)
		}
	})
}

// A tick in which images move allocates nothing.
func TestGatewayAllocatesNothing(t *testing.T) {
	r, _ := newPortal(t, 1)
	c := r.room8()
	if len(c.gates.ends) != 1 || len(c.gates.ends[0].images) == 0 {
		t.Fatal("no image is shown")
	}
	e := r.apps[0].population.find(7).e
	x := float32(-20)
	if n := testing.AllocsPerRun(100, func() {
		x = -41 - x // to and fro
		e.Put(property.Vector3{X: x}, e.Direction, e.MoveStamp+1)
		c.showThrough()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// room8 is the cell that player 8 is on.
func (r *rig) room8() *Cell { return r.real(8).cell }
