package udp

import (
	"net"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// tryKeepsDeadline tells whether TryRead leaves the read deadline alone.
const tryKeepsDeadline = true

// setOptions asks for what c says and returns what there is. Nothing of it is a reason not to
// start.
func setOptions(_ *net.UDPConn, raw syscall.RawConn, c Config) (o options) {
	_ = raw.Control(func(u uintptr) {
		fd := int(u)
		domain, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN)
		o.wide = err == nil && domain == unix.AF_INET6
		o.readBuffer = setBuffer(fd, unix.SO_RCVBUFFORCE, unix.SO_RCVBUF, c.ReadBuffer)
		o.writeBuffer = setBuffer(fd, unix.SO_SNDBUFFORCE, unix.SO_SNDBUF, c.WriteBuffer)
		if !c.Fragment {
			setProbe(fd, o.wide)
		}
		// A kernel that does not know UDP_SEGMENT would send a run as one long datagram.
		_, err = unix.GetsockoptInt(fd, unix.IPPROTO_UDP, unix.UDP_SEGMENT)
		o.gso = err == nil && !c.NoGSO && c.Batch > 1
		o.gro = !c.NoGRO && c.Batch > 1 && unix.SetsockoptInt(fd, unix.IPPROTO_UDP, unix.UDP_GRO, 1) == nil
	})
	return o
}

// setProbe tells the system to cut no datagram. PROBE, and not DO: the kernel's own opinion of the
// path, which anybody may set with a forged ICMP, does not count. IPv4 in an IPv6 socket goes by the
// option of IPv4.
func setProbe(fd int, wide bool) {
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, unix.IP_PMTUDISC_PROBE)
	if wide {
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_MTU_DISCOVER, unix.IPV6_PMTUDISC_PROBE)
	}
}

// setBuffer asks for a buffer, beyond the system's bound if this process may, and returns what
// there is.
func setBuffer(fd, force, plain, size int) int {
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, force, size) != nil {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, plain, size)
	}
	got, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, plain)
	if err != nil {
		return 0
	}
	return got
}

// overflow asks the system how many datagrams found no room. It is asked here, since to have it
// told with each datagram costs with each datagram.
func overflow(raw syscall.RawConn) uint64 {
	// struct sk_meminfo: an array of which drops are the last known field.
	var info [unix.SK_MEMINFO_VARS]uint32
	size := uint32(unsafe.Sizeof(info))
	var errno syscall.Errno
	err := raw.Control(func(fd uintptr) {
		_, _, errno = unix.Syscall6(unix.SYS_GETSOCKOPT, fd, unix.SOL_SOCKET, unix.SO_MEMINFO,
			uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size)), 0)
	})
	if err != nil || errno != 0 {
		return 0
	}
	return uint64(info[unix.SK_MEMINFO_DROPS])
}
