// Crowd measures what a world of players costs: N of them walk about at a fixed density, ten times a
// second each tells the server where it is, and each is told where those in view are. The managers,
// the login, BaseApps and CellApps are OS processes of their own, which it starts and ends; the bots
// are in this one, which on Linux gives way to the others: players have machines of their own.
//
//	go run ./examples/crowd                                2,000 players, 62 in view, 1 CellApp, 1 BaseApp
//	go run ./examples/crowd -n 300 -cellapps 4 -baseapps 2 -json
//	go run ./examples/crowd -n 2000 -side 300              all on 300 by 300 m, whatever is in view
//	go run ./examples/crowd -side 50000 -speed 0 -wear 0 -greet 0   all stand still, each alone: what an idle player costs
//
// After a warm-up it measures for a time: the processor time of all server processes for a client and
// a tick, as the operating system counts it; bytes by client; the share of the moves in view that
// arrived within two ticks, and how old the places are that clients hold; how long a reliable call takes
// from one client to another (up to 5 ms of it until the bots look); memory; late ticks; and what the
// bots themselves cost. With -profile each process writes a profile of its processor time, for the
// measured time alone, and one of its memory.
//
// A world that is full takes no more players: when hardly one more has come in for -patience, those
// outside give up, and it is told how many got in and why the others did not. Fewer than -least
// percent end the run; -least 0 measures with those who are in.
//
// The exit status is 1 if fewer players got in than -least says, a bot lost its session, or fewer
// moves arrived in time than -arrive says, or a client-tick cost more than -ratio says. Processor
// time and memory are told on Linux only.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/cellscape/cellscape/entity/client/bots"
	"github.com/cellscape/cellscape/examples/internal/options"
)

// flags are the command line. The processes of one world are given the same.
type flags struct {
	n, view, cellApps, baseApps int
	radius, speed, field        float64
	budget                      int
	warm, duration, wear, greet time.Duration
	seal, json                  bool
	perSocket                   int
	arrive, least, ratio        float64
	patience                    time.Duration
	profile                     string
	role, manager               string   // of a process that was started by this program
	args                        []string // all, for those processes
}

func parseFlags(args []string) (*flags, error) {
	f := flags{args: args}
	set := flag.NewFlagSet("crowd", flag.ContinueOnError)
	set.IntVar(&f.n, "n", 2000, "players")
	set.IntVar(&f.view, "view", 62, "how many others each has in view, on average; the field is as large as that takes")
	set.Float64Var(&f.field, "side", 0, "side of the field, in metres, whatever is in view then; 0 for what -view asks for")
	set.IntVar(&f.cellApps, "cellapps", 1, "CellApps, each an OS process")
	set.IntVar(&f.baseApps, "baseapps", 1, "BaseApps, each an OS process")
	set.Float64Var(&f.radius, "radius", 100, "how far a player sees, in metres")
	set.Float64Var(&f.speed, "speed", 5, "how fast all walk, in metres a second")
	set.IntVar(&f.budget, "budget", 0, "bytes that a client is sent in a tick; 0 for the library's default")
	set.DurationVar(&f.warm, "warm", 10*time.Second, "how long all walk before the measuring begins")
	set.DurationVar(&f.duration, "duration", 20*time.Second, "how long is measured")
	set.DurationVar(&f.wear, "wear", 5*time.Second, "mean time between two changes that a player makes to what others see of it; 0 for none")
	set.DurationVar(&f.greet, "greet", 10*time.Second, "mean time between two reliable calls that a player makes to someone in view; 0 for none")
	set.BoolVar(&f.seal, "seal", true, "encrypt all traffic")
	set.BoolVar(&f.json, "json", false, "end with one JSON object on standard output")
	set.IntVar(&f.perSocket, "persocket", 1, "bots that share a socket; players share none, so that more than 1 flatters the server")
	set.Float64Var(&f.arrive, "arrive", 0, "percent of the moves in view that must arrive within two ticks; 0 for no limit")
	set.Float64Var(&f.ratio, "ratio", 0, "how many times a sealed datagram a client-tick may cost the server; 0 for no limit")
	set.Float64Var(&f.least, "least", 100, "percent of the players who must get in; fewer end the run unmeasured")
	set.DurationVar(&f.patience, "patience", 10*time.Second, "how long hardly anybody more comes in until the world counts as full")
	set.StringVar(&f.profile, "profile", "", "folder for profiles of each process")
	set.StringVar(&f.role, "role", "", "for the processes that this program starts")
	set.StringVar(&f.manager, "manager", "", "for the processes that this program starts")
	if err := set.Parse(args); err != nil {
		return nil, err
	}
	var faults options.Faults
	fault := faults.If
	fault(set.NArg() > 0, "unknown argument %q: all arguments are flags", set.Arg(0))
	fault(f.n < 1 || f.n > 50_000, "-n %d: take 1 to 50000", f.n)
	fault(f.view < 1, "-view %d: take at least 1", f.view)
	fault(f.cellApps < 1 || f.cellApps > 64, "-cellapps %d: take 1 to 64", f.cellApps)
	fault(f.baseApps < 1 || f.baseApps > 64, "-baseapps %d: take 1 to 64", f.baseApps)
	fault(!(f.radius >= 10 && f.radius <= 1000), "-radius %v: take 10 to 1000 metres", f.radius)
	fault(!(f.speed >= 0 && f.speed <= topSpeed), "-speed %v: take 0 to %v metres a second", f.speed, topSpeed)
	fault(!(f.field == 0 || f.field >= 10 && f.field <= 100_000), "-side %v: take 10 to 100000 metres, or 0 for what -view asks for", f.field)
	fault(f.budget < 0, "-budget %d: take bytes, or 0 for the default", f.budget)
	fault(f.warm < 0 || f.duration <= 0, "-warm %v -duration %v: take positive times", f.warm, f.duration)
	fault(f.wear < 0, "-wear %v: take a positive time, or 0 for no changes", f.wear)
	fault(f.greet < 0, "-greet %v: take a positive time, or 0 for no calls", f.greet)
	fault(!(f.arrive >= 0 && f.arrive <= 100), "-arrive %v: take 0 to 100 percent", f.arrive)
	fault(!(f.least >= 0 && f.least <= 100), "-least %v: take 0 to 100 percent", f.least)
	fault(!(f.ratio >= 0), "-ratio %v: take a limit, or 0 for none", f.ratio)
	fault(f.patience < time.Second, "-patience %v: take at least 1s", f.patience)
	fault(f.perSocket < 1 || f.perSocket > bots.MaxPerSocket, "-persocket %d: take 1 to %d", f.perSocket, bots.MaxPerSocket)
	return &f, faults.Err()
}

func main() {
	f := options.Parse("crowd", parseFlags)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends at once
	var err error
	if f.role != "" {
		err = serve(ctx, f)
	} else {
		err = measure(ctx, f)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "crowd:", err)
		os.Exit(1)
	}
}
