//go:build !linux

package udp

import (
	"errors"
	"net/netip"
)

// fleet is Sockets that are looked at one after the other.
type fleet struct{ sockets []*Socket }

func (f *Fleet) open(c Config, at netip.Addr, n int) error {
	c.Batch, c.NoAlarm = 1, true
	for range n {
		s, err := c.Listen(netip.AddrPortFrom(at, 0).String())
		if err != nil {
			return err
		}
		f.sockets, f.addrs = append(f.sockets, s), append(f.addrs, s.Addr())
	}
	return nil
}

// Read hands over what has come to the sockets, up to some datagrams of each. It does not wait to
// speak of. datagram is take's during the call, and take may write over it. An error says that the
// fleet is broken for good.
func (f *Fleet) Read(take func(socket int, from netip.AddrPort, datagram []byte)) error {
	for i, s := range f.sockets {
		err := s.TryRead(func(from netip.AddrPort, datagram []byte) {
			f.counts.in.Add(1)
			f.counts.bytesIn.Add(uint64(len(datagram)))
			take(i, from, datagram)
		})
		f.counts.readCalls.Add(1)
		if err != nil {
			return err
		}
	}
	return nil
}

// Write sends a datagram from a socket at once. One that the system does not take is dropped and counted.
func (f *Fleet) Write(socket int, to netip.AddrPort, datagram []byte) {
	s := f.sockets[socket]
	before := s.Sent()
	s.Queue(to, datagram)
	_ = s.Flush() // what it did not send is counted here
	f.counts.writeCalls.Add(1)
	if s.Sent() == before {
		f.counts.dropped.Add(1)
		return
	}
	f.counts.out.Add(1)
	f.counts.bytesOut.Add(uint64(len(datagram)))
}

// Close closes all sockets. No other method may be called after it.
func (f *Fleet) Close() error {
	var errs []error
	for _, s := range f.sockets {
		errs = append(errs, s.Close())
	}
	f.sockets = nil
	return errors.Join(errs...)
}
