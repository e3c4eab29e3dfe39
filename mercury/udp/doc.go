// Package udp carries a mercury.Endpoint's datagrams over a real socket.
//
// A Socket is used by two goroutines at most: one reads (ReadBatch), one writes (Queue, Flush). Close may be called from
// anywhere and wakes the reader. Datagrams that the system does not take are dropped and counted, as UDP may do
// anywhere on the way; the endpoint sends again what was reliable.
//
//	reader:  for { err := s.ReadBatch(func(from, datagram) { hand to the owner, copied }); ... }
//	owner:   e.Flush(now, s.Queue); s.Flush()
package udp
