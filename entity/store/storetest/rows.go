package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/property"
)

// same compares what matters of two records.
func same(a, b store.Record) bool {
	if a.Key != b.Key || a.Version != b.Version || a.AutoLoad != b.AutoLoad || !bytes.Equal(a.Data, b.Data) || len(a.Columns) != len(b.Columns) {
		return false
	}
	for i := range a.Columns {
		if !property.Equal(a.Columns[i], b.Columns[i]) {
			return false
		}
	}
	return true
}

func testRoundTrip(b *bench) {
	ada, sword := avatar(b, 1, "Ada", 7), item(b, 1, 99)
	ada.AutoLoad = true
	b.must(b.s.Create(b.ctx, []store.Record{ada, sword}))
	for range 2 {
		if got := b.read(ada.Key); !same(got, ada) {
			b.Fatalf("loaded %+v, want %+v", got, ada)
		}
		if got := b.read(sword.Key); !same(got, sword) {
			b.Fatalf("loaded %+v, want %+v", got, sword)
		}
		l := b.one(store.Want{Key: key("Avatar", 0), Identifier: property.StringValue("Ada")})
		if l.Err != nil || !same(l.Record, ada) {
			b.Fatalf("by identifier: %+v", l)
		}
		b.reopen()
	}
	changed := next(avatar(b, 1, "Ada L.", 8), 2)
	changed.Data = append(changed.Data, bytes.Repeat([]byte{3}, store.MaxData-len(changed.Data))...)
	b.must(b.s.Write(b.ctx, []store.Record{changed}))
	b.reopen()
	if got := b.read(ada.Key); !same(got, changed) {
		b.Error("a row of MaxData did not come back as it was written")
	}
	lost := b.one(store.Want{Key: key("Avatar", 0), Identifier: property.StringValue("Ada")})
	b.want(lost.Err, store.ErrMissing)
	b.want(b.one(store.Want{Key: key("Item", 2)}).Err, store.ErrMissing)
	empty := item(b, 3, 3)
	empty.Data = nil
	b.must(b.s.Create(b.ctx, []store.Record{empty}))
	if got := b.read(empty.Key); len(got.Data) != 0 {
		b.Errorf("no data became %x", got.Data)
	}
	list, err := b.s.Load(b.ctx, []store.Want{{Key: key("Item", 3)}, {Key: key("Avatar", 9)}, {Key: key("Avatar", 1)}, {Key: key("Item", 3)}})
	if err != nil || list[0].Err != nil || !errors.Is(list[1].Err, store.ErrMissing) || list[2].ID != 1 || list[3].ID != 3 {
		b.Errorf("answers in another order: %+v, %v", list, err)
	}
}

func testHardValues(b *bench) {
	typ := schemaOf(b, nil).Type("Avatar")
	for i, c := range []struct {
		name string
		val  property.Value
	}{
		{"name", property.StringValue("")},
		{"name", property.StringValue(`'"; DROP TABLE "entity_Avatar"; --`)},
		{"name", property.StringValue("Ærøskøbing 🐉 \t\n\\ %_ $1 ?")},
		{"name", property.StringValue(strings.Repeat("x", 255))},
		{"level", property.Int(math.MinInt16)},
		{"level", property.Int(math.MaxInt16)},
		{"guild", property.Uint(math.MaxUint64)},
		{"guild", property.Uint(1 << 63)},
		{"rating", property.Float(math.Inf(-1))},
		{"rating", property.Float(math.SmallestNonzeroFloat32)},
		{"rating", property.Float(math.Copysign(0, -1))},
		{"banned", property.BoolValue(true)},
		{"token", property.Bytes([]byte{0, 0xff, 0, 39})},
		{"token", property.Bytes(nil)},
	} {
		base, cell := values(typ)
		if c.name != "name" {
			set(b, base, "name", property.StringValue(fmt.Sprint("n", i)))
		}
		side := base
		if c.name == "level" {
			side = cell
		}
		set(b, side, c.name, c.val)
		r := recordOf(b, typ, store.ID(i+1), base, cell)
		b.must(b.s.Create(b.ctx, []store.Record{r}))
		if got := b.read(r.Key); !same(got, r) {
			b.Errorf("%s %v came back as %v", c.name, c.val, got.Columns)
		}
		page, err := b.s.Query(b.ctx, store.Query{Type: "Avatar", Column: c.name, Min: c.val, Max: c.val, Limit: 100})
		found := false
		for _, row := range page.Rows {
			found = found || row.ID == r.ID
		}
		if err != nil || !found {
			b.Errorf("%s %v is not found: %v", c.name, c.val, err)
		}
	}
	bad := avatar(b, 100, "ok", 1)
	for _, v := range []property.Value{property.StringValue("nul\x00"), property.StringValue(strings.Repeat("x", 256)), property.Int(3)} {
		bad.Columns[0] = v
		b.want(b.s.Create(b.ctx, []store.Record{bad}), store.ErrValue)
	}
}

