// Package tcp carries channels of mercury over TCP, with TLS or in the clear: a mercury.Transport
// for apps within a rack, where nothing is lost, and for players whose network blocks everything
// else.
//
// # When to take it
//
// Take it between processes on one host or one switch. The kernel does acks, pacing and
// segmentation, so bulk costs less than over UDP. It also passes where UDP is filtered.
//
// # What it lacks
//
// Compared with an Endpoint over package udp:
//
//   - a lost packet holds back everything behind it, unreliable messages too, for a round trip or
//     more;
//   - nothing is sent twice before it is known to be lost, so on a path that loses packets the last
//     percent of the messages is late;
//   - opening takes two round trips (TCP's and the hello's);
//   - a connection that changes its address is lost;
//   - without Config.TLS there is neither encryption nor proof of who the peer is: anyone who
//     reaches the port can send messages, within the limits of stream.Config, and anyone on the way
//     can read and change everything. A Guard of package secure is for datagrams and does nothing
//     here. Package host takes such a Transport into a Secure process only by UnsealedCarriers;
//   - with it, opening takes another round trip, and each write a goroutine;
//   - each connection is a descriptor and a goroutine.
//
// # Contract
//
// The Transport's methods are those of package stream. Its documentation says which goroutine may
// call what. On the wire are only the frames of package stream, within TLS if Config has it. A
// Transport counts as sealed if it listens with TLS, or only dials, with DialTLS. If TLS fails, the
// dial ends at once: with mercury.ErrKey if it does not trust the certificate, else with
// mercury.ErrProtocol. TCP_NODELAY is set, since the owner batches by Flush.
// On Unix the owner itself writes what the system takes at once; a goroutine writes the rest.
package tcp
