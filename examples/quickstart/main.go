// Quickstart is the smallest world in full: one type of entity, one space, and two
// players who meet. It ends by itself after a few seconds.
package main

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"log"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/mercury/host"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cluster"
)

//go:embed defs
var files embed.FS

// Player is the base part of an Avatar: it stays where the player logged in.
type Player struct{ *entity.Base }

// OnCreated puts the player into the world.
func (p *Player) OnCreated() {
	name := p.Def().Property("name").Index
	_ = p.CreateCell(1, property.Vector3{}, property.Vector3{}, func(v *property.Values) {
		_ = v.Set(name, property.StringValue(p.Account()))
	})
}

// Avatar is its cell part: it walks from CellApp to CellApp.
type Avatar struct {
	*space.Real
	Name   property.String
	Spoken property.Uint16
}

// Say is called by the player's client, and by no one else's.
func (a *Avatar) Say(_ entity.ID, text string) {
	a.Spoken.Set(a.Spoken.Get() + 1)
	_ = a.AllClients().Call("heard", a.Name.Get()+": "+text)
}

func main() {
	defs, _ := fs.Sub(files, "defs")
	schema, err := property.Load(defs)
	check(err)
	cells, bases := space.NewScripts(schema), new(baseapp.Scripts)
	space.Register[Avatar](cells, "Avatar")
	baseapp.Register[Player](bases, "Avatar", nil)
	world, err := cluster.Start(context.Background(), cluster.Config{CellScripts: cells, BaseScripts: bases, PlayerType: "Avatar"})
	check(err)
	defer world.Stop()
	players, err := host.New(host.Config{})
	check(err)
	defer players.Close()
	for _, name := range []string{"Ada", "Bob"} {
		var me *client.Client
		p, err := players.Start(name, "127.0.0.1:0", func(env host.Env) (_ host.App, err error) {
			me, err = client.New(client.Config{Transport: env.Transport, Schema: schema, LoginApp: world.LoginAddr(), User: name, Handler: client.Events{
				CellPlayer: func(own *client.Replica) { fmt.Println(name, "is in the world as", own.ID) },
				Entered:    func(r *client.Replica) { fmt.Println(name, "sees", r.Props.Get(0).Str(), "at", r.Position) },
				Moved:      func(r *client.Replica) { fmt.Println(name, "sees", r.Props.Get(0).Str(), "go to", r.Position) },
				Called:     func(_ *client.Replica, _ *property.Method, args []property.Value) { fmt.Println(name, "hears", args[0].Str()) },
			}})
			return me, err
		}, host.Shared())
		check(err)
		for step := range 5 {
			time.Sleep(300 * time.Millisecond)
			check(p.Do(func(host.App) { _ = me.MoveTo(property.Vector3{X: float32(step), Z: float32(len(name))}, property.Vector3{}) }))
		}
		check(p.Do(func(host.App) { check(me.CallCell(me.Player().ID, "say", property.StringValue("hello"))) }))
	}
	time.Sleep(500 * time.Millisecond)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
