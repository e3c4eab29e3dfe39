package udp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"syscall"
)

// ListenError says why an address cannot be listened at, and what to do. It wraps the system's
// error.
type ListenError struct {
	Addr string
	Err  error
}

func (e *ListenError) Unwrap() error { return e.Err }

func (e *ListenError) Error() string {
	switch {
	case errors.Is(e.Err, syscall.EADDRINUSE):
		return fmt.Sprintf("udp: %s is in use: stop the process that listens there, or give another port (0 takes a free one)", e.Addr)
	case errors.Is(e.Err, syscall.EADDRNOTAVAIL):
		return fmt.Sprintf("udp: %s is no address of this host: give one of its own, or leave the host out to listen at all", e.Addr)
	case errors.Is(e.Err, os.ErrPermission):
		return fmt.Sprintf("udp: no right to listen at %s: give a port of 1024 or above", e.Addr)
	}
	return fmt.Sprintf("udp: cannot listen at %s: %v", e.Addr, e.Err)
}

// Listen opens a socket at addr, "host:port", with the defaults of Config. Port 0 takes a free one.
// With the host left out it listens at all addresses, and Addr tells the port only. The error is a
// *ListenError.
func Listen(addr string) (*Socket, error) { return Config{}.Listen(addr) }

// Listen opens a socket as c says. The error is a *ListenError, or says what is wrong with c.
func (c Config) Listen(addr string) (*Socket, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return c.withDefaults().listen(addr)
}

// listen opens a socket. c is whole.
func (c Config) listen(addr string) (*Socket, error) {
	at, err := net.ResolveUDPAddr("udp", addr)
	if err != nil {
		return nil, &ListenError{Addr: addr, Err: err}
	}
	lc := net.ListenConfig{}
	packets, err := lc.ListenPacket(context.Background(), "udp", at.String())
	if err != nil {
		return nil, &ListenError{Addr: addr, Err: err}
	}
	conn := packets.(*net.UDPConn)
	raw, err := conn.SyscallConn()
	if err != nil {
		_ = conn.Close()
		return nil, &ListenError{Addr: addr, Err: err}
	}
	local := conn.LocalAddr().(*net.UDPAddr).AddrPort()
	s := &Socket{conn: conn, raw: raw, addr: netip.AddrPortFrom(local.Addr().Unmap(), local.Port())}
	opts := setOptions(conn, raw, c)
	s.queue.gso = opts.gso
	s.counts.readBuffer, s.counts.writeBuffer = opts.readBuffer, opts.writeBuffer
	s.in.init(s, c, opts)
	s.out.init(s, c, opts)
	if !c.NoAlarm {
		s.alarm.init()
	}
	return s, nil
}

// options is what the system gave.
type options struct {
	gso, gro                bool
	wide                    bool // the socket is of IPv6, perhaps with IPv4 in it
	readBuffer, writeBuffer int
}
