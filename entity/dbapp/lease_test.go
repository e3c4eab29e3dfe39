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
	first := newRig(t, c, c, true)
	x := first.baseApp(3)
	told, _ := first.call(x, wire.CallStore{Op: wire.StoreBegin})
	m := wire.CallStore{Op: wire.StoreCreate, Type: "Chest", Row: 1, Version: 1, Entity: 3<<32 | 1, Start: told.Start, World: told.World, Data: c.gold}

	second := newRig(t, c, c, false)
	y := second.baseApp(4)
	together(AdoptTime+2*LeaseTime, first, second)
	if a, _ := second.call(y, wire.CallStore{Op: wire.StoreBegin}); a.Start != 0 {
		t.Fatalf("start %d has begun while the first world lives", a.Start)
	}
	if a, ok := first.call(x, m); !ok || a.Code != stored.Done {
		t.Errorf("a call of the first: %v, %+v", ok, a)
	}
	if s := second.state(); !strings.Contains(s, "another world lives in it") {
		t.Errorf("the store of the second is %q", s)
	}
	if n := strings.Count(second.logs.String(), "another world lives in it"); n != 1 {
		t.Errorf("the log says it %d times:\n%s", n, second.logs.String())
	}
	if s := first.state(); s != "ok" {
		t.Errorf("the store of the first is %q", s)
	}

	second.pass(2 * LeaseTime) // the first is silent now
	if a, _ := second.call(y, wire.CallStore{Op: wire.StoreBegin}); a.Start <= told.Start {
		t.Errorf("start %d, after %d that has ended", a.Start, told.Start)
	}
	if s := second.state(); s != "ok" {
		t.Errorf("at last the store of the second is %q", s)
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
