package property

import (
	"fmt"
	"math"
	"net/netip"
	"strconv"
	"strings"

	"github.com/cellscape/cellscape/property/internal/mpack"
)

// mailbox is a MAILBOX.
type mailbox struct{ plain }

func (mailbox) fit(t *DataType, v Value) (Value, error) {
	if v.kind != isMailbox {
		return v, t.refuse(v)
	}
	return v, v.Mailbox().check()
}

func (mailbox) append(_ *DataType, b []byte, v *Value) []byte { return appendMailbox(b, v.Mailbox()) }

func (mailbox) read(_ *DataType, v *Value, b []byte) (rest []byte, err error) {
	m, rest, err := readMailbox(b)
	*v = MailboxValue(m)
	return rest, err
}

func (mailbox) most(*DataType) int { return mailboxFixed + 16 }

func (mailbox) appendText(_ *DataType, b []byte, v Value) ([]byte, error) {
	m := v.Mailbox()
	if m.IsZero() {
		return b, nil
	}
	ip := "-"
	if m.At.Addr().IsValid() {
		ip = m.At.Addr().String()
	}
	return fmt.Appendf(b, "%d %d %d %s %d %d", m.Entity, m.Type, m.Kind, ip, m.At.Port(), m.Salt), nil
}

// parse reads what appendText wrote. In a definition a mailbox begins empty: one that is stated
// would name a process that was gone before the definition was read.
func (mailbox) parse(l *loader, _ *DataType, e *element, path string) (Value, bool) {
	l.noChildren(e, path)
	if l.textOnly {
		return parseMailbox(e.text)
	}
	if e.text != "" && e.text != "None" {
		l.notice(e.position, path, fmt.Sprintf("%q is not read: a mailbox begins empty", shorten(e.text)), "remove it")
	}
	return MailboxValue(Mailbox{}), true
}

func parseMailbox(text string) (Value, bool) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return MailboxValue(Mailbox{}), true
	}
	if len(words) != 6 {
		return Value{}, false
	}
	var ip netip.Addr
	var n [6]uint64
	for i, limit := range [6]uint64{MaxEntityID, math.MaxUint16, math.MaxUint8, 0, math.MaxUint16, math.MaxUint32} {
		var err error
		switch {
		case i != 3:
			n[i], err = strconv.ParseUint(words[i], 10, 64)
		case words[i] != "-":
			ip, err = netip.ParseAddr(words[i])
		}
		if err != nil || n[i] > limit {
			return Value{}, false
		}
	}
	return MailboxValue(Mailbox{Entity: n[0], Type: uint16(n[1]), Kind: uint8(n[2]), At: netip.AddrPortFrom(ip, uint16(n[4])), Salt: uint32(n[5])}), true
}

func (mailbox) literal(t *DataType, x any) (Value, error) {
	return t.fromLiteral(MailboxValue(Mailbox{}), x == nil, x)
}

// mailboxItems is the number of elements of a stored mailbox.
const mailboxItems = 6

func (mailbox) store(w storeWriter, _ *DataType, v Value, _ int) error {
	m := v.Mailbox()
	_ = w.Enc.EncodeArrayLen(mailboxItems)
	_ = w.Enc.EncodeUint(m.Entity)
	_ = w.Enc.EncodeUint(uint64(m.Type))
	_ = w.Enc.EncodeUint(uint64(m.Kind))
	w.Bin(string(m.At.Addr().AsSlice()))
	_ = w.Enc.EncodeUint(uint64(m.At.Port()))
	return w.Enc.EncodeUint(uint64(m.Salt))
}

func (mailbox) unstore(r *storeReader, _ *DataType, _ int) (Value, error) {
	n, err := r.count(KindMailbox, mpack.Array)
	if err != nil {
		return Value{}, err
	}
	if n != mailboxItems {
		return Value{}, fmt.Errorf("%w: %d elements for a MAILBOX", ErrLength, n)
	}
	var numbers [5]uint64 // id, type, kind, port, salt
	var addr netip.Addr
	for i, k := range [mailboxItems]Kind{KindEntityID, KindUint16, KindUint8, KindBlob, KindUint16, KindUint32} {
		v, err := r.value(Scalar(k), 0)
		if err != nil {
			return Value{}, err
		}
		switch {
		case i < 3:
			numbers[i] = v.Uint()
		case i > 3:
			numbers[i-1] = v.Uint()
		case v.Str() != "":
			var ok bool
			if addr, ok = netip.AddrFromSlice(v.Bytes()); !ok {
				return Value{}, fmt.Errorf("%w: IP address of %d bytes", ErrValue, len(v.Str()))
			}
		}
	}
	return MailboxValue(Mailbox{
		Entity: numbers[0], Type: uint16(numbers[1]), Kind: uint8(numbers[2]),
		At: netip.AddrPortFrom(addr, uint16(numbers[3])), Salt: uint32(numbers[4]),
	}), nil
}