func testCheckOut(b *bench) {
	holder := b.begin()
	h, g := holder(1, 101), holder(2, 102)
	ada := avatar(b, 1, "Ada", 1)
	b.must(b.s.Create(b.ctx, []store.Record{ada}))
	if l := b.one(store.Want{Key: ada.Key, Holder: h}); l.Err != nil || l.Holder != h {
		b.Fatalf("%+v", l)
	}
	for _, w := range []store.Want{{Key: ada.Key, Holder: g}, {Key: key("Avatar", 0), Identifier: property.StringValue("Ada"), Holder: g},
		{Key: ada.Key, Holder: holder(1, 109)}, {Key: ada.Key, Holder: holder(3, 101)}} {
		var held *store.HeldError
		if l := b.one(w); !errors.As(l.Err, &held) || held.By != h || !errors.Is(l.Err, store.ErrHeld) {
			b.Fatalf("a second check-out: %+v", l)
		}
	}
	if got := b.read(ada.Key); got.Holder != h {
		b.Errorf("who reads is told %v", got.Holder)
	}
	page, err := b.s.Query(b.ctx, store.Query{Type: "Avatar", Limit: 1})
	if err != nil || page.Rows[0].Holder != h {
		b.Errorf("a query tells %+v, %v", page, err)
	}
	b.want(b.s.Write(b.ctx, []store.Record{by(next(ada, 2), g)}), store.ErrHeld)
	b.want(b.s.Write(b.ctx, []store.Record{next(ada, 2)}), store.ErrHeld)
	b.want(b.s.Delete(b.ctx, []store.Removal{{Key: ada.Key, Holder: g}}), store.ErrHeld)
	b.want(b.s.Delete(b.ctx, []store.Removal{{Key: ada.Key}}), store.ErrHeld)
	b.must(b.s.Write(b.ctx, []store.Record{by(next(ada, 2), h)}))
	release := by(next(ada, 3), h)
	release.Release = true
	b.must(b.s.Write(b.ctx, []store.Record{release}))
	b.want(b.s.Write(b.ctx, []store.Record{by(next(ada, 4), h)}), store.ErrFree)
	if l := b.one(store.Want{Key: ada.Key, Holder: g}); l.Err != nil || l.Version != 3 {
		b.Errorf("after the release: %+v", l)
	}
	// Two wants of one call are two check-outs.
	eve := avatar(b, 2, "Eve", 1)
	b.must(b.s.Create(b.ctx, []store.Record{eve}))
	list, err := b.s.Load(b.ctx, []store.Want{{Key: eve.Key, Holder: h}, {Key: eve.Key, Holder: g}, {Key: key("Avatar", 0), Identifier: property.StringValue("Eve"), Holder: g}})
	if err != nil || list[0].Err != nil || !errors.Is(list[1].Err, store.ErrHeld) || !errors.Is(list[2].Err, store.ErrHeld) {
		b.Errorf("%+v, %v", list, err)
	}
}

