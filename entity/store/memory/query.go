package memory

import (
	"cmp"
	"context"
	"slices"

	"github.com/cellscape/cellscape/entity/store"
)

// Query implements store.Store.
func (s *Store) Query(ctx context.Context, q store.Query) (page store.Page, err error) {
	if err := s.lock(ctx, true); err != nil {
		return page, err
	}
	defer s.mu.Unlock()
	t, column, err := s.schema.CheckQuery(&q)
	if err != nil {
		return page, err
	}
	at := -1
	if column != nil {
		at = slices.IndexFunc(t.Columns, func(c store.Column) bool { return c.Name == column.Name })
	}
	order := func(a, b store.Cursor) int {
		n := 0
		if column != nil {
			n = column.Compare(column.Scalar(a.Value), column.Scalar(b.Value))
		}
		if n = cmp.Or(n, cmp.Compare(a.ID, b.ID)); q.Descending {
			return -n
		}
		return n
	}
	place := func(id store.ID, r *row) store.Cursor {
		if at < 0 {
			return store.Cursor{ID: id}
		}
		return store.Cursor{Value: r.columns[at], ID: id}
	}
	table := s.tables[q.Type]
	var places []store.Cursor
	for _, id := range sortedIDs(table) {
		p := place(id, table[id])
		if matches(&q, column, p, table[id]) && (q.After == nil || order(p, *q.After) > 0) {
			places = append(places, p)
		}
	}
	slices.SortFunc(places, order)
	if len(places) > q.Limit {
		places = places[:q.Limit]
		page.Next = &places[q.Limit-1]
	}
	for _, p := range places {
		r := table[p.ID]
		page.Rows = append(page.Rows, store.Row{Key: store.Key{Type: q.Type, ID: p.ID}, Version: r.Version, Holder: r.HeldBy(s.start),
			AutoLoad: r.autoload, Columns: slices.Clone(r.columns)})
	}
	return page, nil
}

func matches(q *store.Query, c *store.Column, p store.Cursor, r *row) bool {
	switch {
	case q.AutoLoad && !r.autoload:
		return false
	case c == nil:
		return true
	case !q.Min.IsNone() && c.Compare(c.Scalar(p.Value), c.Scalar(q.Min)) < 0:
		return false
	}
	return q.Max.IsNone() || c.Compare(c.Scalar(p.Value), c.Scalar(q.Max)) <= 0
}

func sortedIDs(table map[store.ID]*row) []store.ID {
	ids := make([]store.ID, 0, len(table))
	// order does not show: they are sorted
	for id := range table {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}
