// Dungeon is a town and its instances. Bots seek a party from a matchmaker, whom they find by a global
// name; the party gathers, is teleported together into a fresh private space, all or none, fells a boss,
// trades, and comes back to the town. Guilds talk across BaseApps.
//
//	go run ./examples/dungeon              until Ctrl-C, one line a second
//	go run ./examples/dungeon -kill 10s    a CellApp is killed after ten seconds
//	go run ./examples/dungeon -kill baseapp:10s    a BaseApp
//	go run ./examples/dungeon -record DIR  town and dungeons are recorded into files
//	go run ./examples/dungeon -show DIR    prints what happened in them
//
// It ends with a verdict: the gold and the items that all heroes have together must be exactly what
// the treasury has handed out. The exit status is 1 if they are not.
package main

import (
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"sync/atomic"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/entity/client/bots"
	"github.com/cellscape/cellscape/examples/internal/options"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cellappmgr"
	"github.com/cellscape/cellscape/space/cluster"
	"github.com/cellscape/cellscape/space/ending"
)

//go:embed defs
var files embed.FS

// town is the space of the configuration; all others are dungeons.
const town entity.SpaceID = 1

const (
	townSide = 400 // metres
	sight    = 60  // metres
	// replaceAfter is more than the three seconds of silence after which an app is declared dead.
	replaceAfter = 5 * time.Second
	// closeLimit is how long the world may take to come to rest: until every deal and every grant has
	// its last word, also where a CellApp has just died.
	closeLimit = 60 * time.Second
	// calm is how many censuses in a row must come out right.
	calm = 3
)

type flags struct {
	bots, cellApps, baseApps int
	duration                 time.Duration
	kill                     options.Death
	record, show             string
	verbose                  bool
}

func main() {
	var f flags
	flag.IntVar(&f.bots, "bots", 40, "heroes")
	flag.IntVar(&f.cellApps, "cellapps", 3, "CellApps")
	flag.IntVar(&f.baseApps, "baseapps", 2, "BaseApps")
	flag.DurationVar(&f.duration, "duration", 0, "how long to play; 0 is until Ctrl-C")
	flag.Var(&f.kill, "kill", "kill a CellApp after this time, as 10s, or a BaseApp, as baseapp:10s, and start another")
	flag.StringVar(&f.record, "record", "", "record all spaces into files in this directory")
	flag.StringVar(&f.show, "show", "", "print what the recordings in this directory show, instead of playing")
	flag.BoolVar(&f.verbose, "v", false, "log what the processes say")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, f); err != nil {
		fmt.Fprintln(os.Stderr, "dungeon:", err)
		stop()
		os.Exit(1)
	}
}

// strike kills the process, and starts another when the death is known.
func (g *game) strike(d *options.Death, world *cluster.Cluster) error {
	fmt.Printf("        a %s is killed\n", d.Role)
	kill, add := d.Of(world)
	time.AfterFunc(replaceAfter, func() { g.check(add()) })
	return kill()
}

// game is what the scripts and the bots of this process share with main.
type game struct {
	log                                              *slog.Logger
	closing                                          atomic.Bool // no new adventures, no new deals
	started                                          atomic.Bool
	dungeons, arrivals, trades, chats, heard, faults atomic.Int64
	records                                          atomic.Int64 // that heroes have heard of
	closed, strikes                                  atomic.Int64 // dungeons that have ended, and the strikes in them
	census                                           atomic.Pointer[census]
}

// census is what the treasury has counted.
type census struct {
	heroes          int
	have, handedOut sum
}

// check counts and logs what a script or a bot could not do.
func (g *game) check(err error) {
	if err != nil {
		g.log.Error("not done", "error", err)
		g.faults.Add(1)
	}
}

// try is check for what also returns an id.
func (g *game) try(_ any, err error) { g.check(err) }

// OnName hears whether a base has the name that it asked for. All scripts have it, since they embed the game.
func (g *game) OnName(r entity.NameReply) { g.check(r.Err) }

// start makes what everyone needs, on the first BaseApp that joins.
func (g *game) start(s *baseapp.Starter) {
	if !g.started.CompareAndSwap(false, true) {
		return
	}
	g.try(s.CreateBase("Treasury", nil))
	g.try(s.CreateBase("Matchmaker", nil))
	for i := range entity.ID(guilds) {
		g.try(s.CreateBase("Guild", func(v *property.Values) { set(v, "title", property.StringValue(guildName(i))) }))
	}
}