func testBegin(b *bench) {
	old := b.begin()(1, 101)
	ada, eve := avatar(b, 1, "Ada", 1), by(avatar(b, 2, "Eve", 1), old)
	b.must(b.s.Create(b.ctx, []store.Record{ada, eve}))
	b.must(b.one(store.Want{Key: ada.Key, Holder: old}).Err)
	b.reopen()
	b.must(b.s.Write(b.ctx, []store.Record{by(next(ada, 2), old)})) // opening alone ends no start
	young := b.begin()(1, 101)
	if young.Start <= old.Start {
		b.Fatalf("start %d after %d", young.Start, old.Start)
	}
	b.want(b.s.Write(b.ctx, []store.Record{by(next(ada, 3), old)}), store.ErrSuperseded)
	b.want(b.s.Create(b.ctx, []store.Record{by(avatar(b, 3, "Bo", 1), old)}), store.ErrSuperseded)
	b.want(b.one(store.Want{Key: ada.Key, Holder: old}).Err, store.ErrSuperseded)
	b.want(b.s.Delete(b.ctx, []store.Removal{{Key: ada.Key, Holder: old}}), store.ErrSuperseded)
	b.want(b.s.HandOver(b.ctx, []store.Handover{{Key: ada.Key, From: old}}), store.ErrSuperseded)
	if _, err := b.s.Free(b.ctx, old.Start, 1); !errors.Is(err, store.ErrSuperseded) {
		b.Errorf("Free for an old start: %v", err)
	}
	if got := b.read(eve.Key); !got.Holder.Nobody() {
		b.Errorf("a start that is over holds a row: %v", got.Holder)
	}
	if l := b.one(store.Want{Key: ada.Key, Holder: young}); l.Err != nil || l.Version != 2 {
		b.Errorf("%+v", l)
	}
	b.must(b.s.Write(b.ctx, []store.Record{next(nobody(eve), 2)}))
	future := young
	future.Start++
	b.want(b.one(store.Want{Key: eve.Key, Holder: future}).Err, store.ErrValue)
}

// nobody is a record by nobody.
func nobody(r store.Record) store.Record { return by(r, store.Holder{}) }

func testHandOver(b *bench) {
	holder := b.begin()
	h, g, other := holder(1, 101), holder(2, 101), holder(1, 102)
	ada, eve := by(avatar(b, 1, "Ada", 1), h), by(avatar(b, 2, "Eve", 1), other)
	b.must(b.s.Create(b.ctx, []store.Record{ada, eve}))
	b.want(b.s.HandOver(b.ctx, []store.Handover{{Key: ada.Key, From: other, To: g}}), store.ErrHeld)
	b.must(b.s.HandOver(b.ctx, []store.Handover{{Key: ada.Key, From: h, To: g}}))
	b.must(b.s.HandOver(b.ctx, []store.Handover{{Key: ada.Key, From: h, To: g}})) // again: the answer was lost
	b.want(b.s.Write(b.ctx, []store.Record{by(next(ada, 2), h)}), store.ErrHeld)
	b.must(b.s.Write(b.ctx, []store.Record{by(next(ada, 2), g)}))
	if n, err := b.s.Free(b.ctx, h.Start, 1); err != nil || n != 1 {
		b.Fatalf("Free: %d, %v", n, err)
	}
	if got := b.read(ada.Key); got.Holder != g {
		b.Errorf("Free of another app: %v", got.Holder)
	}
	b.want(b.s.Write(b.ctx, []store.Record{by(next(eve, 2), other)}), store.ErrFree)
	b.want(b.s.HandOver(b.ctx, []store.Handover{{Key: eve.Key, From: other, To: g}}), store.ErrFree)
	b.must(b.s.HandOver(b.ctx, []store.Handover{{Key: ada.Key, From: g}}))
	b.must(b.s.HandOver(b.ctx, []store.Handover{{Key: ada.Key, From: g}}))
	b.want(b.s.Delete(b.ctx, []store.Removal{{Key: ada.Key, Holder: g}}), store.ErrFree)
	b.must(b.one(store.Want{Key: ada.Key, Holder: g}).Err)
	b.must(b.s.Delete(b.ctx, []store.Removal{{Key: ada.Key, Holder: g}, {Key: eve.Key}}))
	b.want(b.one(store.Want{Key: ada.Key}).Err, store.ErrMissing)
	b.want(b.s.Delete(b.ctx, []store.Removal{{Key: ada.Key, Holder: g}}), store.ErrMissing)
	b.want(b.s.Write(b.ctx, []store.Record{by(next(ada, 9), g)}), store.ErrMissing)
	b.want(b.s.HandOver(b.ctx, []store.Handover{{Key: ada.Key, From: g, To: h}}), store.ErrMissing)
}

