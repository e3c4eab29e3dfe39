package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// flags are the command line.
type flags struct {
	config
	json, quiet, noTime bool
	svg                 string
}

// framesOfFilm is how many cuts a film strip shows.
const framesOfFilm = 12

func parseFlags(args []string, usage io.Writer) (*flags, error) {
	var f flags
	set := flag.NewFlagSet("balancelab", flag.ContinueOnError)
	set.SetOutput(usage)
	set.StringVar(&f.scenario, "scenario", "star", strings.Join(scenarioNames(), ", "))
	set.IntVar(&f.entities, "entities", 30_000, "entities of the crowd")
	set.IntVar(&f.cellApps, "cellapps", 80, "CellApps that cells can be given to")
	set.IntVar(&f.seconds, "seconds", 600, "length of the run, of simulated time")
	set.Uint64Var(&f.seed, "seed", 1, "seed of all chance")
	set.Float64Var(&f.size, "size", 0, "side of the world in metres; 0 means the scenario's own")
	set.Float64Var(&f.noise, "noise", 0.01, "standard deviation of reported loads, as a share of them")
	set.Float64Var(&f.jitter, "jitter", 0, "scenario uniform: how far, in metres, entities step about their places")
	set.IntVar(&f.join, "join", 60, "seconds in which the crowd comes in; 0 means all at once (not for scenario economy)")
	set.IntVar(&f.warmUp, "warmup", 0, "seconds that do not count; 0 means at least 120, and until no cell was added for 30 s")
	p := &f.balance
	set.StringVar(&f.policyName, "policy", profileName, "profile or classic")
	set.DurationVar(&p.Period, "period", 0, "how often lines are moved; 0 is the default, 500ms, with policy classic 1s")
	set.DurationVar(&p.MetaPeriod, "metaperiod", 0, "how often cells are added and retired; 0 is the default, 3s")
	set.IntVar(&p.MinCells, "mincells", 0, "least number of cells of the space; 0 is the default, 1")
	set.IntVar(&p.MaxCells, "maxcells", 0, "largest number of cells of the space; 0 is the default, no limit")
	set.Float64Var(&f.border.OffloadRate, "rate", 0, "reals that a cell hands over per second, as profile assumes; 0 is the default, 500")
	set.Float64Var(&f.border.MaxSlice, "maxslice", 0, "classic: largest load that a line moves; 0 is the default, 0.02")
	set.Float64Var(&f.profile.TargetLoad, "target", 0, "profile: average load to be kept; 0 is the default, 0.25")
	set.Float64Var(&f.profile.MinDifference, "mindifference", 0, "profile: dead band, as a share of the average; 0 is the default, 0.004")
	set.Float64Var(&f.profile.MinMove, "minmove", 0, "profile: least load worth moving a line for; 0 is the default, 0.0003")
	set.BoolVar(&f.json, "json", false, "end with the summary as one JSON object")
	set.BoolVar(&f.quiet, "quiet", false, "no line for each second")
	set.BoolVar(&f.noTime, "notime", false, "do not measure the manager's CPU time, so that the same flags give the same output")
	set.StringVar(&f.svg, "svg", "", "file for a film strip and a graph of loads")
	if err := set.Parse(args); err != nil {
		return nil, err
	}
	if f.svg != "" {
		f.frames = framesOfFilm
	}
	var stray error
	if set.NArg() > 0 {
		stray = fmt.Errorf("unknown argument %q: all arguments are flags", set.Arg(0))
	}
	return &f, errors.Join(stray, f.validate())
}

func main() {
	f, err := parseFlags(os.Args[1:], os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "balancelab: %v\n", err)
		os.Exit(2)
	}
	if err := run(f, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "balancelab:", err)
		os.Exit(1)
	}
}

func run(f *flags, out io.Writer) error {
	var clock func() time.Duration
	if !f.noTime {
		began := time.Now()
		clock = func() time.Duration { return time.Since(began) }
	}
	l, err := newLab(f.config, clock)
	if err != nil {
		return err
	}
	if !f.quiet {
		fmt.Fprintln(out, heading)
	}
	for range f.seconds {
		s, err := l.step()
		if err != nil {
			return err
		}
		if !f.quiet {
			fmt.Fprintln(out, s)
		}
	}
	s := l.summarise()
	if f.svg != "" {
		if err := os.WriteFile(f.svg, l.draw(s), 0o644); err != nil {
			return err
		}
	}
	if f.json {
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		return enc.Encode(s)
	}
	_, err = fmt.Fprint(out, s)
	return err
}
