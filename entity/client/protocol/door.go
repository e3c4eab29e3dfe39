package protocol

import (
	"encoding/binary"

	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/mercury"
)

// Limits of the doors in one message.
const (
	// MaxDoors is as many as a process has carriers at most.
	MaxDoors = 16
	// MaxNetwork bounds the name of a network, MaxHostName that of a host, which is DNS's bound.
	MaxNetwork  = 16
	MaxHostName = 253
)

// UDP is the network of mercury's own datagrams, which every cluster had before it had others.
const UDP = "udp"

// Door is where clients reach an app over one kind of network.
type Door struct {
	// Network is that of the mercury.Carrier: "udp", "tcp", "quic", "websocket".
	Network string
	Address mercury.Address
	// Name is the host's, for those who dial by name, as pages do, whose certificates have names.
	// It may be empty.
	Name string
}

// AppendDoors appends doors, MaxDoors at most.
func AppendDoors(b []byte, doors []Door) []byte {
	b = binary.AppendUvarint(b, uint64(len(doors)))
	for _, p := range doors {
		b = mercury.AppendAddress(codec.AppendString(b, p.Network), p.Address)
		b = codec.AppendString(b, p.Name)
	}
	return b
}

// ReadDoors reads what AppendDoors wrote.
func ReadDoors(r *codec.Reader) []Door {
	const least = 3 // no name of a network, no address, no name of a host
	n := r.Count(MaxDoors, least)
	if n == 0 {
		return nil
	}
	doors := make([]Door, n)
	for i := range doors {
		doors[i] = Door{Network: r.String(MaxNetwork), Address: mercury.ReadAddress(r), Name: r.String(MaxHostName)}
	}
	return doors
}

func codeDoors(c *codec.Coder, doors *[]Door) { codec.Field(c, doors, AppendDoors, ReadDoors) }

// Over is the first door over a network.
func Over(doors []Door, network string) (Door, bool) {
	for _, p := range doors {
		if p.Network == network {
			return p, true
		}
	}
	return Door{}, false
}
