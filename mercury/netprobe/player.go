package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/host"
)

const (
	// idleTick is how often an end looks whether a run has begun. It delays the beginning of a run
	// and nothing else.
	idleTick = 10 * time.Millisecond
	// replyPatience bounds the wait for an answer: some back-offs over a path that loses one packet in ten.
	replyPatience = 20 * time.Second
	// maxReplies is more than a server ever sends unasked.
	maxReplies = 16
)

// player is one connection of a client, with a carrier of its own, as each player of a game has.
type player struct {
	carrier carrier
	clock   func() time.Duration
	spec    *spec
	latency *histogram // shared by all players of a run

	replies chan []byte // control messages for whoever called request
	closed  chan error
	process *host.Process

	// Owned by the goroutine of the process.
	ch      mercury.ChannelID
	dialled time.Duration
	opened  time.Duration // after dialled; 0 while it is not
	down    *tally        // nil before the run
	up      sender        // nil when there is nothing to send
	asking  *asking
}

// newPlayer opens a carrier and runs it until leave.
func newPlayer(t transport, o options, r role, s *spec, h *histogram) (*player, error) {
	p := &player{clock: o.clock, spec: s, latency: h, replies: make(chan []byte, maxReplies), closed: make(chan error, 1)}
	var err error
	if p.carrier, err = t.open(o, r); err != nil {
		return nil, err
	}
	if p.process, err = o.start(p.carrier, r, p); err != nil {
		return nil, err
	}
	return p, nil
}

// leave closes the connection in order and ends the process.
func (p *player) leave() error { return p.process.Stop() }

// sync calls f on the goroutine of the process and waits for it.
func (p *player) sync(f func()) error {
	if err := p.process.Do(func(host.App) { f() }); err != nil {
		return errors.Join(err, p.process.Err())
	}
	return nil
}

// connect dials and sends the first message at once; it returns with the answer to it.
func (p *player) connect(ctx context.Context, to netip.AddrPort, first []byte) ([]byte, error) {
	return p.await(ctx, fmt.Sprintf("connecting to %v", to), func() {
		p.opened = 0
		p.dialled = p.clock()
		p.ch = p.carrier.Dial(mercury.Address{At: to})
		_ = p.carrier.Send(p.ch, first) // Closed follows
	})
}

// request sends a control message and waits for the answer.
func (p *player) request(ctx context.Context, what string, msg []byte) ([]byte, error) {
	return p.await(ctx, what, func() { _ = p.carrier.Send(p.ch, msg) })
}

// await calls send on the goroutine of the process and waits for a control message.
func (p *player) await(ctx context.Context, what string, send func()) ([]byte, error) {
	if err := p.sync(send); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	patience := time.NewTimer(replyPatience)
	defer patience.Stop()
	select {
	case msg := <-p.replies:
		if kind(msg[0]) == kindRefused {
			return nil, fmt.Errorf("%s: the server refuses: %s", what, msg[1:])
		}
		return msg, nil
	case err := <-p.closed:
		p.closed <- err
		return nil, fmt.Errorf("%s: %w (is a netprobe server there, with the same -transport, -plain and -secret?)", what, err)
	case <-patience.C:
		return nil, fmt.Errorf("%s: no answer within %v", what, replyPatience)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Opened implements mercury.Handler.
func (p *player) Opened(_ time.Duration, ch mercury.ChannelID, _ mercury.Address) {
	if ch == p.ch {
		p.opened = max(p.clock()-p.dialled, 1)
	}
}

// Closed implements mercury.Handler.
func (p *player) Closed(_ time.Duration, ch mercury.ChannelID, reason error) {
	if ch != p.ch {
		return
	}
	if p.up != nil {
		p.up.leave(ch)
	}
	select {
	case p.closed <- reason:
	default:
	}
}

// Message implements mercury.Handler.
func (p *player) Message(now time.Duration, ch mercury.ChannelID, _ bool, msg []byte) {
	if ch != p.ch || len(msg) == 0 {
		return
	}
	switch kind(msg[0]) {
	case kindData:
		p.begin(now)
		if p.down != nil {
			p.down.take(now, msg)
		}
	case kindCredit:
		if n, ok := readNumber(msg); ok && p.up != nil {
			p.up.credit(now, n)
		}
	case kindPiece:
		if p.asking != nil && p.asking.piece(p.carrier, ch, msg) {
			p.answer([]byte{byte(kindPiece)})
		}
	case kindReady:
		p.begin(now)
		p.answer(msg)
	default:
		p.answer(msg)
	}
}

// answer hands a control message to whoever waits for one.
func (p *player) answer(msg []byte) {
	select {
	case p.replies <- append([]byte(nil), msg...):
	default: // no server sends so many
	}
}

// begin starts the times of a run, by the server's word or by its first message: they take
// different connections.
func (p *player) begin(now time.Duration) {
	if p.down != nil || p.spec == nil {
		return
	}
	times := p.spec.phases(now)
	p.down = newTally(times, p.spec.Down, p.latency, p.clock)
	p.up = newSender(p.carrier, []mercury.ChannelID{p.ch}, p.spec.Up, p.spec, times, p.clock)
}

// Tick implements host.App. Thousands of connections that only receive need none.
func (p *player) Tick(now time.Duration) time.Duration {
	switch {
	case p.spec == nil || p.spec.Up.none():
		return forEver
	case p.up == nil:
		return now + idleTick
	}
	return p.up.tick(now)
}
