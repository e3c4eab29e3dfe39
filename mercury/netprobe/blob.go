package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/cellscape/cellscape/mercury"
)

// blob is a large answer, asked for again and again on each of a few fresh connections, one after
// another. The first of a connection is cold, the others are warm. A request counts from its Send
// to the last byte of the answer, so one round trip is in it.
func blob() spec {
	return spec{Scenario: "blob", Conns: 5, Blob: 1 << 20, Transfers: 3, Backlog: defaultBacklog, Slice: defaultSlice}
}

// answer sends size bytes in pieces and counts them.
func answer(t mercury.Transport, ch mercury.ChannelID, size int, f *figures) {
	piece := make([]byte, pieceHeader+pieceSize)
	piece[0] = byte(kindPiece)
	f.Measured++
	f.Window++
	f.All++
	f.Bytes += uint64(size)
	f.AllBytes += uint64(size)
	for size > 0 {
		n := min(size, pieceSize)
		if size -= n; size == 0 {
			piece[1] = flagLast
		}
		if t.Send(ch, piece[:pieceHeader+n]) != nil {
			return // Closed follows
		}
	}
}

// blobTimes are the times that the transfers of a run took.
type blobTimes struct {
	Cold        []ms `json:"cold_ms"`  // the first of each connection
	Warm        []ms `json:"warm_ms"`  // the others
	Again       []ms `json:"again_ms"` // the first after the client has gone and come back, by what it was given for that
	ColdMedian  ms   `json:"cold_median_ms"`
	WarmMedian  ms   `json:"warm_median_ms"`
	AgainMedian ms   `json:"again_median_ms"`
	Connect     []ms `json:"connect_ms"`
}

// asking is the client's side of one connection of a blob: it asks as often as it shall and keeps the times.
type asking struct {
	size, left int
	asked      time.Duration
	clock      func() time.Duration
	took       []time.Duration
	figures
}

// ask asks for the next answer; false when all have come.
func (a *asking) ask(t mercury.Transport, ch mercury.ChannelID) bool {
	if a.left == 0 {
		return false
	}
	a.left--
	a.asked = a.clock()
	_ = t.Send(ch, withNumber(kindRequest, a.size)) // Closed follows
	return true
}

// piece takes a piece of the answer and reports whether all answers have come.
func (a *asking) piece(t mercury.Transport, ch mercury.ChannelID, msg []byte) bool {
	if len(msg) < pieceHeader {
		a.Disorder++
		return false
	}
	a.AllBytes += uint64(len(msg) - pieceHeader)
	a.Bytes = a.AllBytes
	if msg[1]&flagLast == 0 {
		return false
	}
	a.took = append(a.took, a.clock()-a.asked)
	a.Measured++
	a.Window++
	a.All++
	return !a.ask(t, ch)
}

// blobs runs a workload of large answers. The connection that talks with the server about the run
// carries none.
func (c *client) blobs(ctx context.Context, s *spec) (*result, error) {
	g, err := c.gather(ctx, s, 1)
	if err != nil {
		return nil, err
	}
	here, times, there, err := c.transfer(ctx, s, g)
	if err = errors.Join(err, g.close()); err != nil {
		return nil, err
	}
	r := c.result(s, here, there)
	r.Blob = times
	return r, nil
}

func (c *client) transfer(ctx context.Context, s *spec, g *crowd) (here *side, times *blobTimes, there *side, err error) {
	if _, err := g.players[0].request(ctx, "starting", []byte{byte(kindJoin)}); err != nil {
		return nil, nil, nil, err
	}
	from, err := g.mark()
	if err != nil {
		return nil, nil, nil, err
	}
	here, times = new(side), new(blobTimes)
	var sent counters // by connections that are gone
	for range s.Conns {
		wire, err := c.fetch(ctx, s, here, times, &g.latency)
		if err != nil {
			return nil, nil, nil, err
		}
		sent.add(wire)
	}
	to, err := g.mark()
	if err != nil {
		return nil, nil, nil, err
	}
	if there, err = g.finish(ctx); err != nil {
		return nil, nil, nil, err
	}
	to.wire.add(sent)
	here.window(from, to)
	here.WireAll = to.wire
	here.Latency = g.latency.summary()
	here.Conns, here.BeforeKB, here.AfterKB = s.Conns, c.beforeKB, residentKB()
	there.Conns = s.Conns
	times.ColdMedian, times.WarmMedian, times.AgainMedian = median(times.Cold), median(times.Warm), median(times.Again)
	return here, times, there, nil
}

// fetch runs one connection: it connects, asks as often as it shall, leaves, and comes back for one more.
func (c *client) fetch(ctx context.Context, s *spec, here *side, times *blobTimes, h *histogram) (counters, error) {
	p, err := c.player(nil, nil, false)
	if err != nil {
		return counters{}, err
	}
	first := &asking{size: s.Blob, left: s.Transfers, clock: p.clock}
	again := &asking{size: s.Blob, left: 1, clock: p.clock}
	var wire counters
	err = func() error {
		if err := p.visit(ctx, c, first); err != nil {
			return err
		}
		if err := p.sync(func() { times.Connect = append(times.Connect, toMS(p.opened)) }); err != nil {
			return err
		}
		echo, err := p.echo(ctx) // also has the server look at the connection's counters
		if err == nil {
			err = p.hangUp(ctx, echo)
		}
		if err == nil {
			err = p.visit(ctx, c, again)
		}
		if err == nil {
			_, err = p.echo(ctx)
		}
		if err != nil {
			return err
		}
		return p.sync(func() { wire = p.carrier.counters(p.ch) })
	}()
	if err = errors.Join(err, p.leave()); err != nil {
		return counters{}, err
	}
	for i, t := range slices.Concat(first.took, again.took) {
		h.record(t)
		switch {
		case i == 0:
			times.Cold = append(times.Cold, toMS(t))
		case i < len(first.took):
			times.Warm = append(times.Warm, toMS(t))
		default:
			times.Again = append(times.Again, toMS(t))
		}
	}
	here.Received.add(first.figures)
	here.Received.add(again.figures)
	return wire, nil
}

// visit connects and asks until all has come.
func (p *player) visit(ctx context.Context, c *client, a *asking) error {
	if _, err := p.connect(ctx, c.server, []byte{byte(kindPing)}); err != nil {
		return err
	}
	_, err := p.await(ctx, "fetching", func() { p.asking = a; a.ask(p.carrier, p.ch) })
	return err
}

// median is the middle of some values, the lower of two middles; 0 of none.
func median(values []ms) ms {
	if len(values) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(values))[(len(values)-1)/2]
}
