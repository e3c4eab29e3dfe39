package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/property"
)

// Rig is a database that is empty at first.
type Rig struct {
	// Open opens it. After Close, and after a crash of the process, it is opened again with all that
	// it has. One store of a Rig is open at a time.
	Open func(ctx context.Context) (store.Store, error)
}

// patience is how long a call may take.
const patience = time.Minute

// Run checks a store; newRig is called for each test.
func Run(t *testing.T, newRig func(t *testing.T) *Rig) {
	tests := []struct {
		name string
		run  func(*bench)
	}{
		{"what is written is loaded", testRoundTrip},
		{"hard values", testHardValues},
		{"nobody is live twice", testCheckOut},
		{"a start that is over holds nothing", testBegin},
		{"hand over, free, delete", testHandOver},
		{"versions only go up", testVersions},
		{"a call that is repeated", testRepeat},
		{"all or nothing", testAtomic},
		{"unique values", testUnique},
		{"queries", testQuery},
		{"numbers", testReserve},
		{"blobs", testBlobs},
		{"definitions come and grow", testSchemaGrows},
		{"definitions forget", testSchemaForgets},
		{"columns hold less", testSchemaNarrows},
		{"what makes no sense", testNonsense},
		{"a context that is done, a store that is closed", testDone},
		{"many at once", testConcurrent},
		{"archive", testWriteEach},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { test.run(newBench(t, newRig(t))) })
	}
	for seed := uint64(1); seed <= 4; seed++ {
		t.Run(fmt.Sprintf("random calls, seed %d", seed), func(t *testing.T) { randomRun(newBench(t, newRig(t)), seed, 400) })
	}
}

// bench is a store under test.
type bench struct {
	*testing.T
	rig *Rig
	ctx context.Context
	s   store.Store
}

func newBench(t *testing.T, r *Rig) *bench {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	b := &bench{T: t, rig: r, ctx: ctx}
	t.Cleanup(func() {
		defer cancel()
		if b.s != nil {
			if err := b.s.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		}
	})
	b.open()
	return b
}

// open opens the store with the schema of this package.
func (b *bench) open() {
	b.Helper()
	s, err := b.rig.Open(b.ctx)
	if err != nil {
		b.Fatalf("Open: %v", err)
	}
	b.s = s
	if _, err := s.Apply(b.ctx, schemaOf(b, nil), false); err != nil {
		b.Fatalf("Apply: %v", err)
	}
}

// reopen closes and opens the store.
func (b *bench) reopen() {
	b.Helper()
	if err := b.s.Close(); err != nil {
		b.Fatalf("Close: %v", err)
	}
	b.open()
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) want(err, want error) {
	b.Helper()
	if !errors.Is(err, want) {
		b.Fatalf("the error is %v, want %v", err, want)
	}
}

// begin starts a start and returns holders of it.
func (b *bench) begin() func(app uint32, id entity.ID) store.Holder {
	b.Helper()
	start, err := b.s.Begin(b.ctx)
	b.must(err)
	return func(app uint32, id entity.ID) store.Holder { return store.Holder{Start: start, App: app, Entity: id} }
}

// one loads one row.
func (b *bench) one(w store.Want) store.Loaded {
	b.Helper()
	list, err := b.s.Load(b.ctx, []store.Want{w})
	if err != nil || len(list) != 1 {
		b.Fatalf("Load of %v: %d answers, %v", w.Key, len(list), err)
	}
	return list[0]
}

// read loads a row that must be there, without a check-out.
func (b *bench) read(k store.Key) store.Record {
	b.Helper()
	l := b.one(store.Want{Key: k})
	b.must(l.Err)
	return l.Record
}

