package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"
)

const (
	// dialsAtOnce bounds the connections that are being opened at a time: more would measure how a
	// burst of them fares.
	dialsAtOnce = 32
	// drain bounds the wait for what was sent within the measured time and is still on its way.
	drain = 3 * time.Second
	// settle lets the last messages of a run leave before it is said to be over.
	settle = 20 * time.Millisecond
)

// client runs workloads against a server.
type client struct {
	transport transport
	options   options
	server    netip.AddrPort
	beforeKB  int
}

func (c *client) player(s *spec, h *histogram, small bool) (*player, error) {
	return newPlayer(c.transport, c.options, role{at: c.server, small: small}, s, h)
}

// run runs a workload and returns what came of it.
func (c *client) run(ctx context.Context, s *spec) (*result, error) {
	c.beforeKB = residentKB()
	if s.Blob > 0 {
		return c.blobs(ctx, s)
	}
	return c.streams(ctx, s)
}

// crowd is the connections of one run; the first talks with the server about it.
type crowd struct {
	players []*player
	latency histogram
}

// close ends all connections, at once rather than one after another.
func (c *crowd) close() error {
	var all sync.WaitGroup
	faults := make([]error, len(c.players))
	for i, p := range c.players {
		if p != nil {
			all.Go(func() { faults[i] = p.leave() })
		}
	}
	all.Wait()
	return errors.Join(faults...)
}

// gather opens the connections of a run.
func (c *client) gather(ctx context.Context, s *spec, n int) (*crowd, error) {
	g := &crowd{players: make([]*player, n)}
	var err error
	if g.players[0], err = c.player(s, &g.latency, n > 1); err == nil {
		_, err = g.players[0].connect(ctx, c.server, withJSON(kindBegin, s))
	}
	if err != nil {
		return nil, errors.Join(err, g.close())
	}
	var all sync.WaitGroup
	places := make(chan struct{}, dialsAtOnce)
	faults := make([]error, n)
	for i := 1; i < n; i++ {
		places <- struct{}{}
		all.Go(func() {
			g.players[i], faults[i] = c.join(ctx, s, &g.latency)
			<-places
		})
	}
	all.Wait()
	if err := errors.Join(faults...); err != nil {
		return nil, errors.Join(err, g.close())
	}
	return g, nil
}

// join opens one more connection and has it take part.
func (c *client) join(ctx context.Context, s *spec, h *histogram) (*player, error) {
	p, err := c.player(s, h, true)
	if err != nil {
		return nil, err
	}
	if _, err := p.connect(ctx, c.server, []byte{byte(kindPing)}); err != nil {
		return p, err
	}
	return p, p.sync(func() { _ = p.carrier.Send(p.ch, []byte{byte(kindJoin)}) })
}

// streams runs a workload of steady streams.
func (c *client) streams(ctx context.Context, s *spec) (*result, error) {
	g, err := c.gather(ctx, s, s.Conns)
	if err != nil {
		return nil, err
	}
	here, there, err := g.measure(ctx, s, c.beforeKB)
	if err = errors.Join(err, g.close()); err != nil {
		return nil, err
	}
	return c.result(s, here, there), nil
}

// measure runs the times of a workload and returns what both ends have to tell.
func (g *crowd) measure(ctx context.Context, s *spec, beforeKB int) (here, there *side, err error) {
	lead := g.players[0]
	if _, err := lead.request(ctx, "starting", []byte{byte(kindJoin)}); err != nil {
		return nil, nil, err
	}
	var marks [2]mark
	for i, wait := range [...]time.Duration{s.Learn + s.Warmup + g.quiet(s), s.Duration} {
		if err := sleep(ctx, wait); err != nil {
			return nil, nil, err
		}
		if marks[i], err = g.mark(); err != nil {
			return nil, nil, err
		}
	}
	if err := sleep(ctx, settle); err != nil {
		return nil, nil, err
	}
	if there, err = g.finish(ctx); err != nil {
		return nil, nil, err
	}
	here, err = g.drained(ctx, there.Sent.Measured)
	if err != nil {
		return nil, nil, err
	}
	here.window(marks[0], marks[1])
	here.BeforeKB = beforeKB
	return here, there, nil
}

// quiet is how much later than the measured time the marks of many players are set: to ask them all
// takes as long as a beat does to arrive, and would hold it up.
func (g *crowd) quiet(s *spec) time.Duration {
	if len(g.players) == 1 {
		return 0
	}
	return s.Down.Every / 2
}

// finish tells the server that all is sent, and returns its report.
func (g *crowd) finish(ctx context.Context) (*side, error) {
	msg, err := g.players[0].request(ctx, "ending", []byte{byte(kindFinish)})
	if err != nil {
		return nil, err
	}
	there := new(side)
	if err := json.Unmarshal(msg[1:], there); err != nil || kind(msg[0]) != kindReport {
		return nil, fmt.Errorf("the server's report cannot be read: %w", err)
	}
	return there, nil
}

// mark sums up all connections.
func (g *crowd) mark() (mark, error) {
	m := mark{at: g.players[0].clock(), cpu: processCPU()}
	for _, p := range g.players {
		if err := p.sync(func() { m.wire.add(p.carrier.counters(p.ch)) }); err != nil {
			return mark{}, err
		}
	}
	return m, nil
}

// drained waits for what is still on its way, and tells what has come.
func (g *crowd) drained(ctx context.Context, sent uint64) (*side, error) {
	for end := time.Now().Add(drain); ; {
		d, err := g.side()
		if err != nil || d.Received.Measured >= sent || time.Now().After(end) {
			return d, err
		}
		if err := sleep(ctx, 5*settle); err != nil {
			return nil, err
		}
	}
}

func (g *crowd) side() (*side, error) {
	d := &side{Conns: len(g.players), AfterKB: residentKB()}
	for _, p := range g.players {
		err := p.sync(func() {
			d.WireAll.add(p.carrier.counters(p.ch))
			if p.down != nil {
				d.Received.add(p.down.figures)
			}
			if p.up != nil {
				d.Sent.add(p.up.sent())
			}
		})
		if err != nil {
			return nil, err
		}
		if len(p.closed) > 0 {
			d.Closed++
		}
	}
	d.Latency = g.latency.summary()
	return d, nil
}

// sleep waits unless ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
