package storetest

import (
	"fmt"
	"slices"

	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/property"
)

func testQuery(b *bench) {
	typ := schemaOf(b, nil).Type("Avatar")
	var all []store.Record
	for i := range 40 {
		base, cell := values(typ)
		set(b, base, "name", property.StringValue([]string{"", "A", "a", "Z", "é", "ab"}[i%6]+fmt.Sprint(i)))
		set(b, cell, "level", property.Int(int64(i*7%5-2)))
		set(b, base, "guild", property.Uint([]uint64{3, 0, 1 << 63, 20, 1<<64 - 1}[i%5]))
		set(b, base, "rating", property.Float([]float64{-1.5, 0, 2, 1e30, -1e-3, 0.1}[i%6]))
		set(b, base, "banned", property.BoolValue(i%3 == 0))
		set(b, base, "token", property.Bytes([]byte{byte(i * 50), byte(i)}[:i%3]))
		r := recordOf(b, typ, store.ID((i*17)%41+1), base, cell)
		r.AutoLoad = i%4 == 0
		all = append(all, r)
	}
	b.must(b.s.Create(b.ctx, all))
	for _, column := range []string{"", "name", "level", "guild", "rating", "banned", "token"} {
		for _, limit := range []int{1, 7, 40, 100} {
			for _, descending := range []bool{false, true} {
				b.pages(all, store.Query{Type: "Avatar", Column: column, Limit: limit, Descending: descending, AutoLoad: limit == 7})
			}
		}
	}
	at := func(id int, column string) property.Value {
		i := slices.IndexFunc(typ.Columns, func(c store.Column) bool { return c.Name == column })
		return all[id].Columns[i]
	}
	for _, column := range []string{"name", "level", "guild", "rating", "token"} {
		b.pages(all, store.Query{Type: "Avatar", Column: column, Limit: 5, Min: at(3, column)})
		b.pages(all, store.Query{Type: "Avatar", Column: column, Limit: 5, Max: at(4, column), Descending: true})
		b.pages(all, store.Query{Type: "Avatar", Column: column, Limit: 5, Min: at(8, column), Max: at(8, column)})
	}
}

// pages turns the pages of a query, and compares with a naive twin.
func (b *bench) pages(all []store.Record, q store.Query) {
	b.Helper()
	typ := schemaOf(b, nil).Type(q.Type)
	c, at := typ.Column(q.Column), slices.IndexFunc(typ.Columns, func(c store.Column) bool { return c.Name == q.Column })
	scalar := func(r store.Record) any { return c.Scalar(r.Columns[at]) }
	var want []store.Record
	for _, r := range all {
		if q.AutoLoad && !r.AutoLoad || !q.Min.IsNone() && c.Compare(scalar(r), c.Scalar(q.Min)) < 0 || !q.Max.IsNone() && c.Compare(scalar(r), c.Scalar(q.Max)) > 0 {
			continue
		}
		want = append(want, r)
	}
	slices.SortFunc(want, func(x, y store.Record) int {
		n := int(x.ID) - int(y.ID)
		if c != nil && c.Compare(scalar(x), scalar(y)) != 0 {
			n = c.Compare(scalar(x), scalar(y))
		}
		if q.Descending {
			return -n
		}
		return n
	})
	var got []store.Row
	for turn := 0; ; turn++ {
		page, err := b.s.Query(b.ctx, q)
		b.must(err)
		if len(page.Rows) > q.Limit || turn > len(all) {
			b.Fatalf("%+v: a page of %d, the %dth", q, len(page.Rows), turn)
		}
		got = append(got, page.Rows...)
		if page.Next == nil {
			break
		}
		q.After = page.Next
	}
	if len(got) != len(want) {
		b.Fatalf("%+v: %d rows, want %d", q, len(got), len(want))
	}
	for i := range got {
		r := store.Record{Key: got[i].Key, Version: got[i].Version, AutoLoad: got[i].AutoLoad, Columns: got[i].Columns, Data: want[i].Data}
		if !same(r, want[i]) {
			b.Fatalf("%+v: row %d is %+v, want %+v", q, i, got[i], want[i])
		}
	}
}
