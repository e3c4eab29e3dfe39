package main

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cellscape/cellscape/examples/internal/options"
	"github.com/cellscape/cellscape/mercury/secure"
	"github.com/cellscape/cellscape/space/cluster"
)

// keyVariable is the environment variable with the world's key: on a command line everyone on the
// machine could read it.
const keyVariable = "MACHINES_KEY"

type flags struct {
	role                     string
	managers                 []string
	listen, public           string
	advertise                netip.Addr
	port                     uint16
	ports                    cluster.Ports
	http, url, trust, name   string
	leave, duration, startIn time.Duration
}

var roles = []string{"managers", "login", "baseapp", "cellapp", "visitor", "stop", "key"}

func parseFlags(args []string) (*flags, error) {
	var f flags
	set := flag.NewFlagSet("machines", flag.ContinueOnError)
	set.StringVar(&f.role, "role", "", strings.Join(roles, ", "))
	set.Func("managers", "host:port of all managers, separated by commas; an odd number of them", func(s string) error {
		f.managers = strings.Split(s, ",")
		return nil
	})
	set.StringVar(&f.listen, "listen", cluster.DefaultListen, "address, name or network interface at which other processes reach this one; of managers also what their entry begins with")
	set.StringVar(&f.public, "public", "", "the same for players; that of -listen if empty")
	set.TextVar(&f.advertise, "advertise", netip.Addr{}, "address that players are told, behind an address translation")
	set.Func("ports", "ports for players, as 20100-20199; any if empty", func(s string) error {
		if s == "" {
			return nil
		}
		first, last, _ := strings.Cut(s, "-")
		a, err := strconv.ParseUint(first, 10, 16)
		b, err2 := strconv.ParseUint(last, 10, 16)
		if err != nil || err2 != nil {
			return errors.New("give a range, such as 20100-20199")
		}
		f.ports = cluster.Ports{First: uint16(a), Last: uint16(b)}
		return nil
	})
	set.StringVar(&f.http, "http", "", "address of /ready, and of /metrics at managers; none if empty")
	set.DurationVar(&f.leave, "leave", leaveLimit, "how long a process may take to leave a world that goes on, or to stop it")
	set.DurationVar(&f.startIn, "start", time.Minute, "how long a start may take, the others' included")
	set.StringVar(&f.url, "url", "", "of a visitor: where it logs in, as udp://203.0.113.7:20013")
	set.StringVar(&f.trust, "trust", "", "of a visitor: the public half of the world's key")
	set.StringVar(&f.name, "name", "Ada", "of a visitor: its name")
	set.DurationVar(&f.duration, "duration", 0, "of a visitor: how long it walks; 0 for no end")
	if err := set.Parse(args); err != nil {
		return nil, err
	}
	return &f, f.faults(set)
}

// faults are all that is wrong with the command line.
func (f *flags) faults(set *flag.FlagSet) error {
	var faults options.Faults
	fault := faults.If
	fault(set.NArg() > 0, "unknown argument %q: all arguments are flags", set.Arg(0))
	fault(!slices.Contains(roles, f.role), "-role %q: take one of %s", f.role, strings.Join(roles, ", "))
	fault(f.role == "visitor" && f.url == "", "-url: give where the visitor logs in")
	fault(f.leave <= 0, "-leave %v: take a positive time", f.leave)
	if f.role == "visitor" || f.role == "key" {
		return faults.Err()
	}
	fault(len(f.managers) == 0, "-managers: give where they are, as m0:7000,m1:7000,m2:7000")
	if f.role == "managers" && len(f.managers) > 0 {
		own := slices.IndexFunc(f.managers, func(m string) bool { return strings.HasPrefix(m, f.listen+":") })
		if own < 0 {
			fault(true, "-listen %s: give the host of an entry of -managers, which are %v", f.listen, f.managers)
			return faults.Err()
		}
		_, port, _ := net.SplitHostPort(f.managers[own])
		p, err := strconv.ParseUint(port, 10, 16)
		fault(err != nil, "-managers %s: give its port as a number", f.managers[own])
		f.port = uint16(p)
	}
	return faults.Err()
}

// config is the configuration of a process.
func (f *flags) config() (cfg cluster.Config, err error) {
	if cfg, err = game(); err != nil {
		return cfg, err
	}
	cfg.Listen, cfg.Managers, cfg.ManagerPort, cfg.StartTimeout = f.listen, f.managers, f.port, f.startIn
	if digits := os.Getenv(keyVariable); digits != "" {
		if cfg.Key, err = secure.ParsePrivateKey(digits); err != nil {
			return cfg, fmt.Errorf("$%s: %w: make one with -role key", keyVariable, err)
		}
	}
	door := cluster.Door{Network: cluster.UDP, Listen: f.public, Advertise: f.advertise, Ports: f.ports}
	if f.role == "login" {
		door.LoginPort, door.Ports = f.ports.First, cluster.Ports{}
	}
	cfg.Doors = []cluster.Door{door}
	return cfg, nil
}
