// Persistent is a world that survives: a character with a bag, and a baker who bakes without
// anybody. Run it, end it with Ctrl-C, and run it again: the character stands where it stood, with
// what it had, and the baker is back at his shelf by himself. The world is kept in one file,
// world.db.
package main

import (
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/entity/store/sqlite"
	"github.com/cellscape/cellscape/entity/stored"
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
func (p *Player) OnKept(r stored.Reply) {
	if r.Err != nil {
		fmt.Fprintln(out, "the store does not have the bag yet:", r.Err)
		return
	}
	fmt.Fprintf(out, "%d things in the bag are kept\n", r.User)
	_ = p.QueryStore(stored.Query{Type: "Avatar", Property: "name"}, "OnKnown", 0)
}

// OnKnown is told whom the store keeps, in the order of their names.
func (p *Player) OnKnown(page stored.Page) {
	for _, r := range page.Rows {
		fmt.Fprintf(out, "the store keeps %s\n", r.Get("name").Str())
	}
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

// Baker is the base part of somebody whom nobody plays. Starter.Ensure sees to it that the world has one.
type Baker struct {
	*entity.Base
	Name  property.String
	Baked property.Int32
}

// OnCreated is called for a new baker. One who is back bakes on; his cell part is made where it stood.
func (b *Baker) OnCreated() {
	if b.Row() == 0 {
		_ = b.CreateCell(1, property.Vector3{X: -10}, property.Vector3{}, nil)
	}
	_, _ = b.AddTimer(100*time.Millisecond, 100*time.Millisecond, "OnBake", 0)
	fmt.Fprintf(out, "%s has baked %d loaves\n", b.Name.Get(), b.Baked.Get())
}

// OnBake bakes a loaf.
func (b *Baker) OnBake(entity.Callback) {
	b.Baked.Set(b.Baked.Get() + 1)
	_ = b.Cell().Call("shelve")
}

// Shelf is the cell part.
type Shelf struct {
	*space.Real
	Loaves property.Int32
}

// Shelve is for the base part to call.
func (s *Shelf) Shelve() { s.Loaves.Set(s.Loaves.Get() + 1) }

// hire is called on each BaseApp when it has joined. The baker of a new world is made, by one of them; in
// another world he is loaded by his name. If the store had to bring back bakers whose names are not known
// here, Config.BringBack would do that.
func hire(s *baseapp.Starter) {
	if err := s.Ensure("Baker", "Bob", nil, nil); err != nil {
		s.Log().Error("no baker", "error", err)
	}
}

var out io.Writer = os.Stdout

func main() {
	file := flag.String("file", "world.db", "the file that keeps the world")
	dry := flag.Bool("dry-run", false, "only list what new definitions would change in the file")
	forget := flag.Bool("forget", false, "let the file forget what the definitions have no place for any more")
	begun := flag.Bool("begun", false, "the file has a world: end with an error rather than begin one in a file that is not there or empty")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *file, *begun, *dry, *forget); err != nil {
		log.Fatal(err)
	}
}

// run runs the world until ctx ends. Shutdown has everything written, and says what that was.
func run(ctx context.Context, file string, begun, dry, forget bool) (err error) {
	schema, err := property.LoadDir(files, "defs")
	if err != nil {
		return err
	}
	cells, bases := space.NewScripts(schema), baseapp.NewScripts(schema)
	space.Register[Avatar](cells, "Avatar")
	baseapp.Register[Player](bases, "Avatar")
	space.Register[Shelf](cells, "Baker")
	baseapp.Register[Baker](bases, "Baker")
	kept, err := sqlite.Open(context.Background(), file, sqlite.Config{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, kept.Close()) }()
	cfg := cluster.Config{
		CellScripts: cells, BaseScripts: bases, PlayerType: "Avatar", Store: kept, StoreBegun: begun, StoreForgets: forget,
		BaseStart: hire,
	}
	if dry {
		plan, err := cfg.PlanStore(ctx)
		fmt.Fprintf(out, "a start would change %d things in %s\n%v", len(plan), file, plan)
		return err
	}
	world, err := cluster.Start(context.Background(), cfg)
	if err != nil {
		return err
	}
	player, err := world.Connect("Ada", "password", client.Events{})
	if err == nil {
		err = player.Ready(ctx)
	}
	if err == nil {
		err = player.Do(func(c *client.Client) error { return c.Player().Base().Call("pickUp", "apple") })
	}
	if err == nil {
		<-ctx.Done()
	}
	limit, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	report, stopped := world.Shutdown(limit, "the world is being stopped")
	for _, t := range report.Types {
		fmt.Fprintf(out, "%d of type %s are written\n", t.Written, t.Type)
	}
	return errors.Join(err, stopped, world.Stop())
}
