package sim

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/space/cellapp"
)

// TestManagerStartsAnew: the CellAppMgr crashes and another start answers in its
// place, which knows nothing of the world. The apps take no orders from it: the
// cells stay as they are, nobody is thrown out, reals go on moving.
func TestManagerStartsAnew(t *testing.T) {
	c, err := New(Options{Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range c.procs {
		if err := p.start(); err != nil {
			t.Fatal(err)
		}
	}
	run := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	geometry := func() (cells int, versions map[bsp.Version]bool, migrations uint64) {
		versions = map[bsp.Version]bool{}
		c.eachCellApp(func(_ *Process, a *cellapp.CellApp) {
			for cell := range a.Cells() {
				cells++
				versions[cell.Version()] = true
			}
			migrations += a.Counters().Migrations
		})
		return cells, versions, migrations
	}
	run(c.runUntil(20*time.Second, c.allPlaying))
	run(c.runFor(12 * time.Second))
	c.manager.crash()
	run(c.runFor(2 * time.Second)) // what it said last has arrived
	cells, versions, migrations := geometry()
	c.manager.restartAt = c.now + time.Millisecond
	run(c.runFor(20 * time.Second))
	cellsNow, versionsNow, migrationsNow := geometry()
	if cellsNow != cells || cells < 2 || len(versionsNow) != len(versions) {
		t.Errorf("%d cells at %v, were %d at %v", cellsNow, versionsNow, cells, versions)
	}
	for v := range versionsNow {
		if !versions[v] {
			t.Errorf("someone took geometry %v from the new start", v)
		}
	}
	if !c.allPlaying() {
		t.Errorf("not everyone is playing: %s", c.notPlaying())
	}
	if migrationsNow == migrations {
		t.Error("nothing moves any more")
	}
}
