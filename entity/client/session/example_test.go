package session_test

import (
	"context"
	"errors"
	"fmt"
	"testing/fstest"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/client/session"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cluster"
)

// Account is the base part of an Avatar.
type Account struct{ *entity.Base }

// OnCreated puts the player into space 1.
func (a *Account) OnCreated() {
	_ = a.CreateCell(1, property.Vector3{X: 3, Z: 4}, property.Vector3{}, nil)
}

// A program that has the address of a LoginApp and the definitions plays. The world is in the same
// program here, and could be anywhere.
func ExampleDial() {
	schema, err := property.Load(fstest.MapFS{
		"entities.xml":           {Data: []byte(`<root> <Avatar/> </root>`)},
		"entity_defs/Avatar.def": {Data: []byte(`<root/>`)},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	bases := baseapp.NewScripts(schema)
	baseapp.Register[Account](bases, "Avatar")
	world, err := cluster.Start(context.Background(), cluster.Config{
		CellScripts: space.NewScripts(schema), BaseScripts: bases, PlayerType: "Avatar", CellApps: 1, BaseApps: 1,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = world.Stop() }()

	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	ada, err := session.Dial(ctx, session.Config{
		LoginApp: world.LoginAddr().String(), Schema: schema, User: "Ada", Password: "open sesame", Retry: true,
	})
	var refused *protocol.Refused
	if errors.As(err, &refused) {
		fmt.Println("show the player:", refused.Code)
		return
	} else if err != nil {
		fmt.Println(err)
		return
	}
	err = ada.Do(func(c *client.Client) error {
		_, err := fmt.Println("in space", c.Space(), "at", c.Player().Position)
		return err
	})
	fmt.Println(err, ada.Close())
	// Output:
	// in space 1 at {3 0 4}
	// <nil> <nil>
}
