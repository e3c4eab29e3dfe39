package migrate_test

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// onHost is an app on a host.
func onHost(host, port int) mercury.Address {
	return mercury.Address{At: netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, byte(host >> 8), byte(host)}), uint16(port)), Salt: uint32(host*1000 + port)}
}

func apps(n int) (list []mercury.Address) {
	for i := range n {
		list = append(list, onHost(i+1, 20000))
	}
	return list
}

func shuffled(r *rand.Rand, list []mercury.Address) []mercury.Address {
	list = slices.Clone(list)
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// rankOf finds where an app ranks among the whole list for a base.
func rankOf(owner mercury.Address, id entity.ID, list []mercury.Address, app mercury.Address) int {
	best := 0
	for _, x := range list {
		if x != app && x != owner && first(owner, id, x, app) == x {
			best++
		}
	}
	return best
}

// first is which of two apps ranks higher.
func first(owner mercury.Address, id entity.ID, x, y mercury.Address) mercury.Address {
	return migrate.Holders(nil, owner, id, []mercury.Address{x, y}, 1)[0]
}

// The naive twin asks of each pair of apps which ranks higher, and sorts.
func TestHoldersTwin(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		list := []mercury.Address{}
		for range r.IntN(12) {
			list = append(list, onHost(r.IntN(4), r.IntN(3)))
		}
		owner, id, replicas := onHost(r.IntN(4), r.IntN(3)), entity.ID(r.Uint64N(1<<53)), r.IntN(migrate.MaxReplicas+1)
		got := migrate.Holders(nil, owner, id, list, replicas)
		if again := migrate.Holders(nil, owner, id, shuffled(r, list), replicas); !slices.Equal(got, again) {
			t.Fatalf("the order of the list shows: %v and %v", got, again)
		}
		want := slices.DeleteFunc(slices.Clone(list), func(a mercury.Address) bool { return a == owner })
		slices.SortFunc(want, func(a, b mercury.Address) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Salt, b.Salt)) })
		want = slices.Compact(want)
		set := slices.Clone(want)
		slices.SortFunc(want, func(a, b mercury.Address) int {
			return rankOf(owner, id, set, a) - rankOf(owner, id, set, b)
		})
		want = want[:min(len(want), replicas)]
		if !slices.Equal(got, want) {
			t.Fatalf("%d of %v for %v: got %v, want %v", replicas, list, id, got, want)
		}
	}
}

// A change of the list moves only the bases of the app that came or went.
func TestHoldersMoveLittle(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	owner := onHost(200, 1)
	for range 500 {
		list := apps(2 + r.IntN(10))
		more := append(slices.Clone(list), onHost(100, 7))
		for k := 1; k <= 3; k++ {
			id := entity.ID(r.Uint64N(1 << 53))
			before, after := migrate.Holders(nil, owner, id, list, k), migrate.Holders(nil, owner, id, more, k)
			kept := slices.DeleteFunc(slices.Clone(after), func(a mercury.Address) bool { return a == onHost(100, 7) })
			if !slices.Equal(kept, before[:len(kept)]) {
				t.Fatalf("%v became %v", before, after)
			}
		}
	}
}

// Each app gets its share, for ids of one allocator as well as for all kinds.
func TestHoldersShare(t *testing.T) {
	owner, list := onHost(200, 1), apps(8)
	count := map[mercury.Address]int{}
	const n = 16000
	for i := range n {
		for _, h := range migrate.Holders(nil, owner, entity.ID(7<<32|uint64(i)), list, 2) {
			count[h]++
		}
	}
	for _, a := range list {
		if share := float64(count[a]) * 8 / (2 * n); share < 0.9 || share > 1.1 {
			t.Errorf("%v has %.2f of its share", a, share)
		}
	}
}

// A holder is on the owner's host only if there are not enough others.
func TestHoldersOnOtherHosts(t *testing.T) {
	owner := onHost(1, 1)
	near, far := []mercury.Address{onHost(1, 2), onHost(1, 3), onHost(1, 4)}, onHost(2, 1)
	list := append(slices.Clone(near), far)
	for i := range 100 {
		got := migrate.Holders(nil, owner, entity.ID(i), list, 2)
		if got[0] != far || !slices.Contains(near, got[1]) {
			t.Fatalf("holders %v", got)
		}
	}
	if got := migrate.Holders(nil, owner, 1, []mercury.Address{owner}, 1); len(got) != 0 {
		t.Errorf("an app holds its own: %v", got)
	}
}

func TestPartners(t *testing.T) {
	owner := onHost(1, 1)
	if got := migrate.Partners(nil, owner, apps(5)); len(got) != 5 {
		t.Errorf("%d partners of 5", len(got)) // onHost(1, 1) is not among them: another port
	}
	r := rand.New(rand.NewPCG(5, 6))
	list := apps(100)
	got := migrate.Partners(nil, owner, list)
	if len(got) != migrate.MaxPartners || !slices.Equal(got, migrate.Partners(nil, owner, shuffled(r, list))) {
		t.Errorf("%d partners of 100", len(got))
	}
	less := slices.DeleteFunc(slices.Clone(list), func(a mercury.Address) bool { return a == got[3] })
	after := migrate.Partners(nil, owner, less)
	if !slices.Equal(after[:migrate.MaxPartners-1], slices.Concat(got[:3], got[4:])) {
		t.Error("more than one partner changed")
	}
}

