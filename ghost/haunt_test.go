package ghost

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/mercury"
)

func app(n byte) mercury.Address {
	return mercury.Address{At: netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, n}), 1000), Salt: uint32(n)}
}

func apps(h *Haunts) (list []mercury.Address) {
	for x := range h.All() {
		list = append(list, x.App)
	}
	return list
}

func TestHaunts(t *testing.T) {
	var h Haunts
	for _, n := range []byte{3, 1, 2} {
		if !h.Add(app(n), time.Duration(n)) {
			t.Fatalf("app %d not added", n)
		}
	}
	if h.Add(app(2), 9) {
		t.Error("a haunt was added twice")
	}
	if !h.Has(app(1)) || h.Has(app(4)) || h.Len() != 3 {
		t.Errorf("Has or Len is wrong: %v", apps(&h))
	}
	if got, want := apps(&h), []mercury.Address{app(1), app(2), app(3)}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
	if !h.Remove(app(1)) || h.Remove(app(1)) {
		t.Error("Remove does not say whether there was one")
	}
	h.Sweep(func(x Haunt) bool { return x.Since == 3 })
	if got, want := apps(&h), []mercury.Address{app(2)}; !slices.Equal(got, want) {
		t.Errorf("after Sweep %v, want %v", got, want)
	}
}

func TestHauntsLimit(t *testing.T) {
	var h Haunts
	for i := range MaxHaunts {
		a := app(1)
		a.Salt = uint32(i + 1)
		if !h.Add(a, 0) {
			t.Fatalf("haunt %d refused", i)
		}
	}
	if h.Add(app(2), 0) {
		t.Error("a haunt above MaxHaunts was taken")
	}
}

func TestHauntsTravel(t *testing.T) {
	var h, got Haunts
	h.Add(app(1), 1)
	h.Add(app(2), 2)
	r := codec.NewReader(h.Append(nil))
	got.Read(&r, 7)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(apps(&got), apps(&h)) {
		t.Errorf("read %v, want %v", apps(&got), apps(&h))
	}
	for x := range got.All() {
		if x.Since != 7 {
			t.Errorf("%v since %v: haunts count from the arrival", x.App, x.Since)
		}
	}
	twice := append([]byte{2}, mercury.AppendAddress(mercury.AppendAddress(nil, app(1)), app(1))...)
	for _, b := range [][]byte{nil, {1}, {200}, twice} {
		r := codec.NewReader(b)
		got.Read(&r, 0)
		if r.Err() == nil {
			t.Errorf("%x was taken for haunts", b)
		}
	}
}
