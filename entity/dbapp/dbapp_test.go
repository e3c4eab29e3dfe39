package dbapp

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/entity/store/memory"
	"github.com/cellscape/cellscape/entity/stored"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/property"
)

// TestRoutes checks that each message that a DBApp takes has a handler.
func TestRoutes(t *testing.T) {
	d := &DBApp{}
	d.route()
	if differ := d.routes.Check(wire.DBApp); len(differ) > 0 {
		t.Error(differ)
	}
}

func TestConfigTellsAllFaults(t *testing.T) {
	_, err := New(Config{Tick: -1})
	for _, want := range []string{"Transport", "Manager", "Schema", "Store", "Types", "Secrets", "Jobs", "Tick"} {
		if err == nil || !strings.Contains(err.Error(), "Config."+want) {
			t.Errorf("%s is missing in %v", want, err)
		}
	}
}

// chests is a store of chests, of which there is one by the name of gold.
type chests struct {
	store.Store
	schema *property.Schema
	typ    *store.Type
	start  uint64
	gold   []byte // its data
}

func newChests(t *testing.T) *chests {
	t.Helper()
	def, err := property.NewSchema(&property.Definition{Name: "Chest", HasBase: true, Persistent: true, Properties: []*property.Property{
		{Name: "name", Type: property.Scalar(property.KindString), Flags: property.Base, Persistent: true, Identifier: true},
	}})
	if err != nil {
		t.Fatal(err)
	}
	types, err := store.NewSchema(def)
	if err != nil {
		t.Fatal(err)
	}
	ctx, c := context.Background(), &chests{Store: memory.New(), schema: def, typ: types.Type("Chest")}
	if _, err := c.Apply(ctx, types, false); err != nil {
		t.Fatal(err)
	}
	if c.start, err = c.Begin(ctx); err != nil {
		t.Fatal(err)
	}
	c.gold = c.named(t, "gold")
	return c
}

