package protocol_test

import (
	"bytes"
	"net/netip"
	"testing"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/mercury"
)

// The list of doors comes in the answer to a login, from whoever answered. Whatever is taken is
// written as the same bytes, and has no more doors than an app.
func FuzzDoors(f *testing.F) {
	at := mercury.Address{At: netip.MustParseAddrPort("10.0.0.1:9"), Salt: 5}
	six := mercury.Address{At: netip.MustParseAddrPort("[2001:db8::1]:443"), Salt: 1 << 31}
	f.Add(protocol.AppendDoors(nil, nil))
	f.Add(protocol.AppendDoors(nil, []protocol.Door{{Network: protocol.UDP, Address: at}}))
	f.Add(protocol.AppendDoors(nil, []protocol.Door{{Network: protocol.UDP, Address: at}, {Network: "websocket", Address: six, Name: "a.example"}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := codec.NewReader(b)
		doors := protocol.ReadDoors(&r)
		if r.Close() != nil {
			return
		}
		if len(doors) > protocol.MaxDoors {
			t.Fatalf("%d doors", len(doors))
		}
		if again := protocol.AppendDoors(nil, doors); !bytes.Equal(again, b) {
			t.Errorf("read from %x, written as %x", b, again)
		}
		for _, network := range []string{protocol.UDP, "websocket", ""} {
			if d, ok := protocol.Over(doors, network); ok && d.Network != network {
				t.Errorf("%+v is not over %q", d, network)
			}
		}
	})
}
