// Package quic carries channels of mercury over QUIC (RFC 9000): a mercury.Transport that is
// encrypted, congestion controlled and known to firewalls. Reliable messages go over one
// bidirectional stream, unreliable ones as datagrams (RFC 9221), so they wait neither for a lost
// packet nor for a long message.
//
// # When to take it
//
// Take it if a standard is required, if there are certificates already, or if a load balancer
// understands QUIC.
//
// # What it lacks
//
// Compared with an Endpoint over package udp with package secure:
//
//   - nothing is sent twice before it is known to be lost, and a lost packet holds back the
//     reliable messages behind it;
//   - a single loss shrinks the window;
//   - opening takes two round trips, QUIC's and the hello's, even when a session is resumed;
//   - a connection costs some 100 KB and several goroutines, and each packet costs more work, so a
//     BaseApp serves fewer clients.
//
// # Contract
//
// The caller's TLS configurations say whom to trust: the listener's has a certificate, the
// dialler's the roots and the expected name, and ClientAuth if clients have certificates, too. If
// TLS fails, the dial ends at once: with mercury.ErrKey if it does not trust the certificate, else with
// mercury.ErrProtocol. Both sides agree on Protocol by ALPN.
//
// One UDP socket carries all connections of a Transport, dialled and accepted. While more than half
// of Config.MaxPending handshakes are under way, addresses are validated before any state is kept
// for them, which costs diallers a round trip; above Config.MaxPending they are refused.
//
// All channels are sealed by TLS 1.3. The Transport's methods are those of package stream. Its
// documentation says which goroutine may call what, and which frames are on the stream.
package quic
