package witness

import (
	"fmt"
	"testing"

	"github.com/cellscape/cellscape/property"
)

// While the cell saves, details wait; what must be heard is heard as far away as ever.
func TestDegradationOfDetail(t *testing.T) {
	wd, e := scene(t) // at 50 m; weapon is seen within 100 m, say is heard within 50 m
	wd.w.SetDegradation(1000, 400)
	for _, bad := range [][2]uint16{{0, 1000}, {1000, 0}, {1001, 1000}, {1000, 1001}} {
		wd.w.SetDegradation(bad[0], bad[1])
	}
	wd.tell() // this counts as 125 m: beyond the hysteresis
	set(t, e, weapon, 2)
	call(e, say, 1)
	set(t, e, hp, 2)
	wd.tell("call 7 1", "change 7", "set hp")
	wd.settle(0)
	wd.handTo(e) // to a cell that saves nothing
	wd.tell("change 7", "set weapon")
	wd.w.SetDegradation(1000, 400)
	wd.tell()
	set(t, e, weapon, 3)
	wd.tell()
	wd.w.SetDegradation(1000, 1000)
	if wd.w.Pending(wd.watcher) != 1 {
		t.Error("what may be seen again is not pending")
	}
	wd.tell("change 7", "set weapon")
	wd.settle(0)
}

// A call that may be lost is a detail.
func TestDegradationOfUnreliableCalls(t *testing.T) {
	wd, e := scene(t)
	d := *e.Def
	d.ClientMethods = append([]*property.Method(nil), d.ClientMethods...)
	far := *d.ClientMethods[wave]
	far.DetailDistance = 60
	d.ClientMethods[wave] = &far
	for _, c := range []struct {
		detail uint16
		method int
		want   bool
	}{{1000, say, true}, {1000, wave, true}, {500, say, true}, {500, wave, false}, {500, jump, true}} {
		wd.w.SetDegradation(1000, c.detail)
		if got := wd.w.audible(&d, c.method, 50); got != c.want {
			t.Errorf("%s at 50 m with %d thousandths: heard %v", d.ClientMethods[c.method].Name, c.detail, got)
		}
	}
}

// The budget shrinks to its share, and so does the overdraft.
func TestDegradationOfBudget(t *testing.T) {
	sent := func(share uint16) (bytes int) {
		wd := newWorld(t, Config{BytesPerTick: 800, MaxDeficit: 800}, 5, 200)
		wd.interest()
		wd.update(true)
		wd.w.SetDegradation(share, 1000)
		for range 40 {
			for _, e := range wd.all {
				set(t, e, hp, wd.rng.Uint64N(1000))
			}
			bytes += wd.everyoneRises()
		}
		return bytes / 40
	}
	if all, quarter := sent(1000), sent(250); all < 720 || all > 880 || quarter < 180 || quarter > 240 {
		t.Errorf("%d bytes a tick of 800, %d at a quarter", all, quarter)
	}
}

// Promise 5 holds when a cell keeps saving more and less: once it saves nothing, the client holds
// everything.
func TestConvergesAfterDegradation(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			wd := newWorld(t, Config{BytesPerTick: 222, MaxRadius: aoiRadius}, seed, 30)
			for range 3 {
				for i := range 80 {
					wd.act()
					wd.interest()
					if i%10 == 0 {
						wd.w.SetDegradation(uint16(250+wd.rng.IntN(751)), uint16(500+wd.rng.IntN(501)))
					}
					wd.update(false)
					if wd.rng.IntN(25) == 0 {
						wd.handoff()
					}
				}
				wd.settle(4000) // what the client is entitled to at this degree of degradation
				wd.w.SetDegradation(1000, 1000)
				wd.settle(2000)
			}
		})
	}
}
