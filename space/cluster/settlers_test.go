package cluster_test

import (
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cellappmgr"
	"github.com/cellscape/cellscape/space/cluster"
)

// settler makes its cell part somewhere.
type settler struct{ *entity.Base }

// OnCreated makes the cell part.
func (p *settler) OnCreated() {
	at := property.Vector3{X: rand.Float32()*900 - 450, Z: rand.Float32()*900 - 450}
	_ = p.CreateCell(1, at, property.Vector3{}, nil)
}

// settled is that cell part. It tells its client which process it is on, wherever it comes.
type settled struct {
	*space.Real
	Process property.Uint32
}

func (s *settled) OnCreated()      { s.here() }
func (s *settled) OnRestored()     { s.here() }
func (s *settled) OnEnteringCell() { s.here() }

func (s *settled) here() { s.Process.Set(uint32(os.Getpid())) }

// mortals is a world of four cells whose processes have the default times.
func mortals(t testing.TB) cluster.Config {
	schema, err := property.Load(fstest.MapFS{
		"entities.xml": {Data: []byte(`<root> <Avatar/> </root>`)},
		"entity_defs/Avatar.def": {Data: []byte(`<root>
			<Properties> <process> <Type> UINT32 </Type> <Flags> OWN_CLIENT </Flags> </process> </Properties> </root>`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	cfg := world(t)
	cfg.CellScripts, cfg.BaseScripts = space.NewScripts(schema), baseapp.NewScripts(schema)
	space.Register[settled](cfg.CellScripts, "Avatar")
	baseapp.Register[settler](cfg.BaseScripts, "Avatar")
	cfg.Tick, cfg.AppTimeout, cfg.BaseApps = 0, 0, 2
	if list := os.Getenv(managersEnv); list != "" {
		cfg.Managers = strings.Split(list, ",")
	}
	cfg.Spaces = []cellappmgr.SpaceConfig{{ID: 1, Bounds: bsp.Rect{MinX: -500, MinZ: -500, MaxX: 500, MaxZ: 500}, MinCells: 4, MaxCells: 4}}
	return cfg
}

// resident is a player of that world, and what its client was told last.
type resident struct {
	mu   sync.Mutex
	told home
}

// home is where a resident is.
type home struct {
	process int       // on which its cell part is
	came    time.Time // when it came there
	placed  time.Time // when it was last given one
}

func (r *resident) now() home {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.told
}

// events have r hear what its client hears.
func (r *resident) events() client.Events {
	hear := func(own *client.Replica, placed bool) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if p := int(own.Props.Get(own.Def.Property("process").Index).Uint()); p != r.told.process {
			r.told.process, r.told.came = p, time.Now()
		}
		if placed {
			r.told.placed = time.Now()
		}
	}
	return client.Events{
		CellPlayer:      func(own *client.Replica) { hear(own, true) },
		PropertyChanged: func(own *client.Replica, _ *property.Change) { hear(own, false) },
	}
}
