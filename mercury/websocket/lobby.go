package websocket

import (
	"net"
	"net/http"
	"slices"
	"sync"

	"github.com/cellscape/cellscape/mercury/stream"
)

// lobby holds the connections that have not become a WebSocket yet, oldest first. Beyond its
// maximum the oldest must go; an honest one is here only for a few round trips.
//
//	accepted ── waits here ──> upgraded ──> pending at the Transport ──hello──> a channel
type lobby struct {
	most     int
	unopened func(stream.Fate) // counts connections that become none

	mu     sync.Mutex
	guests []guest
}

// guest is a connection in the lobby.
type guest struct {
	net.Conn
	asked bool // the first bytes of a request have come
}

// follow is a http.Server's ConnState.
func (l *lobby) follow(c net.Conn, state http.ConnState) {
	if state == http.StateNew {
		l.enter(c)
		return
	}
	l.mu.Lock()
	i := slices.IndexFunc(l.guests, func(g guest) bool { return g.Conn == c })
	if i < 0 {
		l.mu.Unlock()
		return
	}
	asked := l.guests[i].asked
	switch state {
	case http.StateActive:
		l.guests[i].asked = true
	case http.StateHijacked, http.StateClosed:
		l.guests = slices.Delete(l.guests, i, i+1)
	}
	l.mu.Unlock()
	switch {
	case state != http.StateClosed:
	case asked:
		l.unopened(stream.Strange)
	default:
		l.unopened(stream.FateOf(c))
	}
}

func (l *lobby) enter(c net.Conn) {
	var oldest net.Conn
	l.mu.Lock()
	if len(l.guests) >= l.most {
		oldest = l.guests[0].Conn
		l.guests = slices.Delete(l.guests, 0, 1)
	}
	l.guests = append(l.guests, guest{Conn: c})
	l.mu.Unlock()
	if oldest != nil {
		l.unopened(stream.Crowded)
		_ = below(oldest).Close() // TLS's own close could block
	}
}

// below returns the connection below TLS.
func below(c net.Conn) net.Conn {
	if secure, ok := c.(interface{ NetConn() net.Conn }); ok {
		return secure.NetConn()
	}
	return c
}
