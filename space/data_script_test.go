package space

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/spacekey"
)

// entries is what a cell has under a key.
func (c *Cell) entriesOf(key uint16) (s string) {
	for id, v := range c.AllSpaceData(key) {
		s += fmt.Sprintf("%d=%s ", id, v)
	}
	return s
}

// A script hears each change of the space's data once, wherever it is, and its client has the same.
func TestOnSpaceData(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -20, 1)
	r.tick(3)
	a := r.avatar(7)
	id, err := a.AddSpaceData(5, []byte("a"))
	if err != nil {
		t.Fatal(err)
	}
	other, _ := r.apps[1].cell.AddSpaceData(5, []byte("b"))
	r.tick(1)
	if got, want := a.cell.entriesOf(5), fmt.Sprintf("%d=a %d=b ", id, other); got != want {
		t.Errorf("it has %s, want %s", got, want)
	}
	_ = a.ReplaceSpaceData(5, other, []byte("c"))
	_ = a.RemoveSpaceData(5, id)
	r.move(7, 20)
	r.tick(10) // it hears them here or there
	a = r.avatar(7)
	if a.cell != r.apps[1].cell.Cell {
		t.Fatal("it was not handed over")
	}
	_ = a.SetSpaceData(5, []byte("d"))
	_ = a.RemoveSpaceData(5, 0)
	r.tick(2)
	for _, app := range r.apps {
		if got := app.cell.entriesOf(5); got != "" {
			t.Errorf("app %v has %s", app.self, got)
		}
	}
	var heard string
	for _, d := range []entity.SpaceDatum{
		{ID: id, Value: []byte("a")}, {ID: other, Value: []byte("b")}, {ID: other, Value: []byte("c")}, {ID: id, Removed: true},
	} {
		heard += fmt.Sprintf("data 5/%d %s %v;", d.ID, d.Value, d.Removed)
	}
	if got := a.Data.Get(); got != heard+"data 5/0  true;" {
		t.Errorf("the script heard\n%s, want\n%s", got, heard+"data 5/0  true;")
	}
	sets, ends := 0, 0
	list, _ := r.bundles(7)
	for _, id := range list {
		switch id {
		case protocol.SpaceDataID:
			sets++
		case protocol.SpaceDataGoneID:
			ends++
		}
	}
	if sets != 3 || ends != 2 {
		t.Errorf("the client was told of %d that were set and %d that were removed", sets, ends)
	}
	if _, err := a.AddSpaceData(spacekey.First, nil); err == nil {
		t.Error("a reserved key was set")
	}
	r.calm()
}

// A cell, and any real on it, has the newest entry of a key that is still there.
func TestSpaceDataIsTheNewest(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -20, 0)
	r.tick(1)
	a, other := r.avatar(7), r.apps[1].cell
	want := func(what, want string) {
		t.Helper()
		r.tick(1)
		mine, there := a.SpaceData(5)
		its, too := other.SpaceData(5)
		if string(mine) != want || string(its) != want || there != (want != "") || too != there {
			t.Errorf("%s: they have %q, %v and %q, %v, want %q", what, mine, there, its, too, want)
		}
	}
	want("none", "")
	first, _ := a.AddSpaceData(5, []byte("a"))
	second, _ := other.AddSpaceData(5, []byte("b"))
	_ = a.SetSpaceData(6, []byte("another key"))
	want("two", "b")
	_ = a.ReplaceSpaceData(5, first, []byte("c"))
	want("the first is newer", "c")
	_ = other.RemoveSpaceData(5, first)
	want("one", "b")
	_ = other.RemoveSpaceData(5, second)
	want("none again", "")
}

