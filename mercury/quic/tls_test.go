package quic_test

import (
	"crypto/tls"
	"crypto/x509"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
	"github.com/cellscape/cellscape/mercury/quic"
	"github.com/cellscape/cellscape/mercury/stream"
	"github.com/cellscape/cellscape/mercury/stream/streamtest"
)

// patience bounds what a test waits for.
const patience = 10 * time.Second

// TestDial dials with configurations that agree with the listener's, and that do not.
func TestDial(t *testing.T) {
	server := listen(t, stream.Config{Salt: 1})
	defer streamtest.Stop(t, server)
	_, pool := certificate(t)
	for _, x := range []struct {
		name string
		cfg  *tls.Config
		want error
	}{
		{"believed", &tls.Config{RootCAs: pool}, nil},
		{"not believed", &tls.Config{RootCAs: x509.NewCertPool()}, mercury.ErrKey},
		{"another name", &tls.Config{RootCAs: pool, ServerName: "elsewhere.example"}, mercury.ErrKey},
		{"another protocol", &tls.Config{RootCAs: pool, NextProtos: []string{"h3"}}, mercury.ErrProtocol},
		{"without", nil, mercury.ErrAddress},
	} {
		t.Run(x.name, func(t *testing.T) {
			var at mercurytest.Recorder
			client, err := quic.Listen("", quic.Config{Config: stream.Config{Salt: 2}, DialTLS: x.cfg}, &at)
			if err != nil {
				t.Fatal(err)
			}
			defer streamtest.Stop(t, client.Transport)
			streamtest.WantDial(t, client.Transport, server, &at, x.want)
		})
	}
}

// Whoever does not trust the certificate is counted so.
func TestUnopened(t *testing.T) {
	server := listen(t, stream.Config{Salt: 1})
	defer streamtest.Stop(t, server)
	var at mercurytest.Recorder
	client, err := quic.Listen("", quic.Config{Config: stream.Config{Salt: 2}, DialTLS: &tls.Config{RootCAs: x509.NewCertPool()}}, &at)
	if err != nil {
		t.Fatal(err)
	}
	defer streamtest.Stop(t, client.Transport)
	streamtest.WantDial(t, client.Transport, server, &at, mercury.ErrKey)
	streamtest.WantUnopened(t, server, "Unsealed", 1)
}

func TestListenWithoutTLS(t *testing.T) {
	if _, err := quic.Listen("127.0.0.1:0", quic.Config{Config: stream.Config{Salt: 1}}, nil); err == nil {
		t.Error("listens without a certificate")
	}
}

// TestLane sends unreliable messages as datagrams: they pass a stream that stands still.
func TestLane(t *testing.T) {
	a, b := listen(t, stream.Config{Salt: 1, MaxQueued: 64 << 20}), listen(t, stream.Config{Salt: 2})
	defer streamtest.Stop(t, b)
	defer streamtest.Stop(t, a)
	var at, atB mercurytest.Recorder
	a.SetHandler(&at)
	b.SetHandler(&atB)
	ch := a.Dial(b.Self())
	if !streamtest.Until(patience, func() bool { return at.Of(ch).Opened == 1 && len(atB.Order) == 1 }, a, b) {
		t.Fatal("not opened")
	}
	for range 20 {
		if err := a.Send(ch, make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	s := atB.Of(atB.Order[0])
	came := func() bool {
		// Loopback loses packets too, when the system's buffers are small.
		if _, err := a.SendUnreliable(ch, make([]byte, quic.MaxUnreliable)); err != nil {
			t.Fatal(err)
		}
		return len(s.Unreliable) > 0
	}
	if !streamtest.Until(patience, came, a, b) {
		t.Fatal("no datagram came")
	}
	if len(s.Reliable) == 20 {
		t.Error("the first datagram came behind the whole stream")
	}
	info, ok := a.Info(ch)
	if !ok || info.PacketsOut == 0 || info.BytesOut == 0 || info.RTT == 0 {
		t.Errorf("Info is %+v, %v", info, ok)
	}
}