func testVersions(b *bench) {
	h := b.begin()(1, 101)
	ada := by(avatar(b, 1, "Ada", 1), h)
	b.must(b.s.Create(b.ctx, []store.Record{ada}))
	b.must(b.s.Write(b.ctx, []store.Record{next(ada, 5)}))
	b.want(b.s.Write(b.ctx, []store.Record{next(ada, 4)}), store.ErrStale)
	b.must(b.s.HandOver(b.ctx, []store.Handover{{Key: ada.Key, From: h}}))
	tool := nobody(ada)
	for _, v := range []uint64{1, 5, 7} {
		b.want(b.s.Write(b.ctx, []store.Record{next(tool, v)}), store.ErrStale)
	}
	b.must(b.s.Write(b.ctx, []store.Record{next(tool, 6)}))
	b.want(b.s.Write(b.ctx, []store.Record{next(tool, 6)}), store.ErrStale)
	if got := b.read(ada.Key); got.Version != 6 {
		b.Errorf("version %d", got.Version)
	}
}

func testRepeat(b *bench) {
	h := b.begin()(1, 101)
	ada := by(avatar(b, 1, "Ada", 1), h)
	for range 2 {
		b.must(b.s.Create(b.ctx, []store.Record{ada}))
	}
	b.want(b.s.Create(b.ctx, []store.Record{next(ada, 2)}), store.ErrExists)
	b.want(b.s.Create(b.ctx, []store.Record{nobody(ada)}), store.ErrExists)
	for range 2 {
		b.must(b.s.Write(b.ctx, []store.Record{next(ada, 2)}))
	}
	b.want(b.s.Create(b.ctx, []store.Record{ada}), store.ErrExists)
	for range 2 {
		if l := b.one(store.Want{Key: ada.Key, Holder: h}); l.Err != nil || l.Version != 2 {
			b.Fatalf("%+v", l)
		}
	}
	last := next(ada, 3)
	last.Release = true
	for range 2 {
		b.must(b.s.Write(b.ctx, []store.Record{last}))
	}
	if got := b.read(ada.Key); got.Version != 3 || !got.Holder.Nobody() {
		b.Errorf("%+v", got)
	}
}

