package cluster_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/entity/store/memory"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cluster"
)

type ladderBase struct{ *entity.Base }

// ladder is a configuration whose only type has some persistent properties.
func ladder(t *testing.T, kept store.Store, names ...string) cluster.Config {
	t.Helper()
	d := &property.Definition{Name: "Rank", HasBase: true, HasClient: true, Persistent: true}
	for _, n := range names {
		d.Properties = append(d.Properties, &property.Property{Name: n, Type: property.Scalar(property.KindInt32), Flags: property.Base, Persistent: true, Indexed: true})
	}
	schema, err := property.NewSchema(d)
	if err != nil {
		t.Fatal(err)
	}
	bases := baseapp.NewScripts(schema)
	baseapp.Register[ladderBase](bases, "Rank")
	return cluster.Config{CellScripts: space.NewScripts(schema), BaseScripts: bases, PlayerType: "Rank", Store: kept, CellApps: 1, BaseApps: 1, Log: slog.New(slog.DiscardHandler)}
}

// TestPlanStore: what new definitions change in the store is listed beforehand. What they add comes
// with the start by itself; what they would forget only when the configuration says so, and the
// refusal names it and the remedy.
func TestPlanStore(t *testing.T) {
	ctx, kept := context.Background(), memory.New()
	start := func(cfg cluster.Config) error {
		w, err := cluster.Start(ctx, cfg)
		if err != nil {
			return err
		}
		return w.Stop()
	}
	planned := func(cfg cluster.Config) store.Plan {
		t.Helper()
		p, err := cfg.PlanStore(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	both, one := ladder(t, kept, "wins", "losses"), ladder(t, kept, "wins")
	for range 2 { // to look changes nothing
		if p := planned(both); len(p) == 0 || len(p.Destructive()) > 0 {
			t.Fatalf("first: %v", p)
		}
	}
	if err := start(both); err != nil || len(planned(both)) > 0 {
		t.Fatalf("%v, then %v", err, planned(both))
	}
	if p := planned(one); len(p.Destructive()) == 0 || !strings.Contains(p.String(), "losses") {
		t.Fatalf("a property gone: %v", p)
	}
	if err := start(one); !errors.Is(err, store.ErrDestructive) || !strings.Contains(err.Error(), "losses") || !strings.Contains(err.Error(), "StoreForgets") {
		t.Errorf("not allowed: %v", err)
	}
	one.StoreForgets = true
	if err := start(one); err != nil || len(planned(one)) > 0 {
		t.Errorf("allowed: %v, then %v", err, planned(one))
	}
	if _, err := (cluster.Config{}).PlanStore(ctx); err == nil {
		t.Error("without a store there is a plan")
	}
}

// What is to be unique now, and is not in the rows, is refused with a remedy.
func TestUniqueInVain(t *testing.T) {
	ctx, kept := context.Background(), memory.New()
	cfg := ladder(t, kept, "wins")
	schema := cfg.CellScripts.Schema()
	types, err := store.NewSchema(schema)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kept.Apply(ctx, types, false); err != nil {
		t.Fatal(err)
	}
	d := schema.Type("Rank")
	columns, data, err := types.Type("Rank").Encode(property.NewValues(d, property.BaseSide, nil), property.NewValues(d, property.CellSide, nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	for id := range store.ID(2) {
		r := store.Record{Key: store.Key{Type: "Rank", ID: id + 1}, Version: 1, Columns: columns, Data: data}
		if err := kept.Create(ctx, []store.Record{r}); err != nil {
			t.Fatal(err)
		}
	}
	unique := ladder(t, kept, "wins")
	unique.CellScripts.Schema().Type("Rank").Properties[0].Unique = true
	if plan, err := unique.PlanStore(ctx); !errors.Is(err, store.ErrTaken) || !strings.Contains(err.Error(), "make them differ") || len(plan) == 0 {
		t.Errorf("the dry run says %v, %v", plan, err)
	}
	_, err = cluster.Start(ctx, unique)
	if !errors.Is(err, store.ErrTaken) || !strings.Contains(err.Error(), "make them differ") {
		t.Errorf("it starts with %v", err)
	}
}
