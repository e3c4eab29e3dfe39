// Package quic carries channels of mercury over QUIC (RFC 9000): a mercury.Transport that is encrypted, congestion controlled
// and known to firewalls. Reliable messages go over one bidirectional stream, unreliable ones as datagrams (RFC 9221), so that
// they neither wait for a lost packet nor for a long message.
//
// # When to take it
//
// Where a standard is asked for, certificates are there already, or a load balancer understands QUIC.
//
// # What it lacks
//
// Against an Endpoint over package udp with package secure:
//
//   - nothing is sent twice before it is known to be lost, and a lost packet holds back the reliable messages behind it;
//   - a single loss shrinks the window;
//   - opening takes two round trips, QUIC's and the hello's, also when a session is resumed;
//   - a connection costs some 100 KB and several goroutines, and each packet more work: a BaseApp serves fewer clients.
//
// # Contract
//
// The caller gives the TLS configurations, and with them says who is believed: the listener a certificate, the dialler the roots
// and the name that it expects, and ClientAuth where clients have certificates too. A TLS that does not agree ends a dial with
// mercury.ErrProtocol at once. Both sides agree on Protocol by ALPN.
//
// One UDP socket carries all connections of a Transport, dialled and accepted. While more than half of Config.MaxPending
// handshakes are under way, addresses are validated before any state is kept for them, which costs diallers a round trip; above
// Config.MaxPending they are refused.
//
// All channels are sealed by TLS 1.3. The Transport's methods are those of package stream, whose documentation says which goroutine may call what, and which
// frames are on the stream.
package quic
