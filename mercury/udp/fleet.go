package udp

import (
	"errors"
	"fmt"
	"net/netip"
)

// MaxFleet bounds the sockets of a Fleet: the ports that one address has.
const MaxFleet = 1 << 16

// Fleet is many sockets that one goroutine reads and writes, for a process that plays many clients:
// nobody waits at a socket, and so a socket costs no goroutine, no wake and no timer. Its methods
// are for the goroutine that owns it, but for Counters. Datagrams come and go singly.
type Fleet struct {
	fleet
	addrs  []netip.AddrPort
	counts counts
}

// Fleet opens n sockets at free ports of an address, which may be that of all (0.0.0.0 or ::). Of c
// it follows the buffers and Fragment. The error is a *ListenError, or says what is wrong with c.
func (c Config) Fleet(at netip.Addr, n int) (*Fleet, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if n < 1 || n > MaxFleet {
		return nil, fmt.Errorf("udp: a fleet of %d sockets: take 1 to %d", n, MaxFleet)
	}
	f := new(Fleet)
	c = c.withDefaults()
	if err := f.open(c, at, n); err != nil {
		return nil, errors.Join(&ListenError{Addr: netip.AddrPortFrom(at, 0).String(), Err: err}, f.Close())
	}
	return f, nil
}

// Len is how many sockets there are.
func (f *Fleet) Len() int { return len(f.addrs) }

// Addr is where a socket listens.
func (f *Fleet) Addr(socket int) netip.AddrPort { return f.addrs[socket] }

// Counters returns the counters of all sockets together. Any goroutine may call it.
func (f *Fleet) Counters() Counters {
	c := &f.counts
	return Counters{
		In: c.in.Load(), Out: c.out.Load(), BytesIn: c.bytesIn.Load(), BytesOut: c.bytesOut.Load(),
		ReadCalls: c.readCalls.Load(), WriteCalls: c.writeCalls.Load(), Dropped: c.dropped.Load(), TooBig: c.tooBig.Load(), Cut: c.cut.Load(),
	}
}
