// Package options has what the command lines of several examples share.
package options

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/cellscape/cellscape/space/cluster"
)

// Faults collects what is wrong with a command line, so that all of it is told at once.
type Faults []error

// If adds a fault if something is bad: what is wrong, and what to do about it.
func (f *Faults) If(bad bool, format string, args ...any) {
	if bad {
		*f = append(*f, fmt.Errorf(format, args...))
	}
}

// Err is all of them, nil if nothing is wrong.
func (f Faults) Err() error { return errors.Join(f...) }

// Parse reads the command line of a program. If that cannot be, it says why and ends the program; it ends
// it as well after -help.
func Parse[F any](program string, parse func(args []string) (F, error)) F {
	f, err := parse(os.Args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(0)
	case err != nil:
		fmt.Fprintln(os.Stderr, program+":", err)
		os.Exit(2)
	}
	return f
}

// Death is the flag that says which process of a world in one OS process is killed, and when: "10s" is a
// CellApp, "baseapp:10s" a BaseApp. A zero time means none.
type Death struct {
	Role  string
	After time.Duration
}

// String implements flag.Value.
func (d *Death) String() string {
	if d.After == 0 {
		return ""
	}
	return d.Role + ":" + d.After.String()
}

// Set implements flag.Value.
func (d *Death) Set(s string) (err error) {
	role, after, named := strings.Cut(s, ":")
	if !named {
		role, after = "cellapp", s
	}
	if role != "cellapp" && role != "baseapp" {
		return fmt.Errorf("role %q: take cellapp or baseapp", role)
	}
	d.Role = role
	d.After, err = time.ParseDuration(after)
	return err
}

// Of returns what kills the first process of the role in w, and what starts another.
func (d *Death) Of(w *cluster.Cluster) (kill, add func() error) {
	if d.Role == "baseapp" {
		return func() error { return w.KillBaseApp(0) }, w.AddBaseApp
	}
	return func() error { return w.KillCellApp(0) }, w.AddCellApp
}
