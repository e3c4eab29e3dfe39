package ghost

import (
	"bytes"
	"testing"

	"github.com/cellscape/cellscape/internal/codec"
)

// The list of haunts comes with a handoff. Whatever is taken is in order and within its bound, and is
// taken again as it is written.
func FuzzHaunts(f *testing.F) {
	var h Haunts
	f.Add(h.Append(nil))
	h.Add(app(1), 0)
	h.Add(app(2), 0)
	h.SetWatched(app(2), true)
	f.Add(h.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		var h, again Haunts
		r := codec.NewReader(b)
		if h.Read(&r, 1); r.Close() != nil {
			return
		}
		if h.Len() > MaxHaunts {
			t.Fatalf("%d haunts", h.Len())
		}
		written := h.Append(nil)
		r = codec.NewReader(written)
		if again.Read(&r, 1); r.Close() != nil || !bytes.Equal(again.Append(nil), written) {
			t.Errorf("read from %x, written as %x, which is not taken", b, written)
		}
	})
}
