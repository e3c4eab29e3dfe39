package wire

import (
	"encoding/binary"

	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/space/cluster/status"
)

const (
	// MaxTraffic bounds the rows of property traffic in a Report: those with the most bytes are what
	// somebody looks for.
	MaxTraffic = 16
	// maxWay bounds the name of a way that properties travel.
	maxWay = 32
	// leastOfTraffic is the least that a row takes: three strings and two numbers.
	leastOfTraffic = 5
)

func appendTraffic(b []byte, rows []status.PropertyTraffic) []byte {
	b = binary.AppendUvarint(b, uint64(len(rows)))
	for i := range rows {
		x := &rows[i]
		b = codec.AppendString(codec.AppendString(codec.AppendString(b, x.Type), x.Property), x.Way)
		b = binary.AppendUvarint(binary.AppendUvarint(b, x.Changes), x.Bytes)
	}
	return b
}

func readTraffic(r *codec.Reader) (rows []status.PropertyTraffic) {
	for range r.Count(MaxTraffic, leastOfTraffic) {
		rows = append(rows, status.PropertyTraffic{
			Type: r.String(MaxTypeName), Property: r.String(MaxTypeName), Way: r.String(maxWay),
			Changes: r.Uvarint(), Bytes: r.Uvarint(),
		})
	}
	return rows
}
