package space

import (
	"slices"
	"testing"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/property"
)

// push puts a number into the middle of all lists: made twice anywhere, or not at all, it shows for
// ever.
func (a *Avatar) push(t testing.TB, n uint32) {
	t.Helper()
	for _, l := range []*property.Slice[uint32]{&a.Stock, &a.Purse, &a.Bag} {
		if err := l.Insert(l.Len()/2, n); err != nil {
			t.Fatal(err)
		}
	}
}

// Each way to make a State, with changes that the haunts were not told yet: no number protects
// those of stock and purse.
func TestStateContainsWhatIsNotTold(t *testing.T) {
	whole := bsp.Rect{} // reaches everywhere, so that nobody is deep inside
	for name, act := range map[string]func(r *rig, c *Cell){
		"a new ghost": func(r *rig, c *Cell) {
			r.move(7, -5) // near the line to 2, which has a ghost since; 3 gets one
			if err := r.real(7).SetPosition(property.Vector3{X: 390}); err != nil {
				t.Fatal(err)
			}
			r.avatar(7).push(t, 2)
			if c.mirror(r.real(7), whole, 10) != 9 {
				t.Error("no new ghost")
			}
		},
		"asked by who has none": func(r *rig, c *Cell) {
			r.apps[0].population.GhostQuery(&ghost.Query{Head: ghost.Head{ID: 7}, Asker: addr(3)}, addr(3))
		},
		"asked by who has one": func(r *rig, c *Cell) {
			r.apps[0].population.GhostQuery(&ghost.Query{Head: ghost.Head{ID: 7}, Asker: addr(2)}, addr(2))
		},
		"asked by who heard nothing for long": func(r *rig, c *Cell) {
			r.apps[0].population.GhostQuery(&ghost.Query{Head: ghost.Head{ID: 7, Order: r.real(7).Order()}, Asker: addr(2)}, addr(2))
		},
		"offloaded": func(r *rig, c *Cell) {
			r.avatar(7).hook = func(a *Avatar, what string) {
				if what == "leaving" {
					a.push(t, 3)
				}
			}
			if err := r.real(7).SetPosition(property.Vector3{X: 50}); err != nil {
				t.Fatal(err)
			}
			c.offload(r.real(7))
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 3)
			c := r.create(7, -50, 0).cell
			r.tick(3)
			if r.ghost(2, 7) == nil || r.ghost(3, 7) != nil {
				t.Fatal("the test needs a ghost on 2 alone")
			}
			r.avatar(7).push(t, 1)
			r.tick(1)
			r.avatar(7).push(t, 2)
			act(r, c.Cell)
			r.pump()
			r.avatar(7).push(t, 4)
			r.tick(1)
			g := r.ghost(2, 7)
			if g == nil {
				g = r.ghost(1, 7) // the real is on 2 by now
			}
			want := r.avatar(7).Stock.Values()
			if got := g.Entity.Props.Get(stockProp); !property.Equal(got, r.real(7).e.Props.Get(stockProp)) || len(want) < 3 {
				t.Errorf("the ghost has %v, its real %v", got, want)
			}
			for _, a := range r.apps {
				if a.count.Errors != 0 {
					t.Errorf("%v: %d errors", a.self, a.count.Errors)
				}
			}
			r.calm()
		})
	}
}

// What the own client is told of a part are the bytes that the history keeps for others.
func TestPartOfOwnPropertyEncodedOnce(t *testing.T) {
	r := newRig(t, 1)
	r.create(7, 0, 1)
	r.tick(1)
	own := property.NewValues(r.real(7).Def(), property.OwnClientSide, nil)
	seen, _ := r.bundles(7)
	for _, p := range []uint32{1, 2, 3, 4} {
		r.avatar(7).push(t, p)
	}
	if err := r.avatar(7).Bag.SetAt(2, 9); err != nil {
		t.Fatal(err)
	}
	r.tick(1)
	ids, bodies := r.bundles(7)
	var told []byte
	for k := len(seen); k < len(ids); k++ {
		if ids[k] != protocol.OwnPropertyID {
			continue
		}
		change, rest, err := own.ApplyClientChange(bodies[k])
		if err != nil || len(rest) > 0 || !change.Nested() {
			t.Fatalf("change %+v, rest %x, error %v", change, rest, err)
		}
		told = bodies[k]
	}
	for _, i := range []int{purseProp, bagProp} {
		if !property.Equal(own.Get(i), r.real(7).e.Props.Get(i)) {
			t.Errorf("the client has %v, the real %v", own.Get(i), r.real(7).e.Props.Get(i))
		}
	}
	parts, ok := r.real(7).e.History.Parts(bagProp, r.real(7).e.History.Last()-1, 99)
	if !ok {
		t.Fatal("the history keeps no part")
	}
	for p := range parts {
		if !slices.Equal(p.Client, told) {
			t.Errorf("the client was told %x, the history has %x", told, p.Client)
		}
	}
}