func testAtomic(b *bench) {
	h := b.begin()(1, 101)
	ada, sword := by(avatar(b, 1, "Ada", 1), h), by(item(b, 1, 1), h)
	b.must(b.s.Create(b.ctx, []store.Record{ada, sword}))
	for i, bad := range []store.Record{by(item(b, 2, 2), h), next(item(b, 1, 5), 2), by(next(avatar(b, 9, "x", 1), 2), h)} {
		err := b.s.Write(b.ctx, []store.Record{by(next(avatar(b, 1, "Changed", 1), 2), h), bad})
		var which *store.RecordError
		if !errors.As(err, &which) || which.Index != 1 || which.Key != bad.Key {
			b.Errorf("%d: the error is %v", i, err)
		}
		if got := b.read(ada.Key); !same(got, ada) {
			b.Fatalf("%d: half of a call was done: %+v", i, got)
		}
	}
	b.want(b.s.Create(b.ctx, []store.Record{item(b, 7, 7), avatar(b, 1, "Other", 1)}), store.ErrExists)
	b.want(b.s.Create(b.ctx, []store.Record{item(b, 7, 7), item(b, 8, 7)}), store.ErrTaken)
	b.want(b.one(store.Want{Key: key("Item", 7)}).Err, store.ErrMissing)
	b.want(b.s.Delete(b.ctx, []store.Removal{{Key: ada.Key, Holder: h}, {Key: key("Item", 9)}}), store.ErrMissing)
	b.want(b.s.HandOver(b.ctx, []store.Handover{{Key: ada.Key, From: h}, {Key: key("Item", 9), From: h}}), store.ErrMissing)
	if got := b.read(ada.Key); got.Holder != h {
		b.Errorf("half of a call was done: %v", got.Holder)
	}
	b.must(b.s.Write(b.ctx, []store.Record{next(ada, 2), next(sword, 2)}))
}

func testUnique(b *bench) {
	ada, eve := avatar(b, 1, "Ada", 1), avatar(b, 2, "Eve", 1)
	b.must(b.s.Create(b.ctx, []store.Record{ada, eve}))
	err := b.s.Create(b.ctx, []store.Record{avatar(b, 3, "Bo", 1), avatar(b, 4, "Ada", 1)})
	var which *store.RecordError
	if !errors.Is(err, store.ErrTaken) || !errors.As(err, &which) || which.Index != 1 {
		b.Errorf("a second Ada: %v", err)
	}
	b.want(b.s.Write(b.ctx, []store.Record{next(avatar(b, 2, "Ada", 1), 2)}), store.ErrTaken)
	b.must(b.s.Create(b.ctx, []store.Record{avatar(b, 5, "ada", 1), avatar(b, 6, "Ada ", 1)})) // not the same
	b.must(b.s.Write(b.ctx, []store.Record{next(avatar(b, 1, "Ada L.", 1), 2)}))
	b.must(b.s.Write(b.ctx, []store.Record{next(avatar(b, 2, "Ada", 1), 2)}))
	b.must(b.s.Delete(b.ctx, []store.Removal{{Key: eve.Key}}))
	b.must(b.s.Create(b.ctx, []store.Record{avatar(b, 3, "Ada", 1)}))
	b.must(b.s.Create(b.ctx, []store.Record{item(b, 1, 5)}))
	b.want(b.s.Create(b.ctx, []store.Record{item(b, 2, 5)}), store.ErrTaken)
}

