package argument

import (
	"strings"
	"testing"

	"github.com/cellscape/cellscape/property"
)

// A buffer is empty after its calls, and keeps no memory that few of them need.
func TestBufferRelease(t *testing.T) {
	say := &property.Method{Name: "say", Args: []property.Arg{{Type: property.Scalar(property.KindString)}}}
	var b Buffer
	for _, text := range []string{"outer", strings.Repeat("z", maxIdleBuffer)} {
		outer, err := b.Encode(nil, say, []any{text})
		if err != nil {
			t.Fatal(err)
		}
		inner, err := b.Encode(nil, say, []any{"inner"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Encode(nil, say, []any{5}); err == nil {
			t.Error("a number is not refused")
		}
		b.Release(inner)
		if got := string(outer[len(outer)-1:]); got != text[len(text)-1:] {
			t.Errorf("%q ends the outer arguments", got)
		}
		b.Release(outer)
		if len(b.taken) != 0 || cap(b.taken) > maxIdleBuffer {
			t.Errorf("%d bytes are still taken, %d are kept", len(b.taken), cap(b.taken))
		}
	}
}
