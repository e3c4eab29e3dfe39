package mercury

import (
	"errors"
	"net/netip"
	"testing"

	"github.com/cellscape/cellscape/internal/codec"
)

func TestAddressOrder(t *testing.T) {
	a := Address{At: netip.MustParseAddrPort("10.0.0.1:2"), Salt: 3}
	for _, b := range []Address{
		{At: netip.MustParseAddrPort("10.0.0.2:1"), Salt: 1},
		{At: netip.MustParseAddrPort("10.0.0.1:3"), Salt: 1},
		{At: netip.MustParseAddrPort("10.0.0.1:2"), Salt: 4},
	} {
		if a.Compare(b) >= 0 || b.Compare(a) <= 0 || a.Compare(a) != 0 {
			t.Errorf("%v and %v are not ordered", a, b)
		}
	}
	if got := a.String(); got != "10.0.0.1:2#3" {
		t.Errorf("String() = %q", got)
	}
}

func TestAddressOnTheWire(t *testing.T) {
	for _, a := range []Address{
		{},
		{At: netip.MustParseAddrPort("[2001:db8::7]:443"), Salt: 9},
		{At: netip.MustParseAddrPort("10.0.0.7:20013"), Salt: 0x3f2a90c1},
	} {
		r := codec.NewReader(AppendAddress(nil, a))
		if got := ReadAddress(&r); got != a || r.Close() != nil {
			t.Errorf("%v came as %v: %v", a, got, r.Err())
		}
	}
	for name, tt := range map[string]struct {
		in   string
		want error
	}{
		"family":   {"\x05", codec.ErrValue},
		"cut":      {"\x04\x01\x02", codec.ErrShort},
		"v4 in v6": {"\x06\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\x01\x02\x03\x04\x00\x00\x00\x00\x00\x00", codec.ErrValue},
	} {
		r := codec.NewReader([]byte(tt.in))
		if a := ReadAddress(&r); !errors.Is(r.Close(), tt.want) {
			t.Errorf("%s: %v, %v, want %v", name, a, r.Err(), tt.want)
		}
	}
}

// FuzzReadAddress: what parses survives a round trip.
func FuzzReadAddress(f *testing.F) {
	f.Add(AppendAddress(nil, Address{At: netip.MustParseAddrPort("[::1]:1")}))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := codec.NewReader(data)
		a := ReadAddress(&r)
		if r.Err() != nil {
			return
		}
		again := codec.NewReader(AppendAddress(nil, a))
		if ReadAddress(&again) != a || again.Close() != nil {
			t.Fatalf("address %v does not survive", a)
		}
	})
}
