package spacetest_test

import (
	"testing"
	"testing/fstest"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cluster"
	"github.com/cellscape/cellscape/space/spacetest"
)

// A delver asks for a room with monsters, and goes in when it is told.
type delver struct {
	*entity.Base
	room entity.SpaceID `cellscape:"local"`
}

func (d *delver) OnCreated() {
	info := entity.SpaceInfo{Bounds: bsp.Rect{MinX: -200, MinZ: -200, MaxX: 200, MaxZ: 200}, MinCells: 2, MaxCells: 2}
	if err := d.CreateSpace(info, "OnRoom", 0); err != nil {
		panic(err)
	}
}

func (d *delver) OnRoom(r entity.SpaceReply) { d.room = r.Space }

func (d *delver) enter(t *testing.T) {
	t.Helper()
	if err := d.CreateCell(d.room, property.Vector3{}, property.Vector3{}, nil); err != nil {
		t.Fatal(err)
	}
}

type delverCell struct{ *space.Real }

// monster walks to and fro over the line of the room, and has no base.
type monster struct {
	*space.Real
	ends *int `cellscape:"local"`
}

func (m *monster) OnCreated() { m.OnThere(entity.Callback{}) }

func (m *monster) OnThere(entity.Callback) {
	to := property.Vector3{X: 60, Z: 60}
	if m.Position().X > 0 {
		to = property.Vector3{X: -60, Z: -60}
	}
	_, _ = m.MoveTo(to, 20, "OnThere", 0)
}

func (m *monster) OnDestroy() { *m.ends++ }

// A room ends some seconds after its last player has left, although its monsters still walk about in it, and they
// end with it. It does not end before anybody came.
func TestRoomWithMonstersEnds(t *testing.T) {
	schema, err := property.Load(fstest.MapFS{
		"entities.xml":            {Data: []byte(`<root><Delver hasCell="true" hasBase="true"/><Monster hasCell="true" hasBase="false"/></root>`)},
		"entity_defs/Delver.def":  {Data: []byte(`<root/>`)},
		"entity_defs/Monster.def": {Data: []byte(`<root/>`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	ends := 0
	cells, bases := space.NewScripts(schema), baseapp.NewScripts(schema)
	space.Register(cells, "Monster", func() *monster { return &monster{ends: &ends} })
	space.Register[delverCell](cells, "Delver")
	baseapp.Register[delver](bases, "Delver")
	cells.OnFirstCell(func(c *space.Cell, _ bool) {
		if c.Space() == 1 {
			return
		}
		for range 5 {
			if _, err := c.Spawn("Monster", property.Vector3{X: -50, Z: -50}, property.Vector3{}, nil); err != nil {
				t.Error(err)
			}
		}
	})
	w := spacetest.Start(t, spacetest.Config{World: cluster.Config{CellScripts: cells, BaseScripts: bases, CellApps: 2, BaseApps: 1, BaseStart: func(s *baseapp.Starter) {
		if _, err := s.CreateBase("Delver", nil); err != nil {
			t.Error(err)
		}
	}}})
	spaces := func() int {
		s, _ := w.Status()
		return len(s.Spaces)
	}
	w.Run(30 * time.Second)
	var d *delver
	for x := range spacetest.BaseScripts[delver](w) {
		d = x
	}
	if d == nil || d.room == 0 || spaces() != 2 {
		t.Fatalf("%+v, %d spaces", d, spaces())
	}
	d.enter(t)
	w.Run(20 * time.Second)
	if spaces() != 2 || ends != 0 {
		t.Fatalf("%d spaces, %d monsters have ended while somebody is there", spaces(), ends)
	}
	if err := d.DestroyCell(); err != nil {
		t.Fatal(err)
	}
	w.Until(30*time.Second, func() bool { return ends == 5 })
	w.Until(time.Minute, func() bool { return spaces() == 1 })
}
