package wire

import (
	"encoding/binary"
	"errors"

	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/mercury"
)

// Backlog describes the fullest channel to an app when the tick began: what is left from earlier
// ticks, without what this tick adds.
type Backlog struct {
	To           mercury.Address
	Bytes, Limit int
	// Held is how many of Bytes had no room in the channel.
	Held int
}

// Level is how full it is.
func (b Backlog) Level() mercury.Level {
	if b.Limit == 0 {
		return mercury.Free
	}
	return mercury.LevelOf(b.Bytes, b.Limit)
}

func (b Backlog) append(to []byte) []byte {
	to = mercury.AppendAddress(to, b.To)
	to = binary.AppendUvarint(to, uint64(b.Bytes))
	to = binary.AppendUvarint(to, uint64(b.Limit))
	return binary.AppendUvarint(to, uint64(b.Held))
}

func (b *Backlog) read(r *codec.Reader) {
	b.To = mercury.ReadAddress(r)
	for _, n := range [...]*int{&b.Bytes, &b.Limit, &b.Held} {
		v := r.Uvarint()
		if v > maxBacklog {
			r.Fail(errors.New("a backlog larger than any memory"))
			return
		}
		*n = int(v)
	}
}

// maxBacklog bounds the bytes that a report may claim for a queue.
const maxBacklog = 1 << 40
