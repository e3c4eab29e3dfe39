package property

import (
	"encoding/binary"
	"fmt"
	"net/netip"
)

// Mailbox says how to reach a part of an entity. Here it is a plain value that properties and
// arguments can hold; package entity gives it meaning. The zero Mailbox reaches nobody.
type Mailbox struct {
	Entity uint64         // entity id, at most MaxEntityID
	Type   uint16         // entity type id
	Kind   uint8          // which part, and by which way: package entity names the kinds
	At     netip.AddrPort // the app that held it when the mailbox was made; without zone
	Salt   uint32         // which start of that app
}

// mailboxFixed is the size of a mailbox on the wire without the bytes of its IP address: entity 8,
// type 2, kind 1, address length 1, port 2, salt 4.
const mailboxFixed = 8 + 2 + 1 + 1 + 2 + 4

// IsZero reports whether m reaches nobody.
func (m Mailbox) IsZero() bool { return m == Mailbox{} }

func (m Mailbox) check() error {
	if m.Entity > MaxEntityID {
		return fmt.Errorf("%w: entity id %d of a mailbox is above 53 bits", ErrValue, m.Entity)
	}
	if m.At.Addr().Zone() != "" {
		return fmt.Errorf("%w: address %v of a mailbox has a zone, which means nothing on another host", ErrValue, m.At)
	}
	return nil
}

// packAddress writes the parts of a mailbox that do not fit the two words of a Value: as they
// travel, and the zone behind them, for Fit to refuse. Without its zone, the address would silently
// be another one.
func (m Mailbox) packAddress() string {
	if !m.At.IsValid() && m.At.Port() == 0 && m.Salt == 0 {
		return "" // the zero address costs nothing
	}
	var buf [mailboxFixed + 16]byte
	return string(append(m.appendAddress(buf[:0]), m.At.Addr().Zone()...))
}

func (m Mailbox) appendAddress(b []byte) []byte {
	ip := m.At.Addr()
	switch {
	case ip.Is4():
		a := ip.As4()
		b = append(append(b, 4), a[:]...)
	case ip.Is6():
		a := ip.As16()
		b = append(append(b, 16), a[:]...)
	default:
		b = append(b, 0)
	}
	b = binary.LittleEndian.AppendUint16(b, m.At.Port())
	return binary.LittleEndian.AppendUint32(b, m.Salt)
}

// cutAddress splits the packed address off the front of b.
func cutAddress[B []byte | string](b B) (at netip.AddrPort, salt uint32, rest B, err error) {
	if len(b) < 1 {
		return at, 0, b, ErrTruncated
	}
	n := int(b[0])
	if n != 0 && n != 4 && n != 16 {
		return at, 0, b, fmt.Errorf("%w: IP address of %d bytes", ErrValue, n)
	}
	if len(b) < 1+n+6 {
		return at, 0, b, ErrTruncated
	}
	var ip netip.Addr
	switch n {
	case 4:
		var a [4]byte
		copy(a[:], b[1:])
		ip = netip.AddrFrom4(a)
	case 16:
		var a [16]byte
		copy(a[:], b[1:])
		ip = netip.AddrFrom16(a)
	}
	t := b[1+n:]
	at = netip.AddrPortFrom(ip, uint16(t[0])|uint16(t[1])<<8)
	salt = uint32(t[2]) | uint32(t[3])<<8 | uint32(t[4])<<16 | uint32(t[5])<<24
	return at, salt, b[1+n+6:], nil
}

func appendMailbox(b []byte, m Mailbox) []byte {
	b = binary.LittleEndian.AppendUint64(b, m.Entity)
	b = binary.LittleEndian.AppendUint16(b, m.Type)
	return m.appendAddress(append(b, m.Kind))
}

func readMailbox(b []byte) (m Mailbox, rest []byte, err error) {
	if len(b) < mailboxFixed {
		return m, b, ErrTruncated
	}
	m.Entity = binary.LittleEndian.Uint64(b)
	m.Type = binary.LittleEndian.Uint16(b[8:])
	m.Kind = b[10]
	if m.At, m.Salt, rest, err = cutAddress(b[11:]); err != nil {
		return Mailbox{}, b, err
	}
	if err := m.check(); err != nil {
		return Mailbox{}, b, err
	}
	return m, rest, nil
}