// config describes the world.
func (g *game) config(f *flags) (cluster.Config, error) {
	schema, err := property.LoadDir(files, "defs")
	if err != nil {
		return cluster.Config{}, err
	}
	cells, bases := space.NewScripts(schema), baseapp.NewScripts(schema)
	space.Register(cells, "Hero", func() *Hero { return &Hero{game: g} })
	space.Register(cells, "Boss", func() *Boss { return &Boss{game: g} })
	cells.OnFirstCell(func(c *space.Cell, fromStore bool) {
		if f.record != "" {
			g.record(c)
		}
		g.openDungeon(c, fromStore)
	})
	cells.OnLostArea(g.reopenDungeon)
	cells.OnNewCell(func(c *space.Cell) { c.SetLocal(&tally{}) })
	cells.OnCellEnd(g.takeTally)
	baseapp.Register(bases, "Hero", func() *Player { return &Player{game: g} })
	baseapp.Register(bases, "Matchmaker", func() *Matchmaker { return &Matchmaker{game: g} })
	baseapp.Register(bases, "Guild", func() *Guild { return &Guild{game: g} })
	baseapp.Register(bases, "Treasury", func() *Treasury { return &Treasury{game: g} })
	const half = townSide / 2
	return cluster.Config{
		CellScripts: cells, BaseScripts: bases, PlayerType: "Hero", BaseStart: g.start,
		Spaces:   []cellappmgr.SpaceConfig{{ID: town, Bounds: bsp.Rect{MinX: -half, MinZ: -half, MaxX: half, MaxZ: half}}},
		CellApps: f.cellApps, BaseApps: f.baseApps, Space: space.Config{AoIRadius: sight}, Log: g.log,
	}, nil
}

// tally is what a cell counts. A game might have an open file there, or a connection.
type tally struct{ strikes int64 }

// takeTally is called when a cell ends; not when its CellApp is killed.
func (g *game) takeTally(c *space.Cell, why ending.Why) {
	if why == ending.SpaceEnded {
		g.closed.Add(1)
		g.strikes.Add(c.Local().(*tally).strikes)
	}
}

func run(ctx context.Context, f flags) (err error) {
	if f.show != "" {
		return show(f.show)
	}
	g := &game{log: slog.New(slog.DiscardHandler)}
	if f.verbose {
		g.log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	cfg, err := g.config(&f)
	if err != nil {
		return err
	}
	written, err := recordTo(f.record, &cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, written()) }()
	// The interrupt ends the play, not the world, which must come to rest and be counted.
	world, err := cluster.Start(context.WithoutCancel(ctx), cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, world.Stop()) }()
	swarm, err := bots.Start(bots.Config{
		Bots: f.bots, LoginApp: world.LoginAddr(), Schema: cfg.CellScripts.Schema(), Log: cfg.Log,
		Behave: behave, Events: g.events,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, swarm.Stop()) }()
	if err := g.play(ctx, f, world); err != nil {
		return err
	}
	return g.close()
}

// play prints a line a second.
func (g *game) play(ctx context.Context, f flags, world *cluster.Cluster) error {
	begun, killed := time.Now(), f.kill.After == 0
	for ctx.Err() == nil && (f.duration == 0 || time.Since(begun) < f.duration) {
		g.wait(ctx, time.Second)
		fmt.Printf("%4.0f s  %s\n", time.Since(begun).Seconds(), g.line())
		if !killed && time.Since(begun) >= f.kill.After {
			killed = true
			if err := g.strike(&f.kill, world); err != nil {
				return err
			}
		}
	}
	return nil
}

func (g *game) wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

func (g *game) line() string {
	s := fmt.Sprintf("%d dungeons, %d of them ended after %d strikes, %d arrivals, %d trades, %d words of %d heard, %d times a record, %d faults",
		g.dungeons.Load(), g.closed.Load(), g.strikes.Load(), g.arrivals.Load(), g.trades.Load(), g.heard.Load(), g.chats.Load(), g.records.Load(), g.faults.Load())
	if c := g.census.Load(); c != nil {
		s += fmt.Sprintf("; %d heroes have %d gold and %d items of %d and %d", c.heroes, c.have.gold, c.have.items, c.handedOut.gold, c.handedOut.items)
	}
	return s
}

// close lets the world come to rest, and counts.
func (g *game) close() error {
	fmt.Println("no more deals; the world comes to rest")
	g.closing.Store(true)
	var last *census
	counted, right := 0, 0
	for end := time.Now().Add(closeLimit); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		c := g.census.Load()
		if c == last || c == nil {
			continue
		}
		counted++
		if last = c; c.have == c.handedOut {
			right++
		} else {
			right = 0
		}
		if right == calm {
			fmt.Printf("verdict: %d gold and %d items were handed out, and that is what %d heroes have; %s\n", c.handedOut.gold, c.handedOut.items, c.heroes, g.line())
			if n := g.faults.Load(); n > 0 {
				return fmt.Errorf("%d faults", n)
			}
			return nil
		}
	}
	if counted < calm {
		return fmt.Errorf("undecided: the world has not come to rest, with %d censuses in %v: %s", counted, closeLimit, g.line())
	}
	return fmt.Errorf("the sums differ: %s", g.line())
}

// somewhere is the place in town that an id stands for.
func somewhere(id entity.ID) property.Vector3 {
	const most = townSide - 40
	return property.Vector3{X: float32(uint64(id)*137%most) - most/2, Z: float32(uint64(id)*89%most) - most/2}
}

// set gives a property its first value.
func set(v *property.Values, name string, value property.Value) {
	if err := v.Set(v.Definition().Property(name).Index, value); err != nil {
		panic(err) // this contradicts the definition: a fault of this program
	}
}
