// Netprobe measures a transport as iperf measures TCP: a server, a client, a workload, one JSON object a run.
//
//	go run ./mercury/netprobe -server -listen :20000
//	go run ./mercury/netprobe -client 127.0.0.1:20000 -scen game
//	go run ./mercury/netprobe -self -scen bulk -transport tls
//
// With -self a link that is as bad as its flags say can be put between the ends (-rate, -queue,
// -delay, -loss, -bursts, -outage):
//
//	go run ./mercury/netprobe -self -scen game -delay 25ms -rate 256 -queue 200ms -loss 0.05 -lossfor 10s -warmup 15s
//
// The scenarios are those of a game: game is one player's traffic, bulk as many small messages as
// go through one connection, blob a megabyte on request, fan a server's tick to thousands of
// players. Each runs over each transport by the same code, over the interface carrier: what differs
// between two results is the transport. Transport tls is what Mercury has to beat, crypto/tls by
// hand; tcp, websocket and quic carry Mercury's channels over those protocols.
//
// Latencies are taken from the machine's monotonic clock, so both ends must run on one machine.
// "netprobe -help" lists the flags; the fields of the JSON are documented at type result.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/signal"
	"runtime/pprof"
	"syscall"

	"github.com/cellscape/cellscape/mercury/host"
)

func main() {
	f, err := parseFlags(os.Args[1:], os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err == nil {
		var ctx context.Context
		var stop context.CancelFunc
		ctx, stop = signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		err = profiled(f.profile, func() error { return run(ctx, f, os.Stdout, os.Stderr) })
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "netprobe:", err)
		os.Exit(1)
	}
}

// profiled calls f and writes a profile of it, if one is wanted.
func profiled(file string, f func() error) error {
	if file == "" {
		return f()
	}
	w, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("-cpuprofile: %w", err)
	}
	if err := pprof.StartCPUProfile(w); err != nil {
		return errors.Join(err, w.Close())
	}
	err = f()
	pprof.StopCPUProfile()
	return errors.Join(err, w.Close())
}

// run does what the flags say. Results go to out, all else to log.
func run(ctx context.Context, f *flags, out, log io.Writer) error {
	raiseFileLimit()
	h, err := host.New(host.Config{Clock: newClock()})
	if err != nil {
		return err
	}
	f.host, f.clock = h, h.Clock
	return errors.Join(dispatch(ctx, f, out, log), h.Close())
}

func dispatch(ctx context.Context, f *flags, out, log io.Writer) error {
	switch {
	case f.server:
		return serve(ctx, f, log)
	case f.self:
		return runSelf(ctx, f, out)
	}
	to, err := resolve(f.client)
	if err != nil {
		return err
	}
	return probe(ctx, f, to, nil, out)
}

// serve serves until ctx ends, or after one run with -once.
func serve(ctx context.Context, f *flags, log io.Writer) error {
	at, err := resolve(f.listen)
	if err != nil {
		return err
	}
	t, err := findTransport(f.transport)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	once := stop
	if !f.once {
		once = nil
	}
	s, err := newServer(t, f.options, role{at: at}, once)
	if err != nil {
		return err
	}
	fmt.Fprintf(log, "netprobe: %s at %v, protection: %s\n", t.name, s.process.Address().At, t.protection(f.options))
	select {
	case <-ctx.Done():
		return s.process.Stop()
	case <-s.process.Done():
		return nil // closing the host tells why
	}
}

// probe runs the scenario against a server, over a link unless that is nil, and prints the result.
func probe(ctx context.Context, f *flags, to netip.AddrPort, link *between, out io.Writer) error {
	t, err := findTransport(f.transport)
	if err != nil {
		return err
	}
	c := &client{transport: t, options: f.options, server: to}
	r, err := c.run(ctx, &f.spec)
	if err == nil && !f.noConnect {
		r.Connect, err = c.connects(ctx)
	}
	if err != nil {
		return err
	}
	if f.self {
		r.Notes = append(r.Notes, "both ends ran in one process: cpu_s, rss_kb and what follows from them are of both")
	}
	if link != nil {
		r.Link = link.counts()
	}
	return json.NewEncoder(out).Encode(r)
}

// runSelf runs both ends in this process.
func runSelf(ctx context.Context, f *flags, out io.Writer) error {
	t, err := findTransport(f.transport)
	if err != nil {
		return err
	}
	s, err := newServer(t, f.options, role{at: netip.MustParseAddrPort("127.0.0.1:0")}, nil)
	if err != nil {
		return err
	}
	at := s.process.Address().At
	var link *between
	if f.link.wanted() {
		if link, at, err = f.link.open(at); err != nil {
			return err
		}
		defer link.close()
	}
	return errors.Join(probe(ctx, f, at, link, out), s.process.Stop())
}
