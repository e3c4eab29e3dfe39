package mercurytest

import (
	"cmp"
	"net/netip"
	"testing"

	"github.com/cellscape/cellscape/mercury"
)

// EndpointRig is a Rig of two mercury.Endpoints in a World of their own, the second at Place(2)
// with salt 2. cfg's salt is set.
func EndpointRig(t testing.TB, seed uint64, cfg mercury.Config) *Rig {
	t.Helper()
	rig, _ := EndpointRigIn(t, seed, cfg)
	return rig
}

// EndpointRigIn is EndpointRig together with the World, at whose places 1 and 2 the endpoints are.
func EndpointRigIn(t testing.TB, seed uint64, cfg mercury.Config) (*Rig, *World) {
	t.Helper()
	w := NewWorld(seed)
	var ends [2]*mercury.Endpoint
	for i := range ends {
		cfg.Salt = uint32(i + 1)
		e, err := mercury.NewEndpoint(cfg, Place(i+1), nil)
		if err != nil {
			t.Fatal(err)
		}
		ends[i] = e
		w.Add(e)
	}
	rig := RigOf(ends[0], ends[1], w.RunUntil)
	rig.MaxMessage = cmp.Or(cfg.MaxMessage, mercury.DefaultMaxMessage)
	rig.Lossless = true
	rig.Timeout = 2 * mercury.DefaultInactivity
	rig.SetLink = w.Net.SetLink
	rig.Cut = func(cut bool) { w.Net.Cut(Place(1), Place(2), cut) }
	outer := 2
	rig.Rebind = func() {
		outer++
		w.Net.Rebind(Place(1), Place(outer))
	}
	return rig, w
}

// Place is the n-th place of a fake network: 10.0.0.0 upwards, port 20000. n is from 0 to 65535.
func Place(n int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, byte(n >> 8), byte(n)}), 20000)
}
