package baseapp

import (
	"errors"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/entity/stored"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/property"
)

func (v *avatar) OnPage(p stored.Page) {
	v.note("page of %d: %d rows, more %v, %v", p.User, len(p.Rows), p.More, p.Err)
	for _, r := range p.Rows {
		v.note("row %d live %v gold %d", r.Row, r.Live, r.Get("gold").Int())
	}
}

// TestQueryStore: what a script asks of the store goes to the DBApp in the store's own form, and
// comes back as the script's values. A query that makes no sense is refused at once.
func TestQueryStore(t *testing.T) {
	k := newKeeper(t, func(c *Config) {
		d := c.Schema.Type("Avatar")
		for _, p := range d.Properties {
			p.Indexed = p.Indexed || p.Name == "gold"
		}
		var err error
		if c.Stored, err = store.NewSchema(c.Schema); err != nil {
			t.Fatal(err)
		}
	})
	id, err := k.start.CreateBase("Avatar", nil)
	if err != nil {
		t.Fatal(err)
	}
	v := k.script(id)
	k.events = nil
	ten := stored.Query{Type: "Avatar", Property: "gold", Min: property.Int(10), Descending: true, Limit: 2}
	if err := v.QueryStore(ten, "OnPage", 5); err != nil {
		t.Fatal(err)
	}
	m := k.asked(wire.StoreQuery)
	var w wire.RowsWanted
	if err := w.Decode(m.Data); err != nil || w.Column != "gold" || w.Min.V != int64(10) || w.Max.V != nil || !w.Descending || w.Limit != 2 || w.AfterRow != 0 {
		t.Errorf("asked for %+v, %v", w, err)
	}
	found := wire.RowsFound{More: true, Rows: []wire.RowFound{{Row: 5, Live: true, Columns: []wire.Scalar{{V: int64(90)}}}, {Row: 6, Columns: []wire.Scalar{{V: int64(70)}}}}}
	k.answer(&m, wire.StoreAnswer{Data: found.Encode()})
	k.wantEvents("page of 5: 2 rows, more true, <nil>", "row 5 live true gold 90", "row 6 live false gold 70")
	k.events = nil
	ten.After = &stored.Row{Row: 6, Properties: []string{"gold"}, Values: []property.Value{property.Int(70)}}
	_ = v.QueryStore(ten, "OnPage", 6)
	m = k.asked(wire.StoreQuery)
	if err := w.Decode(m.Data); err != nil || w.AfterRow != 6 || w.After.V != int64(70) {
		t.Errorf("then for %+v, %v", w, err)
	}
	k.answer(&m, wire.StoreAnswer{Code: stored.Busy, Reason: "away"})
	k.wantEvents("page of 6: 0 rows, more false, stored: the store did not do it: away")
	k.events = nil
	_ = v.QueryStore(stored.Query{Type: "Avatar"}, "OnPage", 0)
	m = k.asked(wire.StoreQuery)
	k.answer(&m, wire.StoreAnswer{Data: []byte("rubbish")})
	if len(k.events) != 1 {
		t.Errorf("rubbish: %q", k.events)
	}
	for _, x := range []struct {
		q      stored.Query
		method string
		want   error
	}{
		{stored.Query{Type: "Nothing"}, "OnPage", stored.ErrNotKept},
		{stored.Query{Type: "Avatar"}, "OnLoaded", entity.ErrNoCallback},
		{stored.Query{Type: "Avatar", Property: "silver"}, "OnPage", store.ErrValue},
		{stored.Query{Type: "Avatar", Limit: store.MaxPage + 1}, "OnPage", store.ErrValue},
		{stored.Query{Type: "Avatar", Min: property.Int(1)}, "OnPage", store.ErrValue},
	} {
		if err := v.QueryStore(x.q, x.method, 0); !errors.Is(err, x.want) {
			t.Errorf("%+v: %v, want %v", x.q, err, x.want)
		}
	}
}

// TestQueryIsForgotten: a base that goes on elsewhere is told that its query will not be answered.
func TestQueryIsForgotten(t *testing.T) {
	k := newKeeper(t)
	id, err := k.start.CreateBase("Avatar", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.script(id).QueryStore(stored.Query{Type: "Avatar"}, "OnPage", 8); err != nil {
		t.Fatal(err)
	}
	b := k.a.byID[id]
	parts := b.appendParts(nil)
	delete(k.a.byID, id)
	k.a.list, k.a.accounts, k.events = nil, map[string]*base{}, nil
	if err := k.a.restore(&heritage{id: id, from: appW, lives: 1, parts: parts}); err != nil {
		t.Fatal(err)
	}
	if e := k.events; len(e) == 0 || e[len(e)-1] != "page of 8: 0 rows, more false, stored: the store did not do it: "+errForgotten.Error() {
		t.Errorf("events %q", e)
	}
}
