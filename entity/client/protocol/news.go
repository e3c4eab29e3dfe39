package protocol

import (
	"encoding/binary"
	"fmt"

	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/property"
)

// MaxNewsHead is the most that News takes beside its Body, and MaxCallHead what AppendWhisper appends
// before the arguments.
const (
	MaxNewsHead = 3 + 3
	MaxCallHead = 3
)

// News is what a Positions packet tells of an entity beside its place:
//
//	uvarint alias·2 + call, uvarint length, body
type News struct {
	Alias uint32
	// Call says that the body is a call of a client method, as AppendWhisper writes it. Otherwise it is
	// whole values of properties, as property.Values.AppendClientValue writes them.
	Call bool
	Body []byte // aliases the packet after reading
	// Order counts the news of a packet, from 0. It does not travel.
	Order uint32
}

// Append encodes n.
func (n *News) Append(b []byte) []byte {
	key := uint64(n.Alias) << 1
	if n.Call {
		key |= 1
	}
	b = binary.AppendUvarint(b, key)
	return append(binary.AppendUvarint(b, uint64(len(n.Body))), n.Body...)
}

func (n *News) read(r *codec.Reader) {
	key := r.Uvarint()
	if key>>1 >= MaxAlias {
		r.Fail(errEntry)
	}
	n.Alias, n.Call = uint32(key>>1), key&1 != 0
	if n.Body = r.Bytes(MaxBundle); len(n.Body) == 0 { // whoever has nothing to tell does not begin
		r.Fail(errEntry)
	}
}

// AppendWhisper appends a call of a client method, of which the index among the client methods is
// given, as the body of News.
func AppendWhisper(b []byte, method uint16, args []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(method)), args...)
}

// Whisper decodes the call that AppendWhisper wrote.
func (n *News) Whisper(d *property.Definition) (m *property.Method, args []byte, err error) {
	r := codec.NewReader(n.Body)
	index := fields.ReadUint32(&r)
	args = r.Rest()
	if err := done(&r, "whisper"); err != nil {
		return nil, nil, err
	}
	if uint64(index) >= uint64(len(d.ClientMethods)) {
		return nil, nil, fmt.Errorf("%w: %s has no client method %d", ErrMalformed, d.Name, index)
	}
	return d.ClientMethods[index], args, nil
}
