package wire

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// These bound what a Report says of carriers: as many as a process can have, and names as long as
// those that clients are told.
const (
	MaxCarriers     = 16
	maxCarrierName  = 253
	wholeLoss       = 10000            // a loss of all, as it travels
	maxRTT          = 24 * 3600 * 1000 // milliseconds, in which a float64 keeps each nanosecond
	leastOfACarrier = 19               // bytes: two flags, three strings, a round trip, a loss, eleven numbers and no counts
)

func appendCarriers(b []byte, carriers []status.Carrier) []byte {
	b = binary.AppendUvarint(b, uint64(len(carriers)))
	for i := range carriers {
		c := &carriers[i]
		b = codec.AppendBool(codec.AppendBool(b, c.Outer), c.Sealed)
		b = codec.AppendString(codec.AppendString(codec.AppendString(b, c.Network), c.Address), c.Name)
		b = binary.AppendUvarint(b, uint64(math.Round(min(max(c.RTT, 0), maxRTT)*float64(time.Millisecond))))
		b = binary.AppendUvarint(b, uint64(math.Round(min(max(c.Loss, 0), 1)*wholeLoss)))
		for _, n := range c.Numbers() {
			b = binary.AppendUvarint(b, *n)
		}
		b = appendCounts(b, c.Counts)
	}
	return b
}

func readCarriers(r *codec.Reader) (carriers []status.Carrier) {
	for range r.Count(MaxCarriers, leastOfACarrier) {
		c := status.Carrier{Outer: r.Bool(), Sealed: r.Bool(), Network: r.String(maxCarrierName), Address: r.String(maxCarrierName), Name: r.String(maxCarrierName)}
		if c.RTT = float64(readDuration(r)) / float64(time.Millisecond); c.RTT > maxRTT {
			r.Fail(ErrMalformed)
		}
		if c.Loss = float64(r.Uvarint()) / wholeLoss; c.Loss > 1 {
			r.Fail(ErrMalformed)
		}
		for _, n := range c.Numbers() {
			*n = r.Uvarint()
		}
		c.Counts = readCounts(r)
		carriers = append(carriers, c)
	}
	return carriers
}
