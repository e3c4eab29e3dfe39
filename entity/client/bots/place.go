package bots

import (
	"encoding/binary"
	"net/netip"
)

// A group has one Endpoint over many sockets, and an Endpoint tells its peers apart by their
// address. So each pair of a socket and a server gets an address of its own: the socket's number and
// the server's, in the clothes of an IPv6 address that nobody can have (fd00::/8 without a random
// part), with the server's port. Nothing of that leaves the process: what is sealed or proved
// depends on keys and salts, not on how this side calls the other.

// places are the servers that a group has dialled: a LoginApp, and the BaseApps that it named.
type places []netip.AddrPort

// add returns the number of a server.
func (p *places) add(at netip.AddrPort) int {
	if i, ok := p.find(at); ok {
		return i
	}
	*p = append(*p, netip.AddrPortFrom(at.Addr().Unmap(), at.Port()))
	return len(*p) - 1
}

// find is its number, if it is known. There are a few.
func (p places) find(at netip.AddrPort) (int, bool) {
	at = netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
	for i, known := range p {
		if known == at {
			return i, true
		}
	}
	return 0, false
}

func (p places) at(number int) netip.AddrPort { return p[number] }

// disguise is the address of a server as one socket sees it.
func disguise(socket, place int, port uint16) netip.AddrPort {
	a := [16]byte{0: 0xfd}
	binary.BigEndian.PutUint32(a[8:], uint32(socket))
	binary.BigEndian.PutUint32(a[12:], uint32(place))
	return netip.AddrPortFrom(netip.AddrFrom16(a), port)
}

// undisguise is the reverse of disguise.
func undisguise(at netip.AddrPort) (socket, place int) {
	a := at.Addr().As16()
	return int(binary.BigEndian.Uint32(a[8:])), int(binary.BigEndian.Uint32(a[12:]))
}
