package mercury

import (
	"cmp"
	"encoding/binary"
	"github.com/cellscape/cellscape/internal/codec"
	"net/netip"
	"strconv"
)

// Address names one start of one app on a network: where it listens, and the salt that it drew when
// it started. Two starts of a process at the same place differ in the salt, so nobody takes the
// second for the first. A salt of 0 in an address to dial means any start that answers there.
//
// Address is comparable and may be a map key.
type Address struct {
	At   netip.AddrPort
	Salt uint32
}

// Wire size of an address: family, IP, port, salt.
const (
	addressNone = 1
	address4    = 1 + 4 + 2 + 4
	address6    = 1 + 16 + 2 + 4
)

// MaxAddressSize is the largest number of bytes that AppendAddress appends.
const MaxAddressSize = address6

// IsZero reports whether a names nobody.
func (a Address) IsZero() bool { return a == Address{} }

// String gives the place and the salt in hexadecimal: "10.0.0.7:20013#3f2a90c1".
func (a Address) String() string {
	if a.IsZero() {
		return "nowhere"
	}
	return a.At.String() + "#" + strconv.FormatUint(uint64(a.Salt), 16)
}

// Compare orders addresses totally: by IP, port, salt.
func (a Address) Compare(b Address) int {
	if c := a.At.Compare(b.At); c != 0 {
		return c
	}
	return cmp.Compare(a.Salt, b.Salt)
}

// AppendAddress appends a to b in at most MaxAddressSize bytes: a family byte (0, 4 or 6), the IP,
// the port and the salt. An address without a valid place is appended as "nowhere". An IPv6 zone is
// left out, since it means something only on one host.
func AppendAddress(b []byte, a Address) []byte {
	ip := a.At.Addr().Unmap()
	switch {
	case !ip.IsValid():
		return append(b, 0)
	case ip.Is4():
		raw := ip.As4()
		b = append(append(b, 4), raw[:]...)
	default:
		raw := ip.As16()
		b = append(append(b, 6), raw[:]...)
	}
	b = binary.LittleEndian.AppendUint16(b, a.At.Port())
	return binary.LittleEndian.AppendUint32(b, a.Salt)
}

// ReadAddress reads what AppendAddress wrote. An IPv4-mapped IPv6 address is refused, so that each
// place has one encoding.
func ReadAddress(r *codec.Reader) Address {
	var ip netip.Addr
	switch family := r.U8(); family {
	case 0:
		return Address{}
	case 4:
		if raw := r.Take(4); raw != nil {
			ip = netip.AddrFrom4([4]byte(raw))
		}
	case 6:
		if raw := r.Take(16); raw != nil {
			ip = netip.AddrFrom16([16]byte(raw))
			if ip.Is4In6() {
				r.Fail(codec.ErrValue)
			}
		}
	default:
		r.Fail(codec.ErrValue)
	}
	port, salt := r.U16(), r.U32()
	if r.Err() != nil {
		return Address{}
	}
	return Address{At: netip.AddrPortFrom(ip, port), Salt: salt}
}
