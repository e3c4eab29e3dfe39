package quic_test

import (
	"context"
	"crypto/tls"
	"testing"
	"time"

	quicgo "github.com/quic-go/quic-go"

	"github.com/cellscape/cellscape/mercury/mercurytest"
	"github.com/cellscape/cellscape/mercury/quic"
	"github.com/cellscape/cellscape/mercury/stream"
	"github.com/cellscape/cellscape/mercury/stream/streamtest"
)

// TestStranger connects with a good certificate in mind, and says nothing, or something else: it is
// hung up on, and the owner does not hear of it.
func TestStranger(t *testing.T) {
	server := listen(t, stream.Config{Salt: 1, HelloTimeout: 100 * time.Millisecond})
	defer streamtest.Stop(t, server)
	var at mercurytest.Recorder
	server.SetHandler(&at)
	_, pool := certificate(t)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for _, x := range []struct {
		name string
		say  func(*quicgo.Conn) error
	}{
		{"opens no stream", func(*quicgo.Conn) error { return nil }},
		{"sends a datagram only", func(c *quicgo.Conn) error { return c.SendDatagram([]byte("hello?")) }},
		{"asks for a page", func(c *quicgo.Conn) error {
			s, err := c.OpenStream()
			if err == nil {
				_, err = s.Write([]byte("GET /\r\n"))
			}
			return err
		}},
	} {
		t.Run(x.name, func(t *testing.T) {
			c, err := quicgo.DialAddr(ctx, server.Self().At.String(),
				&tls.Config{RootCAs: pool, NextProtos: []string{quic.Protocol}}, &quicgo.Config{EnableDatagrams: true})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.CloseWithError(0, "") }()
			if err := x.say(c); err != nil {
				t.Fatal(err)
			}
			gone := func() bool { return c.Context().Err() != nil && server.Pending() == 0 }
			if !streamtest.Until(patience, gone, server) {
				t.Fatal("the stranger was not hung up on")
			}
			if len(at.Order) > 0 {
				t.Errorf("the owner heard of %d channels", len(at.Order))
			}
		})
	}
}
