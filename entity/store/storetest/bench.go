package storetest

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/property"
)

// Raw is the same work by a driver alone: a table of id, version, holder and data, every statement
// prepared, a transaction for each batch.
type Raw struct {
	Create func(batch []store.Record) error
	Write  func(batch []store.Record) error
	// Load reads the rows of ids, without a check-out or, with holder not 0, noting it in each row.
	Load func(ids []int64, holder int64) error
}

const (
	benchRows  = 10_000
	benchBatch = 500
	benchData  = 1000 // bytes of an entity, beside what its columns take
)

// Bench archives and loads 10,000 entities of 1 KB, in batches of 500, by a store and by its driver, in turns,
// and reports how many each does in a second and the store's part of the driver's.
func Bench(b *testing.B, s store.Store, raw Raw) {
	ctx := context.Background()
	defer func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	}()
	must := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	schema := schemaOf(b, nil)
	_, err := s.Apply(ctx, schema, false)
	must(err)
	start, err := s.Begin(ctx)
	must(err)
	h := store.Holder{Start: start, App: 1, Entity: entity.ID(1<<32 | 1)}
	var all [][]store.Record
	for id := store.ID(1); id <= benchRows; {
		var batch []store.Record
		for range benchBatch {
			r := by(avatarOf(b, schema.Type("Avatar"), id), h)
			batch = append(batch, r)
			id++
		}
		all = append(all, batch)
	}
	each := func(do func(batch []store.Record) error) func() {
		return func() {
			for _, batch := range all {
				must(do(batch))
			}
		}
	}
	loads := func(h store.Holder) func() {
		return each(func(batch []store.Record) error {
			wants := make([]store.Want, len(batch))
			for i := range batch {
				wants[i] = store.Want{Key: batch[i].Key, Holder: h}
			}
			list, err := s.Load(ctx, wants)
			for i := range list {
				must(list[i].Err)
			}
			return err
		})
	}
	rawLoads := func(holder int64) func() {
		return each(func(batch []store.Record) error {
			ids := make([]int64, len(batch))
			for i := range batch {
				ids[i] = int64(batch[i].ID)
			}
			return raw.Load(ids, holder)
		})
	}
	version, rawHolder := uint64(1), int64(0)
	raise := func() {
		version++
		for _, batch := range all {
			for i := range batch {
				batch[i].Version = version
			}
		}
	}
	free := func() {
		_, err := s.Free(ctx, start, 1)
		must(err)
		rawHolder++
	}
	run := func(name string, before func(), mine, theirs func()) {
		b.Run(name, func(b *testing.B) {
			var a, r time.Duration
			for range b.N {
				before()
				a += took(mine)
				r += took(theirs)
			}
			rows := float64(b.N * benchRows)
			b.ReportMetric(rows/a.Seconds(), "entities/s")
			b.ReportMetric(rows/r.Seconds(), "raw/s")
			b.ReportMetric(r.Seconds()/a.Seconds(), "ratio")
			b.ReportMetric(0, "ns/op")
		})
	}
	begin := time.Now()
	each(func(batch []store.Record) error { return s.Create(ctx, batch) })()
	a := time.Since(begin)
	each(raw.Create)()
	r := time.Since(begin) - a
	b.Logf("created: %.0f a second, raw %.0f, ratio %.2f", benchRows/a.Seconds(), benchRows/r.Seconds(), r.Seconds()/a.Seconds())
	run("archive", raise, each(func(batch []store.Record) error { return s.Write(ctx, batch) }), each(raw.Write))
	run("read", func() {}, loads(store.Holder{}), rawLoads(0))
	run("checkout", free, loads(h), func() { rawLoads(rawHolder)() })
}

func took(do func()) time.Duration {
	begin := time.Now()
	do()
	return time.Since(begin)
}

// avatarOf is a record with columns of its own and 1 KB of data.
func avatarOf(b *testing.B, typ *store.Type, id store.ID) store.Record {
	base, cell := values(typ)
	set(b, base, "name", property.StringValue(store.Key{Type: "player", ID: id}.String()))
	set(b, cell, "level", property.Int(int64(id%80)))
	columns, data, err := typ.Encode(base, cell, nil)
	if err == nil {
		columns, data, err = typ.Encode(base, cell, bytes.Repeat([]byte{byte(id)}, benchData-len(data)))
	}
	if err != nil {
		b.Fatal(err)
	}
	return store.Record{Key: store.Key{Type: typ.Name, ID: id}, Version: 1, Columns: columns, Data: data}
}
