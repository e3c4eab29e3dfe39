package cluster_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/bots"
	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/entity/store/sqlite"
	"github.com/cellscape/cellscape/entity/stored"
	"github.com/cellscape/cellscape/space/cluster"
)

// The chaos run with a store (store=1): each base is written now and then, and its client is told what the
// store has confirmed. The store belongs to the managers that lead, so it dies and comes back with them. In
// the end it must have all that clients were told, and may have more.

const (
	// chaosStoreEnv is the file of the store; none without it.
	chaosStoreEnv = "CELLSCAPE_TEST_CHAOS_STORE"
	// writeEvery is how many ticks are between two writes of a base.
	writeEvery = 8
	// persistent stands in the definition for what only a run with a store has.
	persistent = "<Persistent> true </Persistent>"
)

// definedFor is the definition of players. What a store is told is left out where there is none.
func definedFor(file string) string {
	if file != "" {
		return chaosDef
	}
	return strings.NewReplacer(persistent, "", "<Indexed> true </Indexed>", "").Replace(chaosDef)
}

// openStore gives the managers the store, if there is one, and returns what closes it.
func openStore(t testing.TB, cfg *cluster.Config, file string) (done func()) {
	t.Helper()
	if file == "" {
		return func() {}
	}
	kept, err := sqlite.Open(context.Background(), file, sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Store = kept
	return func() {
		if err := kept.Close(); err != nil {
			t.Error(err)
		}
	}
}

// keep has the store keep the base as it is.
func (m *merchant) keep(n uint32) {
	if os.Getenv(chaosStoreEnv) == "" || n%writeEvery != 0 {
		return
	}
	m.Who.Set(uint64(m.ID()))
	m.Kept.Set(n)
	must(m.Write("OnKept", int64(n)))
}

// OnKept tells the client what is safe for ever.
func (m *merchant) OnKept(r stored.Reply) {
	if r.Err == nil {
		_ = m.Client().Call("kept", uint32(r.User))
	}
}

// judgeStore looks whether the store has what clients were told that it has.
func (w *chaos) judgeStore() {
	t := w.t
	if w.file == "" {
		return
	}
	limit, cancel := context.WithTimeout(t.Context(), healLimit)
	defer cancel()
	var cfg cluster.Config
	defer openStore(t, &cfg, w.file)()
	types, err := store.NewSchema(chaosWorld(t, w.places, w.file).CellScripts.Schema())
	if err != nil {
		t.Fatal(err)
	}
	if plan, err := cfg.Store.Apply(limit, types, false); err != nil || len(plan) > 0 {
		t.Fatalf("the store was left in a state that wants %v: %v", plan, err)
	}
	has, rows := map[entity.ID]uint64{}, 0
	for q := (store.Query{Type: "Avatar", Limit: store.MaxPage}); ; {
		page, err := cfg.Store.Query(limit, q)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range page.Rows {
			id, n := entity.ID(row.Columns[0].Uint()), row.Columns[1].Uint()
			if before, twice := has[id]; twice {
				t.Errorf("the store has %v twice, at %d and at %d", id, before, n)
			}
			has[id] = n
		}
		rows += len(page.Rows)
		if page.Next == nil {
			break
		}
		q.After = page.Next
	}
	told, none, late := uint64(0), 0, time.Duration(0)
	w.each(func(p *teller, b *bots.Bot) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if b.Client == nil || b.Player() == nil {
			return
		}
		if p.kept == 0 {
			none++
		}
		told, late = told+uint64(p.kept), max(late, p.keptLate)
		if n := has[b.Player().ID]; n < uint64(p.kept) {
			t.Errorf("bot %d (%v) was told that the store has %d, and it has %d", p.number, b.Player().ID, p.kept, n)
		}
	})
	w.logf("the store has %d rows; clients were told of %d ticks that are kept, %d of nothing; the longest wait for the store was %v", rows, told, none, late.Round(time.Millisecond))
	if none > len(w.tellers)/10 {
		t.Errorf("%d players were never told that the store has anything", none)
	}
}

// isKept takes the word that the store has a tick.
func (p *teller) isKept(n uint32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept = max(p.kept, n)
	now := time.Now()
	if !p.keptAt.IsZero() {
		p.keptLate = max(p.keptLate, now.Sub(p.keptAt))
	}
	p.keptAt = now
}
