package sim

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/entity/dbapp"
	"github.com/cellscape/cellscape/entity/store"
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

// TestLedgersInherited lets BaseApps crash whose bases others go on with: what was confirmed is
// neither lost nor undone by the heirs, and each heir has the rows of its bases. In the kept seeds
// an heir went on from before a confirmed write (9115, 9127, 9154), made a row that was there
// (9144), asked for a row before the DBApp knew of the death, or was the second heir (9137).
func TestLedgersInherited(t *testing.T) {
	var confirmed, refused, loaded atomic.Int64
	t.Run("seeds", func(t *testing.T) {
		for _, x := range []struct {
			seed         uint64
			cells, loans bool
		}{
			{9115, false, false}, {9144, false, false}, {9137, false, false}, {9127, true, false}, {9154, true, false},
			{9301, false, true}, {9302, true, true}, {9303, false, true}, {9304, true, true},
		} {
			t.Run(fmt.Sprint(x.seed), func(t *testing.T) {
				t.Parallel()
				o := Options{Seed: x.seed, Players: 3, Rovers: 3, CellApps: 2, BaseApps: 3, Replicas: 1, CrashBase: true, Crash: x.cells, Faults: 30 * time.Second, Wild: Wild{Ledgers: 9, Loans: x.loans}}
				c, err := New(o)
				if err != nil {
					t.Fatal(err)
				}
				if err := c.Run(); err != nil {
					t.Error(err)
				}
				k := c.world.books
				t.Logf("%d writes were confirmed, %d were not, %d ledgers were loaded", k.confirmed, k.refused, k.loaded)
				confirmed.Add(int64(k.confirmed))
				refused.Add(int64(k.refused))
				loaded.Add(int64(k.loaded))
			})
		}
	})
	// In a single run the DBApp may be away for most of the time.
	if confirmed.Load() < 450 || loaded.Load() < 20 {
		t.Errorf("in all %d writes were confirmed, %d were not, %d ledgers were loaded", confirmed.Load(), refused.Load(), loaded.Load())
	}
}

// TestSurveys: ledgers ask the store for all of them, while a BaseApp and the DBApp die, the store
// is away for a while, and counts go on. Whoever asks is answered, in order, with what was
// confirmed.
func TestSurveys(t *testing.T) {
	play(t, Options{Seed: 90, Players: 1, Rovers: 1, BaseApps: 3, Replicas: 1, Wild: Wild{Ledgers: 9, Surveys: true}}, func(r *rig) {
		r.parted = true // the DBApp counts what it could not do
		books := r.world.books
		for _, p := range []*Process{r.dbApp, r.baseApps[0]} {
			r.wait(6 * time.Second)
			if books.rowsSeen == 0 {
				t.Errorf("nobody was answered before the crash of %s", p.Name)
			}
			p.crash()
			p.restartAt = r.now + 2*time.Second
			r.wait(6 * time.Second)
		}
		books.trouble = store.ErrAway
		r.wait(45 * time.Second)
		failed := books.surveysFailed
		books.trouble, books.rowsSeen = nil, 0
		r.wait(10 * time.Second)
		if books.rowsSeen < 50 || failed == 0 {
			t.Errorf("%d rows were seen in the end, %d surveys failed before", books.rowsSeen, failed)
		}
	})
}

// TestLastWriteIsInherited: a base ends while the store is away, and then its BaseApp dies. Its
// heir makes the last write, and gives the row back.
func TestLastWriteIsInherited(t *testing.T) {
	play(t, Options{Seed: 71, Players: 1, Rovers: 1, BaseApps: 3, Replicas: 1, Wild: Wild{Ledgers: 3}}, func(r *rig) {
		r.wait(6 * time.Second)
		r.dbApp.crash()
		p := r.baseApps[0]
		a := p.app.(*baseapp.BaseApp)
		var row uint64
		for b := range r.bases() {
			if s, ok := a.Script(b.ID).(*ledger); ok && b.p == p && row == 0 {
				row = s.Row()
				s.Count.Set(1_000_000)
				s.Destroy()
			}
		}
		r.wait(2 * time.Second) // others have copies
		p.crash()
		r.wait(6 * time.Second)
		r.dbApp.restartAt, p.restartAt = r.now+time.Millisecond, r.now+time.Millisecond
		r.wait(12 * time.Second)
		page, err := r.world.books.kept.Query(context.Background(), store.Query{Type: "Ledger", Limit: store.MaxPage})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range page.Rows {
			if uint64(x.ID) == row && (x.Columns[0].Int() != 1_000_000 || !x.Holder.Nobody()) {
				t.Errorf("the row has %d, and %v has it", x.Columns[0].Int(), x.Holder)
			}
		}
		if row == 0 || r.world.books.last[row] != 1_000_000 {
			t.Errorf("no ledger has ended")
		}
	})
}

