package sim

import (
	"testing"
	"time"
)

// TestLedgers: bases are written to a store that is busy now and then, while the DBApp, a BaseApp and the
// managers die one after the other and come back. What was confirmed is there, and no row lives twice.
func TestLedgers(t *testing.T) {
	play(t, Options{Seed: 70, Players: 1, Rovers: 1, BaseApps: 3, Wild: Wild{Ledgers: 9}}, func(r *rig) {
		books := r.world.books
		before := 0
		for _, p := range []*Process{r.dbApp, r.baseApps[0], r.manager, r.dbApp} {
			r.wait(6 * time.Second)
			if books.confirmed == before {
				t.Errorf("nothing was written before the crash of %s", p.Name)
			}
			p.crash()
			p.restartAt = r.now + 2*time.Second
			r.wait(6 * time.Second)
			before = books.confirmed
		}
		r.wait(6 * time.Second)
		if books.confirmed < 50 || books.confirmed == before {
			t.Errorf("%d writes were confirmed, %d of them since the last crash; %d were not", books.confirmed, books.confirmed-before, books.refused)
		}
	})
}
