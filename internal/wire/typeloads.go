package wire

import (
	"encoding/binary"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
)

// TypeLoad is what the reals of one entity type cost a CellApp.
type TypeLoad struct {
	Type  string // its name, at most MaxTypeName long
	Reals uint32
	Load  int64 // nanoseconds of work per second, as balance/load has it
}

// MaxTypeLoads bounds the types in a Report: those that cost most are what somebody looks for.
const MaxTypeLoads = 16

func appendTypeLoads(b []byte, list []TypeLoad) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for i := range list {
		b = codec.AppendString(b, list[i].Type)
		b = binary.AppendUvarint(b, uint64(list[i].Reals))
		b = binary.AppendUvarint(b, uint64(load.Clamp(list[i].Load)))
	}
	return b
}

func readTypeLoads(r *codec.Reader) (list []TypeLoad) {
	for range r.Count(MaxTypeLoads, 3) {
		x := TypeLoad{Type: r.String(MaxTypeName), Reals: fields.ReadUint32(r)}
		n := r.Uvarint()
		if n > uint64(load.Max) {
			r.Fail(ErrMalformed)
			break
		}
		x.Load = int64(n)
		list = append(list, x)
	}
	return list
}
