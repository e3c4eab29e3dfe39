package baseapp

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/mercury"
)

// hears has a base called by the base ofW, under a number.
func (r *rig) hears(id entity.ID, number uint64) {
	r.tell(appW, call(ofW, entity.BasePart, id, number, ofW))
	r.tick()
}

// A base asks before it forgets who has called it, and forgets only who has nothing more to say.
func TestBaseAsksBeforeItForgets(t *testing.T) {
	r := joinedRig(t)
	id, _ := r.spawn()
	r.hears(id, 5)
	asked := func() flow.Inquiry {
		t.Helper()
		told[flow.Inquiry](r, appW)
		r.pass(PeerLease + time.Second)
		return one(t, told[flow.Inquiry](r, appW))
	}
	q := asked()
	if q.Of != ofW || q.OfPart != entity.BasePart || q.By != id || q.ByPart != entity.BasePart || q.Reply != self {
		t.Fatalf("it asks %+v", q)
	}
	answer := func(by mercury.Address, low uint64, through bool, stamp uint64) int {
		r.tell(by, &flow.Remainder{To: id, ToPart: entity.BasePart, From: ofW, FromPart: entity.BasePart, Stamp: stamp, Low: low, Through: through})
		return len(r.a.byID[id].talks)
	}
	if answer(appW, 5, true, q.Stamp) != 1 || answer(appW, 6, false, q.Stamp) != 1 || answer(appW, 6, true, q.Stamp+1) != 1 || answer(appX, 6, true, q.Stamp) != 1 {
		t.Error("it forgets what may come again")
	}
	q = asked()
	if n := answer(appW, 6, true, q.Stamp); n != 0 {
		t.Errorf("%d flows are left", n)
	}

	// A copy of the call that was under way for minutes.
	r.hears(id, 5)
	if n := r.heard("hidden"); n != 1 || r.a.Counters().Doubted != 1 {
		t.Errorf("it was called %d times, and doubted %d", n, r.a.Counters().Doubted)
	}
	// What is kept is taken once its sender has said so, what is new at once.
	q = one(t, told[flow.Inquiry](r, appW))
	answer(appW, 5, false, q.Stamp)
	r.hears(id, 5)
	if n := r.heard("hidden"); n != 2 {
		t.Errorf("it was called %d times", n)
	}
}

// A base says what may still come of its calls.
func TestBaseSaysWhatRemains(t *testing.T) {
	r := joinedRig(t)
	id, v := r.spawn()
	ask := func(of entity.ID, part entity.Part) flow.Remainder {
		t.Helper()
		told[flow.Remainder](r, appW)
		r.tell(appW, &flow.Inquiry{Of: of, OfPart: part, By: ofW, ByPart: entity.BasePart, Reply: appW, Stamp: 7})
		return one(t, told[flow.Remainder](r, appW))
	}
	never := ask(id, entity.BasePart)
	if never.To != ofW || never.From != id || never.Stamp != 7 || !never.Through {
		t.Errorf("before it has said anything: %+v", never)
	}
	if err := v.Lookup(ofW, "Avatar", entity.BaseMailbox).Call("hidden"); err != nil {
		t.Fatal(err)
	}
	if m := one(t, told[flow.Message](r, appW)); m.Number <= never.Low-1 && m.Number > 1 {
		t.Errorf("its call has the number %d, and nothing below %d was to come", m.Number, never.Low)
	} else if a := ask(id, entity.BasePart); a.Low != m.Number || a.Through {
		t.Errorf("while it keeps number %d: %+v", m.Number, a)
	}
	v.Destroy()
	r.tick()
	if a := ask(id, entity.BasePart); a.Through {
		t.Errorf("while the call of one that is gone is kept: %+v", a)
	}
	if a := ask(id, entity.CellPart); !a.Through || a.Low != ^uint64(0) {
		t.Errorf("of a cell part that never was: %+v", a)
	}
}
