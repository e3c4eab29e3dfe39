package main

import (
	"context"
	"errors"
	"time"

	"github.com/cellscape/cellscape/mercury"
)

// echoes is how many pings it takes for one to be undisturbed.
const echoes = 3

// closeTime lets a connection end in order, and its ticket arrive, before the next one to the same server.
const closeTime = 100 * time.Millisecond

// longPath is a round trip in ms beside which the work of a handshake is small.
const longPath = 2

// connects tells what opening a connection costs: once as a stranger, once by whatever the server
// gave the client for its return. Each message is sent with the dial, so that its answer shows the
// whole handshake: round trips of a handshake are those of the first answer, less the one that any
// answer takes.
type connects struct {
	First   connect `json:"first"`
	Resumed connect `json:"resumed"`
	Echo    ms      `json:"echo_ms"` // a ping over an open connection
}

type connect struct {
	Opened     ms `json:"opened_ms"` // until the client's side is open
	FirstReply ms `json:"first_reply_ms"`
	// RoundTrips of the handshake; left out on a path so short that processor time is most of it.
	RoundTrips *float64 `json:"round_trips,omitempty"`
}

// connects measures after the workload, on a carrier of its own.
func (c *client) connects(ctx context.Context) (*connects, error) {
	p, err := c.player(nil, nil, false)
	if err != nil {
		return nil, err
	}
	found := new(connects)
	err = func() error {
		if err := p.greet(ctx, c, &found.First); err != nil {
			return err
		}
		echo, err := p.echo(ctx)
		if err != nil {
			return err
		}
		found.Echo = toMS(echo)
		if err := p.hangUp(ctx, echo); err != nil {
			return err
		}
		return p.greet(ctx, c, &found.Resumed)
	}()
	if err = errors.Join(err, p.leave()); err != nil {
		return nil, err
	}
	for _, k := range [...]*connect{&found.First, &found.Resumed} {
		if found.Echo >= longPath {
			trips := round(max(0, float64((k.FirstReply-found.Echo)/found.Echo)), 2)
			k.RoundTrips = &trips
		}
	}
	return found, nil
}

// echo is the shortest of a few answers to a ping.
func (p *player) echo(ctx context.Context) (time.Duration, error) {
	shortest := time.Duration(forEver)
	for range echoes {
		start := p.clock()
		if _, err := p.request(ctx, "ping", []byte{byte(kindPing)}); err != nil {
			return 0, err
		}
		shortest = min(shortest, p.clock()-start)
	}
	return shortest, nil
}

// hangUp closes the connection, and waits until the other end knows, over a path of this round trip.
func (p *player) hangUp(ctx context.Context, echo time.Duration) error {
	if err := p.sync(func() { p.carrier.Close(p.ch); p.ch = 0 }); err != nil {
		return err
	}
	return sleep(ctx, closeTime+2*echo)
}

// greet opens a connection with a ping.
func (p *player) greet(ctx context.Context, c *client, k *connect) error {
	if _, err := p.connect(ctx, c.server, []byte{byte(kindPing)}); err != nil {
		return err
	}
	end := p.clock()
	return p.sync(func() { k.Opened, k.FirstReply = toMS(p.opened), toMS(end-p.dialled) })
}

var _ mercury.Handler = (*player)(nil)
