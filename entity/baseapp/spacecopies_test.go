package baseapp

import (
	"fmt"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/space"
)

// kept is what the app keeps of a space, as it would tell it.
func (r *rig) kept(id entity.SpaceID) (entries string) {
	at, kept := r.a.spaceCopy(id)
	if !kept {
		return "nothing"
	}
	for _, e := range r.a.spaceCopies[at].data {
		if e.Removed {
			entries += fmt.Sprintf(" -%d", e.Key)
		} else {
			entries += fmt.Sprintf(" %d=%s", e.Key, e.Value)
		}
	}
	return entries
}

func TestSpaceCopies(t *testing.T) {
	r := joinedRig(t)
	say := func(m wire.Message) { r.say(r.managers, m) }
	entry := func(n uint64, key uint16, value string) space.DataEntry {
		return space.DataEntry{Number: n, Key: key, Value: []byte(value), Removed: value == ""}
	}
	step := func(what string, id entity.SpaceID, want string) {
		t.Helper()
		if got := r.kept(id); got != want {
			t.Errorf("%s: keeps%s, want%s", what, got, want)
		}
	}
	say(&wire.SpaceData{Space: 1, Entry: entry(1, 1, "early")})
	step("a change of what is not kept", 1, "nothing")
	say(&wire.SpaceCopy{Space: 1, Info: []byte{1}, Data: []space.DataEntry{entry(2, 1, "a"), entry(3, 2, "b")}})
	say(&wire.SpaceCopy{Space: 2})
	say(&wire.SpaceData{Space: 1, Entry: entry(4, 1, "c")})
	step("a change", 1, " 2=b 1=c")
	say(&wire.SpaceData{Space: 1, Entry: entry(5, 2, "")})
	step("a removal", 1, " 1=c -2")
	for i := range wire.MaxRemovedData {
		say(&wire.SpaceData{Space: 2, Entry: entry(uint64(6+i), uint16(i), "")})
	}
	say(&wire.SpaceData{Space: 2, Entry: entry(9000, 9000, "")})
	if c := r.a.spaceCopies[1]; len(c.data) != wire.MaxRemovedData || c.data[0].Key != 1 {
		t.Errorf("%d notes are kept, the first of %d", len(c.data), c.data[0].Key)
	}
	// Welcomed anew, it is told all again; what it is not told has gone.
	say(&wire.Welcome{Number: 7, Allocator: 5, BaseAppMgr: baseAppMgr})
	step("before it is told", 1, " 1=c -2")
	say(&wire.SpaceCopy{Space: 1, Data: []space.DataEntry{entry(4, 1, "c")}})
	say(&wire.SpaceCopy{Gone: true})
	step("told again", 1, " 1=c")
	step("gone meanwhile", 2, "nothing")
	say(&wire.SpaceCopy{Space: 1, Gone: true})
	step("gone", 1, "nothing")
}