// Notes of removed entries do not grow without bound.
func TestNotesOfRemovedEntries(t *testing.T) {
	var d spaceData
	for n := uint64(1); n < 3*maxRemoved; n++ {
		d.set(DataEntry{Number: n, Key: 1, ID: entity.DataID(n), Removed: true})
	}
	if len(d.entries) != maxRemoved || d.removed != maxRemoved || d.entries[0].Number != 2*maxRemoved {
		t.Errorf("it keeps %d notes from %d on", len(d.entries), d.entries[0].Number)
	}
}

// A client has heard of an entry on a cell that died together with the manager that had numbered
// it. No cell has it, so when the next manager's numbers begin the client forgets it.
func TestLostDataIsForgotten(t *testing.T) {
	for _, quiet := range []bool{false, true} {
		r := newRig(t, 2)
		r.create(7, -20, 1)
		r.tick(3)
		early, both := DataEntry{Number: 100, Key: 5, Value: []byte("known")}, DataEntry{Number: 102, Key: 5, ID: 9, Value: []byte("known too")}
		r.apps[0].cell.TakeData(early, DataEntry{Number: 101, Key: 6, Value: []byte("lost")}, both)
		r.apps[1].cell.TakeData(early)
		r.tick(1)
		r.move(7, 20)
		r.tick(10)
		if r.avatar(7).cell != r.apps[1].cell.Cell {
			t.Fatal("it was not handed over")
		}
		r.tick(5)
		before, _ := r.bundles(7)
		if slices.Contains(before, protocol.SpaceDataAnewID) {
			t.Errorf("the client was told %v while the cell may yet hear of the entry", before)
		}
		both.Number = spacekey.Base(2) + 1
		if quiet {
			next := r.apps[1].cell.Tree().Clone()
			next.SetVersion(bsp.Version{Term: 2, N: 1})
			r.apps[1].cell.SetTree(next)
		} else {
			r.apps[1].cell.TakeData(both)
		}
		r.tick(5)
		list, _ := r.bundles(7)
		told := len(list)
		list = slices.DeleteFunc(list[len(before):], func(id protocol.ID) bool { return id != protocol.SpaceDataID && id != protocol.SpaceDataAnewID })
		want := []protocol.ID{protocol.SpaceDataAnewID, protocol.SpaceDataID, protocol.SpaceDataID}
		if quiet {
			want = want[:2]
		}
		if !slices.Equal(list, want) {
			t.Errorf("the client was told %v, want %v", list, want)
		}
		r.tick(5)
		if list, _ := r.bundles(7); slices.Contains(list[told:], protocol.SpaceDataAnewID) {
			t.Error("it was told twice")
		}
	}
}

// Of many managers that died the oldest holes become one, so that what is lost is still known to be.
func TestHolesAreBounded(t *testing.T) {
	var d spaceData
	for term := uint32(1); term < 4*maxHoles; term++ {
		d.set(DataEntry{Number: spacekey.Base(term) + 5, Key: 1})
	}
	if len(d.holes) != maxHoles {
		t.Errorf("%d holes", len(d.holes))
	}
	for term := uint32(1); term < 4*maxHoles-1; term++ {
		if !d.lacks(spacekey.Base(term) + 6) {
			t.Errorf("it has what was said in term %d", term)
		}
		if term > 3*maxHoles && d.lacks(spacekey.Base(term)+5) {
			t.Errorf("it lacks what it has of term %d", term)
		}
	}
}

// A script that is restored hears what was set after its backup.
func TestOnSpaceDataAfterRestore(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -20, 1)
	r.tick(3)
	_ = r.avatar(7).SetSpaceData(5, []byte("a"))
	r.tick(2)
	b := *r.backUp(7)
	_ = r.apps[1].cell.SetSpaceData(5, []byte("b"))
	r.tick(2)
	r.apps[0].cell.drop(r.real(7))
	r.restore(7, -20, b.Parts, b.Handled)
	r.tick(2)
	if got := r.avatar(7).Data.Get(); got != "data 5/0 a false;data 5/0 b false;" {
		t.Errorf("the script heard %s", got)
	}
}
