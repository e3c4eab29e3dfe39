package udp

import (
	"errors"
	"net/netip"
	"os"
	"syscall"
	"time"
)

// glance is the wait of a look at the socket that is not meant to wait, where the system has no
// other.
const glance = 50 * time.Microsecond

// deadlines is how often a datagram is tried. Whoever has to wait for a processor until its deadline
// has passed, on a busy machine, is told that it has, without a try: whole flushes were dropped
// although there was room.
const deadlines = 2

// readSingly waits for one datagram and hands it over. buf has one byte more than MaxDatagram,
// which tells longer ones.
func (s *Socket) readSingly(buf []byte, f func(netip.AddrPort, []byte)) error {
	n, from, err := s.conn.ReadFromUDPAddrPort(buf)
	s.counts.readCalls.Add(1)
	if err != nil {
		return err
	}
	if n > MaxDatagram {
		s.counts.cut.Add(1)
		return nil
	}
	s.counts.in.Add(1)
	s.counts.bytesIn.Add(uint64(n))
	f(netip.AddrPortFrom(from.Addr().Unmap(), from.Port()), buf[:n:n])
	return nil
}

// trySingly is readSingly that does not wait to speak of. It uses up the deadline.
func (s *Socket) trySingly(buf []byte, f func(netip.AddrPort, []byte)) error {
	if err := s.conn.SetReadDeadline(time.Now().Add(glance)); err != nil {
		return err
	}
	return s.readSingly(buf, f)
}

// writeSingly writes the first run that is left, a datagram alone.
func (s *Socket) writeSingly(q *queue) error {
	r := &q.runs[q.done]
	if r.count > 1 {
		q.gsoRefused(true, false)
		r = &q.runs[q.done]
	}
	it := q.items[r.first]
	var err error
	for range deadlines {
		// There is no telling a full buffer from the end of patience, so that there must be
		// patience.
		if err := s.conn.SetWriteDeadline(time.Now().Add(writePatience)); err != nil {
			return err
		}
		_, err = s.conn.WriteToUDPAddrPort(q.slab[it.start:it.end], r.to)
		s.counts.writeCalls.Add(1)
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
	}
	if err == nil {
		q.done++
		s.counts.out.Add(1)
		s.counts.bytesOut.Add(uint64(r.bytes))
	}
	if errors.Is(err, syscall.EAGAIN) {
		return os.ErrDeadlineExceeded
	}
	return err
}
