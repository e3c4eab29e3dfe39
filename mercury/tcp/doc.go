// Package tcp carries channels of mercury over TCP, with TLS or in the clear: a mercury.Transport for apps within a rack, where
// nothing is lost, and for players whose network lets nothing else through.
//
// # When to take it
//
// Between processes of one host or one switch: the kernel does the work of acks, pacing and segmentation, so that bulk costs less
// than over UDP. It also passes where UDP is filtered.
//
// # What it lacks
//
// Against an Endpoint over package udp:
//
//   - a lost packet holds back everything behind it, unreliable messages too, for a round trip or more;
//   - nothing is sent twice before it is known to be lost: on a path that loses, the last percent of the messages is late;
//   - opening takes two round trips (TCP's and the hello's);
//   - a connection that changes its address is lost;
//   - without Config.TLS there is neither encryption nor proof of who is there: anyone who reaches the port can speak, within the
//     limits of stream.Config, and who is on the way can read and change all of it. A Guard of package secure is for datagrams and
//     does nothing here. Package host takes such a Transport into a Secure process by UnsealedCarriers only;
//   - with it, opening takes another round trip, and each write a goroutine;
//   - each connection is a descriptor and a goroutine.
//
// # Contract
//
// Config and the Transport's methods are those of package stream, whose documentation says which goroutine may call
// what, and what is on the wire. The wire is the frames of package stream and nothing else, within TLS if Config has it. A
// Transport counts as sealed when it listens with TLS, or only dials, with DialTLS; a TLS that does not agree ends a dial with
// mercury.ErrProtocol at once. TCP_NODELAY is set: batching is the
// owner's, by Flush. On Unix the owner writes itself what the system takes at once; a goroutine writes the rest.
package tcp
