package cellappmgr

import (
	"testing"
	"time"

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