// schemaOf is the types that the tests use, after an edit.
func schemaOf(t testing.TB, edit func(avatar, item *property.Definition)) *store.Schema {
	t.Helper()
	bag, err := property.NewArray(property.Scalar(property.KindUint32), 0)
	if err != nil {
		t.Fatal(err)
	}
	avatar := &property.Definition{Name: "Avatar", HasCell: true, HasBase: true, Persistent: true, Properties: []*property.Property{
		{Name: "name", Type: property.Scalar(property.KindUnicodeString), Flags: property.Base, Persistent: true, Identifier: true},
		{Name: "level", Type: property.Scalar(property.KindInt16), Flags: property.CellPrivate, Persistent: true, Indexed: true, Default: property.Int(1)},
		{Name: "guild", Type: property.Scalar(property.KindUint64), Flags: property.Base, Persistent: true, Indexed: true},
		{Name: "rating", Type: property.Scalar(property.KindFloat32), Flags: property.Base, Persistent: true, Indexed: true},
		{Name: "banned", Type: property.Scalar(property.KindBool), Flags: property.Base, Persistent: true, Indexed: true},
		{Name: "token", Type: property.Scalar(property.KindBlob), Flags: property.Base, Persistent: true, Indexed: true, DatabaseLength: 64},
		{Name: "bag", Type: bag, Flags: property.CellPrivate, Persistent: true},
		{Name: "gold", Type: property.Scalar(property.KindInt32), Flags: property.Base, Persistent: true},
	}}
	item := &property.Definition{Name: "Item", HasBase: true, Persistent: true, Properties: []*property.Property{
		{Name: "serial", Type: property.Scalar(property.KindInt64), Flags: property.Base, Persistent: true, Unique: true},
	}}
	if edit != nil {
		edit(avatar, item)
	}
	defs := []*property.Definition{avatar, item}
	if item.Name == "" {
		defs = defs[:1]
	}
	return Schema(t, defs...)
}

// Schema is the persistent types of some definitions.
func Schema(t testing.TB, defs ...*property.Definition) *store.Schema {
	t.Helper()
	ps, err := property.NewSchema(defs...)
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.NewSchema(ps)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// avatar is a record of an Avatar of version 1.
func avatar(t testing.TB, id store.ID, name string, level int64) store.Record {
	t.Helper()
	typ := schemaOf(t, nil).Type("Avatar")
	base, cell := values(typ)
	set(t, base, "name", property.StringValue(name))
	set(t, cell, "level", property.Int(level))
	set(t, cell, "bag", property.List(property.Uint(uint64(id)), property.Uint(7)))
	return recordOf(t, typ, id, base, cell)
}

func item(t testing.TB, id store.ID, serial int64) store.Record {
	t.Helper()
	typ := schemaOf(t, nil).Type("Item")
	base, _ := values(typ)
	set(t, base, "serial", property.Int(serial))
	return recordOf(t, typ, id, base, nil)
}

func recordOf(t testing.TB, typ *store.Type, id store.ID, base, cell *property.Values) store.Record {
	t.Helper()
	columns, data, err := typ.Encode(base, cell, nil)
	if err != nil {
		t.Fatal(err)
	}
	return store.Record{Key: store.Key{Type: typ.Name, ID: id}, Version: 1, Columns: columns, Data: data}
}

func values(typ *store.Type) (base, cell *property.Values) {
	d := typ.Definition()
	base = property.NewValues(d, property.BaseSide, nil)
	if d.HasCell {
		cell = property.NewValues(d, property.CellSide, nil)
	}
	return base, cell
}

func set(t testing.TB, v *property.Values, name string, val property.Value) {
	t.Helper()
	p := v.Definition().Property(name)
	if p == nil {
		t.Fatalf("%s has no property %s", v.Definition().Name, name)
	}
	if err := v.Load(p.Index, val); err != nil {
		t.Fatal(err)
	}
}

func key(typ string, id store.ID) store.Key { return store.Key{Type: typ, ID: id} }

// by is a record of the same row by a holder.
func by(r store.Record, h store.Holder) store.Record {
	r.Holder = h
	return r
}

// next is a record with another version.
func next(r store.Record, version uint64) store.Record {
	r.Version = version
	return r
}
