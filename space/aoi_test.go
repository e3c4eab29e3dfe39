package space

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
)

// sees lists who is in a player's area of interest.
func (r *rig) sees(id entity.ID) []entity.ID { return slices.Collect(r.real(id).witness.Known()) }

// A script sets how far its client sees, while it plays and across a line.
func TestSetAoI(t *testing.T) {
	r := newRig(t, 2, func(c *Config) { c.Border.GhostDistance = 200 })
	r.create(1, -30, 1)
	for i, x := range []float32{-50, -100, -150} {
		r.create(entity.ID(2+i), x, 0)
	}
	expect := func(when string, want ...entity.ID) {
		t.Helper()
		if got := r.sees(1); !slices.Equal(got, want) {
			t.Errorf("%s it sees %v, want %v", when, got, want)
		}
	}
	r.tick(3)
	expect("by default", 2, 3)
	set := func(radius, hysteresis float32) {
		t.Helper()
		if err := r.real(1).SetAoI(radius, hysteresis); err != nil {
			t.Fatal(err)
		}
		r.tick(2)
	}
	set(30, 5)
	expect("with 30 m", 2)
	set(130, 5)
	expect("with 130 m", 2, 3, 4)
	set(60, 15)
	expect("with 60 m and 15 m of hysteresis", 2, 3)
	for x := float32(-30); x <= 40; x += 5 {
		r.move(1, x)
		r.tick(3)
	}
	if r.apps[1].count.Migrations == 0 {
		t.Fatal("it was not handed over")
	}
	if radius, hysteresis := r.real(1).AoI(); radius != 60 || hysteresis != 15 {
		t.Errorf("beyond the line it sees %v m, %v m of hysteresis", radius, hysteresis)
	}
	expect("beyond the line")
	r.move(1, 5)
	r.tick(3)
	expect("back near it", 2)
	set(0, 0)
	expect("by default again", 2)
	r.calm()
}

// What a script has said of its client's view goes with a backup, for as long as the session does.
func TestRestoredRealKeepsWhatWasSaidOfItsView(t *testing.T) {
	for _, same := range []bool{true, false} {
		r := newRig(t, 1, func(c *Config) { c.Border.GhostDistance = 200 })
		r.create(1, -30, 1)
		for i, x := range []float32{-50, -100, -150} {
			r.create(entity.ID(2+i), x, 0)
		}
		r.tick(3)
		e := r.real(1)
		if err := errors.Join(e.SetAoI(130, 5), e.SetHidden(3, true), e.SetUpdateScheme(2, property.UpdateScheme{Min: 1, Max: 7})); err != nil {
			t.Fatal(err)
		}
		e.SetDetailFactor(0.5)
		r.tick(2)
		b := *r.backUp(1)
		r.apps[0].cell.drop(r.real(1))
		r.bases[1].out.Settle(r.now, r.bases[1].out.Last())
		want, radius := []entity.ID{2, 4}, float32(130)
		if !same {
			r.bases[1].session++
			want, radius = []entity.ID{2, 3}, r.apps[0].cell.cfg.AoIRadius
		}
		r.restore(1, -30, b.Parts, b.Handled)
		r.tick(3)
		if got := r.sees(1); !slices.Equal(got, want) {
			t.Errorf("same session %v: it sees %v, want %v", same, got, want)
		}
		if got, _ := r.real(1).AoI(); got != radius || r.real(1).Hidden(3) != same || r.real(1).witness.Said() != same {
			t.Errorf("same session %v: it sees as far as %v m, want %v", same, got, radius)
		}
	}
}

func TestSetAoIRefused(t *testing.T) {
	r := newRig(t, 1)
	r.create(1, -30, 1)
	nan := float32(math.NaN())
	for _, x := range [][2]float32{{0, 5}, {5, 0}, {-5, 5}, {1000, 5}, {nan, 5}, {5, nan}, {5, float32(math.Inf(1))}} {
		if err := r.real(1).SetAoI(x[0], x[1]); err == nil {
			t.Errorf("%v was taken", fmt.Sprint(x))
		}
	}
	if radius, hysteresis := r.real(1).AoI(); radius != 100 || hysteresis != testConfig().AoIHysteresis {
		t.Errorf("then it sees %v m, %v m of hysteresis", radius, hysteresis)
	}
}