func testNonsense(b *bench) {
	h := b.begin()(1, 101)
	ok := avatar(b, 1, "Ada", 1)
	edit := func(f func(r *store.Record)) store.Record {
		r := avatar(b, 1, "Ada", 1)
		f(&r)
		return r
	}
	for name, list := range map[string][]store.Record{
		"no type":       {edit(func(r *store.Record) { r.Type = "Nobody" })},
		"id 0":          {edit(func(r *store.Record) { r.ID = 0 })},
		"id too large":  {edit(func(r *store.Record) { r.ID = store.MaxID + 1 })},
		"version 0":     {edit(func(r *store.Record) { r.Version = 0 })},
		"few columns":   {edit(func(r *store.Record) { r.Columns = r.Columns[1:] })},
		"large":         {edit(func(r *store.Record) { r.Data = make([]byte, store.MaxData+1) })},
		"holder":        {edit(func(r *store.Record) { r.Holder = store.Holder{Start: h.Start} })},
		"unknown start": {edit(func(r *store.Record) { r.Holder = store.Holder{Start: h.Start + 1, Entity: 1} })},
		"twice":         {ok, ok},
		"many":          make([]store.Record, store.MaxBatch+1),
	} {
		if err := b.s.Create(b.ctx, list); !errors.Is(err, store.ErrValue) {
			b.Errorf("%s: %v", name, err)
		}
	}
	b.want(b.one0(store.Want{Key: key("Nobody", 1)}), store.ErrValue)
	b.want(b.one0(store.Want{Key: key("Item", 0)}), store.ErrValue)
	b.want(b.one0(store.Want{Key: key("Avatar", 0), Identifier: property.Int(3)}), store.ErrValue)
	for _, q := range []store.Query{{Type: "Nobody", Limit: 1}, {Type: "Avatar"}, {Type: "Avatar", Limit: store.MaxPage + 1}, {Type: "Avatar", Column: "gold", Limit: 1},
		{Type: "Avatar", Column: "level", Min: property.StringValue("x"), Limit: 1}, {Type: "Avatar", Min: property.Int(1), Limit: 1}} {
		if _, err := b.s.Query(b.ctx, q); !errors.Is(err, store.ErrValue) {
			b.Errorf("%+v: %v", q, err)
		}
	}
	for _, n := range []uint64{0, store.MaxReserve + 1} {
		if _, err := b.s.Reserve(b.ctx, "x", n); !errors.Is(err, store.ErrValue) {
			b.Errorf("%d numbers: %v", n, err)
		}
	}
	for _, k := range []string{"", "a\x00", "\xff", strings.Repeat("k", store.MaxName+1)} {
		if _, err := b.s.Put(b.ctx, k, nil, 0); !errors.Is(err, store.ErrValue) {
			b.Errorf("blob %q: %v", k, err)
		}
	}
	b.must(b.s.Create(b.ctx, nil))
	b.must(b.s.Write(b.ctx, nil))
	b.must(b.s.Delete(b.ctx, nil))
	if list, err := b.s.Load(b.ctx, nil); err != nil || len(list) != 0 {
		b.Errorf("%v, %v", list, err)
	}
}

// one0 is the error of a Load.
func (b *bench) one0(w store.Want) error {
	_, err := b.s.Load(b.ctx, []store.Want{w})
	return err
}

func testDone(b *bench) {
	ctx, cancel := context.WithCancel(b.ctx)
	cancel()
	calls := b.calls(ctx)
	for name, call := range calls {
		if err := call(); !errors.Is(err, store.ErrBusy) || !errors.Is(err, store.ErrRetry) || !errors.Is(err, context.Canceled) {
			b.Errorf("%s with a context that is done: %v", name, err)
		}
	}
	b.want(b.one(store.Want{Key: key("Avatar", 1)}).Err, store.ErrMissing)
	b.must(b.s.Close())
	b.must(b.s.Close())
	for name, call := range b.calls(b.ctx) {
		if err := call(); !errors.Is(err, store.ErrClosed) || errors.Is(err, store.ErrRetry) {
			b.Errorf("%s of a closed store: %v", name, err)
		}
	}
	fresh, err := b.rig.Open(b.ctx)
	b.must(err)
	b.s = fresh
	b.want(fresh.Create(b.ctx, []store.Record{avatar(b, 1, "Ada", 1)}), store.ErrNotApplied)
	_, err = fresh.Load(b.ctx, nil)
	b.want(err, store.ErrNotApplied)
}

