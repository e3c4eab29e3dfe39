package app_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/spacekey"
	"github.com/cellscape/cellscape/internal/wire"
)

// fragmentsRig has the fragments 11 to 14 of a service, and tells time.
type fragmentsRig struct {
	*app.Shared
	now time.Duration
}

func newFragmentsRig(t *testing.T) *fragmentsRig {
	t.Helper()
	r := &fragmentsRig{Shared: sharedRig()}
	if err := r.TakeAll(fragmentList(11, 12, 13, 14)); err != nil {
		t.Fatal(err)
	}
	r.run(time.Second)
	return r
}

func fragmentList(ids ...byte) *wire.SharedData {
	m := &wire.SharedData{}
	for _, id := range ids {
		m.Last++
		m.Data = append(m.Data, wire.SpaceDataEntry{Number: m.Last, Key: spacekey.Service, Name: fmt.Sprintf("Chat/%d", id), Value: []byte{id}})
	}
	return m
}

// run lets time pass, in ticks.
func (r *fragmentsRig) run(d time.Duration) {
	for end := r.now + d; r.now < end; r.Tick(r.now) {
		r.now += 100 * ms
	}
}

// callers counts those of each fragment.
func (r *fragmentsRig) callers() map[entity.ID]int {
	count := map[entity.ID]int{}
	for caller := entity.ID(1000); caller < 5000; caller++ {
		count[r.Choose("Chat", caller)]++
	}
	return count
}

// A silent fragment has no callers, who are spread over the others, and has them again after an ack. Callers
// of the others stay.
func TestSilentFragment(t *testing.T) {
	r := newFragmentsRig(t)
	before := map[entity.ID]entity.ID{}
	for caller := entity.ID(1000); caller < 5000; caller++ {
		before[caller] = r.Choose("Chat", caller)
	}
	r.Asked(12)
	r.run(app.SilentAfter - 100*ms)
	if got := r.callers(); got[12] == 0 || !r.Owes(12) || r.Owes(11) {
		t.Errorf("before its time is over it has %d callers", got[12])
	}
	r.run(100 * ms)
	got := r.callers()
	if got[12] != 0 {
		t.Errorf("a silent one has %d callers", got[12])
	}
	for _, id := range []entity.ID{11, 13, 14} {
		if n := got[id]; n < 1200 || n > 1450 {
			t.Errorf("%v has %d of 4000 callers", id, n)
		}
	}
	for caller, was := range before {
		if now := r.Choose("Chat", caller); was != 12 && now != was {
			t.Fatalf("%v went from %v to %v", caller, was, now)
		}
	}
	r.Heard(12)
	for caller, was := range before {
		if now := r.Choose("Chat", caller); now != was || r.Owes(12) {
			t.Fatalf("after the ack %v goes to %v instead of %v", caller, now, was)
		}
	}
}

// If all are silent, callers stay with theirs.
func TestSilentFragments(t *testing.T) {
	r := newFragmentsRig(t)
	before := r.callers()
	for id := entity.ID(11); id < 15; id++ {
		r.Asked(id)
	}
	r.run(time.Second)
	if got := r.callers(); fmt.Sprint(got) != fmt.Sprint(before) {
		t.Errorf("the callers are %v, they were %v", got, before)
	}
	r.Heard(13)
	if got := r.callers(); got[13] != 4000 {
		t.Errorf("one lives: %v", got)
	}
}

// A fragment of which no more is heard is asked again by one call, and not by all.
func TestSilentFragmentIsAskedAgain(t *testing.T) {
	r := newFragmentsRig(t)
	r.Asked(12)
	r.run(app.AskAgain - 100*ms)
	if got := r.callers(); got[12] != 0 {
		t.Errorf("too early it has %d callers", got[12])
	}
	r.run(100 * ms)
	if got := r.callers(); got[12] == 0 {
		t.Error("it is not asked again")
	}
	r.Asked(12)
	if got := r.callers(); got[12] != 0 {
		t.Errorf("while it is asked again it has %d callers", got[12])
	}
	r.Heard(12)
	if got := r.callers(); got[12] == 0 {
		t.Error("it has answered and has no callers")
	}
}

// An app that stood still has heard nobody: that is no silence. One list after another changes nothing either,
// unless a fragment is new on it.
func TestSilenceIsOfTheOthers(t *testing.T) {
	r := newFragmentsRig(t)
	r.Asked(12)
	r.Asked(13)
	r.now += time.Minute
	r.Tick(r.now)
	if got := r.callers(); got[12] == 0 {
		t.Error("it stood still, and takes others for silent")
	}
	r.run(app.SilentAfter)
	if err := r.TakeAll(fragmentList(11, 12, 14)); err != nil {
		t.Fatal(err)
	}
	if got := r.callers(); got[12] != 0 || r.Owes(13) {
		t.Errorf("the list is told again, and the silent one has %d callers", got[12])
	}
	if err := r.Take(fragmentListed(9, 12)); err != nil {
		t.Fatal(err)
	}
	if got := r.callers(); got[12] == 0 {
		t.Error("it has said that it is there, and has no callers")
	}
}

func fragmentListed(number uint64, id byte) wire.SpaceDataEntry {
	e := fragmentList(id).Data[0]
	e.Number = number
	return e
}

// Calls and acks allocate nothing.
func TestFragmentAllocations(t *testing.T) {
	r := newFragmentsRig(t)
	r.Asked(r.Choose("Chat", 1000))
	n := testing.AllocsPerRun(100, func() {
		r.run(100 * ms)
		for caller := entity.ID(1000); caller < 1100; caller++ {
			id := r.Choose("Chat", caller)
			r.Asked(id)
			if r.Owes(id) {
				r.Heard(id)
			}
		}
	})
	if n > 0 {
		t.Errorf("%v allocations", n)
	}
}
