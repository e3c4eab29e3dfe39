package websocket

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"

	"github.com/coder/websocket"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/stream"
)

const (
	// MaxUnreliable is the largest unreliable message. WebSocket has no such limit; this one lets a
	// program also work over mercury's own packets.
	MaxUnreliable = 1200
	// DefaultPath is where Listen answers and where Dial asks.
	DefaultPath = "/mercury"
	// maxHeader bounds the request of a client before it becomes a WebSocket. A browser with its
	// cookies stays below it.
	maxHeader = 16 << 10
)

// Config configures a Transport.
type Config struct {
	stream.Config
	// Path is the path of the URL, for Listen and for Dial (DefaultPath). ServeHTTP answers at any
	// path.
	Path string
	// Origins lists the hosts whose pages may connect, beside the server's own ("example.com",
	// "*.example.com"): a page of any other host would act with its visitor's cookies. Clients that
	// are not browsers send no origin and are accepted.
	Origins []string
	// TLS is the server's side of wss. With nil, Listen serves ws, as behind a proxy that ends TLS.
	TLS *tls.Config
	// DialTLS is the dialler's side of wss. With nil, Dial uses ws, and a Transport that listens
	// with TLS does not dial. In a page (GOOS=js) anything but nil means wss, and the browser says
	// whom to trust.
	DialTLS *tls.Config
	// URL returns the URL to dial for an address, if it is not made of the address and Path: for
	// example with a host name, as certificates demand. Dial calls it on goroutines of its own.
	URL func(to netip.AddrPort) string
	// Header is sent with each dial. A page cannot send one.
	Header http.Header
}

// Validate reports all faults of c at once, each with its remedy.
func (c Config) Validate() error {
	err := c.Config.Validate()
	if c.Path != "" && !strings.HasPrefix(c.Path, "/") {
		err = errors.Join(err, fmt.Errorf("websocket: Config.Path is %q: start it with /", c.Path))
	}
	return err
}

func (c Config) path() string {
	if c.Path == "" {
		return DefaultPath
	}
	return c.Path
}

// Transport is a mercury.Carrier over WebSockets, and the http.Handler of its accepting side. Its
// methods are those of stream.Transport, and ServeHTTP.
type Transport struct {
	*stream.Transport
	cfg        Config
	maxMessage int
}

var _ http.Handler = (*Transport)(nil)

// New makes a Transport whose accepting side is ServeHTTP, in a server that the caller runs. self
// is where others dial it; it is zero for a Transport that only dials. h may be nil until
// SetHandler.
func New(self netip.AddrPort, cfg Config, h mercury.Handler) (*Transport, error) {
	return build(self, cfg, h, nil)
}

// build makes a Transport; stop ends its listening.
func build(self netip.AddrPort, cfg Config, h mercury.Handler, stop func()) (*Transport, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	maxMessage := cfg.WithDefaults().MaxMessage
	n := stream.Network{
		Name:          "websocket",
		Dial:          dialer{cfg: cfg, maxMessage: maxMessage}.dial,
		MaxUnreliable: MaxUnreliable,
		Sealed:        cfg.TLS != nil || !self.IsValid() && cfg.DialTLS != nil,
		Stop:          stop,
	}
	if cfg.TLS != nil && cfg.DialTLS == nil {
		n.Dial = nil
	}
	inner, err := stream.New(cfg.Config, self, n, h)
	if err != nil {
		return nil, err
	}
	return &Transport{Transport: inner, cfg: cfg, maxMessage: maxMessage}, nil
}

// Listen makes a Transport with an HTTP server of its own at addr, "host:port", which answers at
// Config.Path only. Port 0 takes a free one. An empty addr makes a Transport that only dials. h may
// be nil until SetHandler.
func Listen(addr string, cfg Config, h mercury.Handler) (*Transport, error) {
	if addr == "" {
		return New(netip.AddrPort{}, cfg, h)
	}
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("websocket: cannot listen at %s: %w", addr, err)
	}
	self := ln.Addr().(*net.TCPAddr).AddrPort()
	if cfg.TLS != nil {
		ln = tls.NewListener(ln, http1(cfg.TLS))
	}
	mux := http.NewServeMux()
	timeout := cfg.WithDefaults().HelloTimeout
	server := &http.Server{
		Handler:           mux,
		ReadHeaderTimeout: timeout,
		ReadTimeout:       timeout,
		IdleTimeout:       timeout,
		MaxHeaderBytes:    maxHeader,
		ConnContext:       func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, socketKey{}, c) },
		ErrorLog:          quiet(),
	}
	var serving sync.WaitGroup
	t, err := build(self, cfg, h, func() {
		_ = server.Close()
		serving.Wait()
	})
	if err != nil {
		_ = ln.Close()
		return nil, err
	}
	mux.Handle(cfg.path(), t)
	server.ConnState = (&lobby{most: cfg.WithDefaults().MaxPending, unopened: t.CountUnopened}).follow
	serving.Go(func() {
		if err := server.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			t.Fail(fmt.Errorf("websocket: accepting: %w", err))
		}
	})
	return t, nil
}

// http1 is cfg without HTTP/2, whose requests cannot become WebSockets here.
func http1(cfg *tls.Config) *tls.Config {
	cfg = cfg.Clone()
	cfg.NextProtos = []string{"http/1.1"}
	return cfg
}

// socketKey is the key of a request's connection in its context.
type socketKey struct{}

// ServeHTTP accepts requests for a WebSocket, and refuses others. It returns at once; the
// connection lives on. Any goroutine may call it.
func (t *Transport) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	socket, _ := r.Context().Value(socketKey{}).(net.Conn)
	from, _ := netip.ParseAddrPort(r.RemoteAddr) // a server over something other than TCP has none
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{OriginPatterns: t.cfg.Origins})
	if err != nil {
		return // Accept has answered
	}
	t.Accept(newConn(ws, socket, t.maxMessage), from)
}
