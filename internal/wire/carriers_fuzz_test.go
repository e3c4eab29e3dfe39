package wire

import (
	"bytes"
	"testing"

	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// The figures of carriers come in reports and in the status. Whatever is taken is written as the same
// bytes.
func FuzzCarriers(f *testing.F) {
	c := status.Carrier{Network: "websocket", Outer: true, Sealed: true, Address: "10.0.0.1:2#3", Name: "a.example", RTT: 2.5, Lost: 1 << 40, Counts: status.Counts{"mercury.Moved": 2, "udp.Overflow": 1 << 40}}
	f.Add(appendCarriers(nil, nil))
	f.Add(appendCarriers(nil, []status.Carrier{c}))
	f.Add(appendCarriers(nil, []status.Carrier{{}, c, c}))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := codec.NewReader(b)
		got := readCarriers(&r)
		if r.Close() != nil {
			return
		}
		if len(got) > MaxCarriers {
			t.Fatalf("%d carriers", len(got))
		}
		if again := appendCarriers(nil, got); !bytes.Equal(again, b) {
			t.Errorf("read from %x, written as %x", b, again)
		}
	})
}
