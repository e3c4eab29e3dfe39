package websocket

import (
	"net"
	"net/http"
	"sync"
)

// lobby holds the connections that have not become a WebSocket yet, oldest first. Beyond its
// maximum the oldest must go; an honest one is here only for a few round trips.
//
//	accepted ── waits here ──> upgraded ──> pending at the Transport ──hello──> a channel
type lobby struct {
	most    int
	refused func() // counts connections that must go

	mu    sync.Mutex
	conns []net.Conn
}

// follow is a http.Server's ConnState.
func (l *lobby) follow(c net.Conn, state http.ConnState) {
	var oldest net.Conn
	l.mu.Lock()
	switch state {
	case http.StateNew:
		if len(l.conns) >= l.most {
			oldest = l.conns[0]
			l.conns = append(l.conns[:0], l.conns[1:]...)
		}
		l.conns = append(l.conns, c)
	case http.StateHijacked, http.StateClosed:
		for i, waits := range l.conns {
			if waits == c {
				l.conns = append(l.conns[:i], l.conns[i+1:]...)
				break
			}
		}
	}
	l.mu.Unlock()
	if oldest != nil {
		l.refused()
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