// Apps depart one after another, and the chain leads to who can bring a base back, if anybody can.
func TestChain(t *testing.T) {
	a, b, c, d := onHost(1, 1), onHost(2, 1), onHost(3, 1), onHost(4, 1)
	const id = entity.ID(5<<32 | 9)
	rule := func(covers uint64, replicas uint8, list ...mercury.Address) migrate.Rule {
		return migrate.Rule{Version: 1, Covers: covers, Replicas: replicas, List: list}
	}
	two := migrate.Holders(nil, a, id, []mercury.Address{b, c}, 2)
	b, c = two[0], two[1] // b ranks first
	tests := []struct {
		name string
		gone []migrate.Departure
		want mercury.Address
	}{
		{"nobody departed", nil, a},
		{"its app departed", []migrate.Departure{{App: a, Number: 1, Rule: rule(0, 1, b, c)}}, b},
		{"nothing protected it", []migrate.Departure{{App: a, Number: 1}}, mercury.Address{}},
		{"the heir departed, and had copies made", []migrate.Departure{{App: a, Number: 1, Rule: rule(0, 1, b, c)}, {App: b, Number: 2, Rule: rule(1, 1, d)}}, d},
		{"the heir departed too soon", []migrate.Departure{{App: a, Number: 1, Rule: rule(0, 1, b, c)}, {App: b, Number: 2, Rule: rule(0, 1, d)}}, mercury.Address{}},
		{"the heir departed too soon, and there was another", []migrate.Departure{{App: a, Number: 1, Rule: rule(0, 2, b, c)}, {App: b, Number: 2, Rule: rule(0, 2, c, d)}}, c},
		{"the first holder had departed before", []migrate.Departure{{App: b, Number: 1, Rule: rule(5, 1, d)}, {App: a, Number: 2, Rule: rule(0, 2, b, c)}}, c},
		{"all of them departed", []migrate.Departure{{App: a, Number: 1, Rule: rule(0, 1, b)}, {App: b, Number: 2, Rule: rule(1, 1, c)}, {App: c, Number: 3, Rule: rule(2, 1, a)}}, mercury.Address{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var known migrate.Departures
			for _, x := range tt.gone {
				known.Add(x)
			}
			if got, ok := known.Heir(a, id); got != tt.want || ok == tt.want.IsZero() {
				t.Errorf("it is at %v, %v; want %v", got, ok, tt.want)
			}
		})
	}
}

// Whoever lives and has departed never counts as the place of a base; bytes of any kind end the search.
func FuzzChain(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9}, uint64(1))
	f.Fuzz(func(t *testing.T, story []byte, id uint64) {
		var known migrate.Departures
		list := apps(8)
		for len(story) >= 4 {
			x := migrate.Departure{App: list[story[0]%8], Number: uint64(story[1] % 16), Rule: migrate.Rule{Covers: uint64(story[2] % 16), Replicas: story[3] % 5}}
			for i := range 8 {
				if story[3]>>i&1 != 0 {
					x.Rule.List = append(x.Rule.List, list[i])
				}
			}
			known.Add(x)
			story = story[4:]
		}
		for _, from := range list {
			heir, ok := known.Heir(from, entity.ID(id&(1<<53-1)))
			if ok && known.Of(heir) != nil || !ok && !heir.IsZero() || known.Of(from) == nil && heir != from {
				t.Fatalf("from %v to %v, %v", from, heir, ok)
			}
		}
	})
}

// A chain of deaths longer than MaxChain ends.
func TestChainIsBounded(t *testing.T) {
	var known migrate.Departures
	list := apps(migrate.MaxChain + 2)
	for i, a := range list[:len(list)-1] {
		known.Add(migrate.Departure{App: a, Number: uint64(i + 1), Rule: migrate.Rule{Covers: uint64(i), Replicas: 1, List: list[i+1 : i+2]}})
	}
	if heir, ok := known.Heir(list[0], 1); ok {
		t.Errorf("followed to %v", heir)
	}
	if heir, ok := known.Heir(list[1], 1); ok {
		t.Errorf("followed to %v through %d departures", heir, migrate.MaxChain)
	}
	if heir, ok := known.Heir(list[2], 1); !ok || heir != list[len(list)-1] {
		t.Errorf("not followed through fewer: %v", heir)
	}
}

// The oldest departures are forgotten.
func TestDeparturesAreBounded(t *testing.T) {
	var known migrate.Departures
	list := apps(migrate.MaxDepartures + 1)
	for i, a := range list {
		known.Add(migrate.Departure{App: a, Number: uint64(i + 1)})
		known.Add(migrate.Departure{App: a, Number: uint64(i + 1)})
	}
	if known.Len() != migrate.MaxDepartures || known.Of(list[0]) != nil || known.Newest(mercury.Address{}) != uint64(len(list)) {
		t.Errorf("%d departures, newest %d", known.Len(), known.Newest(mercury.Address{}))
	}
}

func BenchmarkHolders(b *testing.B) {
	for _, n := range []int{3, 32} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			owner, list := onHost(200, 1), apps(n)
			var buf [migrate.MaxReplicas]mercury.Address
			b.ReportAllocs()
			for i := range b.N {
				migrate.Holders(buf[:0], owner, entity.ID(i), list, 2)
			}
		})
	}
}

// TestHoldersStay fails if the hash changes: processes of two versions would then look for copies in
// different places.
func TestHoldersStay(t *testing.T) {
	sum := fnv.New64a()
	list := apps(9)
	for i := range 100 {
		for _, h := range migrate.Holders(nil, onHost(200, 1), entity.ID(i*977), list, 3) {
			fmt.Fprint(sum, h.At)
		}
	}
	if got, want := sum.Sum64(), uint64(0xca07986e08802b6); got != want {
		t.Errorf("the holders are others than they were: %#x, want %#x", got, want)
	}
}
