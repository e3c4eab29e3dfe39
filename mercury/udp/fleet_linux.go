package udp

import (
	"errors"
	"fmt"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

const (
	// fleetEvents is how many sockets one look tells of.
	fleetEvents = 256
	// fleetRounds is how many datagrams of one socket a Read takes at the most: a flood at one must
	// not keep the owner from the others. What is left is taken by the next Read.
	fleetRounds = 8
)

// fleet is sockets that the runtime's poller knows nothing of, as it would wake a thread for each
// datagram. An epoll set tells which of them have something.
type fleet struct {
	set    int // of epoll; 0 before open
	fds    []int
	wide   bool // the sockets are of IPv6, perhaps with IPv4 in it
	zones  zones
	events []unix.EpollEvent
	place  place6
	memory []byte
}

func (f *Fleet) open(c Config, at netip.Addr, n int) (err error) {
	if f.set, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return os.NewSyscallError("epoll_create1", err)
	}
	f.events, f.memory = make([]unix.EpollEvent, min(n, fleetEvents)), make([]byte, MaxDatagram)
	f.wide = !at.Unmap().Is4()
	for i := range n {
		if err := f.add(c, at, i); err != nil {
			return err
		}
	}
	return nil
}

// add opens socket i.
func (f *Fleet) add(c Config, at netip.Addr, i int) error {
	family := unix.AF_INET
	var place unix.Sockaddr = &unix.SockaddrInet4{}
	if f.wide {
		family = unix.AF_INET6
		place = &unix.SockaddrInet6{Addr: at.As16(), ZoneId: f.zones.id(at.Zone())}
	} else {
		place = &unix.SockaddrInet4{Addr: at.Unmap().As4()}
	}
	fd, err := unix.Socket(family, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	f.fds = append(f.fds, fd)
	if f.wide && at.IsUnspecified() {
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 0) // else only IPv6 is reached
	}
	if err := unix.Bind(fd, place); err != nil {
		return os.NewSyscallError("bind", err)
	}
	self, err := unix.Getsockname(fd)
	if err != nil {
		return os.NewSyscallError("getsockname", err)
	}
	port := 0
	switch s := self.(type) {
	case *unix.SockaddrInet4:
		port = s.Port
	case *unix.SockaddrInet6:
		port = s.Port
	}
	f.addrs = append(f.addrs, netip.AddrPortFrom(at.Unmap(), uint16(port)))
	setBuffer(fd, unix.SO_RCVBUFFORCE, unix.SO_RCVBUF, c.ReadBuffer)
	setBuffer(fd, unix.SO_SNDBUFFORCE, unix.SO_SNDBUF, c.WriteBuffer)
	if !c.Fragment {
		setProbe(fd, f.wide)
	}
	event := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd), Pad: int32(i)}
	return os.NewSyscallError("epoll_ctl", unix.EpollCtl(f.set, unix.EPOLL_CTL_ADD, fd, &event))
}

// Read hands over what has come to the sockets, up to some datagrams of each. It does not wait.
// datagram is take's during the call, and take may write over it. An error says that the fleet is
// broken for good.
func (f *Fleet) Read(take func(socket int, from netip.AddrPort, datagram []byte)) error {
	for range fleetRounds {
		n, err := unix.EpollWait(f.set, f.events, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return fmt.Errorf("udp: reading of a fleet: %w", os.NewSyscallError("epoll_wait", err))
		}
		if n == 0 {
			return nil
		}
		for i := range f.events[:n] {
			f.readOne(&f.events[i], take)
		}
	}
	return nil
}

// readOne takes one datagram. What the system says instead of one is about an earlier one, and passed over.
func (f *Fleet) readOne(e *unix.EpollEvent, take func(int, netip.AddrPort, []byte)) {
	n, errno := receiveOne(uintptr(e.Fd), f.memory, &f.place)
	f.counts.readCalls.Add(1)
	switch {
	case errno != 0:
	case n > len(f.memory):
		f.counts.cut.Add(1)
	default:
		f.counts.in.Add(1)
		f.counts.bytesIn.Add(uint64(n))
		take(int(e.Pad), f.zones.get(&f.place), f.memory[:n:n])
	}
}

// Write sends a datagram from a socket at once. One that the system does not take is dropped and counted.
func (f *Fleet) Write(socket int, to netip.AddrPort, datagram []byte) {
	c := &f.counts
	length := f.zones.put(&f.place, to, f.wide)
	if length == 0 || len(datagram) == 0 {
		c.dropped.Add(1)
		return
	}
	errno := sendOne(uintptr(f.fds[socket]), datagram, &f.place, length)
	c.writeCalls.Add(1)
	if errno != 0 {
		c.dropped.Add(1)
		if errno == unix.EMSGSIZE {
			c.tooBig.Add(1)
		}
		return
	}
	c.out.Add(1)
	c.bytesOut.Add(uint64(len(datagram)))
}

// Close closes all sockets. No other method may be called after it.
func (f *Fleet) Close() error {
	var errs []error
	for _, fd := range f.fds {
		errs = append(errs, unix.Close(fd))
	}
	if f.set > 0 {
		errs = append(errs, unix.Close(f.set))
	}
	f.fds, f.set = nil, 0
	return errors.Join(errs...)
}
