package quic_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/quic"
	"github.com/cellscape/cellscape/mercury/stream"
)

// echo answers every message with the same, as it came.
type echo struct{ t *quic.Transport }

func (echo) Opened(time.Duration, mercury.ChannelID, mercury.Address) {}
func (e echo) Message(_ time.Duration, ch mercury.ChannelID, _ bool, msg []byte) {
	_ = e.t.Send(ch, msg) // a channel that cannot take it will be closed
}
func (echo) Closed(time.Duration, mercury.ChannelID, error) {}

// asker sends a message when its channel opens, and is done with the answer.
type asker struct {
	t    *quic.Transport
	done func()
}

func (a asker) Opened(_ time.Duration, ch mercury.ChannelID, _ mercury.Address) {
	_ = a.t.Send(ch, []byte("hello, world"))
}

func (a asker) Message(_ time.Duration, _ mercury.ChannelID, reliable bool, msg []byte) {
	fmt.Println(reliable, string(msg))
	a.done()
}

func (asker) Closed(time.Duration, mercury.ChannelID, error) {}

// Two apps, each owned by a Loop; the client believes one certificate.
func Example() {
	cert, err := makeCertificate()
	if err != nil {
		fmt.Println(err)
		return
	}
	roots := x509.NewCertPool()
	roots.AddCert(cert.Leaf)
	server, err := quic.Listen("127.0.0.1:0", quic.Config{
		Config: stream.Config{Salt: 1},
		TLS:    &tls.Config{Certificates: []tls.Certificate{cert}},
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	server.SetHandler(echo{server})
	client, err := quic.Listen("", quic.Config{
		Config:  stream.Config{Salt: 2},
		DialTLS: &tls.Config{RootCAs: roots},
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	client.SetHandler(asker{client, cancel})
	client.Dial(server.Self())

	served := make(chan error)
	go func() { served <- quic.NewLoop(server, quic.LoopConfig{}).Run(ctx) }()
	fmt.Println(quic.NewLoop(client, quic.LoopConfig{}).Run(ctx))
	fmt.Println(<-served)
	// Output:
	// true hello, world
	// <nil>
	// <nil>
}
