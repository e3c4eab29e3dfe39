package quic

import (
	"context"
	"errors"
	"net"
	"sync"
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
	refused atomic.Pointer[stream.Transport] // counts refused handshakes
	most    int                              // handshakes at once; beyond half of this, addresses are validated first, which costs diallers a round trip
	now     atomic.Int64
}

// errCrowd refuses a handshake.
var errCrowd = errors.New("quic: too many handshakes")

// passKey is the key of a handshake's release in its connection's context.
type passKey struct{}

// admit counts a handshake until passed is called, or its context ends.
func (g *gate) admit(ctx context.Context, _ *quic.ClientInfo) (context.Context, error) {
	if g.now.Add(1) > int64(g.most) {
		g.now.Add(-1)
		if t := g.refused.Load(); t != nil {
			t.CountRefused()
		}
		return nil, errCrowd
	}
	release := sync.OnceFunc(func() { g.now.Add(-1) })
	context.AfterFunc(ctx, release)
	return context.WithValue(ctx, passKey{}, release), nil
}

// passed takes an accepted connection out of the count.
func (g *gate) passed(c *quic.Conn) {
	if release, ok := c.Context().Value(passKey{}).(func()); ok {
		release()
	}
}

// verify reports whether to validate an address before its handshake.
func (g *gate) verify(net.Addr) bool { return g.now.Load() > int64(g.most/2) }
