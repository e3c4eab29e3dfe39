package space

import (
	"testing"

	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// A haunt that does not keep up hears nothing until it has room, and then the sum; no new ghost is made
// there meanwhile.
func TestGhostsAreLeftBehind(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -20, 0)
	r.tick(3)
	there := r.apps[1].self
	if r.ghost(2, 7) == nil {
		t.Fatal("no ghost")
	}
	sent := map[string]int{}
	r.arrive = func(p packet) {
		if p.to != there {
			return
		}
		switch p.m.(type) {
		case *ghost.Update:
			sent["update"]++
		case *ghost.State:
			sent["state"]++
		default:
			sent["other"]++
		}
	}
	r.levels = map[mercury.Address]mercury.Level{there: mercury.High}
	r.create(8, -21, 0)
	for range 10 {
		r.avatar(7).Hp.Set(r.avatar(7).Hp.Get() + 1)
		r.tick(1)
	}
	if sent["update"]+sent["state"] > 0 || r.ghost(2, 8) != nil {
		t.Errorf("an app without room was sent %v", sent)
	}
	if r.apps[0].population.Pending() == 0 {
		t.Error("nothing is pending though a ghost is behind")
	}
	r.levels = nil
	r.tick(5)
	if sent["state"] != 2 || r.ghost(2, 8) == nil {
		t.Errorf("with room it was sent %v", sent)
	}
	r.calm()
}

// A real beyond the line waits for room on the way to the other cell's app, and is served here meanwhile.
func TestNobodyIsHandedOverWithoutRoom(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -20, 0)
	r.tick(3)
	handed := 0
	r.arrive = func(p packet) {
		if _, is := p.m.(*migrate.Onload); is {
			handed++
		}
	}
	r.levels = map[mercury.Address]mercury.Level{r.apps[1].self: mercury.High}
	r.move(7, 50)
	r.tick(10)
	r.call(7, hitMethod, arg(1)...)
	r.pump()
	if handed != 0 || r.real(7).cell.id != cellID(1) {
		t.Errorf("%d were handed over to an app without room", handed)
	}
	r.levels = nil
	r.tick(3)
	if handed != 1 || r.real(7).cell.id != cellID(2) {
		t.Errorf("with room, %d were handed over", handed)
	}
	r.diary(7, "created;hit 1;leaving;entering;entered;")
	r.calm()
}

// A base that does not keep up gets the first half of its way filled and no more; what waits is
// sent in order when the way is free, once.
func TestFlowsWaitForRoom(t *testing.T) {
	r := newRig(t, 1)
	r.create(7, -20, 1)
	r.tick(3)
	r.levels = map[mercury.Address]mercury.Level{r.base: mercury.Packed}
	r.bases[7].got = nil
	for range 10 {
		r.avatar(7).Hp.Set(r.avatar(7).Hp.Get() + 1)
		if err := r.real(7).sendBase([]byte{byte(flow.CallBasePayload), 1}); err != nil {
			t.Fatal(err)
		}
		r.tick(1)
	}
	if n := len(r.bases[7].got); n != 0 {
		t.Errorf("%d messages went where there was no room", n)
	}
	r.levels[r.base] = mercury.High
	r.tick(20)
	if n := len(r.bases[7].got); n != 0 {
		t.Errorf("%d messages that had waited went before the way was free", n)
	}
	r.levels = nil
	r.tick(3)
	calls := 0
	for _, p := range r.bases[7].got {
		if flow.Payload(p[0]) == flow.CallBasePayload {
			calls++
		}
	}
	if calls != 10 {
		t.Errorf("%d of 10 calls came", calls)
	}
	r.calm()
}
