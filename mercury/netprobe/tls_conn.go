package main

import (
	"bufio"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"

	"github.com/cellscape/cellscape/mercury"
)

const (
	// lengthSize is the size of the length before each message.
	lengthSize = 4
	// maxFrame bounds a message that is believed.
	maxFrame = maxBlob
	// recordSize is the most that one record of TLS takes, so that a full writer makes one record.
	recordSize = 16 << 10
	// readSize is what a connection reads at once: of a record that was opened it copies so much,
	// and a server has thousands.
	readSize = 4 << 10
)

// writers are lent to connections that have something to send: one each would be most of what a
// connection at rest takes.
var writers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, recordSize) }}

// errFrame is the fault of a peer that announces too long a message.
var errFrame = errors.New("a message is too long")

// tlsConn is one connection of a tlsCarrier. All but the reading belongs to who has the turn.
type tlsConn struct {
	carrier *tlsCarrier
	id      mercury.ChannelID
	conn    *tls.Conn     // nil while it is dialled
	early   []byte        // what was sent before it was open
	out     *bufio.Writer // nil while nothing waits
	fault   error         // of the first write that failed; the reading, which ends with it, tells of it
	head    [lengthSize]byte

	// The reading goroutine's.
	in   *bufio.Reader
	used int    // bytes of in that the last message took
	long []byte // for messages that in has no room for
}

func newTLSConn(c *tlsCarrier, conn *tls.Conn) *tlsConn {
	n := &tlsConn{carrier: c}
	n.attach(conn)
	return n
}

func (n *tlsConn) attach(conn *tls.Conn) {
	n.conn = conn
	n.in = bufio.NewReaderSize(conn, readSize)
}

func (n *tlsConn) tcp() *net.TCPConn { return n.conn.NetConn().(*net.TCPConn) }

func (n *tlsConn) peer() mercury.Address {
	return mercury.Address{At: n.conn.RemoteAddr().(*net.TCPAddr).AddrPort()}
}

// open tells the app of a connection that is ready, and sends what waits for that.
func (n *tlsConn) open() {
	n.carrier.handler.Opened(n.carrier.clock(), n.id, n.peer())
	if n.early != nil {
		_, n.fault = n.writer().Write(n.early)
		n.early = nil
	}
	n.carrier.flushAll()
}

// writer is where to put what is to leave with the next Flush.
func (n *tlsConn) writer() *bufio.Writer {
	if n.out == nil {
		n.out = writers.Get().(*bufio.Writer)
		n.out.Reset(n.conn)
		n.carrier.dirty = append(n.carrier.dirty, n)
	}
	return n.out
}

func (n *tlsConn) send(msg []byte) error {
	binary.LittleEndian.PutUint32(n.head[:], uint32(len(msg)))
	if n.conn == nil {
		n.early = append(append(n.early, n.head[:]...), msg...)
		return nil
	}
	w := n.writer()
	if _, err := w.Write(n.head[:]); err != nil {
		return err
	}
	_, err := w.Write(msg)
	return err
}

// flush sends what waits.
func (n *tlsConn) flush() {
	if n.out == nil {
		return
	}
	if err := n.out.Flush(); n.fault == nil {
		n.fault = err
	}
	n.out.Reset(nil)
	writers.Put(n.out)
	n.out = nil
}

// readOn reads until the connection ends.
func (n *tlsConn) readOn() {
	err := n.readAll()
	c := n.carrier
	c.turn.Lock()
	c.end(n, errors.Join(mercury.ErrPeerClosed, n.fault, err))
	c.turn.Unlock()
	_ = n.conn.Close()
}

// readAll hands over messages, all that have come whole in one turn.
func (n *tlsConn) readAll() error {
	c := n.carrier
	for {
		msg, err := n.message()
		if err != nil {
			return err
		}
		c.turn.Lock()
		c.heard.Store(true)
		for now := c.clock(); c.conns[n.id] == n; {
			c.handler.Message(now, n.id, true, msg)
			if !n.whole() {
				break
			}
			if msg, err = n.message(); err != nil {
				break
			}
		}
		c.flushAll()
		c.turn.Unlock()
		if err != nil {
			return err
		}
	}
}

// message reads the next message, which holds until the one after it is read.
func (n *tlsConn) message() ([]byte, error) {
	if _, err := n.in.Discard(n.used); err != nil {
		return nil, err
	}
	n.used = 0
	head, err := n.in.Peek(lengthSize)
	if err != nil {
		return nil, err
	}
	size := int(binary.LittleEndian.Uint32(head))
	switch {
	case size > maxFrame:
		return nil, errFrame
	case lengthSize+size <= n.in.Size():
		frame, err := n.in.Peek(lengthSize + size)
		if err != nil {
			return nil, err
		}
		n.used = len(frame)
		return frame[lengthSize:], nil
	}
	if cap(n.long) < size {
		n.long = make([]byte, size)
	}
	n.long = n.long[:size]
	_, _ = n.in.Discard(lengthSize) // they are there
	_, err = io.ReadFull(n.in, n.long)
	return n.long, err
}

// whole reports whether another message has come in full.
func (n *tlsConn) whole() bool {
	left := n.in.Buffered() - n.used
	if left < lengthSize {
		return false
	}
	frames, _ := n.in.Peek(n.used + lengthSize)
	return left-lengthSize >= int(binary.LittleEndian.Uint32(frames[n.used:]))
}
