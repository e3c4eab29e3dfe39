package peer

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/host"
	"github.com/cellscape/cellscape/mercury/secure"
)

// Server has any number of channels that others have dialled. Listen makes it.
type Server struct {
	runner
	stop func() bool // the watch on Listen's context
}

// Conn has one channel. Dial makes it.
type Conn struct{ runner }

// runner is an app with the host that runs it.
type runner struct {
	host *host.Host
	proc *host.Process
	app  *app
}

// Listen accepts channels at "host:port" that are dialled with the public half of key. Port 0 takes
// a free one; without a host it listens at all addresses. When ctx ends, the Server is closed.
func Listen(ctx context.Context, addr string, key secure.PrivateKey, cfg Config) (*Server, error) {
	if err := errors.Join(keyFault(key.IsZero(), cfg.Clear, "the server's private key"), cfg.Validate()); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("peer: listening at %s: %w", addr, err)
	}
	s := &Server{}
	if host, _, err := net.SplitHostPort(addr); err == nil && host == "" && !cfg.Advertise.IsValid() {
		cfg.Advertise = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	if err := s.start(addr, cfg, secure.Config{Key: key}, mercury.Address{}); err != nil {
		return nil, err
	}
	s.stop = context.AfterFunc(ctx, func() { _ = s.runner.Close() }) // callers of Close get the error
	return s, nil
}

// Dial opens a channel to "host:port", where the server must have the key. ctx bounds only the
// opening.
func Dial(ctx context.Context, addr string, serverKey secure.PublicKey, cfg Config) (*Conn, error) {
	if err := errors.Join(keyFault(serverKey.IsZero(), cfg.Clear, "the server's public key"), cfg.Validate()); err != nil {
		return nil, err
	}
	from, to, err := route(ctx, addr)
	if err != nil {
		return nil, err
	}
	c := &Conn{}
	cfg.Advertise = from
	if err := c.start(":0", cfg, secure.Config{ServerKey: serverKey}, mercury.Address{At: to}); err != nil {
		return nil, err
	}
	select {
	case err = <-c.app.opened:
	case <-ctx.Done():
		err = ctx.Err()
	case <-c.proc.Done():
		err = c.proc.Err()
	}
	if err != nil {
		c.proc.Kill() // there is nothing to deliver
		_ = c.Close() // nothing runs
		return nil, fmt.Errorf("peer: dialling %s: %w", addr, err)
	}
	return c, nil
}

// keyFault checks that there is either a key or a clear channel.
func keyFault(none, clear bool, what string) error {
	switch {
	case none && !clear:
		return fmt.Errorf("peer: no key: give %s, or set Config.Clear to send in the clear", what)
	case !none && clear:
		return fmt.Errorf("peer: Config.Clear is set, but there is %s: leave one of them out", what)
	}
	return nil
}

// route looks up addr, and the address of this machine that leads there.
func route(ctx context.Context, addr string) (from netip.Addr, to netip.AddrPort, err error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "udp", addr) // dialling a UDP socket sends nothing
	if err != nil {
		return from, to, fmt.Errorf("peer: dialling %s: %w", addr, err)
	}
	defer func() { _ = conn.Close() }() // nothing was written
	from = conn.LocalAddr().(*net.UDPAddr).AddrPort().Addr().Unmap()
	to = conn.RemoteAddr().(*net.UDPAddr).AddrPort()
	return from, netip.AddrPortFrom(to.Addr().Unmap(), to.Port()), nil
}

// start runs an app. It dials to, unless that is zero.
func (r *runner) start(listen string, cfg Config, seal secure.Config, to mercury.Address) (err error) {
	r.app = &app{cfg: cfg, dials: !to.IsZero(), opened: make(chan error, 1)}
	if r.host, err = host.New(host.Config{Log: cfg.Log, StopTimeout: cfg.StopTimeout}); err != nil {
		return err
	}
	opts := []host.Option{host.Shared(), host.Pace(cfg.Pace), host.Mercury(cfg.Limits), host.Advertise(cfg.Advertise)}
	if !cfg.Clear {
		opts = append(opts, host.Secure(seal))
	}
	r.proc, err = r.host.Start("peer", listen, func(e host.Env) (host.App, error) {
		r.app.log, r.app.net = e.Log, e.Net
		if r.app.dials {
			r.app.channel = r.app.of(e.Net.Dial(to))
		}
		return r.app, nil
	}, opts...)
	if err != nil {
		_ = r.host.Close() // nothing runs
		return fmt.Errorf("peer: %w", err)
	}
	return nil
}

// Close ends all channels in order, brings over what was sent, and gives the socket back. A second
// Close only waits. The error says why the Server or Conn had ended by itself.
func (r *runner) Close() error { return r.host.Close() }

// Done is closed when it has ended: by Close, by a panic in an event, or because the socket broke.
func (r *runner) Done() <-chan struct{} { return r.proc.Done() }

// Stats returns the figures of all channels together: round trip, loss, what waits, what was
// refused.
func (r *runner) Stats() (mercury.CarrierStats, error) {
	all, err := r.proc.Carriers()
	if err != nil {
		return mercury.CarrierStats{}, err
	}
	return all[0].CarrierStats, nil
}

// do runs f on the goroutine of the events and waits for it.
func (r *runner) do(f func()) error { return r.proc.Do(func(host.App) { f() }) }

// Close ends all channels in order, brings over what was sent, and gives the port back. A second
// Close only waits. The error says why the Server had ended by itself.
func (s *Server) Close() error {
	s.stop()
	return s.runner.Close()
}

// Address is where the Server is reached.
func (s *Server) Address() netip.AddrPort { return s.proc.Address().At }

// Do runs f on the goroutine of the events, where channels may be used, and waits for it. The error
// is host.ErrStopped when the Server has ended.
func (s *Server) Do(f func()) error { return s.do(f) }

// Do runs f with the channel on the goroutine of the events and waits for it. The error is
// host.ErrStopped when the Conn has ended.
func (c *Conn) Do(f func(Channel)) error { return c.do(func() { f(c.app.channel) }) }

// Send is Channel.Send from any goroutine but that of the events.
func (c *Conn) Send(msg []byte) (err error) {
	return errors.Join(c.Do(func(ch Channel) { err = ch.Send(msg) }), err)
}

// SendUnreliable is Channel.SendUnreliable from any goroutine but that of the events.
func (c *Conn) SendUnreliable(msg []byte) (dropped int, err error) {
	stopped := c.Do(func(ch Channel) { dropped, err = ch.SendUnreliable(msg) })
	return dropped, errors.Join(stopped, err)
}

// forever is the longest wait of an app without ticks.
const forever = time.Hour
