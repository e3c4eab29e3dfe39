// Package udp carries a mercury.Endpoint's datagrams over a real socket.
//
// # Purpose
//
// A Socket reads and writes datagrams in batches. A Carrier runs an Endpoint over a Socket, as one
// of the carriers that package host turns for an app:
//
//	s, err := udp.Listen("127.0.0.1:0")
//	p, err := h.Start("app", "", create, host.Carriers(udp.NewCarrier(s, cfg)))
//
// host.Host.Start makes both itself when it is given an address. A Fleet is many sockets of one
// goroutine, for a process that plays thousands of clients.
//
// # Contract
//
//   - What is queued leaves at Flush at the latest, datagrams to one peer in the order of Queue.
//     Datagrams that the system does not take are dropped and counted, as UDP may do anywhere on the
//     way; the Endpoint sends again what was reliable.
//   - A read takes what has come, up to a bound, and hands over datagram by datagram. A datagram
//     belongs to the callee during the call, and it may write over it.
//   - Neither direction allocates memory for a datagram, but for a new zone of link-local
//     addresses.
//   - Deadlines are exact to about a tenth of a millisecond on Linux, and to a millisecond or worse
//     elsewhere.
//   - Sockets listen to IPv4, IPv6 or both, as the address says, and give addresses of IPv4 as
//     such.
//
// # What Linux does at once
//
// A write goes to many peers in one call (sendmmsg), and several datagrams of one size to one peer
// go to the kernel as one, which is cut up below IP (UDP_SEGMENT, "GSO"); so does a read in the
// other direction (recvmmsg, UDP_GRO):
//
//	Queue   a1 a2 a3 b1 c1   ->  Flush   [a1|a2|a3] [b1] [c1]   one call, three packets' worth of work
//	                             read    [a1|a2|a3]             cut where the kernel says
//
// A datagram alone is written by the plain call (sendto), and so is one read (recvfrom) by a socket
// whose Config.Batch is 1, which serves best where datagrams come singly, to one of thousands of
// clients in a process.
//
// A device that cannot do it is found out at the first write, and its socket goes on without.
// Packets are sent with "do not fragment" set, so that an Endpoint can find out what the path
// carries.
//
// Memory for reading is shared by all sockets of the process and is in use only during a call, so
// that a socket that waits costs a few kilobytes.
//
// # Concurrency
//
// A Socket is used by two goroutines at most: one reads (ReadBatch, TryRead, More), one writes
// (Queue, Flush). They may be one. SetReadDeadline, Counters and Close may be called from anywhere;
// Close wakes the reader. A Carrier belongs to one goroutine, which waits at the socket itself, so
// that there is no other; only one that is watched has a goroutine that reads.
//
// # Caller's duties
//
// Flush after Queue, with no more between than the windows of the channels. Close a Socket when
// done. Look at Counters: Overflow says that a reader is too slow or net.core.rmem_max too small
// for what comes at once.
package udp
