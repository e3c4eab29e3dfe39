package baseapp

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
)

// Whether a target will be there again, only its base can say: until it says that it has ended, its
// callers keep what they sent.
func TestBaseSaysWhetherTargetHasEnded(t *testing.T) {
	r := joinedRig(t)
	id, v := r.live()
	call := flow.MethodCall{Cause: 1}
	m := flow.Message{From: 77, FromPart: entity.CellPart, To: id, ToPart: entity.CellPart, Incarnation: 3, Low: 1, Number: 1,
		Reply: appY, Payload: call.Append(nil, flow.RemoteCallPayload)}
	asked := func() (passed, gone int) {
		t.Helper()
		r.take(appX)
		r.take(appY)
		r.tell(appY, &m)
		for _, a := range told[flow.Ack](r, appY) {
			if !a.Gone || a.To != 77 || a.From != m.To || a.Incarnation != 3 || a.ToPart != entity.CellPart || a.FromPart != entity.CellPart {
				t.Errorf("it says %+v", a)
			}
			gone++
		}
		return len(told[flow.Message](r, appX)), gone
	}
	if passed, gone := asked(); passed != 1 || gone != 0 {
		t.Errorf("alive: %d passed on, %d times gone", passed, gone)
	}
	r.die(appX)
	r.take(cellAppMgr)
	if passed, gone := asked(); passed != 0 || gone != 0 {
		t.Errorf("about to be restored: %d passed on, %d times gone", passed, gone)
	}
	v.Destroy()
	r.tick()
	if passed, gone := asked(); passed != 0 || gone != 1 {
		t.Errorf("destroyed: %d passed on, %d times gone", passed, gone)
	}
	m.To = 78 // nobody has heard of that one
	if passed, gone := asked(); passed != 0 || gone != 1 {
		t.Errorf("unknown: %d passed on, %d times gone", passed, gone)
	}
}

// A script hears which call it handles, and that no longer when it has.
func TestCallHasAName(t *testing.T) {
	r := joinedRig(t)
	id, v := r.live()
	if c := v.Call(); c != (entity.Call{}) {
		t.Errorf("outside of calls it handles %v", c)
	}
	var names []string
	v.do = map[string]func(*avatar){"hidden": func(v *avatar) { names = append(names, fmt.Sprint(v.Call())) }}
	for n, cause := range []uint64{5, 5, 0} {
		m := flow.MethodCall{Cause: cause}
		r.up(appX, id, 1, uint64(n+1), m.Append(nil, flow.CallBasePayload))
	}
	want := []string{fmt.Sprint(entity.Call{Source: id, Number: 5}), fmt.Sprint(entity.Call{Source: id, Number: 5}), fmt.Sprint(entity.Call{Source: id})}
	if !slices.Equal(names, want) || v.Call() != (entity.Call{}) {
		t.Errorf("calls %v, want %v; now %v", names, want, v.Call())
	}
}

// Whoever is restored from a frozen copy hears what was handled of the one that it was, also the second
// who is restored from it.
func TestRestoredHearsWhatWasHandled(t *testing.T) {
	r := joinedRig(t)
	id, _ := r.live()
	r.up(appX, id, 1, 1, backup(1, 0, 1, 0, "one"))
	m := flow.MethodCall{}
	r.up(appX, id, 1, 2, m.Append(nil, flow.CallBasePayload))
	r.die(appX)
	if c := r.located(id, appY); c.Heard != 2 {
		t.Errorf("heard %d of incarnation 1, want 2", c.Heard)
	}
	r.current(appY, id, 2, 0, 0)
	r.up(appY, id, 2, 1, m.Append(nil, flow.CallBasePayload)) // and no backup
	r.die(appY)
	if c := r.located(id, appZ); c.Heard != 2 || string(c.Parts) != "one" {
		t.Errorf("heard %d of a copy of incarnation 1, with another one between, want 2", c.Heard)
	}
}
