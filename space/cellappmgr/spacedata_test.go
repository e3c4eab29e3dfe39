package cellappmgr

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/wire"
)

// What a CellApp says is handled once and answered each time, and what comes late does not undo
// what is newer.
func TestDataSaidAgain(t *testing.T) {
	r := newRig(t, nil)
	a, b := r.join(wire.CellApp, 10), r.join(wire.CellApp, 11)
	value := func() string { return string(r.m.space(1).data.entries[0].Value) }
	set := func(value string, said uint64, late bool, seen uint64) *wire.SetSpaceData {
		return &wire.SetSpaceData{Space: 1, Key: 5, Value: []byte(value), Said: said, Late: late, Seen: seen}
	}
	for _, tt := range []struct {
		name     string
		from     *peer
		msg      *wire.SetSpaceData
		answer   uint64
		want     string
		overtook uint64 // so far
	}{
		{"the first", a, set("dawn", 1, false, 0), 1, "dawn", 0},
		{"of another", b, set("noon", 1, false, 0), 1, "noon", 0},
		{"again", a, set("dawn", 1, true, 2), 1, "noon", 0},
		{"late, and the other's was not seen", a, set("dusk", 2, true, 1), 2, "noon", 1},
		{"late, and the other's was seen", a, set("dusk", 3, true, 2), 3, "dusk", 1},
		{"late, after its own", a, set("night", 4, true, 2), 4, "night", 1},
		{"at once, and nothing was seen", b, set("fog", 2, false, 0), 2, "fog", 1},
	} {
		tt.from.send(tt.msg)
		if m := one[wire.SpaceDataSet](tt.from); m.Said != tt.answer || value() != tt.want || r.m.Counts().OvertakenData != tt.overtook {
			t.Errorf("%s: answer %d, value %q, %d overtaken", tt.name, m.Said, value(), r.m.Counts().OvertakenData)
		}
	}
	a.send(&wire.SetSpaceData{Space: 77, Said: 5})
	if m := one[wire.SpaceDataSet](a); m.Said != 5 || r.m.Counts().RefusedData != 1 {
		t.Errorf("of no space: answer %d", m.Said)
	}
}

// By what cells have, the next manager knows whether a change that is said again was handled.
func TestDataSaidAgainToTheNext(t *testing.T) {
	by := func(a uint32, said uint64, e wire.SpaceDataEntry) wire.SpaceDataEntry {
		e.By, e.Said = a, said
		return e
	}
	r := next(t, nil)
	const mine = 33
	a := r.comeBack(wire.CellApp, 10, 1, wire.Rejoin{Allocator: mine}, has(1, r.before(7, 0, true),
		by(mine, 4, entry(5, 1, "rain")), by(mine+1, 9, entry(6, 2, "noon"))))
	r.pass(2100 * time.Millisecond)
	for i, tt := range []struct {
		name string
		key  uint16
		said uint64
		seen uint64
		want string
	}{
		{"it was handled", 1, 4, 3, "rain"},
		{"it came after its own, which it had not seen", 1, 5, 3, "new"},
		{"it had not seen the other's", 2, 6, 5, "noon"},
		{"it had seen the other's", 2, 7, 6, "new"},
		{"nobody has any", 3, 8, 0, "new"},
	} {
		a.send(&wire.SetSpaceData{Space: 1, Key: tt.key, Value: []byte("new"), Said: tt.said, Late: true, Seen: tt.seen})
		got := ""
		for _, e := range r.m.space(1).data.entries {
			if e.Key == tt.key {
				got = string(e.Value)
			}
		}
		if got != tt.want {
			t.Errorf("%d, %s: %q", i, tt.name, got)
		}
	}
}

// entriesOf is what the data of a space has: number, key, id and value of each entry.
func entriesOf(d *spaceData) (s string) {
	for _, e := range d.entries {
		s += fmt.Sprintf("%d:%d/%d=%s%v ", e.Number, e.Key, e.ID, e.Value, e.Removed)
	}
	return s
}

// A key has as many entries as were added, until one is set as the only one.
func TestSeveralEntries(t *testing.T) {
	var d spaceData
	put := func(id entity.DataID, value string, removed bool) {
		t.Helper()
		if _, ok := d.set(wire.SpaceDataEntry{Key: 7, ID: id, Value: []byte(value), Removed: removed}); !ok {
			t.Fatal("refused")
		}
	}
	put(11, "a", false)
	put(12, "b", false)
	put(11, "c", false)
	put(12, "", true)
	if got, want := entriesOf(&d), "3:7/11=cfalse 4:7/12=true "; got != want || d.bytes != 1 || d.removed != 1 {
		t.Errorf("it has %s with %d bytes, %d removed, want %s", got, d.bytes, d.removed, want)
	}
	put(0, "only", false)
	put(13, "more", false)
	if got, want := entriesOf(&d), "5:7/0=onlyfalse 6:7/13=morefalse "; got != want || d.removed != 0 {
		t.Errorf("it has %s, want %s", got, want)
	}
	put(0, "", true)
	if got, want := entriesOf(&d), "7:7/0=true "; got != want || d.bytes != 0 {
		t.Errorf("it has %s, want %s", got, want)
	}
	for id := entity.DataID(100); id < 100+2*wire.MaxRemovedData; id++ {
		put(id, "", true)
	}
	if len(d.entries) != wire.MaxRemovedData || d.removed != wire.MaxRemovedData {
		t.Errorf("it keeps %d notes", len(d.entries))
	}
}

// What was removed stays removed, in whatever order a new manager hears of it, and whoever repeats
// an old request to it.
func TestRemovedStaysRemoved(t *testing.T) {
	was := []wire.SpaceDataEntry{
		{Number: 1, Key: 7, ID: 11, Value: []byte("a"), By: 5, Said: 1},
		{Number: 2, Key: 7, ID: 11, Removed: true, By: 5, Said: 2},
		{Number: 3, Key: 8, ID: 12, Value: []byte("b"), By: 5, Said: 3},
		{Number: 4, Key: 8, ID: 0, Value: []byte("c"), By: 5, Said: 4},
		{Number: 5, Key: 8, ID: 13, Value: []byte("d"), By: 6, Said: 1},
	}
	const want = "2:7/11=true 4:8/0=cfalse 5:8/13=dfalse "
	chance := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		var d spaceData
		for _, i := range chance.Perm(len(was)) {
			d.restore(was[i])
		}
		if got := entriesOf(&d); got != want {
			t.Fatalf("it has %s, want %s", got, want)
		}
		for i, e := range was {
			if e.Number = 0; !d.overtakes(e, 0) {
				t.Errorf("request %d is carried out again", i+1)
			}
		}
		if d.overtakes(wire.SpaceDataEntry{Key: 8, ID: 14, By: 5, Said: 5}, 0) {
			t.Error("a new entry is refused")
		}
		if !d.overtakes(wire.SpaceDataEntry{Key: 7, ID: 99, By: 5, Said: 5}, 1) {
			t.Error("an entry that is gone is brought back by a late change of it")
		}
	}
}