// named is the data of a chest.
func (c *chests) named(t *testing.T, name string) []byte {
	t.Helper()
	props := property.NewValues(c.typ.Definition(), property.BaseSide, nil)
	if err := props.Load(0, property.StringValue(name)); err != nil {
		t.Fatal(err)
	}
	_, data, err := c.typ.Encode(props, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// do makes calls in one job, and returns their codes.
func (c *chests) do(list ...*call) (codes []stored.Code) {
	for _, o := range job(c, context.WithCancel, list)(context.Background()).([]outcome) {
		code := stored.Done
		if o.err != nil {
			code = codeOf(o.err)
		}
		codes = append(codes, code)
	}
	return codes
}

// TestCallsMeanTheSameTwice makes each call of a row twice, as when an answer was lost.
func TestCallsMeanTheSameTwice(t *testing.T) {
	c := newChests(t)
	start, data := c.start, c.gold
	mine, heirs, others := store.Holder{Start: start, App: 3, Entity: 3<<32 | 1}, store.Holder{Start: start, App: 5, Entity: 3<<32 | 1}, store.Holder{Start: start, App: 7, Entity: 7<<32 | 1}
	for i, x := range []struct {
		by   store.Holder
		m    wire.CallStore
		want stored.Code
	}{
		{mine, wire.CallStore{Op: wire.StoreCreate, Row: 1, Version: 1, Data: data}, stored.Done},
		{mine, wire.CallStore{Op: wire.StoreWrite, Row: 1, Version: 2, Data: data}, stored.Done},
		{others, wire.CallStore{Op: wire.StoreLoad, Identifier: "gold"}, stored.Held},
		{others, wire.CallStore{Op: wire.StoreLoad, Identifier: "silver"}, stored.Missing},
		{others, wire.CallStore{Op: wire.StoreCreate, Row: 2, Version: 1, Data: data}, stored.Taken},
		{heirs, wire.CallStore{Op: wire.StoreTakeOver, Row: 1, FromApp: 3}, stored.Done},
		{mine, wire.CallStore{Op: wire.StoreWrite, Row: 1, Version: 3, Data: data}, stored.Held},
		{heirs, wire.CallStore{Op: wire.StoreWrite, Row: 1, Version: 1, Data: data}, stored.Stale},
		{heirs, wire.CallStore{Op: wire.StoreWrite, Row: 1, Version: 3, Release: true, Data: data}, stored.Done},
		{others, wire.CallStore{Op: wire.StoreLoad, Identifier: "gold"}, stored.Done},
		{others, wire.CallStore{Op: wire.StoreFree, Row: 1}, stored.Done},
		{mine, wire.CallStore{Op: wire.StoreLoad, Row: 1}, stored.Done},
		{mine, wire.CallStore{Op: wire.StoreDelete, Row: 1}, stored.Done},
	} {
		for range 2 {
			x.m.Type = "Chest"
			if got := c.do(&call{m: x.m, typ: c.typ, holder: x.by})[0]; got != x.want {
				t.Errorf("call %d: %v, want %v", i, got, x.want)
			}
		}
	}
}

// TestLoadsTogether loads many rows in one job. Each has an answer of its own, also where one makes no sense.
func TestLoadsTogether(t *testing.T) {
	c := newChests(t)
	by := func(n uint64) store.Holder { return store.Holder{Start: c.start, App: 3, Entity: entity.ID(3<<32 | n)} }
	for row, name := range []string{"", "gold", "silver", "copper"} {
		if row == 0 {
			continue
		}
		made := c.do(&call{m: wire.CallStore{Op: wire.StoreCreate, Type: "Chest", Row: uint64(row), Version: 1, Data: c.named(t, name)}, typ: c.typ})
		if made[0] != stored.Done {
			t.Fatal(made)
		}
	}
	load := func(n, row uint64, name string) *call {
		return &call{m: wire.CallStore{Op: wire.StoreLoad, Type: "Chest", Row: row, Identifier: name}, typ: c.typ, holder: by(n)}
	}
	list := []*call{load(1, 1, ""), load(2, 0, "silver"), load(3, 9, ""), load(4, 2, ""), load(5, 0, "tin"), load(6, 3, "")}
	want := []stored.Code{stored.Done, stored.Done, stored.Missing, stored.Held, stored.Missing, stored.Done}
	if got := c.do(list...); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	list = append(list, load(7, 0, "no\x00name")) // which no store takes
	if got := c.do(list...); !slices.Equal(got[:len(want)], want) || got[len(want)] == stored.Done {
		t.Errorf("beside one that makes no sense: %v, want %v", got, want)
	}
}

// jobs counts them.
type jobs struct{ n int }

func (j *jobs) Do(uint64, func(context.Context) any) { j.n++ }

// TestBatches: loads go into one job, writes into another, and those that come meanwhile wait for the next.
func TestBatches(t *testing.T) {
	j := &jobs{}
	d := &DBApp{cfg: Config{Jobs: j}, calls: newCalls(), start: 1}
	add := func(n int, op wire.StoreOp) {
		for range n {
			row := len(d.calls.queue) + 1
			d.calls.queue = append(d.calls.queue, &call{m: wire.CallStore{Op: op, Row: uint64(row)}, row: rowKey{store.Key{ID: store.ID(row)}, ""}})
		}
	}
	sizes := func() (all []int) {
		for token := uint64(1); token <= d.calls.token; token++ {
			all = append(all, len(d.calls.jobs[token]))
		}
		return all
	}
	add(100, wire.StoreLoad)
	add(300, wire.StoreWrite)
	add(3, wire.StoreDelete)
	d.pump()
	if got, want := sizes(), []int{1, 1, 1, MaxTogether, MaxLoadsTogether}; !slices.Equal(got, want) {
		t.Errorf("jobs of %v calls, want %v", got, want)
	}
	add(20, wire.StoreDelete)
	if d.pump(); len(d.calls.jobs) != MaxJobs || j.n != MaxJobs {
		t.Errorf("%d jobs", j.n)
	}
	if d.calls.under[alone] || !d.calls.under[writes] || !d.calls.under[loads] {
		t.Errorf("under way: %v", d.calls.under)
	}
}

// TestCodes checks what an app is told of an error.
func TestCodes(t *testing.T) {
	for err, want := range map[error]stored.Code{
		store.ErrFull: stored.Busy, errFull: stored.Busy, store.ErrSuperseded: stored.Superseded, errCall: stored.Refused,
		errors.New("?"): stored.Refused, store.ErrDenied: stored.Busy, store.ErrCorrupt: stored.Busy, &store.HeldError{}: stored.Held,
	} {
		if got := codeOf(err); got != want {
			t.Errorf("%v is %v, want %v", err, got, want)
		}
	}
}
