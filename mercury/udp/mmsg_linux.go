package udp

import (
	"encoding/binary"
	"net"
	"net/netip"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The calls recvmmsg and sendmmsg are made here by hand, and raw: they do not wait, and a call that
// the runtime is told of may wake a thread of it that looks after the caller, which costs ten times
// as much. ReadBatch of golang.org/x/net/ipv4 makes a *net.UDPAddr for every datagram that it
// reads, and its messages have room for one address form only.

// message is struct mmsghdr.
type message struct {
	hdr unix.Msghdr
	n   uint32 // bytes read or written
}

// place6 has room for the socket addresses of both families.
type place6 = unix.RawSockaddrInet6

// cmsgSpace is the room of one control message with a value of up to 4 bytes: the segment size of
// GSO and GRO.
const cmsgSpace = (unix.SizeofCmsghdr + 4 + cmsgAlign - 1) &^ (cmsgAlign - 1)

// cmsgAlign is the alignment of control messages, and wordSize the size of their length.
const cmsgAlign = int(unsafe.Sizeof(uintptr(0)))

// control is a buffer for one control message, aligned as a word is.
type control [cmsgSpace / cmsgAlign]uintptr

func (c *control) header() *unix.Cmsghdr { return (*unix.Cmsghdr)(unsafe.Pointer(c)) }

// value is where the value of the control message is.
func (c *control) value() *[4]byte {
	return (*[4]byte)(unsafe.Add(unsafe.Pointer(c), unix.SizeofCmsghdr))
}

// setSegment makes c say that a payload is to be cut into segments of size bytes.
func (c *control) setSegment(size int32) {
	h := c.header()
	h.Level, h.Type = unix.IPPROTO_UDP, unix.UDP_SEGMENT
	h.SetLen(unix.SizeofCmsghdr + 2)
	binary.NativeEndian.PutUint16(c.value()[:], uint16(size))
}

// segment is the size of the segments that a payload of n bytes consists of; length is of what the
// kernel wrote to c.
func (c *control) segment(length, n int) int {
	h := c.header()
	if length < unix.SizeofCmsghdr+4 || h.Level != unix.IPPROTO_UDP || h.Type != unix.UDP_GRO {
		return n
	}
	if size := int(int32(binary.NativeEndian.Uint32(c.value()[:]))); size > 0 {
		return size
	}
	return n
}

// mmsg calls recvmmsg or sendmmsg without waiting.
func mmsg(call, fd uintptr, m []message) (int, syscall.Errno) {
	for {
		n, _, errno := unix.RawSyscall6(call, fd, uintptr(unsafe.Pointer(&m[0])), uintptr(len(m)), unix.MSG_DONTWAIT, 0, 0)
		if errno == 0 {
			return int(n), 0
		}
		if errno != unix.EINTR {
			return 0, errno
		}
	}
}

// sendOne calls sendto without waiting.
func sendOne(fd uintptr, datagram []byte, to *place6, length uint32) syscall.Errno {
	for {
		_, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, fd, uintptr(unsafe.Pointer(&datagram[0])), uintptr(len(datagram)),
			unix.MSG_DONTWAIT, uintptr(unsafe.Pointer(to)), uintptr(length))
		if errno != unix.EINTR {
			return errno
		}
	}
}

// receiveOne calls recvfrom without waiting. It returns the length that the datagram has, which may
// be more than buf takes.
func receiveOne(fd uintptr, buf []byte, from *place6) (int, syscall.Errno) {
	for {
		size := uint32(unix.SizeofSockaddrInet6)
		n, _, errno := unix.RawSyscall6(unix.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)),
			unix.MSG_DONTWAIT|unix.MSG_TRUNC, uintptr(unsafe.Pointer(from)), uintptr(unsafe.Pointer(&size)))
		if errno == 0 {
			return int(n), 0
		}
		if errno != unix.EINTR {
			return 0, errno
		}
	}
}

// maxZones bounds the names of scopes that are remembered: more than a host has interfaces.
const maxZones = 256

// zones turns scopes of link-local addresses into names and back, as package net does.
type zones struct {
	ids   map[string]uint32
	names map[uint32]string
}

func (z *zones) id(name string) uint32 {
	if name == "" {
		return 0
	}
	id, ok := z.ids[name]
	if ok {
		return id
	}
	if iface, err := net.InterfaceByName(name); err == nil {
		id = uint32(iface.Index)
	} else if n, err := strconv.ParseUint(name, 10, 32); err == nil {
		id = uint32(n)
	}
	if z.ids == nil || len(z.ids) >= maxZones {
		z.ids = make(map[string]uint32)
	}
	z.ids[name] = id
	return id
}

func (z *zones) name(id uint32) string {
	if id == 0 {
		return ""
	}
	name, ok := z.names[id]
	if ok {
		return name
	}
	if iface, err := net.InterfaceByIndex(int(id)); err == nil {
		name = iface.Name
	} else {
		name = strconv.FormatUint(uint64(id), 10)
	}
	if z.names == nil || len(z.names) >= maxZones {
		z.names = make(map[uint32]string)
	}
	z.names[id] = name
	return name
}

// put writes an address in the form of a socket of IPv4, or with wide of IPv6, and returns its
// length; 0 when the family has no form of it.
func (z *zones) put(p *place6, to netip.AddrPort, wide bool) uint32 {
	addr := to.Addr()
	port := (*[2]byte)(unsafe.Pointer(&p.Port)) // the same place in both forms
	binary.BigEndian.PutUint16(port[:], to.Port())
	if wide {
		p.Family, p.Flowinfo, p.Addr, p.Scope_id = unix.AF_INET6, 0, addr.As16(), z.id(addr.Zone())
		return unix.SizeofSockaddrInet6
	}
	if !addr.Is4() && !addr.Is4In6() {
		return 0
	}
	p4 := (*unix.RawSockaddrInet4)(unsafe.Pointer(p))
	p4.Family, p4.Addr = unix.AF_INET, addr.Unmap().As4()
	return unix.SizeofSockaddrInet4
}

// get reads an address that the kernel wrote.
func (z *zones) get(p *place6) netip.AddrPort {
	port := (*[2]byte)(unsafe.Pointer(&p.Port))
	var addr netip.Addr
	switch p.Family {
	case unix.AF_INET:
		addr = netip.AddrFrom4((*unix.RawSockaddrInet4)(unsafe.Pointer(p)).Addr)
	case unix.AF_INET6:
		addr = netip.AddrFrom16(p.Addr).Unmap()
		if p.Scope_id != 0 {
			addr = addr.WithZone(z.name(p.Scope_id))
		}
	}
	return netip.AddrPortFrom(addr, binary.BigEndian.Uint16(port[:]))
}
