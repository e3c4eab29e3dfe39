package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing/fstest"

	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cluster"
	"github.com/cellscape/cellscape/space/cluster/status"
	"github.com/cellscape/cellscape/space/cluster/watch"
)

// An operator turns a number of the game, and a setting of the library, while the world runs.
func ExampleObserver_Set() {
	schema, err := property.Load(fstest.MapFS{
		"entities.xml":        {Data: []byte(`<root><Orc hasCell="true" hasBase="false" hasClient="false"/></root>`)},
		"entity_defs/Orc.def": {Data: []byte(`<root/>`)},
	})
	if err != nil {
		panic(err)
	}
	var orcs atomic.Int64 // scripts of several CellApps read it
	orcs.Store(5)
	ctx := context.Background()
	world, err := cluster.Start(ctx, cluster.Config{CellScripts: space.NewScripts(schema), CellApps: 1, BaseApps: 1, Watch: func(role string, t *watch.Tree) {
		if role != status.RoleCellApp {
			return
		}
		watch.Setting(t, "orcs", "in a pack", orcs.Load, func(n int64) error {
			if n < 1 {
				return errors.New("a pack has one orc at least")
			}
			orcs.Store(n)
			return nil
		})
	}})
	if err != nil {
		panic(err)
	}
	defer func() { _ = world.Stop() }()
	operator, err := cluster.Observe(ctx, cluster.ObserverConfig{Manager: world.ManagerAddr()}) // a sealed world asks for keys
	if err != nil {
		panic(err)
	}
	defer func() { _ = operator.Close() }()
	if _, err := operator.Next(ctx); err != nil {
		panic(err)
	}

	cells := watch.Process{Role: status.RoleCellApp, Number: 1}
	_, err = operator.Set(ctx, cells, "game/orcs", "0")
	fmt.Println(err)
	_, err = operator.Set(ctx, cells, "game/orcs", "9")
	fmt.Println(err, orcs.Load())
	v, err := operator.Set(ctx, cells, "witness/bytes_per_tick", "4000")
	fmt.Println(v.Path, v.Text, err)
	// Output:
	// watch: the value is refused: game/orcs: a pack has one orc at least
	// <nil> 9
	// witness/bytes_per_tick 4000 <nil>
}
