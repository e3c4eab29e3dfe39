package websocket

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/coder/websocket"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/stream"
)

// conn is a stream.Conn over a WebSocket connection.
type conn struct {
	ws     *websocket.Conn
	socket net.Conn  // the connection below; nil if unknown
	msg    io.Reader // what is left of the message being read
}

// newConn takes over ws, for reliable messages of up to maxMessage bytes.
func newConn(ws *websocket.Conn, socket net.Conn, maxMessage int) *conn {
	ws.SetReadLimit(int64(stream.MaxWrite(maxMessage)))
	return &conn{ws: ws, socket: socket}
}

// Read implements stream.Conn.
func (c *conn) Read(p []byte) (int, error) {
	for {
		if c.msg == nil {
			kind, r, err := c.ws.Reader(context.Background())
			if err != nil {
				return 0, reason(err)
			}
			if kind != websocket.MessageBinary {
				return 0, fmt.Errorf("%w: a message of text", mercury.ErrProtocol)
			}
			c.msg = r
		}
		n, err := c.msg.Read(p)
		if err != nil {
			c.msg = nil
		}
		switch {
		case err != nil && !errors.Is(err, io.EOF):
			return 0, reason(err) // a part of a broken message may still be masked
		case n > 0:
			return n, nil
		}
	}
}

// reason turns an error into mercury's for what a peer did wrong.
func reason(err error) error {
	if errors.Is(err, websocket.ErrMessageTooBig) {
		return fmt.Errorf("%w: %w", mercury.ErrMessageTooLong, err)
	}
	return err
}

// Write implements stream.Conn: one message of whole frames.
func (c *conn) Write(p []byte) (int, error) {
	if err := c.ws.Write(context.Background(), websocket.MessageBinary, p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close implements stream.Conn. It skips the close handshake of WebSocket: a frame has already told
// the peer, and waiting for its answer has a bound of its own.
func (c *conn) Close() error { return c.ws.CloseNow() }

// Info implements stream.Informer if the system has the figures: those of TCP, below TLS.
func (c *conn) Info() (stream.Info, bool) {
	socket := c.socket
	if secure, ok := socket.(*tls.Conn); ok {
		socket = secure.NetConn()
	}
	tcp, ok := socket.(*net.TCPConn)
	if !ok {
		return stream.Info{}, false
	}
	return stream.SocketInfo(tcp)
}
