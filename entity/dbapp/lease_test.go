package dbapp

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/entity/stored"
	"github.com/cellscape/cellscape/internal/wire"
)

// begins asks for the start, and returns it; 0 if there is none.
func (r *rig) begins(n byte) uint64 {
	told, _ := r.call(r.baseApp(n), wire.CallStore{Op: wire.StoreBegin})
	return told.Start
}

// together lets time pass for several worlds.
func together(d time.Duration, rigs ...*rig) {
	for end := rigs[0].now + d; rigs[0].now <= end; {
		for _, r := range rigs {
			r.pass(0)
		}
	}
}

// TestSecondWorldWaits: a world whose store another one lives in does not begin. It says so, and begins once
// that has been silent for LeaseTime.
func TestSecondWorldWaits(t *testing.T) {
	c := newChests(t)
	first, x, m := newWorld(t, c)
	first.d.cfg.Holder, first.d.lease.named = "the first world, since noon", false
	second := newRig(t, c, c, false)
	changes := 0 // it would be under the first
	second.d.cfg.Change = func(context.Context) error { changes++; return nil }
	y := second.baseApp(4)
	together(AdoptTime+2*LeaseTime, first, second)
	if a, _ := second.call(y, wire.CallStore{Op: wire.StoreBegin}); a.Start != 0 {
		t.Fatalf("start %d has begun while the first world lives", a.Start)
	}
	if changes > 0 {
		t.Errorf("the store was changed %d times under the first world", changes)
	}
	if a, ok := first.call(x, m); !ok || a.Code != stored.Done {
		t.Errorf("a call of the first: %v, %+v", ok, a)
	}
	if s := second.state(); !strings.Contains(s, "another world lives in it") || !strings.Contains(s, "the first world, since noon") {
		t.Errorf("the store of the second is %q", s)
	}
	if n := strings.Count(second.logs.String(), "another world lives in it"); n != 1 {
		t.Errorf("the log says it %d times:\n%s", n, second.logs.String())
	}
	if !strings.Contains(second.logs.String(), "the first world, since noon") {
		t.Error("the log does not say whose the store is")
	}
	if s := first.state(); s != "ok" {
		t.Errorf("the store of the first is %q", s)
	}

	second.pass(2 * LeaseTime) // the first is silent now
	if a, _ := second.call(y, wire.CallStore{Op: wire.StoreBegin}); a.Start <= m.Start {
		t.Errorf("start %d, after %d that has ended", a.Start, m.Start)
	}
	if s := second.state(); s != "ok" || changes != 1 {
		t.Errorf("at last the store of the second is %q, changed %d times", s, changes)
	}
}

// TestWorldsRace: two worlds that begin at the same moment have both seen nobody. One of them begins.
func TestWorldsRace(t *testing.T) {
	c := newChests(t)
	first, second := newRig(t, c, c, false), newRig(t, c, c, false)
	x, y := first.baseApp(3), second.baseApp(4)
	for range int((AdoptTime + 3*time.Second) / DefaultTick) {
		for _, r := range []*rig{first, second} { // the jobs of both after both have decided
			r.now += DefaultTick
			r.d.Tick(r.now)
		}
		first.work()
		second.work()
	}
	a, _ := first.call(x, wire.CallStore{Op: wire.StoreBegin})
	b, _ := second.call(y, wire.CallStore{Op: wire.StoreBegin})
	if a.Start == 0 || b.Start != 0 {
		t.Errorf("the starts are %d and %d", a.Start, b.Start)
	}
}

// TestClaimLasts: a world whose definitions take minutes to apply keeps the store meanwhile.
func TestClaimLasts(t *testing.T) {
	c := newChests(t)
	first := newRig(t, c, c, true)
	first.d.cfg.Change = func(context.Context) error { return nil }
	first.hold = changeToken
	x := first.baseApp(3)
	second := newRig(t, c, c, false)
	y := second.baseApp(4)
	together(time.Minute, first, second)
	if a, _ := second.call(y, wire.CallStore{Op: wire.StoreBegin}); a.Start != 0 {
		t.Fatalf("start %d has begun under a world that claims the store", a.Start)
	}
	first.hold = 0
	together(3*time.Second, first, second)
	if a, _ := first.call(x, wire.CallStore{Op: wire.StoreBegin}); a.Start == 0 {
		t.Error("the first world does not begin")
	}
}

// TestLeaseEnds: a world that ended in order is not waited for, one that was killed is.
func TestLeaseEnds(t *testing.T) {
	for what, end := range map[string]func(*rig, store.Store) error{
		"in order": func(r *rig, _ store.Store) error {
			r.say(r.manager, &wire.Stop{Step: wire.StopEnded})
			r.pass(time.Second)
			if !r.d.Ended() {
				return errors.New("it does not end")
			}
			return nil
		},
		"by its runner": func(r *rig, s store.Store) error { return Release(context.Background(), s, r.d.Counts().Start) },
		"killed":        func(*rig, store.Store) error { return nil },
	} {
		t.Run(what, func(t *testing.T) {
			c := newChests(t)
			first := newRig(t, c, c, true)
			start := first.begins(3)
			first.pass(3 * beatTime)
			was, err := ReadLease(t.Context(), c)
			if err != nil || was.Start != start {
				t.Fatalf("the lease is %+v, %v; the start is %d", was, err, start)
			}
			if err := end(first, c); err != nil {
				t.Fatal(err)
			}
			is, err := ReadLease(t.Context(), c)
			if left := is == was; err != nil || left != (what == "killed") {
				t.Errorf("the lease is %+v, %v", is, err)
			}
		})
	}
}

// TestChangeWaits: definitions that change a store are not applied while a world with others may live, and
// an error is told and tried again.
func TestChangeWaits(t *testing.T) {
	c := newChests(t)
	changes, fault := 0, errors.New("two chests have one name")
	change := func(context.Context) error {
		changes++
		return fault
	}
	r := newRig(t, c, c, false)
	r.d.cfg.Change = change
	r.pass(time.Minute)
	if changes > 0 {
		t.Fatal("the store was changed before a BaseApp came")
	}
	x := r.baseApp(3)
	r.pass(AdoptTime + 3*time.Second)
	if a, _ := r.call(x, wire.CallStore{Op: wire.StoreBegin}); changes < 2 || a.Start != 0 {
		t.Fatalf("%d changes, which fail; start %d", changes, a.Start)
	}
	if s := r.state(); !strings.Contains(s, fault.Error()) {
		t.Errorf("the store is %q", s)
	}
	if n := strings.Count(r.logs.String(), fault.Error()); n != 1 {
		t.Errorf("the log says it %d times", n)
	}
	fault, changes = nil, 0
	r.pass(3 * time.Second)
	if a, _ := r.call(x, wire.CallStore{Op: wire.StoreBegin}); changes != 1 || a.Start == 0 {
		t.Errorf("%d changes, start %d", changes, a.Start)
	}
	if s := r.state(); s != "ok" {
		t.Errorf("at last the store is %q", s)
	}
}
