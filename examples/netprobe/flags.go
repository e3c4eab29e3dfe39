package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/netip"
	"time"
)

// flags are the command line.
type flags struct {
	server, self, once bool
	client, listen     string
	profile            string
	noConnect          bool

	scenario string
	options
	spec spec
}

const usage = `Usage:

	netprobe -server -listen :20000 [-transport T] [-plain] [-secret S]
	netprobe -client HOST:20000 -scen game|bulk|blob|fan [flags]
	netprobe -self -scen game|bulk|blob|fan [flags]

The client prints one JSON object a run. Latencies compare the clocks of two processes: they mean something only when both run on
one machine (two network namespaces of it may have a bad link between them).

Flags:
`

// parseFlags reads the command line; what it says to the user goes to out. The error lists all faults at once.
func parseFlags(args []string, out io.Writer) (*flags, error) {
	var f flags
	set := flag.NewFlagSet("netprobe", flag.ContinueOnError)
	set.SetOutput(out)
	set.Usage = func() { fmt.Fprint(out, usage); set.PrintDefaults() }
	set.BoolVar(&f.server, "server", false, "serve runs until Ctrl-C")
	set.StringVar(&f.client, "client", "", "run a scenario against the server at this `address`")
	set.BoolVar(&f.self, "self", false, "run both ends in this process, over loopback: processor time and memory are of both")
	set.BoolVar(&f.once, "once", false, "server: end after one run, so that memory is that of the run alone")
	set.StringVar(&f.listen, "listen", ":20000", "server: `address` to listen at")
	set.StringVar(&f.profile, "cpuprofile", "", "write a processor profile to this `file`")
	set.StringVar(&f.scenario, "scen", "game", "scenario: "+scenarioNames)
	set.StringVar(&f.transport, "transport", "mercury", "one of "+transportNames())
	set.BoolVar(&f.plain, "plain", false, "no encryption, where the transport can do without; both ends alike")
	set.StringVar(&f.secret, "secret", "", "`text` from which both ends derive the server's key. Empty takes one that everybody knows: it costs the same and is no protection")
	set.IntVar(&f.copies, "copies", 0, "mercury: most early resends of a message; -1 for none, 0 for the default")
	set.BoolVar(&f.noConnect, "noconnect", false, "client: do not measure what connecting costs, after the workload")
	learn := set.Duration("learn", 0, "traffic before the warm-up, for the transport to learn the path")
	warmup := set.Duration("warmup", 0, "traffic before the measured time (2s; bulk 1s)")
	duration := set.Duration("duration", 0, "measured time (game 30s, bulk 5s, fan 6s)")
	conns := set.Int("conns", 0, "fan: connections (2000); blob: fresh connections, one after another (5)")
	hz := set.Float64("hz", 0, "messages a second from the server on each connection (game 62.5, fan 10)")
	size := set.Int("size", 0, "bytes of a message (game 200 from the server, bulk 100, fan 300) or of a blob (1048576)")
	transfers := set.Int("transfers", 0, "blob: how often it is asked for on each connection (3)")
	backlog := set.Int("backlog", 0, "bulk: bytes that may be on their way (1048576)")
	if err := set.Parse(args); err != nil {
		return nil, err
	}
	given := map[string]bool{}
	set.Visit(func(g *flag.Flag) { given[g.Name] = true })

	var faults []error
	fault := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	roles := 0
	for _, is := range []bool{f.server, f.client != "", f.self} {
		if is {
			roles++
		}
	}
	fault(roles != 1, "say one of -server, -client ADDRESS and -self")
	fault(set.NArg() > 0, "unknown argument %q: all arguments are flags", set.Arg(0))
	fault(f.copies < -1 || f.copies > 2, "-copies %d: take -1 (none) to 2, or 0 for the default", f.copies)
	t, err := findTransport(f.transport)
	if err != nil {
		faults = append(faults, err)
	}
	fault(f.plain && t.noPlain, "-plain: %s is always encrypted: leave it out", f.transport)
	s, ok := scenario(f.scenario)
	if !ok {
		fault(true, "-scen %q: take %s", f.scenario, scenarioNames)
		return nil, errors.Join(faults...)
	}
	only := func(name string, scens ...string) bool {
		for _, n := range scens {
			if given[name] && n == s.Scenario {
				return true
			}
		}
		fault(given[name], "-%s does nothing in scenario %s: leave it out", name, s.Scenario)
		return false
	}
	if only("learn", "game", "bulk", "fan") {
		s.Learn = *learn
	}
	if only("warmup", "game", "bulk", "fan") {
		s.Warmup = *warmup
	}
	if only("duration", "game", "bulk", "fan") {
		s.Duration = *duration
	}
	if only("conns", "fan", "blob") {
		s.Conns = *conns
	}
	if only("transfers", "blob") {
		s.Transfers = *transfers
	}
	if only("backlog", "bulk") {
		s.Backlog = *backlog
	}
	if only("hz", "game", "fan") {
		fault(*hz <= 0, "-hz %v: take more than 0", *hz)
		s.Down.Every = time.Duration(float64(time.Second) / max(*hz, 1e-3))
	}
	if given["size"] {
		switch s.Scenario {
		case "blob":
			s.Blob = *size
		case "bulk":
			s.Up.Size = *size
		default:
			s.Down.Size = *size
		}
		fault(*size < 1, "-size %d: take at least 1", *size)
	}
	if err := s.validate(); err != nil {
		faults = append(faults, err)
	}
	f.spec = s
	return &f, errors.Join(faults...)
}

// resolve makes an address of what the user gave. Without a host it is all addresses of this one.
func resolve(text string) (netip.AddrPort, error) {
	at, err := net.ResolveUDPAddr("udp", text)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("address %q: %w: take host:port", text, err)
	}
	a := at.AddrPort()
	if !a.Addr().IsValid() {
		return netip.AddrPortFrom(netip.IPv6Unspecified(), a.Port()), nil
	}
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()), nil
}
