package stream

import (
	"context"
	"net/netip"
)

// Conn is a connection as an adapter gives it to a Transport: bytes in order both ways.
type Conn interface {
	// Read reads at least one byte. It is called from one goroutine at a time.
	Read(p []byte) (int, error)
	// Write writes all of p, which is whole frames unless TryWrite ended inside of one: an adapter
	// of a protocol that has messages may make each p a message. It is called from one goroutine at
	// a time.
	Write(p []byte) (int, error)
	// Close ends the connection at once and makes Read and Write return. What the system has taken
	// may still arrive. It may be called from any goroutine, again, and during the others.
	Close() error
}

// TryWriter is a Conn that can write without waiting. Then the owner writes what the system takes
// itself, and no goroutine is woken for it.
type TryWriter interface {
	// TryWrite writes as much of p as can be had at once, perhaps nothing. It is never called
	// during Write.
	TryWrite(p []byte) (int, error)
}

// Datagrams is a Conn that has an unreliable lane beside its stream.
type Datagrams interface {
	// SendDatagram may wait for room.
	SendDatagram(p []byte) error
	// ReceiveDatagram waits for one, and returns an error once the Conn is closed.
	ReceiveDatagram() ([]byte, error)
}

// Network is what an adapter brings along.
type Network struct {
	// Name is the adapter's, for errors.
	Name string
	// Dial connects to a place. It gives up when ctx ends. An error that wraps one of mercury's is
	// final; after any other the Transport tries again, until Inactivity has passed: who dials may
	// be up before who is dialled. Nil: cannot dial.
	Dial func(ctx context.Context, to netip.AddrPort) (Conn, error)
	// MaxUnreliable is the largest unreliable message.
	MaxUnreliable int
	// Sealed says that connections are encrypted and authenticated, dialled and accepted ones.
	Sealed bool
	// Stop stops accepting, Close gives everything back, after all Conns were closed. Both are
	// called once, from the owner's goroutine; nil: nothing to do.
	Stop, Close func()
}
