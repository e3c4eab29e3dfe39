package bots_test

import (
	"context"
	"testing"
	"testing/fstest"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/entity/client/bots"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cluster"
)

// rider goes aboard the barge.
type rider struct{ *space.Real }

func (r *rider) OnCreated() { _, _ = r.AddTimer(0, 100*time.Millisecond, "OnBeat", 0) }

func (r *rider) OnBeat(entity.Callback) {
	for v := range r.EntitiesInRange(50) {
		if r.Vehicle() == 0 && v.Def().Name == "Barge" {
			_ = r.Board(v.ID(), property.Vector3{Z: 3}, property.Vector3{})
		}
	}
}

type riderBase struct{ *entity.Base }

func (b *riderBase) OnCreated() {
	_ = b.CreateCell(1, property.Vector3{}, property.Vector3{}, nil)
}

type barge struct{ *space.Real }

// What bots do aboard is not among the moves that others have to know: where it leads them hangs on the vehicle.
func TestFreshnessAboard(t *testing.T) {
	schema, err := property.Load(fstest.MapFS{
		"entities.xml":          {Data: []byte(`<root> <Rider/> <Barge hasBase="false"/> </root>`)},
		"entity_defs/Rider.def": {Data: []byte(`<root/>`)},
		"entity_defs/Barge.def": {Data: []byte(`<root/>`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	cells, bases := space.NewScripts(schema), baseapp.NewScripts(schema)
	space.Register[rider](cells, "Rider")
	space.Register[barge](cells, "Barge")
	baseapp.Register[riderBase](bases, "Rider")
	cells.OnFirstCell(func(c *space.Cell, _ bool) {
		if _, err := c.Spawn("Barge", property.Vector3{}, property.Vector3{}, nil); err != nil {
			t.Error(err)
		}
	})
	w, err := cluster.Start(context.Background(), cluster.Config{CellScripts: cells, BaseScripts: bases, PlayerType: "Rider", CellApps: 1, BaseApps: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Stop() })
	aboard := make(chan struct{}, 1000)
	swarm, err := bots.Start(bots.Config{Bots: 4, LoginApp: w.LoginAddr(), Schema: schema, Behave: func(int) bots.Behaviour {
		return bots.Func(func(b *bots.Bot) {
			p := b.Player()
			if p.Vehicle() == 0 || !b.Controls() {
				return
			}
			b.Try(b.Go(property.Vector3{X: p.Position.X, Z: 7 - p.Position.Z}, p.Direction))
			select {
			case aboard <- struct{}{}:
			default:
			}
		})
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = swarm.Stop() })
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := swarm.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	if err := swarm.Watch(true); err != nil {
		t.Fatal(err)
	}
	for range 60 {
		select {
		case <-aboard:
		case <-ctx.Done():
			t.Fatal("nobody goes about on the barge")
		}
	}
	f, err := swarm.Freshness()
	if err != nil || f.Moves != 0 {
		t.Errorf("%d moves are counted, %v", f.Moves, err)
	}
}
