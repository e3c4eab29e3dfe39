package cellappmgr

import (
	"fmt"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/shared"
	"github.com/cellscape/cellscape/internal/spacekey"
	"github.com/cellscape/cellscape/internal/wire"
)

func share(key, value string, said uint64) *wire.SetSpaceData {
	return &wire.SetSpaceData{Key: spacekey.Shared, Name: key, Value: []byte(value), Said: said, Removed: value == ""}
}

func sharedBy(by uint32, number uint64, name, value string) wire.SpaceDataEntry {
	return wire.SpaceDataEntry{Number: number, Key: spacekey.Shared, Name: name, Value: []byte(value), By: by, Said: number}
}

func dataText(list []wire.SpaceDataEntry) (s string) {
	for _, e := range list {
		s += fmt.Sprintf("%s=%s%v ", e.Name, e.Value, e.Removed)
	}
	return s
}

// All CellApps and BaseApps hear each change in one order, and who joins is told everything first.
func TestSharedIsTold(t *testing.T) {
	r := newRig(t, nil)
	a, b, login := r.join(wire.CellApp, 10), r.join(wire.BaseApp, 11), r.join(wire.LoginApp, 12)
	a.send(share("event", "snow", 1))
	b.send(share("price", "5", 1))
	b.send(share("event", "", 2))
	for _, p := range []*peer{a, b} {
		var got []wire.SpaceDataEntry
		for _, m := range take[wire.SpaceData](p) {
			got = append(got, m.Entry)
		}
		if s := dataText(got); s != "event=snowfalse price=5false event=true " {
			t.Errorf("%v heard %s", p.role, s)
		}
	}
	none[wire.SpaceData](login)
	c := r.join(wire.BaseApp, 13)
	if m := one[wire.SharedData](c); dataText(m.Data) != "price=5false event=true " || m.Last != 3 {
		t.Errorf("who joins is told %s up to %d", dataText(m.Data), m.Last)
	}
	for n := range shared.MaxKeys + 1 {
		b.send(share(fmt.Sprint(n), "x", uint64(n)+3))
	}
	if got := r.m.Counts().RefusedData; got != 2 {
		t.Errorf("%d were refused beyond the bound", got)
	}
	r.logged("the data that the cluster shares is full")
}

// The next manager has what the apps have, whoever knows more, and what comes late where nobody has newer.
func TestSharedAfterRecovery(t *testing.T) {
	r := next(t, nil)
	tell := func(p *peer, number uint32, last uint64, list ...wire.SpaceDataEntry) {
		p.send(&wire.Join{Speaks: wire.Spoken(), Role: p.role, Digest: digest, Term: 1})
		p.send(&wire.Rejoin{Number: number, Allocator: number})
		p.send(&wire.SharedData{Last: last, Data: list})
		p.send(&wire.RejoinEnd{})
	}
	a, b, late := r.connect(wire.CellApp, at(10)), r.connect(wire.BaseApp, at(11)), r.connect(wire.BaseApp, at(12))
	tell(a, 1, 2, sharedBy(9, 1, "event", "snow"), sharedBy(9, 2, "price", "5"))
	tell(b, 1, 3, sharedBy(9, 2, "price", "5"), sharedBy(9, 3, "event", "rain"))
	r.pass(2100 * time.Millisecond)
	for _, p := range []*peer{a, b} {
		if m := one[wire.SharedData](p); dataText(m.Data) != "price=5false event=rainfalse " || m.Last != spacekey.Base(2) {
			t.Errorf("%v is told %s up to %d", p.role, dataText(m.Data), m.Last)
		}
	}
	a.send(share("price", "6", 1))
	take[wire.SpaceData](a)
	tell(late, 2, 5, sharedBy(9, 4, "price", "4"), sharedBy(9, 5, "event", "hail"))
	if m := one[wire.SharedData](late); dataText(m.Data) != "price=6false event=hailfalse " {
		t.Errorf("who is late is told %s", dataText(m.Data))
	}
	if m := one[wire.SpaceData](a); m.Entry.Name != "event" || m.Entry.Number <= spacekey.Base(2) {
		t.Errorf("the others hear of %+v", m.Entry)
	}
	tell(r.connect(wire.BaseApp, at(14)), 4, 6, wire.SpaceDataEntry{Number: 6, Key: spacekey.Service, Name: "Chat/77", Value: []byte{7}, By: 77, Said: 1})
	if e := r.m.shared.data.find(spacekey.Service); e != nil {
		t.Errorf("a fragment of an app that nobody has seen is told: %+v", e)
	}
	odd := r.connect(wire.CellApp, at(13))
	tell(odd, 3, 5, sharedBy(9, spacekey.Base(2)+1, "x", "y"))
	if got := r.m.Counts().Malformed; got != 1 {
		t.Errorf("numbers of this term: %d malformed", got)
	}
}

