package dbapp

import (
	"context"
	"fmt"
	"testing"

	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/entity/store/memory"
	"github.com/cellscape/cellscape/entity/stored"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/property"
)

// TestQueries asks for what a store has by a column and by row, a page at a time, and for what
// makes no sense.
func TestQueries(t *testing.T) {
	def, err := property.NewSchema(&property.Definition{Name: "Chest", HasBase: true, Persistent: true, Properties: []*property.Property{
		{Name: "gold", Type: property.Scalar(property.KindInt32), Flags: property.Base, Persistent: true, Indexed: true},
		{Name: "name", Type: property.Scalar(property.KindString), Flags: property.Base, Persistent: true, Indexed: true, DatabaseLength: 1024},
	}})
	if err != nil {
		t.Fatal(err)
	}
	types, err := store.NewSchema(def)
	if err != nil {
		t.Fatal(err)
	}
	ctx, s, typ := context.Background(), memory.New(), types.Type("Chest")
	if _, err := s.Apply(ctx, types, false); err != nil {
		t.Fatal(err)
	}
	start, err := s.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	holder := store.Holder{Start: start, App: 3, Entity: 3<<32 | 1}
	ask := func(m wire.CallStore) outcome {
		m.Type = "Chest"
		return job(s, context.WithCancel, []*call{{m: m, typ: typ, holder: holder}})(ctx).([]outcome)[0]
	}
	const long = 1000
	for i := range uint64(2200) {
		props := property.NewValues(def.Type("Chest"), property.BaseSide, nil)
		if err := props.Load(0, property.Int(int64(i%10))); err != nil {
			t.Fatal(err)
		}
		if err := props.Load(1, property.StringValue(fmt.Sprintf("%0*d", long, i))); err != nil {
			t.Fatal(err)
		}
		_, data, err := typ.Encode(props, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if o := ask(wire.CallStore{Op: wire.StoreCreate, Row: i + 1, Version: 1, Release: i%2 == 0, Data: data}); o.err != nil {
			t.Fatal(o.err)
		}
	}
	// all of a column, in pages that are shorter than asked for, since a row has a kilobyte
	w := wire.RowsWanted{Column: "gold", Min: wire.Scalar{V: int64(3)}, Max: wire.Scalar{V: int64(7)}, Descending: true, Limit: 1000}
	seen, pages, last := 0, 0, int64(8)
	for more := true; more; pages++ {
		o := ask(wire.CallStore{Op: wire.StoreQuery, Data: w.Encode()})
		var found wire.RowsFound
		if err := found.Decode(o.data); o.err != nil || err != nil || len(o.data) > store.MaxData || len(found.Rows) == 0 {
			t.Fatalf("%v, %v, %d bytes", o.err, err, len(o.data))
		}
		for _, r := range found.Rows {
			gold := r.Columns[0].V.(int64)
			if gold > last || r.Live != (r.Row%2 == 0) || r.Columns[1].V != fmt.Sprintf("%0*d", long, r.Row-1) {
				t.Fatalf("row %+v after %d", r, last)
			}
			last = gold
			seen++
		}
		end := &found.Rows[len(found.Rows)-1]
		w.After, w.AfterRow, more = end.Columns[0], end.Row, found.More
	}
	if seen != 1100 || pages < 2 {
		t.Errorf("%d rows in %d pages", seen, pages)
	}
	for _, w := range []wire.RowsWanted{
		{Column: "silver", Limit: 1}, {Limit: 0}, {Limit: store.MaxPage + 1}, {Min: wire.Scalar{V: int64(1)}, Limit: 1},
		{Column: "gold", Min: wire.Scalar{V: "much"}, Limit: 1}, {Column: "gold", Max: wire.Scalar{V: int64(1) << 40}, Limit: 1},
	} {
		if o := ask(wire.CallStore{Op: wire.StoreQuery, Data: w.Encode()}); o.err == nil || codeOf(o.err) != stored.Refused {
			t.Errorf("%+v: %v", w, o.err)
		}
	}
	if o := ask(wire.CallStore{Op: wire.StoreQuery, Data: []byte("rubbish")}); codeOf(o.err) != stored.Refused {
		t.Errorf("rubbish: %v", o.err)
	}
}
