// Arena is a crowd in a living world: bots log in as any client would, dance the eight-pointed star
// of a balance demonstration, chat and change what they wear, among guards that wander and shout.
// Cells are added, and their lines move after the crowd.
//
//	go run ./examples/arena                    everything in one OS process
//	go run ./examples/arena -kill baseapp:10s  the same, and a BaseApp is killed after ten seconds
//	go run ./examples/arena -role managers     one role each, from several shells:
//	go run ./examples/arena -role login        all find each other through -manager
//	go run ./examples/arena -role baseapp
//	go run ./examples/arena -role cellapp
//	go run ./examples/arena -role bots
//	go run ./examples/arena -role key          prints the key with which values are set on the page
//	go run ./examples/arena -role stop         stops that world in order, and says what was saved
//
// With -store arena.db, given to the managers and the BaseApps if they are processes of their
// own, the guards are kept in that file, and come back at the next start.
//
// All traffic is encrypted, unless -seal=false is given. Roles in separate OS processes need a
// common key for that: export ARENA_KEY=$(openssl rand -hex 32).
//
// With -rtt 100ms the bots live as far away as that from the servers, which shows how players with
// common lines see each other, also those who cross from cell to cell (Linux, in one OS process).
//
// With -doors udp,websocket,quic,tcp -cert arena.pem visitors come in over any of these networks.
// At the start it prints for each how to visit it with examples/visitor. At the end nobody has
// counted what visitors were told and whom they waved to, so bots count only what they missed
// themselves; and the world comes to rest only when visitors have left or stand still.
//
// SIGTERM to a world in one process stops it in order within seconds: players are told, all that
// the store keeps is written, and a line says what that was. To one role it ends that process
// alone.
//
// It prints one status line a second and serves a live page. At the end (-duration, or Ctrl-C)
// the world is frozen, and every bot compares what it holds with what the server says it should
// hold. The exit status is 1 if anything differed, a message was lost, an error happened, or too
// few of the moves of the bots were seen in time by those around them (-arrive), or if the world
// did not come to rest, on a machine that cannot keep up: then nothing is said of what differs or
// is lost (undecided).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/cellscape/cellscape/examples/internal/options"
	"github.com/cellscape/cellscape/space/cellappmgr"
	"github.com/cellscape/cellscape/space/cluster"
)

// flags are the command line. All roles of one world are given the same.
type flags struct {
	bots, guards, cellApps, baseApps int
	duration, rtt                    time.Duration
	leave                            float64
	kill                             options.Death
	seed                             uint64
	http                             string
	httpSet                          bool
	json, verbose                    bool
	seal, sealSet                    bool
	role, manager, store             string
	public, advertise, ports, inner  string
	doors, cert                      string
	term                             uint
	arrive                           float64
}

func parseFlags(args []string) (*flags, error) {
	var f flags
	set := flag.NewFlagSet("arena", flag.ContinueOnError)
	set.IntVar(&f.bots, "bots", 300, "bot clients")
	set.IntVar(&f.guards, "guards", 200, "guards, spread over the BaseApps")
	set.IntVar(&f.cellApps, "cellapps", 4, "CellApps of the world")
	set.IntVar(&f.baseApps, "baseapps", 2, "BaseApps of the world")
	set.DurationVar(&f.duration, "duration", 0, "how long the bots dance; 0 means until Ctrl-C")
	set.Float64Var(&f.leave, "leave", 0, "share of the bots that leave at half of -duration; the world has to be well again within 10 s")
	set.Var(&f.kill, "kill", "kill a CellApp after this time, as 10s, or a BaseApp, as baseapp:10s, and start another; all in one process")
	set.Uint64Var(&f.seed, "seed", 1, "seed for what the bots do")
	set.StringVar(&f.http, "http", "127.0.0.1:8080", "where the live page is served; empty for none")
	set.BoolVar(&f.json, "json", false, "end with one JSON object on standard output")
	set.BoolVar(&f.verbose, "v", false, "log what the processes tell operators")
	set.BoolVar(&f.seal, "seal", true, "encrypt all traffic; roles share the key in $"+keyVariable+"")
	set.StringVar(&f.role, "role", "", "managers, login, baseapp, cellapp, bots, stop or key; empty for all in one process")
	set.StringVar(&f.store, "store", "", "file that keeps the guards; none if empty")
	set.UintVar(&f.term, "term", 0, "lowest term of the managers, with -role managers; 0: what the world knows, and one more")
	set.Float64Var(&f.arrive, "arrive", 99, "percent of the moves in view that must arrive within two ticks; 0 for no limit, as with -kill unless it is given")
	set.StringVar(&f.public, "public", "", "address or network interface where players come in; the loopback if empty")
	set.StringVar(&f.advertise, "advertise", "", "address that players are told, behind an address translation")
	set.StringVar(&f.ports, "ports", "", "ports of the BaseApps for players, as 20100-20199; any if empty")
	set.StringVar(&f.doors, "doors", "", "let visitors in by these networks: udp, by which the bots come, and any of websocket, quic and tcp, as udp,quic; none if empty")
	set.StringVar(&f.cert, "cert", "", "file for the certificate that the arena makes for doors other than udp, and that their visitors trust")
	set.StringVar(&f.inner, "inner", "udp", "network between the processes: udp or tcp")
	set.DurationVar(&f.rtt, "rtt", 0, "round-trip time between the bots and the servers, added on Linux in one process")
	set.StringVar(&f.manager, "manager", "127.0.0.1:20000", "address of the managers, with -role")
	if err := set.Parse(args); err != nil {
		return nil, err
	}
	arriveSet := false
	set.Visit(func(g *flag.Flag) {
		f.httpSet = f.httpSet || g.Name == "http"
		arriveSet = arriveSet || g.Name == "arrive"
		f.sealSet = f.sealSet || g.Name == "seal"
	})
	if f.kill.After > 0 && !arriveSet {
		f.arrive = 0 // nobody sees the moves of the moment
	}
	return &f, f.faults(set)
}