// A fragment of a service goes with its BaseApp, and not before it is known who has come back.
func TestServicesEnd(t *testing.T) {
	r := newRig(t, nil)
	a, b, c := r.join(wire.BaseApp, 10), r.join(wire.BaseApp, 11), r.join(wire.CellApp, 12)
	a.send(&wire.SetSpaceData{Key: spacekey.Service, Name: "Chat/1", Value: []byte{1}, Said: 1})
	b.send(&wire.SetSpaceData{Key: spacekey.Service, Name: "Chat/2", Value: []byte{2}, Said: 1})
	a.send(share("event", "snow", 2))
	take[wire.SpaceData](c)
	r.m.declareDead(r.now, r.m.byAddress(at(10)), "for the test")
	if m := one[wire.SpaceData](c); m.Entry.Name != "Chat/1" || !m.Entry.Removed {
		t.Errorf("the others hear of %+v", m.Entry)
	}
	if got := dataText(r.m.shared.data.entries); got != "Chat/2=\x02false event=snowfalse Chat/1=true " {
		t.Errorf("left is %s", got)
	}
}

func updateOf(key, value string, said, seen uint64) *wire.SetSpaceData {
	return &wire.SetSpaceData{Key: spacekey.Shared, Name: key, Value: []byte(value), Said: said, Seen: seen, Same: true}
}

// Of two updates of what both have seen one is made, and its sender is told; what is said again is made once.
func TestUpdate(t *testing.T) {
	r := newRig(t, nil)
	a, b := r.join(wire.BaseApp, 10), r.join(wire.CellApp, 11)
	made := func(p *peer, m *wire.SetSpaceData, want uint64, value string) {
		t.Helper()
		p.send(m)
		e := r.m.shared.data.find(spacekey.Shared)
		if got := one[wire.SpaceDataSet](p); got.Made != want || e == nil || string(e.Value) != value {
			t.Errorf("answered %+v, and there is %+v", got, e)
		}
	}
	made(a, updateOf("n", "1", 1, 0), 1, "1")
	made(b, updateOf("n", "1", 1, 0), 0, "1")
	n := r.m.shared.data.find(spacekey.Shared).Number
	made(b, updateOf("n", "2", 2, n), 2, "2")
	made(a, updateOf("n", "1", 1, 0), 1, "2") // again, since the answer was lost
	made(a, updateOf("n", "3", 2, n), 1, "2")
	a.send(&wire.SetSpaceData{Key: spacekey.Updated, Name: "5", Said: 3}) // is the manager's to say
	if r.m.Counts().RefusedData != 1 || r.m.Counts().OvertakenData != 2 {
		t.Errorf("%+v", r.m.Counts())
	}
	r.m.declareDead(r.now, r.m.byAddress(at(10)), "for the test")
	notes := 0
	for _, e := range r.m.shared.data.entries {
		if e.Key == spacekey.Updated && !e.Removed {
			notes++
		}
	}
	if notes != 1 {
		t.Errorf("%d notes are left of one app", notes)
	}
}

// The next manager knows what was made: by the note, though others have changed the entry since, or by the
// entry itself, if nobody has heard of the note.
func TestUpdateAfterRecovery(t *testing.T) {
	for name, known := range map[string][]wire.SpaceDataEntry{
		"both":  {sharedBy(4, 8, "n", "9"), {Number: 6, Key: spacekey.Updated, Name: "3", By: 3, Said: 5}},
		"entry": {{Number: 5, Key: spacekey.Shared, Name: "n", Value: []byte("1"), By: 3, Said: 5}},
		"none":  nil,
	} {
		r := next(t, nil)
		p := r.connect(wire.BaseApp, at(10))
		p.send(&wire.Join{Speaks: wire.Spoken(), Role: p.role, Digest: digest, Term: 1})
		p.send(&wire.Rejoin{Number: 1, Allocator: 3})
		if known != nil {
			p.send(&wire.SharedData{Last: 8, Data: known})
		}
		p.send(&wire.RejoinEnd{})
		r.pass(2100 * time.Millisecond)
		m := updateOf("n", "1", 5, 0)
		m.Late = true
		p.send(m)
		all := take[wire.SpaceDataSet](p)
		if len(all) != 1 || all[0].Made != 5 {
			t.Errorf("%s: answered %+v", name, all)
		}
		want := map[string]string{"both": "9", "entry": "1", "none": "1"}[name]
		if e := r.m.shared.data.find(spacekey.Shared); e == nil || string(e.Value) != want {
			t.Errorf("%s: there is %+v", name, e)
		}
	}
}
