package space

import (
	"errors"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/aoi/witness"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/property"
)

// diary is what the Avatar wrote, from a word on.
func (r *rig) diaryFrom(id entity.ID, word string) string {
	d := r.avatar(id).Diary.Get()
	if i := strings.Index(d, word); i >= 0 {
		return d[i:]
	}
	return ""
}

// A script hears of its backup once the base has it, and not before.
func TestBackupIsCommitted(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -20, 1)
	r.tick(5)
	a := r.avatar(7)
	saves := r.bases[7].backup.Saves
	r.hold = func(p packet) bool { return p.from == r.base } // the base's word does not come
	a.note("start")
	for _, err := range []error{a.Backup("OnTimer", 1), a.Backup("OnTimer", 2)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	r.tick(5)
	if got := r.diaryFrom(7, "start"); got != "start;" {
		t.Errorf("before the base's word: %s", got)
	}
	if n := r.bases[7].backup.Saves - saves; n != 1 {
		t.Errorf("%d backups", n)
	}
	r.hold = nil
	r.tick(30)
	if got := r.diaryFrom(7, "start"); got != "start;timer 1;timer 2;" {
		t.Errorf("after the base's word: %s", got)
	}
	r.tick(100)
	if got := r.diaryFrom(7, "start"); got != "start;timer 1;timer 2;" {
		t.Errorf("later: %s", got)
	}
}

// That the base has handled the backup is not enough while nobody else has it, also not after a
// restore from it.
func TestCommitWaitsForCopy(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -20, 1)
	r.tick(5)
	r.bases[7].unsettled = true
	a := r.avatar(7)
	a.note("start")
	if err := a.Backup("OnTimer", 1); err != nil {
		t.Fatal(err)
	}
	r.tick(2)
	if !r.bases[7].backup.Commit {
		t.Error("the base is not told that the script waits")
	}
	r.tick(20)
	r.die(r.at(-20), 7)
	r.tick(20)
	if got := r.diaryFrom(7, "start"); !strings.Contains(got, "restored") || strings.Contains(got, "timer 1") {
		t.Errorf("before there is a copy: %s", got)
	}
	r.bases[7].unsettled = false
	r.tick(80)
	if got := r.diaryFrom(7, "start"); strings.Count(got, "timer 1;") != 1 {
		t.Errorf("after it: %s", got)
	}
}

// The CellApp dies before or after the base has the backup: what was done before it is undone with
// its callback, or kept with it. The entity crosses a border in the meantime, or not.
func TestCommitSurvivesDeath(t *testing.T) {
	for wait := range 12 {
		for _, cross := range []bool{false, true} {
			r := newRig(t, 2)
			r.create(7, -20, 1)
			r.tick(5)
			// The word of the base is late, so that the death can come between.
			a := r.avatar(7)
			a.note("done")
			if err := a.Backup("OnTimer", 5); err != nil {
				t.Fatal(err)
			}
			if wait < 6 {
				r.hold = func(p packet) bool { return p.from == r.base }
			}
			if cross {
				r.move(7, 60)
			}
			r.tick(wait)
			r.die(r.at(r.real(7).Position().X), 7)
			r.hold = nil
			r.tick(30)
			undone := !strings.Contains(r.avatar(7).Diary.Get(), "done;")
			called := strings.Count(r.diaryFrom(7, "restored"), "timer 5;")
			if undone && called > 0 || !undone && strings.Count(r.diaryFrom(7, "done"), "timer 5;") == 0 || called > 1 {
				t.Errorf("after %d ticks, crossing %v: %s", wait, cross, r.avatar(7).Diary.Get())
			}
		}
	}
}

func TestBackupFaults(t *testing.T) {
	r := newRig(t, 1)
	r.create(7, 0, 1)
	r.tick(2)
	a := r.avatar(7)
	if err := a.Backup("OnNothing", 0); !errors.Is(err, entity.ErrNoCallback) {
		t.Error(err)
	}
	for range MaxCommits {
		if err := a.Backup("OnTimer", 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Backup("OnTimer", 0); !errors.Is(err, entity.ErrTooMany) {
		t.Error(err)
	}
	a.Destroy()
	if err := a.Backup("OnTimer", 0); !errors.Is(err, entity.ErrGone) {
		t.Error(err)
	}
}

// A callback that asks for the next backup gets it.
func TestBackupAfterBackup(t *testing.T) {
	r := newRig(t, 1)
	r.create(7, 0, 1)
	r.tick(2)
	a := r.avatar(7)
	a.hook = func(a *Avatar, s string) {
		if s == "timer 1" {
			if err := a.Backup("OnTimer", 2); err != nil {
				t.Error(err)
			}
		}
	}
	if err := a.Backup("OnTimer", 1); err != nil {
		t.Fatal(err)
	}
	r.tick(10)
	if got := r.diaryFrom(7, "timer"); got != "timer 1;timer 2;" {
		t.Error(got)
	}
}

func FuzzCommits(f *testing.F) {
	f.Add([]byte{1, 3, 'O', 'n', 'X', 2, 5})
	f.Fuzz(func(t *testing.T, b []byte) {
		var r Real
		rd := codec.NewReader(b)
		r.readCommits(&rd, false)
		if rd.Close() != nil {
			return
		}
		if again := r.appendCommits(nil); string(again) != string(b) {
			t.Errorf("read from %x, written as %x", b, again)
		}
	})
}

// Of an entity that is too large to be carried there is no backup: its script hears so, and so does the
// log, once.
func TestBackupOfALargePart(t *testing.T) {
	r := newRig(t, 1)
	r.create(7, 0, 1)
	r.tick(2)
	a := r.avatar(7)
	a.Diary.Set("start;")
	for user := range int64(2) {
		if err := a.Backup("OnTimer", user); err != nil {
			t.Fatal(err)
		}
		a.tooLarge(migrate.MaxParts + 1)
	}
	if got := r.diaryFrom(7, "start"); got != "start;timer 0;timer 1;" || len(a.commits) != 0 || !a.large {
		t.Errorf("it hears %q, %d backups are waited for", got, len(a.commits))
	}
	if n := a.cell.count.Errors; n != 1 {
		t.Errorf("%d errors", n)
	}
}

// A call to all who see an entity is refused if they would not hear it, or another one of the same tick.
func TestBroadcastsAreBounded(t *testing.T) {
	r := newRig(t, 1)
	r.create(7, 0, 1)
	r.tick(2)
	call := func(text string) error { return r.avatar(7).OtherClients().Call("show", text) }
	if err := call(strings.Repeat("x", witness.MaxCall)); !errors.Is(err, entity.ErrArguments) {
		t.Errorf("one that is too long: %v", err)
	}
	for i := range property.MaxHistory {
		if err := call("x"); err != nil {
			t.Fatalf("%d: %v", i, err)
		}
	}
	if err := call("x"); !errors.Is(err, entity.ErrFull) {
		t.Errorf("one too many in a tick: %v", err)
	}
	r.avatar(7).e.Def.ClientMethod("show").SendLatestOnly = true
	if err := call("x"); err != nil {
		t.Errorf("one that takes the place of the last: %v", err)
	}
	r.avatar(7).e.Def.ClientMethod("show").SendLatestOnly = false
	r.tick(1)
	if err := call("x"); err != nil {
		t.Errorf("in the next tick: %v", err)
	}
}
