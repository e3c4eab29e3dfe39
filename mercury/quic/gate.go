package quic

import (
	"context"
	"errors"
	"net"
	"sync/atomic"

	"github.com/quic-go/quic-go"

	"github.com/cellscape/cellscape/mercury/stream"
)

// gate counts handshakes under way. Each takes a connection's memory even before its address is
// validated.
//
//	first packet ── admit ──> handshake ──> Accept ── passed ──> hello (counted as pending from here)
//	                              └── fails ── context ends
type gate struct {
	counts atomic.Pointer[stream.Transport] // handshakes that came to nothing
	most   int                              // handshakes at once; beyond half of this, addresses are validated first, which costs diallers a round trip
	now    atomic.Int64
}

// errCrowd refuses a handshake.
var errCrowd = errors.New("quic: too many handshakes")

// passKey is the key of a handshake's pass in its connection's context.
type passKey struct{}

// pass is a handshake that is counted, until it is over.
type pass struct{ over atomic.Bool }

// end takes a handshake out of the count; false if it was out.
func (g *gate) end(p *pass) bool {
	if !p.over.CompareAndSwap(false, true) {
		return false
	}
	g.now.Add(-1)
	return true
}

// failed counts a handshake that came to nothing.
func (g *gate) failed(why stream.Fate) {
	if t := g.counts.Load(); t != nil {
		t.CountUnopened(why)
	}
}

// admit counts a handshake until passed is called, or its context ends.
func (g *gate) admit(ctx context.Context, _ *quic.ClientInfo) (context.Context, error) {
	if g.now.Add(1) > int64(g.most) {
		g.now.Add(-1)
		g.failed(stream.Crowded)
		return nil, errCrowd
	}
	p := new(pass)
	context.AfterFunc(ctx, func() {
		if g.end(p) {
			g.failed(fateOf(context.Cause(ctx)))
		}
	})
	return context.WithValue(ctx, passKey{}, p), nil
}

// fateOf is the fate of a connection whose handshake ended for a reason.
func fateOf(reason error) stream.Fate {
	var refused *quic.TransportError
	var timed net.Error
	switch {
	case errors.As(reason, &refused) && refused.ErrorCode.IsCryptoError():
		return stream.Unsealed
	case errors.As(reason, &timed) && timed.Timeout():
		return stream.Silent
	}
	return stream.HungUp
}

// passed takes an accepted connection out of the count.
func (g *gate) passed(c *quic.Conn) {
	if p, ok := c.Context().Value(passKey{}).(*pass); ok {
		g.end(p)
	}
}

// verify reports whether to validate an address before its handshake.
func (g *gate) verify(net.Addr) bool { return g.now.Load() > int64(g.most/2) }
