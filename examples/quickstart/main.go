// Quickstart is the smallest world in full: one type of entity, one space, two players who meet. It
// ends by itself after a few seconds.
package main

import (
	"context"
	"embed"
	"fmt"
	"log"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cluster"
)

//go:embed defs
var files embed.FS

// Player is the base part of an Avatar: it stays on the BaseApp where it logged in.
type Player struct{ *entity.Base }

// OnCreated puts the player into space 1, at the origin.
func (p *Player) OnCreated() {
	_ = p.CreateCell(1, property.Vector3{}, property.Vector3{}, nil)
	_ = p.Cell().Call("rename", p.Account())
}

// Avatar is its cell part: it goes from CellApp to CellApp as the player walks.
type Avatar struct {
	*space.Real
	Name, Mood property.String // whoever sees the avatar sees them change
}

// Rename is for the base part to call.
func (a *Avatar) Rename(name string) { a.Name.Set(name) }

// Say is for the player's own client to call; everyone near by hears it.
func (a *Avatar) Say(_ entity.ID, text string) {
	a.Mood.Set("chatty")
	_ = a.AllClients().Call("heard", a.Name.Get()+" says "+text)
}

func main() {
	schema, err := property.LoadDir(files, "defs")
	check(err)
	cells, bases := space.NewScripts(schema), baseapp.NewScripts(schema)
	space.Register[Avatar](cells, "Avatar")
	baseapp.Register[Player](bases, "Avatar")
	world, err := cluster.Start(context.Background(), cluster.Config{CellScripts: cells, BaseScripts: bases, PlayerType: "Avatar"})
	check(err)
	defer world.Stop()

	for _, name := range []string{"Ada", "Bob"} {
		sees := func(r *client.Replica) { fmt.Printf("%s sees %v at %v\n", name, r.Props.Get(0), r.Position) }
		player, err := world.Connect(name, "password", client.Events{Entered: sees, Moved: sees,
			PropertyChanged: func(_ *client.Replica, c *property.Change) { fmt.Println(name, "sees", c.Old, "become", c.New) },
			Called:          func(_ *client.Replica, _ *property.Method, a []property.Value) { fmt.Println(name, "hears", a[0]) },
		})
		check(err)
		check(player.Ready(context.Background()))
		for to := (property.Vector3{}); to.X < 6; to.X++ {
			check(player.Do(func(c *client.Client) error { return c.SetPosition(to, property.Vector3{}) }))
			time.Sleep(300 * time.Millisecond)
		}
		check(player.Do(func(c *client.Client) error { return c.Player().Cell().Call("say", "hello") }))
	}
	time.Sleep(500 * time.Millisecond)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
