package sim

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
)

// goesBack waits until a brittle base has gone back to a copy since it had panicked over a message, and
// its cell part has handled what the base had said after that copy. The base has said nothing since.
func (r *rig) goesBack() (id entity.ID) {
	told := map[entity.ID]bool{}
	r.until("a base goes back", 20*time.Second, func() bool {
		for v := range r.views() {
			s, ok := v.Script().(*brittleCell)
			switch {
			case !ok || !v.IsReal() || id != 0:
			case s.Noted.Get() > r.sent(v.ID()):
				id = v.ID()
			case s.Noted.Get()%commits == commits-1 && !told[v.ID()]: // its copy is of some numbers ago
				told[v.ID()] = true
				_ = s.Base().Call("crumble")
			}
		}
		return id != 0
	})
	return id
}

// sent is the last number that a base knows to have said.
func (r *rig) sent(id entity.ID) (n uint32) {
	for b := range r.bases() {
		if b.ID == id {
			n = counts(b.app.Script(id)).Sent
		}
	}
	return n
}

// noted is the last number that its cell part has handled.
func (r *rig) noted(id entity.ID) uint32 {
	_, _, v := r.real(id)
	return uint32(get(v, "noted"))
}

// TestStillAfterAPanic: a base goes back to its copy, and the world stands still before the base says
// anything again. What it had said after the copy stays handled (seed 192100).
func TestStillAfterAPanic(t *testing.T) {
	play(t, Options{Seed: 8401, CellApps: 2, BaseApps: 2, Replicas: 1, Players: 2, Balance: still(2), Wild: Wild{Brittle: 4}}, func(r *rig) {
		r.world.calm = true // they panic when they are told
		r.wait(3 * time.Second)
		id := r.goesBack()
		r.still, r.stillAt = true, r.now
		r.observer.freeze(true)
		r.wait(5 * time.Second)
		sent, noted := r.sent(id), r.noted(id)
		if sent >= noted {
			t.Fatalf("the base has said %d, and its cell part has handled %d", sent, noted)
		}
		k := &exactlyOnce{r.Cluster}
		if err := k.converged(); err != nil {
			t.Error(err)
		}
		was := r.world.bases.sayings[id]
		for _, x := range []saying{{noted - 1, true, was.at}, {was.most, false, was.at}, {was.most, true, r.stillAt - speaksIn}} {
			r.world.bases.sayings[id] = x
			if k.converged() == nil {
				t.Errorf("not noticed: it is ahead, and may be so by %+v", x)
			}
		}
		r.world.bases.sayings[id] = was
		r.still = false
		r.observer.freeze(false)
		r.until("the base goes on", time.Second, func() bool { return r.sent(id) > sent })
		if r.world.bases.sayings[id].silent {
			t.Error("it may be ahead, though the base has gone on")
		}
	})
}
