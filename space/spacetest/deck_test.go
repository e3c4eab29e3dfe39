package spacetest_test

import (
	"fmt"
	"math"
	"testing"
	"testing/fstest"
	"time"

	"github.com/cellscape/cellscape/aoi/witness"
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cellappmgr"
	"github.com/cellscape/cellscape/space/cluster"
	"github.com/cellscape/cellscape/space/spacetest"
)

// liner goes to and fro over a line.
type liner struct{ *space.Real }

func (l *liner) OnCreated() { l.OnShore(entity.Callback{User: 60}) }

func (l *liner) OnShore(c entity.Callback) {
	_, _ = l.MoveTo(property.Vector3{X: float32(c.User), Z: float32(c.User)}, 12, "OnShore", -c.User)
}

// passenger goes aboard the liner that it sees.
type passenger struct{ *space.Real }

func (p *passenger) OnCreated() { _, _ = p.AddTimer(0, 100*time.Millisecond, "OnBeat", 0) }

func (p *passenger) OnBeat(entity.Callback) {
	for v := range p.EntitiesInRange(200) {
		if p.Vehicle() == 0 && v.Def().Name == "Liner" {
			_ = p.Board(v.ID(), property.Vector3{}, property.Vector3{})
		}
	}
}

type passengerBase struct{ *entity.Base }

func (b *passengerBase) OnCreated() {
	_ = b.CreateCell(1, property.Vector3{X: -20}, property.Vector3{}, nil)
}

// A crowd walks about on a ship that crosses a line again and again, seen by clients with thin lines: nearly
// all steps are known within two ticks, and they cost what steps on land do.
func TestCrowdOnDeck(t *testing.T) {
	const passengers, seconds, most = 30, 40, 300
	schema, err := property.Load(fstest.MapFS{
		"entities.xml":              {Data: []byte(`<root> <Passenger/> <Liner hasBase="false"/> </root>`)},
		"entity_defs/Passenger.def": {Data: []byte(`<root> <Volatile> <position/> <yaw/> </Volatile> </root>`)},
		"entity_defs/Liner.def":     {Data: []byte(`<root> <Volatile> <position/> <yaw/> </Volatile> </root>`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	cells, bases := space.NewScripts(schema), baseapp.NewScripts(schema)
	space.Register[liner](cells, "Liner")
	space.Register[passenger](cells, "Passenger")
	baseapp.Register[passengerBase](bases, "Passenger")
	cells.OnFirstCell(func(c *space.Cell, _ bool) {
		if _, err := c.Spawn("Liner", property.Vector3{}, property.Vector3{}, nil); err != nil {
			t.Error(err)
		}
	})
	w := spacetest.Start(t, spacetest.Config{Seed: 1, World: cluster.Config{
		CellScripts: cells, BaseScripts: bases, PlayerType: "Passenger", CellApps: 2, BaseApps: 1,
		Space:  space.Config{Witness: witness.Config{BytesPerTick: most}},
		Spaces: []cellappmgr.SpaceConfig{{ID: 1, Bounds: bsp.Rect{MinX: -200, MinZ: -200, MaxX: 200, MaxZ: 200}, MinCells: 2}},
	}})
	var all []*spacetest.Player
	for i := range passengers {
		all = append(all, w.Login(fmt.Sprint("player", i)))
	}
	w.Until(30*time.Second, func() bool {
		for _, p := range all {
			if p.Player().Vehicle() == 0 || !p.Controls() {
				return false
			}
		}
		return true
	})
	lines, on, known, steps, down := 0, (*spacetest.App)(nil), 0, 0, uint64(0)
	var past [3]map[entity.ID]property.Vector3
	for n := range seconds * 10 {
		if n == 20 {
			for _, p := range all {
				down -= p.Stats().BytesDown
			}
		}
		stroll(t, all, n)
		w.Run(100 * time.Millisecond)
		past[2], past[1], past[0] = past[1], past[0], map[entity.ID]property.Vector3{}
		for p := range spacetest.CellScripts[passenger](w) {
			past[0][p.ID()], _ = p.Seat()
		}
		if at := w.Where(all[0].Player().ID); at != on {
			lines, on = lines+1, at
		}
		if n >= 20 {
			k, s := seen(all, past[:])
			known, steps = known+k, steps+s
		}
	}
	for _, p := range all {
		down += p.Stats().BytesDown
	}
	each := float64(down) / float64(steps)
	t.Logf("%d lines crossed, %d of %d seats known within two ticks, %.1f bytes for each", lines, known, steps, each)
	if lines < 4 || float64(known) < 0.99*float64(steps) || each > 8 {
		t.Error("wanted 4 lines, 99 percent known, 8 bytes at the most")
	}
}

// stroll has everyone take a step, each on a way of its own.
func stroll(t *testing.T, all []*spacetest.Player, n int) {
	for i, p := range all {
		angle := float64(n)/20 + float64(i)
		seat := property.Vector3{X: float32(8 * math.Sin(angle)), Z: float32(i) + float32(8*math.Cos(angle))}
		if p.Player().Vehicle() == 0 || !p.Controls() {
			continue // the ship has just left its sight
		}
		if err := p.Player().SetSeat(seat, property.Vector3{X: float32(angle)}); err != nil {
			t.Fatal(err)
		}
	}
}

// seen counts the seats that clients have of others, and how many of them are of the last two ticks or now.
func seen(all []*spacetest.Player, past []map[entity.ID]property.Vector3) (known, steps int) {
	for _, p := range all {
		for r := range p.Entities() {
			if r.Def.Name != "Passenger" {
				continue
			}
			steps++
			seat, _ := r.Seat()
			for _, then := range past {
				if at, ok := then[r.ID]; ok && property.Distance(seat, at) < 0.05 {
					known++
					break
				}
			}
		}
	}
	return known, steps
}
