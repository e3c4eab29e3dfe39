package spacetest_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/fstest"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/entity/placement"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cellappmgr"
	"github.com/cellscape/cellscape/space/cluster"
	"github.com/cellscape/cellscape/space/ending"
	"github.com/cellscape/cellscape/space/spacetest"
)

const (
	guests  = 300
	keptFor = 30 * time.Second
)

// What a guest does with the room that it has asked for.
const (
	forgets  = iota // never goes there
	moves           // goes there and stays
	leaves          // goes there and leaves
	late            // goes there when its time is over, or about so
	teleport        // the same, from the town
	plans           // how many there are
)

// inn is what the scripts of the test write down.
type inn struct {
	t      *testing.T
	guests int
	// open are what is kept for cells that have not ended, with how many entities each has by its
	// hooks.
	open  map[*lodging]bool
	ended map[ending.Why]int
}

// lodging is what is kept for a cell.
type lodging struct {
	cell *space.Cell
	here int
}

func (n *inn) open1(c *space.Cell) {
	l := &lodging{cell: c}
	c.SetLocal(l)
	n.open[l] = true
}

func (n *inn) close1(c *space.Cell, why ending.Why) {
	l := c.Local().(*lodging)
	if !n.open[l] {
		n.t.Errorf("a cell of space %d has ended twice", c.Space())
	}
	if gone := why == ending.Removed || why == ending.SpaceEnded; gone && l.here != 0 {
		n.t.Errorf("a cell of space %d has ended (%v) with %d entities by their hooks", c.Space(), why, l.here)
	}
	delete(n.open, l)
	n.ended[why]++
}

// guest is a base that asks for a room.
type guest struct {
	*entity.Base
	*inn  `cellscape:"local"`
	plan  int            `cellscape:"local"`
	wait  time.Duration  `cellscape:"local"`
	room  entity.SpaceID `cellscape:"local"`
	hears []string       `cellscape:"local"`
}

func (g *guest) check(err error) {
	if err != nil {
		g.t.Errorf("guest %v, plan %d: %v", g.ID(), g.plan, err)
	}
}

func (g *guest) after(d time.Duration, method string) {
	_, err := g.AddTimer(d, 0, method, 0)
	g.check(err)
}

func (g *guest) OnCreated() {
	n := g.guests
	g.guests++
	g.plan = n % plans
	// Cells are heard of once a second, and the way to a room stays open for some seconds.
	g.wait = keptFor - 2*time.Second + time.Duration(n/plans)*100*time.Millisecond
	g.check(g.CreateSpace(entity.SpaceInfo{Bounds: bsp.Rect{MinX: -20, MinZ: -20, MaxX: 20, MaxZ: 20}, MaxCells: 1, KeepFor: keptFor}, "OnRoom", 0))
	if g.plan == teleport {
		g.check(g.CreateCell(1, property.Vector3{X: float32(n%100) - 50}, property.Vector3{}, nil))
	}
}

func (g *guest) OnRoom(r entity.SpaceReply) {
	g.check(r.Err)
	g.room = r.Space
	switch g.plan {
	case moves, leaves:
		g.OnTime(entity.Callback{})
	case late, teleport:
		g.after(g.wait, "OnTime")
	}
}

// OnTime goes to the room.
func (g *guest) OnTime(entity.Callback) {
	if g.plan == teleport {
		g.check(g.Cell().Call("go", uint32(g.room)))
		return
	}
	g.check(g.CreateCellAt(entity.CellInfo{Space: g.room}, "OnIn", 0))
}

func (g *guest) OnIn(r entity.CellReply) {
	var e *placement.CreateError
	if r.Err != nil && !errors.As(r.Err, &e) {
		g.t.Errorf("an error without a code: %v", r.Err)
	}
	if e != nil {
		g.hears = append(g.hears, e.Code.String())
		return
	}
	g.hears = append(g.hears, "in")
	if g.plan == leaves || g.plan == late {
		g.after(8*time.Second, "OnLeave")
	}
}

