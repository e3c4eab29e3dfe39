package storetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/entity/store/memory"
	"github.com/cellscape/cellscape/property"
)

// randomRun makes the same random calls on the store and on its twin in memory, and compares every
// answer.
func randomRun(b *bench, seed uint64, calls int) {
	twin := memory.New()
	if _, err := twin.Apply(b.ctx, schemaOf(b, nil), false); err != nil {
		b.Fatal(err)
	}
	x := &player{b: b, r: rand.New(rand.NewPCG(seed, 16))}
	for n := range calls {
		what, call := x.call()
		got, want := call(b.s), call(twin)
		if got != want {
			b.Fatalf("call %d, %s:\n got %s\nwant %s", n, what, got, want)
		}
		if x.r.IntN(100) == 0 {
			b.reopen()
		}
	}
}

// player thinks of calls on a few rows, so that they get into each other's way.
type player struct {
	b     *bench
	r     *rand.Rand
	start uint64
}

func (x *player) holder() store.Holder {
	if x.r.IntN(4) == 0 || x.start == 0 {
		return store.Holder{}
	}
	start := x.start
	if x.r.IntN(8) == 0 {
		start--
	}
	return store.Holder{Start: start, App: uint32(x.r.IntN(2) + 1), Entity: entity.ID(x.r.IntN(2) + 1)}
}

func (x *player) record() store.Record {
	id := store.ID(x.r.IntN(4) + 1)
	var r store.Record
	if x.r.IntN(2) == 0 {
		r = avatar(x.b, id, fmt.Sprint("n", x.r.IntN(5)), int64(x.r.IntN(3)))
	} else {
		r = item(x.b, id, int64(x.r.IntN(5)))
	}
	r.Holder, r.Version = x.holder(), uint64(x.r.IntN(6)+1)
	r.Release, r.AutoLoad = x.r.IntN(4) == 0, x.r.IntN(2) == 0
	return r
}

// call returns a call that tells its answer as text.
func (x *player) call() (what string, call func(s store.Store) string) {
	ctx := x.b.ctx
	switch x.r.IntN(12) {
	case 0, 1, 2:
		r := x.record()
		return fmt.Sprintf("Create %s", show(r)), func(s store.Store) string { return told(s.Create(ctx, []store.Record{r})) }
	case 3, 4, 5:
		list := []store.Record{x.record()}
		if more := x.record(); more.Key != list[0].Key {
			list = append(list, more)
		}
		what := "Write"
		for _, r := range list {
			what += " " + show(r)
		}
		return what, func(s store.Store) string { return told(s.Write(ctx, list)) }
	case 6, 7:
		w := store.Want{Key: x.record().Key, Holder: x.holder()}
		if w.Type == "Avatar" && x.r.IntN(2) == 0 {
			w.ID, w.Identifier = 0, property.StringValue(fmt.Sprint("n", x.r.IntN(5)))
		}
		return fmt.Sprintf("Load %v %v by %v", w.Key, w.Identifier, w.Holder), func(s store.Store) string {
			list, err := s.Load(ctx, []store.Want{w})
			if err != nil {
				return told(err)
			}
			if list[0].Err != nil {
				return told(list[0].Err)
			}
			return show(list[0].Record)
		}
	case 8:
		h := store.Handover{Key: x.record().Key, From: x.holder(), To: x.holder()}
		return fmt.Sprintf("HandOver %v from %v to %v", h.Key, h.From, h.To), func(s store.Store) string { return told(s.HandOver(ctx, []store.Handover{h})) }
	case 9:
		d := store.Removal{Key: x.record().Key, Holder: x.holder()}
		return fmt.Sprintf("Delete %v by %v", d.Key, d.Holder), func(s store.Store) string { return told(s.Delete(ctx, []store.Removal{d})) }
	case 10:
		q := store.Query{Type: "Avatar", Column: "level", Limit: 9, AutoLoad: x.r.IntN(2) == 0, Descending: x.r.IntN(2) == 0}
		return fmt.Sprintf("Query %+v", q), func(s store.Store) string {
			page, err := s.Query(ctx, q)
			text := told(err)
			for _, r := range page.Rows {
				text += " " + show(store.Record{Key: r.Key, Version: r.Version, Holder: r.Holder, AutoLoad: r.AutoLoad, Columns: r.Columns})
			}
			return text
		}
	}
	return x.rare()
}

func (x *player) rare() (what string, call func(s store.Store) string) {
	if x.r.IntN(3) > 0 && x.start > 0 {
		app := uint32(x.r.IntN(2) + 1)
		start := x.start
		return fmt.Sprintf("Free %d", app), func(s store.Store) string {
			n, err := s.Free(x.b.ctx, start, app)
			return fmt.Sprint(n, told(err))
		}
	}
	x.start++
	return "Begin", func(s store.Store) string {
		n, err := s.Begin(x.b.ctx)
		return fmt.Sprint(n, told(err))
	}
}

// show is all of a record: its String is that of its Key.
func show(r store.Record) string {
	return fmt.Sprintf("%v version %d by %v (release %t, autoload %t) %v %x", r.Key, r.Version, r.Holder, r.Release, r.AutoLoad, r.Columns, r.Data)
}

// told is an error without what a database says in its own words.
func told(err error) string {
	if err == nil {
		return "done"
	}
	var record *store.RecordError
	text := ""
	if errors.As(err, &record) {
		text = fmt.Sprintf("%v (%d): ", record.Key, record.Index)
	}
	for _, kind := range []error{store.ErrRetry, store.ErrMissing, store.ErrExists, store.ErrTaken, store.ErrHeld, store.ErrFree, store.ErrStale, store.ErrSuperseded, store.ErrValue} {
		if errors.Is(err, kind) {
			text += strings.TrimPrefix(kind.Error(), "store: ")
		}
	}
	return text
}