// TestStoreInTrouble: for longer than the DBApp tries again, the store is full, locked, away or
// slow, or the DBApp is gone; a BaseApp dies meanwhile. The world runs on, what waits is bounded,
// everyone who waits for a write is told once, and afterwards all is written.
func TestStoreInTrouble(t *testing.T) {
	const lasts = 45 * time.Second
	for i, x := range []struct {
		name string
		err  error // what everything is answered with
	}{{"full", store.ErrFull}, {"locked", store.ErrBusy}, {"away", store.ErrAway}, {"slow", nil}, {"gone", nil}} {
		t.Run(x.name, func(t *testing.T) {
			play(t, Options{Seed: uint64(72 + i), Players: 2, Rovers: 2, BaseApps: 3, Replicas: 1, Wild: Wild{Ledgers: 9}}, func(r *rig) {
				r.parted = true // the DBApp counts what it could not do
				books := r.world.books
				r.wait(6 * time.Second)
				confirmed := books.confirmed
				switch x.name {
				case "slow":
					r.slowJobs = 3 * time.Second
				case "gone":
					r.dbApp.crash()
				default:
					books.trouble = x.err
				}
				r.wait(time.Second)
				during := books.confirmed
				counts := r.ledgerCounts()
				r.wait(lasts / 3)
				r.baseApps[0].crash()
				r.baseApps[0].restartAt = r.now + 5*time.Second
				r.wait(2 * lasts / 3)
				switch {
				case confirmed == 0 || x.err != nil && books.confirmed != during:
					t.Errorf("%d writes were confirmed before, %d when it began, %d when it ended", confirmed, during, books.confirmed)
				case x.err != nil && books.refused == 0: // else only those of whom a BaseApp that died had the question
					t.Errorf("%d callers were told that the store is busy", books.refused)
				case x.name == "slow" && books.confirmed == during:
					t.Error("a slow store has confirmed nothing")
				}
				if d, ok := r.dbApp.app.(*dbapp.DBApp); ok && r.dbApp.alive && d.Counts().Waiting > 3*9 {
					t.Errorf("%d calls wait for 9 ledgers", d.Counts().Waiting)
				}
				later := r.ledgerCounts()
				for id, n := range counts {
					if later[id] < n+20 {
						t.Errorf("ledger %v counted %d, and %d at the end of the trouble", id, n, later[id])
					}
				}
				books.trouble, r.slowJobs = nil, 0
				if !r.dbApp.alive {
					r.dbApp.restartAt = r.now + time.Millisecond
				}
				r.wait(40 * time.Second)
				again := r.ledgerCounts()
				for id, n := range later {
					if again[id] <= n {
						t.Errorf("ledger %v counted %d, and %d later", id, n, again[id])
					}
				}
				for _, row := range books.rows {
					if r.stored(row) < 100 {
						t.Errorf("row %d has %d", row, r.stored(row))
					}
				}
				if len(books.rows) < 9 {
					t.Errorf("%d ledgers have rows", len(books.rows))
				}
			})
		})
	}
}

// ledgerCounts are the counts of all ledgers that live.
func (r *rig) ledgerCounts() map[entity.ID]int64 {
	counts := map[entity.ID]int64{}
	for b, s := range basesOf[*ledger](r.Cluster) {
		counts[b.ID] = s.Count.Get()
	}
	return counts
}

// stored is the count that the store has of a ledger.
func (r *rig) stored(row uint64) int64 {
	page, err := r.world.books.kept.Query(context.Background(), store.Query{Type: "Ledger", Limit: store.MaxPage})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, x := range page.Rows {
		if uint64(x.ID) == row {
			return x.Columns[0].Int()
		}
	}
	return 0
}
