package quic

import (
	"context"

	"github.com/quic-go/quic-go"

	"github.com/cellscape/cellscape/mercury/stream"
)

// closeCode is the application's code for every connection that ends here. The stream tells the
// reason.
const closeCode quic.ApplicationErrorCode = 0

// conn is a stream.Conn over the only stream of a QUIC connection, with its datagrams as the
// unreliable lane.
type conn struct {
	quic   *quic.Conn
	stream *quic.Stream // accepted: set by the first Read, which comes before anything is written
}

var (
	_ stream.Datagrams = (*conn)(nil)
	_ stream.Informer  = (*conn)(nil)
)

// Read implements stream.Conn.
func (c *conn) Read(p []byte) (int, error) {
	if c.stream == nil {
		s, err := c.quic.AcceptStream(context.Background()) // Close ends it
		if err != nil {
			return 0, err
		}
		c.stream = s
	}
	return c.stream.Read(p)
}

// Write implements stream.Conn.
func (c *conn) Write(p []byte) (int, error) { return c.stream.Write(p) }

// Close implements stream.Conn. QUIC drops what is under way; channels that end properly wait for
// their peer to hang up. The library waits for its own goroutine in Close, and the owner must not.
func (c *conn) Close() error {
	go func() { _ = c.quic.CloseWithError(closeCode, "") }()
	return nil
}

// SendDatagram implements stream.Datagrams.
func (c *conn) SendDatagram(p []byte) error { return c.quic.SendDatagram(p) }

// ReceiveDatagram implements stream.Datagrams.
func (c *conn) ReceiveDatagram() ([]byte, error) { return c.quic.ReceiveDatagram(context.Background()) }

// Info implements stream.Informer.
func (c *conn) Info() (stream.Info, bool) {
	s := c.quic.ConnectionStats()
	return stream.Info{
		RTT: s.SmoothedRTT, MinRTT: s.MinRTT,
		PacketsOut: s.PacketsSent, BytesOut: s.BytesSent,
		PacketsIn: s.PacketsReceived, BytesIn: s.BytesReceived,
		Lost:  s.PacketsLost,
		Acked: s.BytesSent - min(s.BytesSent, s.BytesLost), // or on the way
	}, true
}
