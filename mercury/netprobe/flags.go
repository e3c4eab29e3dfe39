package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/udp"
)

// flags are the command line.
type flags struct {
	server, self, once bool
	client, listen     string
	profile            string
	noConnect          bool

	scenario string
	link     linkFlags
	options
	spec spec // the scenario's, with the changes below

	learn, warmup, duration                time.Duration
	conns, size, transfers, backlog, slice int
	hz                                     float64
}

const usage = `Usage:

	netprobe -server -listen :20000 [-transport T] [-plain] [-secret S]
	netprobe -client HOST:20000 -scen game|bulk|blob|fan [flags]
	netprobe -self -scen game|bulk|blob|fan [flags]

The client prints one JSON object a run. Latencies compare the clocks of two processes: they mean something only when both run on
one machine (two network namespaces of it may have a bad link between them).

Flags:
`

// parseFlags reads the command line; what it says to the user goes to out. The error lists all
// faults at once.
func parseFlags(args []string, out io.Writer) (*flags, error) {
	var f flags
	set := f.define(out)
	if err := set.Parse(args); err != nil {
		return nil, err
	}
	var given []string
	set.Visit(func(g *flag.Flag) { given = append(given, g.Name) })
	faults := []error{f.faults(given)}
	if set.NArg() > 0 {
		faults = append(faults, fmt.Errorf("unknown argument %q: all arguments are flags", set.Arg(0)))
	}
	s, ok := scenario(f.scenario)
	if !ok {
		faults = append(faults, fmt.Errorf("-scen %q: take %s", f.scenario, scenarioNames))
		return nil, errors.Join(faults...)
	}
	f.spec = s
	faults = append(faults, f.change(given), f.spec.validate())
	return &f, errors.Join(faults...)
}

func (f *flags) define(out io.Writer) *flag.FlagSet {
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
	set.StringVar(&f.secret, "secret", "", "`text` from which both ends derive the server's keys. Empty takes one that everybody knows: it costs the same and is no protection")
	set.IntVar(&f.copies, "copies", 0, "mercury: most early resends of a message; -1 for none, 0 for the default; what it says goes for the messages of its own end")
	set.IntVar(&f.mtu, "mtu", 0, fmt.Sprintf("mercury: longest datagram, where the path carries it; 0 for the default, %d for jumbo frames; of its own end's messages", mercury.JumboMTU))
	set.BoolVar(&f.noConnect, "noconnect", false, "client: do not measure what connecting costs, after the workload")
	set.DurationVar(&f.learn, "learn", 0, "traffic before the warm-up, for the transport to learn the path")
	set.DurationVar(&f.warmup, "warmup", 0, "traffic before the measured time (2s; bulk 1s)")
	set.DurationVar(&f.duration, "duration", 0, "measured time (game 30s, bulk 5s, fan 6s)")
	set.IntVar(&f.conns, "conns", 0, "fan: connections (2000); blob: fresh connections, one after another (5)")
	set.Float64Var(&f.hz, "hz", 0, "messages a second from the server on each connection (game 62.5, fan 10)")
	set.IntVar(&f.size, "size", 0, "bytes of a message (game 200 from the server, bulk 100, fan 300) or of a blob (1048576)")
	set.IntVar(&f.transfers, "transfers", 0, "blob: how often it is asked for on each connection (3)")
	set.IntVar(&f.backlog, "backlog", 0, "bulk: bytes that may be on their way (1048576)")
	set.IntVar(&f.slice, "slice", 0, "fan: to how many connections a tick sends before it flushes (64)")
	f.link.define(set)
	return set
}

// faults are those that have nothing to do with the scenario.
func (f *flags) faults(given []string) error {
	var faults []error
	roles := 0
	for _, is := range []bool{f.server, f.client != "", f.self} {
		if is {
			roles++
		}
	}
	if roles != 1 {
		faults = append(faults, errors.New("say one of -server, -client ADDRESS and -self"))
	}
	if f.copies < -1 || f.copies > 2 {
		faults = append(faults, fmt.Errorf("-copies %d: take -1 (none) to 2, or 0 for the default", f.copies))
	}
	if f.mtu != 0 && (f.mtu < mercury.DefaultSafeMTU || f.mtu > udp.MaxDatagram) {
		faults = append(faults, fmt.Errorf("-mtu %d: take %d to %d, or 0 for the default", f.mtu, mercury.DefaultSafeMTU, udp.MaxDatagram))
	}
	t, err := findTransport(f.transport)
	switch {
	case err != nil:
		faults = append(faults, err)
	case f.plain && t.noPlain:
		faults = append(faults, fmt.Errorf("-plain: %s is always encrypted: leave it out", t.name))
	}
	faults = append(faults, f.link.faults(given, f.self, err != nil || t.datagrams))
	return errors.Join(faults...)
}

// change puts into the spec what was given, as far as the scenario knows it.
func (f *flags) change(given []string) error {
	s := &f.spec
	message := &s.Down.Size
	switch s.Scenario {
	case "bulk":
		message = &s.Up.Size
	case "blob":
		message = &s.Blob
	}
	var faults []error
	for _, c := range []struct {
		name      string
		scenarios []string
		do        func()
	}{
		{"learn", []string{"game", "bulk", "fan"}, func() { s.Learn = f.learn }},
		{"warmup", []string{"game", "bulk", "fan"}, func() { s.Warmup = f.warmup }},
		{"duration", []string{"game", "bulk", "fan"}, func() { s.Duration = f.duration }},
		{"conns", []string{"fan", "blob"}, func() { s.Conns = f.conns }},
		{"hz", []string{"game", "fan"}, func() { s.Down.Every = time.Duration(float64(time.Second) / max(f.hz, minHz)) }},
		{"size", []string{"game", "bulk", "blob", "fan"}, func() { *message = f.size }},
		{"transfers", []string{"blob"}, func() { s.Transfers = f.transfers }},
		{"slice", []string{"fan"}, func() { s.Slice = f.slice }},
		{"backlog", []string{"bulk"}, func() { s.Backlog = f.backlog }},
	} {
		switch {
		case !slices.Contains(given, c.name):
		case slices.Contains(c.scenarios, s.Scenario):
			c.do()
		default:
			faults = append(faults, fmt.Errorf("-%s does nothing in scenario %s: leave it out", c.name, s.Scenario))
		}
	}
	if slices.Contains(given, "hz") && f.hz <= 0 {
		faults = append(faults, fmt.Errorf("-hz %v: take more than 0", f.hz))
	}
	if slices.Contains(given, "size") && f.size < 1 { // 0 would be a flow of nothing
		faults = append(faults, fmt.Errorf("-size %d: take at least 1", f.size))
	}
	return errors.Join(faults...)
}

// minHz makes a rate of 0 or less a time between two messages that no spec takes.
const minHz = 1e-3

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
