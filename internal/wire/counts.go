package wire

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/space/cluster/status"
)

const (
	// MaxCounts bounds the named figures of an app or of a carrier in a Report: more than there are.
	MaxCounts = 96
	// MaxCountName bounds the name of one.
	MaxCountName = 64
	// leastOfACount is the least that one takes: a string and a number.
	leastOfACount = 2
)

// appendCounts writes them in the order of their names, so that the same figures are always the same
// bytes. Beyond the bound they are left out, since otherwise the whole report would be refused.
func appendCounts(b []byte, counts status.Counts) []byte {
	if len(counts) == 0 {
		return append(b, 0) // without the garbage of a list of names
	}
	names := slices.Sorted(maps.Keys(counts))
	names = names[:min(len(names), MaxCounts)]
	b = binary.AppendUvarint(b, uint64(len(names)))
	for _, name := range names {
		b = binary.AppendUvarint(codec.AppendString(b, name), counts[name])
	}
	return b
}

func readCounts(r *codec.Reader) (counts status.Counts) {
	last := ""
	for range r.Count(MaxCounts, leastOfACount) {
		name := r.String(MaxCountName)
		if r.Err() == nil && name <= last {
			r.Fail(ErrMalformed)
			break
		}
		if counts == nil {
			counts = make(status.Counts)
		}
		counts[name], last = r.Uvarint(), name
	}
	return counts
}
