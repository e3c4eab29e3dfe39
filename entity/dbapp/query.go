package dbapp

import (
	"context"
	"fmt"

	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/property"
)

// query answers a StoreQuery. A page that is too long for a message has fewer rows than it could.
func query(ctx context.Context, s store.Store, data []byte, t *store.Type) outcome {
	q, err := wanted(data, t)
	if err != nil {
		return outcome{err: err}
	}
	p, err := s.Query(ctx, q)
	if err != nil {
		return outcome{err: err}
	}
	found := wire.RowsFound{Rows: make([]wire.RowFound, len(p.Rows)), More: p.Next != nil}
	for i := range p.Rows {
		r := &p.Rows[i]
		x := wire.RowFound{Row: uint64(r.ID), Live: r.Holder != store.Holder{}}
		for k := range r.Columns {
			x.Columns = append(x.Columns, wire.Scalar{V: t.Columns[k].Scalar(r.Columns[k])})
		}
		found.Rows[i] = x
	}
	out := found.Encode()
	for len(out) > store.MaxData {
		found.Rows, found.More = found.Rows[:len(found.Rows)/2], true
		out = found.Encode()
	}
	return outcome{data: out}
}

// wanted is the query that a BaseApp asks for. The error is store.ErrValue.
func wanted(data []byte, t *store.Type) (q store.Query, err error) {
	var m wire.RowsWanted
	if err := m.Decode(data); err != nil {
		return q, fmt.Errorf("%w: %w", store.ErrValue, err)
	}
	q = store.Query{Type: t.Name, Column: m.Column, Descending: m.Descending, Limit: int(m.Limit)}
	c := t.Column(m.Column)
	if c == nil && m.Column != "" {
		return q, fmt.Errorf("%w: %s has no column %q", store.ErrValue, t.Name, m.Column)
	}
	if m.AfterRow != 0 {
		q.After = &store.Cursor{ID: store.ID(m.AfterRow)}
	}
	value := func(to *property.Value, s wire.Scalar) {
		if s.V == nil || err != nil {
			return
		}
		if c == nil {
			err = fmt.Errorf("%w: a bound, and no column", store.ErrValue)
			return
		}
		*to, err = c.Value(s.V)
	}
	value(&q.Min, m.Min)
	value(&q.Max, m.Max)
	if q.After != nil {
		value(&q.After.Value, m.After)
	}
	return q, err
}
