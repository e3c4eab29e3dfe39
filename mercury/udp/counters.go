package udp

import "sync/atomic"

// Counters is what a Socket did since it was opened.
type Counters struct {
	In, Out           uint64 // datagrams read, and taken by the system
	BytesIn, BytesOut uint64 // their payloads
	// ReadCalls and WriteCalls are system calls, those included that found nothing to read or no
	// room.
	ReadCalls, WriteCalls uint64
	// Dropped is datagrams that were to be sent and were not: malformed, too many, refused by the
	// system, or without room in its buffer. TooBig of them were longer than the network device
	// carries.
	Dropped, TooBig uint64
	// Cut is datagrams longer than MaxDatagram that came; they were thrown away.
	Cut uint64
	// Overflow is datagrams that came and found the read buffer full, as far as the system tells
	// (Linux).
	Overflow uint64
	// GSO and GRO count how often the system was given several datagrams of a peer as one, and gave
	// them so.
	GSO, GRO uint64
	// ReadBuffer and WriteBuffer are the buffers got, in the system's count of bytes, 0 where it
	// does not tell. Linux counts its own overhead and gives twice of what was asked, so that half
	// of it is payload.
	ReadBuffer, WriteBuffer int
}

// counts is Counters in the making.
type counts struct {
	in, out, bytesIn, bytesOut, readCalls, writeCalls atomic.Uint64
	dropped, tooBig, cut, gso, gro                    atomic.Uint64
	readBuffer, writeBuffer                           int
}

// Counters returns the counters as they stand. Any goroutine may call it.
func (s *Socket) Counters() Counters {
	c := &s.counts
	s.mu.Lock()
	raw := s.raw
	s.mu.Unlock()
	return Counters{
		In: c.in.Load(), Out: c.out.Load(), BytesIn: c.bytesIn.Load(), BytesOut: c.bytesOut.Load(),
		ReadCalls: c.readCalls.Load(), WriteCalls: c.writeCalls.Load(),
		Dropped: c.dropped.Load(), TooBig: c.tooBig.Load(), Cut: c.cut.Load(), Overflow: overflow(raw),
		GSO: c.gso.Load(), GRO: c.gro.Load(),
		ReadBuffer: c.readBuffer, WriteBuffer: c.writeBuffer,
	}
}

// Sent and Dropped count datagrams that the system took and those it did not. They may be read by
// any goroutine.
func (s *Socket) Sent() uint64    { return s.counts.out.Load() }
func (s *Socket) Dropped() uint64 { return s.counts.dropped.Load() }
