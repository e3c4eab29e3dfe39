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

// Bench archives and loads 10,000 entities of 1 KB, in batches of 500, by a store and by its driver, in
// turns, and reports how many each does in a second and the store's part of the driver's. It closes
// the store.
func Bench(b *testing.B, s store.Store, raw Raw) {
	x := newRace(b, s, raw)
	defer func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	}()
	a := took(func() { x.each(func(batch []store.Record) error { return s.Create(x.ctx, batch) }) })
	r := took(func() { x.each(raw.Create) })
	b.Logf("created: %.0f a second, raw %.0f, ratio %.2f", benchRows/a.Seconds(), benchRows/r.Seconds(), r.Seconds()/a.Seconds())

	x.run("archive", x.raise,
		func() { x.each(func(batch []store.Record) error { return s.Write(x.ctx, batch) }) },
		func() { x.each(raw.Write) })
	x.run("read", func() {}, func() { x.load(store.Holder{}) }, func() { x.loadRaw(0) })
	x.run("checkout", x.free, func() { x.load(x.holder) }, func() { x.loadRaw(x.rawHolder) })
}

// race is a store beside its driver.
type race struct {
	b         *testing.B
	ctx       context.Context
	s         store.Store
	raw       Raw
	batches   [][]store.Record
	version   uint64
	holder    store.Holder
	rawHolder int64
}

func newRace(b *testing.B, s store.Store, raw Raw) *race {
	x := &race{b: b, ctx: context.Background(), s: s, raw: raw, version: 1}
	schema := schemaOf(b, nil)
	_, err := s.Apply(x.ctx, schema, false)
	x.must(err)
	start, err := s.Begin(x.ctx)
	x.must(err)
	x.holder = store.Holder{Start: start, App: 1, Entity: entity.ID(1<<32 | 1)}
	for id := store.ID(1); id <= benchRows; {
		var batch []store.Record
		for range benchBatch {
			batch = append(batch, by(avatarOf(b, schema.Type("Avatar"), id), x.holder))
			id++
		}
		x.batches = append(x.batches, batch)
	}
	return x
}

func (x *race) must(err error) {
	x.b.Helper()
	if err != nil {
		x.b.Fatal(err)
	}
}

func (x *race) each(do func(batch []store.Record) error) {
	for _, batch := range x.batches {
		x.must(do(batch))
	}
}

func (x *race) load(h store.Holder) {
	x.each(func(batch []store.Record) error {
		wants := make([]store.Want, len(batch))
		for i := range batch {
			wants[i] = store.Want{Key: batch[i].Key, Holder: h}
		}
		list, err := x.s.Load(x.ctx, wants)
		for i := range list {
			x.must(list[i].Err)
		}
		return err
	})
}

func (x *race) loadRaw(holder int64) {
	x.each(func(batch []store.Record) error {
		ids := make([]int64, len(batch))
		for i := range batch {
			ids[i] = int64(batch[i].ID)
		}
		return x.raw.Load(ids, holder)
	})
}

// raise gives all records the next version.
func (x *race) raise() {
	x.version++
	for _, batch := range x.batches {
		for i := range batch {
			batch[i].Version = x.version
		}
	}
}

// free ends all check-outs.
func (x *race) free() {
	_, err := x.s.Free(x.ctx, x.holder.Start, x.holder.App)
	x.must(err)
	x.rawHolder++
}

func (x *race) run(name string, before, mine, theirs func()) {
	x.b.Run(name, func(b *testing.B) {
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
