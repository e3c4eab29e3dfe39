package bots_test

import (
	"context"
	"fmt"
	"testing/fstest"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/entity/client/bots"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cluster"
)

// Account is the base part of an Avatar.
type Account struct{ *entity.Base }

// OnCreated puts the player into space 1.
func (a *Account) OnCreated() {
	_ = a.CreateCell(1, property.Vector3{}, property.Vector3{}, nil)
}

// world is one that anybody may log in to.
func world() (*cluster.Cluster, *property.Schema, error) {
	schema, err := property.Load(fstest.MapFS{
		"entities.xml":           {Data: []byte(`<root> <Avatar/> </root>`)},
		"entity_defs/Avatar.def": {Data: []byte(`<root/>`)},
	})
	if err != nil {
		return nil, nil, err
	}
	scripts := baseapp.NewScripts(schema)
	baseapp.Register[Account](scripts, "Avatar")
	w, err := cluster.Start(context.Background(), cluster.Config{
		CellScripts: space.NewScripts(schema), BaseScripts: scripts, PlayerType: "Avatar", CellApps: 1, BaseApps: 1,
	})
	return w, schema, err
}

// Twenty bots walk about, and see each other do so.
func ExampleStart() {
	w, schema, err := world()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = w.Stop() }()

	swarm, err := bots.Start(bots.Config{
		Bots: 20, LoginApp: w.LoginAddr(), Schema: schema,
		Behave: func(int) bots.Behaviour { return &bots.Walk{MinX: -50, MinZ: -50, MaxX: 50, MaxZ: 50, Speed: 5} },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := swarm.Ready(ctx); err != nil {
		fmt.Println(err)
	}
	if err := swarm.Watch(true); err != nil {
		fmt.Println(err)
	}
	var seen bots.Freshness
	for seen.Moves < 1000 && err == nil && ctx.Err() == nil {
		seen, err = swarm.Freshness()
	}
	fmt.Println("moves seen:", seen.Moves >= 1000, err)
	fmt.Println(swarm.Stop())
	// Output:
	// moves seen: true <nil>
	// <nil>
}
