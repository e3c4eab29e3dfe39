package quic_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/host"
	"github.com/cellscape/cellscape/mercury/quic"
	"github.com/cellscape/cellscape/mercury/stream/streamtest"
)

// echo answers every message with the same.
type echo struct{ net mercury.Transport }

func (echo) Tick(now time.Duration) time.Duration                     { return now + time.Hour }
func (echo) Opened(time.Duration, mercury.ChannelID, mercury.Address) {}
func (e echo) Message(_ time.Duration, ch mercury.ChannelID, _ bool, msg []byte) {
	if err := e.net.Send(ch, msg); err != nil {
		fmt.Println(err)
	}
}
func (echo) Closed(time.Duration, mercury.ChannelID, error) {}

// asker sends a message to a server, and is done with the answer.
type asker struct {
	net    mercury.Transport
	server mercury.Address
	done   chan struct{}
}

// Tick comes once at the start.
func (a asker) Tick(time.Duration) time.Duration {
	if err := a.net.Send(a.net.Dial(a.server), []byte("hello, world")); err != nil {
		fmt.Println(err)
	}
	return forever
}

// forever is when the next tick is due of who needs none.
const forever = 1 << 62

func (asker) Opened(time.Duration, mercury.ChannelID, mercury.Address) {}
func (a asker) Message(_ time.Duration, _ mercury.ChannelID, reliable bool, msg []byte) {
	fmt.Println(reliable, string(msg))
	close(a.done)
}
func (asker) Closed(time.Duration, mercury.ChannelID, error) {}

// Two apps that package host runs over QUIC; the client believes one certificate.
func Example() {
	cert, err := streamtest.MakeCertificate()
	if err != nil {
		fmt.Println(err)
		return
	}
	roots := x509.NewCertPool()
	roots.AddCert(cert.Leaf)
	server, err := quic.Listen("127.0.0.1:0", quic.Config{TLS: &tls.Config{Certificates: []tls.Certificate{cert}}}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	client, err := quic.Listen("", quic.Config{DialTLS: &tls.Config{RootCAs: roots}}, nil) // only dials
	if err != nil {
		fmt.Println(err)
		return
	}
	h, err := host.New(host.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = h.Close() }()
	p, err := h.Start("server", "", func(env host.Env) (host.App, error) { return echo{env.Transport}, nil }, host.Carriers(server))
	if err != nil {
		fmt.Println(err)
		return
	}
	done := make(chan struct{})
	_, err = h.Start("client", "", func(env host.Env) (host.App, error) {
		return asker{env.Transport, p.Address(), done}, nil
	}, host.Carriers(client))
	if err != nil {
		fmt.Println(err)
		return
	}
	<-done
	// Output:
	// true hello, world
}
