package quic

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"

	"github.com/quic-go/quic-go"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/stream"
)

const (
	// MaxUnreliable is the largest unreliable message. It fits beside the headers into the smallest
	// packet of QUIC, 1200 bytes, with some room for longer connection IDs.
	MaxUnreliable = 1150
	// Protocol is the name by which both ends agree in TLS (ALPN), unless the caller's
	// configuration names others.
	Protocol = "cellscape-mercury"
	// idleFactor keeps QUIC's own idle timeout, which also counts time in which the process slept,
	// well above Config.Inactivity.
	idleFactor = 6
)

// Config configures a Transport.
type Config struct {
	stream.Config
	// TLS is the listener's side: at least a certificate. Required to listen.
	TLS *tls.Config
	// DialTLS is the dialler's side: which certificates to trust (RootCAs), under which name
	// (ServerName), since addresses here are IPs. Required to dial.
	DialTLS *tls.Config
}

// Transport is a mercury.Carrier over QUIC. Its methods are those of stream.Transport.
type Transport struct {
	*stream.Transport
}

// listening is the socket of a Transport and what runs over it.
type listening struct {
	socket *net.UDPConn
	quic   *quic.Transport
	gate   gate
	cfg    Config
}

// Listen makes a Transport that listens at addr, "host:port", and dials from there. Port 0 takes a
// free one. An empty addr makes one that only dials, from any port. h may be nil until SetHandler.
func Listen(addr string, cfg Config, h mercury.Handler) (*Transport, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if addr != "" && cfg.TLS == nil {
		return nil, errors.New("quic: Config.TLS is nil: give a configuration with a certificate, or an empty address to dial only")
	}
	at, err := net.ResolveUDPAddr("udp", addr)
	if err != nil {
		return nil, fmt.Errorf("quic: cannot listen at %s: %w", addr, err)
	}
	socket, err := net.ListenUDP("udp", at)
	if err != nil {
		return nil, fmt.Errorf("quic: cannot listen at %s: %w", addr, err)
	}
	full := cfg.WithDefaults()
	l := &listening{socket: socket, cfg: cfg, gate: gate{most: full.MaxPending}}
	l.quic = &quic.Transport{Conn: socket, ConnContext: l.gate.admit, VerifySourceAddress: l.gate.verify}
	t, err := l.open(addr != "", h)
	if err != nil {
		l.close()
		return nil, err
	}
	return t, nil
}

// open makes the Transport, and the goroutine that accepts for it.
func (l *listening) open(accepts bool, h mercury.Handler) (*Transport, error) {
	n := stream.Network{Name: "quic", MaxUnreliable: MaxUnreliable, Sealed: true, Close: l.close}
	if l.cfg.DialTLS != nil {
		n.Dial = l.dial
	}
	if !accepts {
		inner, err := stream.New(l.cfg.Config, netip.AddrPort{}, n, h)
		return &Transport{inner}, err
	}
	ln, err := l.quic.Listen(withProtocol(l.cfg.TLS), l.config(1))
	if err != nil {
		return nil, fmt.Errorf("quic: listening: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var accepting sync.WaitGroup
	n.Stop = func() {
		cancel()
		_ = ln.Close()
		accepting.Wait()
	}
	inner, err := stream.New(l.cfg.Config, l.socket.LocalAddr().(*net.UDPAddr).AddrPort(), n, h)
	if err != nil {
		cancel()
		_ = ln.Close()
		return nil, err
	}
	l.gate.counts.Store(inner)
	accepting.Go(func() { l.accept(ctx, ln, inner) })
	return &Transport{inner}, nil
}

func (l *listening) close() {
	_ = l.quic.Close()
	_ = l.socket.Close()
}

// accept takes connections whose handshake is done.
func (l *listening) accept(ctx context.Context, ln *quic.Listener, t *stream.Transport) {
	for {
		c, err := ln.Accept(ctx)
		if err != nil {
			if ctx.Err() == nil {
				t.Fail(fmt.Errorf("quic: accepting: %w", err))
			}
			return
		}
		l.gate.passed(c)
		from, _ := c.RemoteAddr().(*net.UDPAddr)
		t.Accept(&conn{quic: c}, from.AddrPort())
	}
}

// dial connects and opens the stream.
func (l *listening) dial(ctx context.Context, to netip.AddrPort) (stream.Conn, error) {
	c, err := l.quic.Dial(ctx, net.UDPAddrFromAddrPort(to), withProtocol(l.cfg.DialTLS), l.config(-1))
	if err != nil {
		if key := stream.Distrusted(err); key != nil {
			return nil, key
		}
		var refused *quic.TransportError
		if errors.As(err, &refused) && refused.ErrorCode.IsCryptoError() {
			return nil, fmt.Errorf("%w: %w", mercury.ErrProtocol, err) // TLS would fail the next time, too
		}
		return nil, err
	}
	s, err := c.OpenStream()
	if err != nil {
		_ = c.CloseWithError(closeCode, "")
		return nil, err
	}
	return &conn{quic: c, stream: s}, nil
}

// config is QUIC's, for connections on which the peer may open so many streams; -1 for none.
func (l *listening) config(streams int64) *quic.Config {
	full := l.cfg.WithDefaults()
	return &quic.Config{
		HandshakeIdleTimeout:  full.HelloTimeout,
		MaxIdleTimeout:        idleFactor * full.Inactivity,
		MaxIncomingStreams:    streams,
		MaxIncomingUniStreams: -1,
		EnableDatagrams:       true,
	}
}

// withProtocol is cfg with a name to agree on.
func withProtocol(cfg *tls.Config) *tls.Config {
	if len(cfg.NextProtos) > 0 {
		return cfg
	}
	cfg = cfg.Clone()
	cfg.NextProtos = []string{Protocol}
	return cfg
}
