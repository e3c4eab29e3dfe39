package tcp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/stream"
)

const (
	// MaxUnreliable is the largest unreliable message. TCP has no such limit; this one lets a
	// program also work over mercury's own packets.
	MaxUnreliable = 1200
	// acceptPause is how long the listener waits when the system has no descriptor left.
	acceptPause = 20 * time.Millisecond
)

// Config configures a Transport.
type Config struct {
	stream.Config
	// TLS is the listener's side, with at least a certificate. With nil, connections are in the
	// clear.
	TLS *tls.Config
	// DialTLS is the dialler's side: which certificates to trust (RootCAs), under which name
	// (ServerName), since addresses here are IPs. With nil, a Transport that listens with TLS does
	// not dial, and others dial in the clear.
	DialTLS *tls.Config
}

// Transport is a mercury.Carrier over TCP. Its methods are those of stream.Transport.
type Transport struct {
	*stream.Transport
}

// ListenError says why a Transport cannot listen at an address, and what to do. It wraps the
// system's error.
type ListenError struct {
	Addr string
	Err  error
}

// Unwrap gives the system's error.
func (e *ListenError) Unwrap() error { return e.Err }

// Error says what was tried, what failed and what to do.
func (e *ListenError) Error() string {
	switch {
	case errors.Is(e.Err, syscall.EADDRINUSE):
		return fmt.Sprintf("tcp: %s is in use: stop the process that listens there, or give another port (0 takes a free one)", e.Addr)
	case errors.Is(e.Err, os.ErrPermission):
		return fmt.Sprintf("tcp: no right to listen at %s: give a port of 1024 or above", e.Addr)
	}
	return fmt.Sprintf("tcp: cannot listen at %s: %v", e.Addr, e.Err)
}

// Listen makes a Transport that listens at addr, "host:port". Port 0 takes a free one. An empty
// addr makes one that only dials. h may be nil until SetHandler. The error is a *ListenError or
// tells of cfg.
func Listen(addr string, cfg Config, h mercury.Handler) (*Transport, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	n := stream.Network{Name: "tcp", Dial: cfg.dial, MaxUnreliable: MaxUnreliable, Sealed: cfg.TLS != nil || addr == "" && cfg.DialTLS != nil}
	if cfg.TLS != nil && cfg.DialTLS == nil {
		n.Dial = nil
	}
	if addr == "" {
		inner, err := stream.New(cfg.Config, netip.AddrPort{}, n, h)
		return &Transport{inner}, err
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, &ListenError{Addr: addr, Err: err}
	}
	ln := listener.(*net.TCPListener)
	var accepting sync.WaitGroup
	n.Stop = func() {
		_ = ln.Close()
		accepting.Wait()
	}
	t, err := stream.New(cfg.Config, ln.Addr().(*net.TCPAddr).AddrPort(), n, h)
	if err != nil {
		_ = ln.Close()
		return nil, err
	}
	accepting.Go(func() { cfg.accept(t, ln) })
	return &Transport{t}, nil
}

// accept takes connections until the listener is closed.
func (cfg Config) accept(t *stream.Transport, ln *net.TCPListener) {
	for {
		c, err := ln.AcceptTCP()
		switch {
		case err == nil:
			from := c.RemoteAddr().(*net.TCPAddr).AddrPort()
			if cfg.TLS != nil {
				t.Accept(sealed{tls.Server(prepared(c), cfg.TLS)}, from) // the first Read shakes hands
			} else {
				t.Accept(newConn(c), from)
			}
		case errors.Is(err, net.ErrClosed):
			return
		case passing(err):
			time.Sleep(acceptPause)
		default:
			t.Fail(fmt.Errorf("tcp: accepting: %w", err))
			return
		}
	}
}

// passing reports whether an error of accept concerns only one connection, or passes when others
// end.
func passing(err error) bool {
	for _, e := range []error{syscall.ECONNABORTED, syscall.ECONNRESET, syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

func (cfg Config) dial(ctx context.Context, to netip.AddrPort) (stream.Conn, error) {
	d := net.Dialer{KeepAlive: -1}
	c, err := d.DialContext(ctx, "tcp", to.String())
	if err != nil {
		return nil, err
	}
	if cfg.DialTLS == nil {
		return newConn(c.(*net.TCPConn)), nil
	}
	how := cfg.DialTLS
	if how.ServerName == "" {
		how = how.Clone()
		how.ServerName = to.Addr().String()
	}
	secure := tls.Client(prepared(c.(*net.TCPConn)), how)
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = c.Close()
		return nil, refused(err)
	}
	return sealed{secure}, nil
}

// refused makes an error of a handshake final if TLS would fail the next time, too.
func refused(err error) error {
	if key := stream.Distrusted(err); key != nil {
		return key
	}
	if record := (tls.RecordHeaderError{}); errors.As(err, &record) {
		return fmt.Errorf("%w: %w", mercury.ErrProtocol, err)
	}
	return err
}