// Went is called by the cell part that was teleported, or not.
func (g *guest) Went(how string) { g.hears = append(g.hears, how) }

func (g *guest) OnLeave(entity.Callback) { g.check(g.DestroyCell()) }

// guestCell is the cell part. It walks to and fro.
type guestCell struct {
	*space.Real
	*inn `cellscape:"local"`
}

// lodging is what is kept for the cell that the guest is on. There is one for each cell, whatever
// happens.
func (c *guestCell) lodging() *lodging {
	l, ok := c.CellLocal().(*lodging)
	if !ok || l.cell.Space() != c.Space() || !c.open[l] {
		c.t.Errorf("%v of space %d has %+v of its cell", c.ID(), c.Space(), l)
		return &lodging{}
	}
	return l
}

func (c *guestCell) OnCreated()             { c.lodging().here++; c.OnThere(entity.Callback{}) }
func (c *guestCell) OnRestored()            { c.lodging().here++ }
func (c *guestCell) OnEnteringCell()        { c.lodging().here++ }
func (c *guestCell) OnLeavingCell()         { c.lodging().here-- }
func (c *guestCell) OnDestroy()             { c.lodging().here-- }
func (c *guestCell) OnTeleported(int64)     { c.went("in") }
func (c *guestCell) Go(room uint32)         { c.go1(entity.SpaceID(room)) }
func (c *guestCell) OnBack(entity.Callback) { c.go1(1) }

func (c *guestCell) OnThere(entity.Callback) {
	x := float32(15)
	if c.Position().X > 0 {
		x = -15
	}
	if _, err := c.MoveTo(property.Vector3{X: x}, 5, "OnThere", 0); err != nil {
		c.t.Error(err)
	}
}

func (c *guestCell) go1(room entity.SpaceID) {
	if err := c.Teleport(entity.Destination{Space: room, Position: property.Vector3{X: 1}}, 0); err != nil {
		c.t.Error(err)
	}
}

func (c *guestCell) OnTeleportFailed(_ int64, e *placement.TeleportError) {
	c.went(e.Code.String())
}

// went tells the base, and goes back to the town after a while.
func (c *guestCell) went(how string) {
	if c.Space() == 1 && how == "in" {
		return // it is back
	}
	if err := c.Base().Call("went", how); err != nil {
		c.t.Error(err)
	}
	if _, err := c.AddTimer(8*time.Second, 0, "OnBack", 0); err != nil {
		c.t.Error(err)
	}
}