// calls is one call of each kind.
func (b *bench) calls(ctx context.Context) map[string]func() error {
	k := key("Avatar", 1)
	return map[string]func() error{
		"Create":   func() error { return b.s.Create(ctx, []store.Record{avatar(b, 1, "Ada", 1)}) },
		"Write":    func() error { return b.s.Write(ctx, []store.Record{avatar(b, 1, "Ada", 1)}) },
		"Load":     func() error { _, err := b.s.Load(ctx, []store.Want{{Key: k}}); return err },
		"HandOver": func() error { return b.s.HandOver(ctx, []store.Handover{{Key: k}}) },
		"Free":     func() error { _, err := b.s.Free(ctx, 0, 1); return err },
		"Delete":   func() error { return b.s.Delete(ctx, []store.Removal{{Key: k}}) },
		"Query":    func() error { _, err := b.s.Query(ctx, store.Query{Type: "Avatar", Limit: 1}); return err },
		"Begin":    func() error { _, err := b.s.Begin(ctx); return err },
		"Reserve":  func() error { _, err := b.s.Reserve(ctx, "x", 1); return err },
		"Get":      func() error { _, err := b.s.Get(ctx, "x"); return err },
		"Put":      func() error { _, err := b.s.Put(ctx, "x", nil, 0); return err },
		"Remove":   func() error { return b.s.Remove(ctx, "x", 1) },
		"List":     func() error { _, err := b.s.List(ctx, "", "", 1); return err },
		"Plan":     func() error { _, err := b.s.Plan(ctx, schemaOf(b, nil)); return err },
		"Apply":    func() error { _, err := b.s.Apply(ctx, schemaOf(b, nil), false); return err },
	}
}

// Of many who want the same row, one gets it; calls that lock the same rows in other orders end.
func testConcurrent(b *bench) {
	holder := b.begin()
	const rows, callers = 20, 8
	var all []store.Record
	for i := range rows {
		all = append(all, avatar(b, store.ID(i+1), fmt.Sprint("n", i), 1))
	}
	b.must(b.s.Create(b.ctx, all))
	var won [rows]atomic.Int32
	var wait sync.WaitGroup
	for c := range callers {
		wait.Go(func() {
			var wants []store.Want
			for i := range rows {
				at := (i*7 + c*3) % rows
				wants = append(wants, store.Want{Key: all[at].Key, Holder: holder(uint32(c+1), idOf(c, at))})
			}
			list, err := b.s.Load(b.ctx, wants)
			if err != nil {
				b.Errorf("Load: %v", err)
				return
			}
			var mine []store.Record
			for _, l := range list {
				if l.Err == nil {
					won[l.ID-1].Add(1)
					mine = append(mine, by(next(all[l.ID-1], 2), l.Holder))
				} else if !errors.Is(l.Err, store.ErrHeld) {
					b.Errorf("%v: %v", l.Key, l.Err)
				}
			}
			if err := b.s.Write(b.ctx, mine); err != nil {
				b.Errorf("Write: %v", err)
			}
		})
	}
	wait.Wait()
	for i := range won {
		if n := won[i].Load(); n != 1 {
			b.Errorf("row %d was checked out %d times", i+1, n)
		}
	}
}

func testWriteEach(b *bench) {
	b.must(b.s.Create(b.ctx, []store.Record{avatar(b, 1, "a", 1), avatar(b, 2, "b", 1), avatar(b, 3, "c", 1)}))
	refused := ""
	err := store.WriteEach(b.ctx, b.s, []store.Record{next(avatar(b, 1, "a", 9), 2), next(avatar(b, 2, "b", 9), 7), next(avatar(b, 9, "x", 9), 2), next(avatar(b, 3, "c", 9), 2)},
		func(r *store.Record, err error) {
			refused += fmt.Sprintf("%v %t %t ", r.Key, errors.Is(err, store.ErrStale), errors.Is(err, store.ErrMissing))
		})
	if err != nil || refused != "Avatar:2 true false Avatar:9 false true " {
		b.Errorf("%q, %v", refused, err)
	}
	if v, w := b.read(key("Avatar", 1)).Version, b.read(key("Avatar", 3)).Version; v != 2 || w != 2 {
		b.Errorf("versions %d and %d: what was refused kept others from being written", v, w)
	}
}

// idOf is an entity id for a caller and a row.
func idOf(caller, row int) entity.ID { return entity.ID(caller*1000 + row + 1) }
