// Persistent is a world that survives: a character with a bag. Run it, end it with Ctrl-C, and run it again:
// the character stands where it stood, with what it had. The world is kept in one file, world.db.
package main

import (
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/entity/store/sqlite"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cluster"
)

//go:embed defs
var files embed.FS

// Player is the base part of an Avatar. Its definition says Persistent, so a store keeps it: the base, its
// cell part, and where that stood. The name is its Identifier, by which a login finds it.
type Player struct {
	*entity.Base
	Name property.String
	Bag  property.Slice[string]
}

// OnCreated is called for a new player, and for one that was loaded.
func (p *Player) OnCreated() {
	at, known := p.Stood()
	if !known {
		at.Space = 1
	}
	_ = p.CreateCell(at.Space, at.Position, at.Direction, nil)
	fmt.Fprintf(out, "%s stands at x=%.0f with %d things in the bag\n", p.Name.Get(), at.Position.X, p.Bag.Len())
	_ = p.Cell().Call("walk", float32(5))
}

// PickUp is for the player's own client to call. The store confirms the thing before it is the player's.
func (p *Player) PickUp(item string) {
	_ = p.Bag.Append(item)
	_ = p.Write("OnKept", int64(p.Bag.Len()))
}

// OnKept is told that the store has the bag: from here on no crash undoes it.
func (p *Player) OnKept(r entity.StoreReply) {
	if r.Err != nil {
		fmt.Fprintln(out, "the store does not have the bag yet:", r.Err)
		return
	}
	fmt.Fprintf(out, "%d things in the bag are kept\n", r.User)
}

// Avatar is the cell part.
type Avatar struct {
	*space.Real
	Steps property.Int32
}

// Walk is for the base part to call.
func (a *Avatar) Walk(metres float32) {
	to := a.Position()
	to.X += metres
	a.Steps.Set(a.Steps.Get() + 1)
	_ = a.SetPosition(to)
}

var out io.Writer = os.Stdout

func main() {
	file := flag.String("file", "world.db", "the file that keeps the world")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *file); err != nil {
		log.Fatal(err)
	}
}

// run runs the world until ctx ends. Stop has everything written.
func run(ctx context.Context, file string) (err error) {
	defs, err := fs.Sub(files, "defs")
	if err != nil {
		return err
	}
	schema, err := property.Load(defs)
	if err != nil {
		return err
	}
	cells, bases := space.NewScripts(schema), baseapp.NewScripts(schema)
	space.Register[Avatar](cells, "Avatar")
	baseapp.Register[Player](bases, "Avatar")
	kept, err := sqlite.Open(context.Background(), file, sqlite.Config{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, kept.Close()) }()
	world, err := cluster.Start(context.Background(), cluster.Config{CellScripts: cells, BaseScripts: bases, PlayerType: "Avatar", Store: kept})
	if err != nil {
		return err
	}
	player, err := world.Connect("Ada", "password", client.Events{})
	if err == nil {
		err = player.Ready(ctx)
	}
	if err == nil {
		err = player.Do(func(c *client.Client) { _ = c.Player().Base().Call("pickUp", "apple") })
	}
	if err == nil {
		<-ctx.Done()
	}
	return errors.Join(err, world.Stop())
}