func startInn(t *testing.T, seed uint64) (*spacetest.World, *inn) {
	schema, err := property.Load(fstest.MapFS{
		"entities.xml": {Data: []byte(`<root><Guest hasCell="true" hasBase="true"/></root>`)},
		"entity_defs/Guest.def": {Data: []byte(`<root><CellMethods><go><Arg> UINT32 </Arg></go></CellMethods>
			<BaseMethods><went><Arg> STRING </Arg></went></BaseMethods></root>`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	n := &inn{t: t, open: map[*lodging]bool{}, ended: map[ending.Why]int{}}
	cells, bases := space.NewScripts(schema), baseapp.NewScripts(schema)
	cells.OnNewCell(n.open1)
	cells.OnCellEnd(n.close1)
	space.Register(cells, "Guest", func() *guestCell { return &guestCell{inn: n} })
	baseapp.Register(bases, "Guest", func() *guest { return &guest{inn: n} })
	w := spacetest.Start(t, spacetest.Config{Seed: seed, World: cluster.Config{CellScripts: cells, BaseScripts: bases, CellApps: 4, BaseApps: 1,
		Spaces: []cellappmgr.SpaceConfig{{ID: 1, Bounds: bsp.Rect{MinX: -100, MinZ: -100, MaxX: 100, MaxZ: 100}, MinCells: 3}},
		BaseStart: func(s *baseapp.Starter) {
			for range guests {
				if _, err := s.CreateBase("Guest", nil); err != nil {
					t.Error(err)
				}
			}
		}}})
	return w, n
}

// cellsOf returns the cells that the world has, and rooms the spaces beside the town.
func cellsOf(w *spacetest.World) (rooms map[entity.SpaceID]bool, cells map[string]bool) {
	s, _ := w.Status()
	rooms, cells = map[entity.SpaceID]bool{}, map[string]bool{}
	for _, x := range s.Spaces {
		for _, c := range x.Cells {
			cells[c.Cell] = true
		}
		if x.ID != 1 {
			rooms[entity.SpaceID(x.ID)] = true
		}
	}
	return rooms, cells
}

// Hundreds of rooms are entered, left, entered at the last moment and never entered, while CellApps
// and the managers die, one is paused until it is taken for dead, and one retires. Rooms in which
// somebody is stay; all others go. Whoever went there is in, or has been told why not. And the game
// hears of each cell that begins and ends, but for those of a process that was killed.
func TestRoomsThatNobodyEnters(t *testing.T) {
	for seed := uint64(1); seed <= 3; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w, n := startInn(t, seed)
			if seed > 1 {
				w.Run(time.Duration(seed) * 5 * time.Second)
				n.disturb(w)
			}
			w.Run(2*keptFor + time.Minute)
			n.judge(w)
			n.stop(w)
		})
	}
}

// disturb has processes die. What is kept for cells of one that was killed is nobody's any more.
func (n *inn) disturb(w *spacetest.World) {
	w.CellApps()[0].Kill()
	w.Run(5 * time.Second)
	_, cells := cellsOf(w)
	lost := 0
	for l := range n.open {
		if !cells[l.cell.ID().String()] {
			lost++
			delete(n.open, l)
		}
	}
	if lost == 0 || len(n.open) != len(cells) {
		n.t.Errorf("a CellApp was killed with %d cells; there are %d, and the game has %d", lost, len(cells), len(n.open))
	}
	w.CellApps()[0].Restart()
	for _, m := range w.Managers() {
		m.Kill()
	}
	w.Run(2 * time.Second)
	for _, m := range w.Managers() {
		m.Restart()
	}
	w.Run(7 * time.Second)
	w.CellApps()[1].Pause(12 * time.Second)
	w.Run(20 * time.Second)
	w.CellApps()[2].Retire("test")
	w.Run(10 * time.Second)
	if n.ended[ending.Dismissed] == 0 || n.ended[ending.Removed] == 0 {
		n.t.Errorf("nothing was dismissed or removed: %v", n.ended)
	}
}

// judge looks at a world that is at rest.
func (n *inn) judge(w *spacetest.World) {
	rooms, cells := cellsOf(w)
	heard := map[string]int{}
	for g := range spacetest.BaseScripts[guest](w) {
		for _, how := range g.hears {
			heard[fmt.Sprint(g.plan, " ", how)]++
		}
		if want := g.plan == moves; rooms[g.room] != want {
			n.t.Errorf("the room of %v, plan %d, is there: %v (it hears %q)", g.ID(), g.plan, !want, g.hears)
		}
		if len(g.hears) == 0 && g.plan != forgets {
			n.t.Errorf("%v, plan %d, was told nothing", g.ID(), g.plan)
		}
	}
	if len(rooms) != guests/plans || len(n.open) != len(cells) {
		n.t.Errorf("%d rooms and %d cells, of which the game has %d", len(rooms), len(cells), len(n.open))
	}
	for l := range n.open {
		if l.here != l.cell.Reals() {
			n.t.Errorf("a cell of space %d has %d entities, and by their hooks %d", l.cell.Space(), l.cell.Reals(), l.here)
		}
	}
	n.t.Logf("heard: %v; cells that have ended: %v", heard, n.ended)
}

// stop ends the world, of which the game hears for each cell.
func (n *inn) stop(w *spacetest.World) {
	cells := len(n.open)
	w.Shutdown("the end of the test")
	if len(n.open) != 0 || n.ended[ending.Stopped] != cells {
		n.t.Errorf("%d cells are open after the stop, and %d of %d were told of it", len(n.open), n.ended[ending.Stopped], cells)
	}
}