// faults are all that is wrong with the command line.
func (f *flags) faults(set *flag.FlagSet) error {
	var faults options.Faults
	fault := faults.If
	fault(set.NArg() > 0, "unknown argument %q: all arguments are flags", set.Arg(0))
	fault(f.bots < 0 || f.bots > 20000, "-bots %d: take 0 to 20000", f.bots)
	fault(f.guards < 0 || f.guards > 100000, "-guards %d: take 0 to 100000", f.guards)
	fault(f.cellApps < 1, "-cellapps %d: take at least 1", f.cellApps)
	fault(f.baseApps < 1, "-baseapps %d: take at least 1", f.baseApps)
	fault(f.term > cellappmgr.MaxTerm, "-term %d: take up to %d", f.term, cellappmgr.MaxTerm)
	fault(!(f.arrive >= 0 && f.arrive <= 100), "-arrive %v: take 0 to 100 percent", f.arrive)
	fault(f.leave < 0 || f.leave >= 1, "-leave %v: take a share, 0 or more and less than 1", f.leave)
	fault(f.leave > 0 && f.duration == 0, "-leave %v: give a -duration, at half of which they leave", f.leave)
	fault(f.duration < 0, "-duration %v: take a positive time, or 0 for no end", f.duration)
	fault(f.kill.After > 0 && f.role != "", "-kill %v: it goes without -role: kill the process itself", &f.kill)
	fault(f.rtt < 0 || f.rtt > 2*time.Second, "-rtt %v: take up to 2s", f.rtt)
	fault(f.rtt > 0 && (f.role != "" || f.public != "" || f.advertise != ""), "-rtt %v: it goes without -role, -public and -advertise", f.rtt)
	networks := strings.Split(f.doors, ",")
	fault(f.doors != "" && networks[0] != cluster.UDP, "-doors %q: begin with udp, by which the bots come in", f.doors)
	fault(f.role != "" && len(networks) > 1, "-doors %q: it goes without -role: all processes would need one certificate", f.doors)
	fault((f.cert != "") != (len(networks) > 1), "-doors %q with -cert %q: give a file for the certificate of doors other than udp, and only for those", f.doors, f.cert)
	return faults.Err()
}

// errTerminated is the cause of a context that SIGTERM has ended.
var errTerminated = errors.New("terminated")

func main() {
	f := options.Parse("arena", parseFlags)
	level := slog.LevelWarn
	if f.verbose {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
	terminated, end := context.WithCancelCause(context.Background())
	ctx, stop := signal.NotifyContext(terminated, os.Interrupt)
	term := make(chan os.Signal, 1)
	signal.Notify(term, syscall.SIGTERM)
	go func() { <-term; end(errTerminated) }()
	// A second Ctrl-C ends at once.
	context.AfterFunc(ctx, stop)
	if err := run(ctx, f, log); err != nil {
		fmt.Fprintln(os.Stderr, "arena:", err)
		os.Exit(1)
	}
}
