package baseapp

import (
	"cmp"
	"fmt"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/entity/stored"
	"github.com/cellscape/cellscape/internal/script"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/property"
)

// QueryStore is part of entity.Base's host.
func (b *base) QueryStore(q stored.Query, method string, user int64) error {
	a := b.app
	t := a.keeps(a.cfg.Schema.Type(q.Type))
	switch err := script.CheckCallback[stored.Page](b.kind, method); {
	case b.destroying:
		return entity.ErrGone
	case err != nil:
		return err
	case t == nil:
		return fmt.Errorf("%w: type %q", stored.ErrNotKept, q.Type)
	case a.storing.open >= maxStoreCalls:
		return fmt.Errorf("%w: %d calls of the store are open", entity.ErrTooMany, a.storing.open)
	}
	wanted, err := a.rowsWanted(&q)
	if err != nil {
		return err
	}
	a.asked++
	request := a.asked
	b.await(pending{what: questionStore, request: request, method: method, user: user})
	m := &wire.CallStore{Op: wire.StoreQuery, Type: t.Name, Entity: b.id, Data: wanted.Encode()}
	a.storeCall(m, func(r *wire.StoreAnswer) {
		b.answered(questionStore, request)
		if b.hears() {
			callBack(b, method, pageOf(t, user, r))
		}
	})
	return nil
}

// rowsWanted is a query as it is sent to the DBApp.
func (a *BaseApp) rowsWanted(q *stored.Query) (m wire.RowsWanted, err error) {
	limit := cmp.Or(q.Limit, stored.DefaultPage)
	x := store.Query{Type: q.Type, Column: q.Property, Min: q.Min, Max: q.Max, Descending: q.Descending, Limit: limit}
	if q.After != nil {
		x.After = &store.Cursor{ID: store.ID(q.After.Row), Value: q.After.Get(q.Property)}
	}
	_, c, err := a.cfg.Stored.CheckQuery(&x)
	if err != nil {
		return m, err
	}
	m = wire.RowsWanted{Column: x.Column, Descending: x.Descending, Limit: uint32(limit)}
	scalar := func(v property.Value) (s wire.Scalar) {
		if c != nil && !v.IsNone() {
			s.V = c.Scalar(v)
		}
		return s
	}
	m.Min, m.Max = scalar(x.Min), scalar(x.Max)
	if x.After != nil {
		m.After, m.AfterRow = scalar(x.After.Value), uint64(x.After.ID)
	}
	return m, nil
}

// pageOf is what the script is told.
func pageOf(t *store.Type, user int64, r *wire.StoreAnswer) stored.Page {
	p := stored.Page{User: user}
	var found wire.RowsFound
	if r.Code != stored.Done {
		p.Err = &stored.Error{Code: r.Code, Reason: r.Reason}
		return p
	}
	if err := found.Decode(r.Data); err != nil {
		p.Err = &stored.Error{Code: stored.Refused, Reason: err.Error()}
		return p
	}
	names := make([]string, len(t.Columns))
	for i := range t.Columns {
		names[i] = t.Columns[i].Name
	}
	for _, x := range found.Rows {
		row := stored.Row{Row: x.Row, Live: x.Live, Properties: names}
		for i := range x.Columns[:min(len(x.Columns), len(names))] {
			v, err := t.Columns[i].Value(x.Columns[i].V)
			if err != nil {
				return stored.Page{User: user, Err: &stored.Error{Code: stored.Refused, Reason: err.Error()}}
			}
			row.Values = append(row.Values, v)
		}
		p.Rows = append(p.Rows, row)
	}
	p.More = found.More
	return p
}
