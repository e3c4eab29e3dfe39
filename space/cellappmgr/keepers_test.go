package cellappmgr

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/spacekey"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// keepersOf is a script of what keepers were told.
func keepersOf(p *peer) (told []string) {
	for _, m := range take[wire.SpaceCopy](p) {
		s := fmt.Sprint(m.Space)
		if m.Gone {
			s += " gone"
		}
		for _, e := range m.Data {
			s += fmt.Sprintf(" %d=%s", e.Key, e.Value)
		}
		told = append(told, s)
	}
	return told
}

func said(told []string, want ...string) bool { return fmt.Sprint(told) == fmt.Sprint(want) }

// Two BaseApps are told what a space has, as soon as there are two, and each change from then on. When one
// of them goes another is told; whoever was welcomed is told that what it was not told is gone.
func TestKeepers(t *testing.T) {
	r, a, first := roomRig(t, nil)
	set := func(value string) {
		a.send(&wire.SetSpaceData{Space: 1, Key: 7, Value: []byte(value)})
	}
	set("rain")
	r.pass(200 * time.Millisecond)
	if told := keepersOf(first); !said(told, "1 7=rain", "0 gone") {
		t.Fatalf("the first keeper is told %q", told)
	}
	second := r.join(wire.BaseApp, 21)
	r.pass(200 * time.Millisecond)
	if told := keepersOf(second); !said(told, "1 7=rain", "0 gone") || len(keepersOf(first)) != 0 {
		t.Fatalf("the second keeper is told %q", told)
	}
	set("sun")
	if one[wire.SpaceData](first).Entry.Key != 7 || string(one[wire.SpaceData](second).Entry.Value) != "sun" {
		t.Error("the keepers were told something else")
	}
	first.drop(errors.New("the way is cut"))
	first.reconnect()
	first.sendJoin()
	r.pass(200 * time.Millisecond)
	if told := keepersOf(first); !said(told, "1 7=sun", "0 gone") || len(keepersOf(second)) != 0 {
		t.Errorf("after another channel it is told %q", told)
	}
	// A third takes over from the one that dies.
	third := r.join(wire.BaseApp, 22)
	r.pass(200 * time.Millisecond)
	keepersOf(first)
	was := keepersOf(third)
	first.drop(mercury.ErrPeerRestarted)
	second.ids()
	set("fog")
	r.pass(200 * time.Millisecond)
	for _, p := range []*peer{second, third} {
		if told := append(keepersOf(p), was...); len(told) == 0 && len(take[wire.SpaceData](p)) != 1 {
			t.Errorf("%v is told %q", p.addr, told)
		}
	}
}

// A space that ends is gone for its keepers at once.
func TestKeepersOfASpaceThatEnds(t *testing.T) {
	r, a, base := roomRig(t, nil)
	id := base.ask(1, aRoom()).Space
	a.confirm()
	r.pass(200 * time.Millisecond)
	if told := keepersOf(base); len(told) != 3 {
		t.Fatalf("%q", told)
	}
	base.send(&wire.DestroySpace{Request: 2, Space: id})
	if told := keepersOf(base); !said(told, fmt.Sprint(id, " gone")) {
		t.Errorf("%q", told)
	}
}

// The next manager has from keepers what no CellApp has any more. What a CellApp knows is newer or the same.
func TestKeepersTell(t *testing.T) {
	tell := func(r *rig, copies ...wire.SpaceCopy) *peer {
		p := r.connect(wire.BaseApp, at(20))
		p.send(&wire.Join{Speaks: wire.Spoken(), Role: p.role, Digest: digest, Term: 1})
		p.send(&wire.Rejoin{Number: 1})
		for i := range copies {
			p.send(&copies[i])
		}
		p.send(&wire.RejoinEnd{Spaces: uint32(len(copies))})
		return p
	}
	room := wire.SpaceCopy{Space: 1<<24 | 5, Info: appendSpaceInfo(nil, &origin{info: aRoom(), owner: at(20), request: 1}), Data: []wire.SpaceDataEntry{entry(3, 1, "dusk")}}
	r := next(t, nil)
	tell(r, wire.SpaceCopy{Space: 1, Data: []wire.SpaceDataEntry{entry(5, 1, "rain")}}, room)
	a := r.comeBack(wire.CellApp, 10, 1, wire.Rejoin{})
	r.pass(2200 * time.Millisecond)
	got := map[string]bool{}
	for _, m := range a.confirm() {
		for _, e := range m.Data {
			got[fmt.Sprintf("%d %d=%s", m.Space, e.Key, e.Value)] = true
		}
	}
	if !got["1 1=rain"] || !got[fmt.Sprintf("%d 1=dusk", room.Space)] {
		t.Errorf("the new cells have %v", got)
	}
	// Nobody comes back to the room: it ends.
	for range 80 {
		for _, s := range r.m.spaces {
			for _, c := range s.cells {
				a.reportCells(wire.CellReport{Space: s.cfg.ID, Cell: c.id, Version: s.tree.Version()})
			}
		}
		r.pass(time.Second)
	}
	if s := r.m.space(room.Space); s != nil && !s.ending {
		t.Error("a room to which nobody comes stays")
	}

	r = next(t, nil)
	tell(r, wire.SpaceCopy{Space: 1, Data: []wire.SpaceDataEntry{entry(5, 1, "rain"), entry(6, 2, "noon")}})
	b := r.comeBack(wire.CellApp, 10, 1, wire.Rejoin{}, has(1, r.before(7, 0, true), entry(8, 1, "fog")))
	r.pass(2200 * time.Millisecond)
	told := map[uint16]string{}
	for _, e := range r.m.space(1).data.entries {
		told[e.Key] = string(e.Value)
	}
	if told[1] != "fog" || told[2] != "noon" {
		t.Errorf("%v", told)
	}
	b.ids()

	for name, m := range map[string]wire.SpaceCopy{
		"a number of this term": {Space: 1, Data: []wire.SpaceDataEntry{entry(spacekey.Base(2)+1, 1, "x")}},
		"gone":                  {Space: 1, Gone: true},
	} {
		r := next(t, nil)
		tell(r, m)
		if r.pass(2200 * time.Millisecond); len(r.m.space(1).data.entries) != 0 {
			t.Errorf("%s is believed", name)
		}
	}
}
