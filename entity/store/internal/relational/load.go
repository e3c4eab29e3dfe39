package relational

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/property"
)

// refused reports whether an error is about a record.
func refused(err error) bool {
	return errors.Is(err, store.ErrTaken) || errors.Is(err, store.ErrExists) || errors.Is(err, store.ErrValue)
}

// loading is a Load under way.
type loading struct {
	*layout
	wants []store.Want
	rows  map[store.Key]*row
	named map[int]*row // by the index of a Want that names an identifier
}

// row is a row as it was read.
type row struct {
	record store.Record
	state  store.State
	err    error // its columns cannot be read
}

// Load implements store.Store.
func (s *Store) Load(ctx context.Context, wants []store.Want) ([]store.Loaded, error) {
	l, err := s.layout()
	if err != nil {
		return nil, err
	}
	wants = slices.Clone(wants) // CheckWants changes them
	if err := l.schema.CheckWants(wants); err != nil {
		return nil, err
	}
	var loaded []store.Loaded
	if !slices.ContainsFunc(wants, func(w store.Want) bool { return !w.Holder.Nobody() }) {
		err = s.view(ctx, func(tx Tx) error {
			start, err := counter(ctx, tx, startCounter)
			if err != nil {
				return err
			}
			x := &loading{layout: l, wants: wants}
			if err := x.read(ctx, s.dialect, tx, false); err != nil {
				return err
			}
			loaded, _ = x.take(start)
			return nil
		})
		return loaded, err
	}
	err = s.change(ctx, func(tx Tx, start uint64) error {
		x := &loading{layout: l, wants: wants}
		if err := x.read(ctx, s.dialect, tx, true); err != nil {
			return err
		}
		var w *work
		loaded, w = x.take(start)
		return s.do(ctx, tx, w, func(i int) store.Key { return loaded[i].Key })
	})
	if err != nil {
		return nil, err
	}
	return loaded, nil
}

// read reads the rows that are wanted, and locks them.
func (x *loading) read(ctx context.Context, d *Dialect, tx Tx, lock bool) error {
	x.rows, x.named = make(map[store.Key]*row, len(x.wants)), make(map[int]*row)
	for _, name := range names(x.wants, func(w *store.Want) string { return w.Type }) {
		t := x.tables[name]
		byID, byName := t.rows, t.byIdentifier
		if lock {
			byID, byName = t.rowsLocked, t.byLocked
		}
		var ids []int64
		for i := range x.wants {
			w := &x.wants[i]
			if w.Type != name {
				continue
			}
			if w.ID != 0 {
				ids = append(ids, int64(w.ID))
				continue
			}
			found, err := t.query(ctx, tx, Statement{byName, []any{t.typ.Identifier().Scalar(w.Identifier)}}, 1)
			if err != nil {
				return err
			}
			for _, r := range found {
				x.named[i] = x.one(r)
			}
		}
		if len(ids) == 0 {
			continue
		}
		found, err := t.query(ctx, tx, Statement{byID, []any{d.Ints(ids)}}, len(ids))
		if err != nil {
			return err
		}
		for _, r := range found {
			x.one(r)
		}
	}
	return nil
}

// one keeps one copy of each row, so that two Wants of it see each other's check-out.
func (x *loading) one(r *row) *row {
	if known := x.rows[r.record.Key]; known != nil {
		return known
	}
	x.rows[r.record.Key] = r
	return r
}

// take answers each Want, and returns the check-outs to be noted.
func (x *loading) take(start uint64) ([]store.Loaded, *work) {
	loaded, w := make([]store.Loaded, len(x.wants)), &work{}
	given := make(map[*row]bool, len(x.rows))
	for i := range x.wants {
		want, out := &x.wants[i], &loaded[i]
		r := x.named[i]
		if want.ID != 0 {
			r = x.rows[want.Key]
		}
		out.Key = want.Key
		if out.Err = want.Holder.Check(start); out.Err != nil {
			continue
		}
		if r == nil {
			out.Err = store.ErrMissing
			continue
		}
		out.Key = r.record.Key
		if out.Err = r.err; out.Err != nil {
			continue
		}
		next, err := r.state.Take(want.Holder, start)
		if err != nil {
			out.Err = err
			continue
		}
		if next != r.state {
			w.hold(i, x.tables[want.Type], r.record.ID, next.Holder)
			r.state = next
		}
		out.Record = r.record
		out.Holder = next.HeldBy(start)
		if given[r] {
			out.Data, out.Columns = slices.Clone(out.Data), slices.Clone(out.Columns)
		}
		given[r] = true
	}
	return loaded, w
}

// query reads whole rows.
func (t *table) query(ctx context.Context, tx Tx, s Statement, most int) ([]*row, error) {
	found := make([]*row, 0, most)
	var id, autoload int64
	var raw rawState
	var data []byte
	scalars := make([]any, len(t.typ.Columns))
	dest := []any{&id, &raw.version, &raw.start, &raw.app, &raw.entity, &autoload, &data}
	for i := range scalars {
		dest = append(dest, &scalars[i])
	}
	err := tx.Query(ctx, s, func(scan func(...any) error) error {
		data = nil
		if err := scan(dest...); err != nil {
			return err
		}
		r := &row{state: raw.state()}
		r.record = store.Record{Key: store.Key{Type: t.typ.Name, ID: store.ID(id)}, Version: r.state.Version, AutoLoad: autoload != 0, Data: data}
		r.record.Columns, r.err = t.values(scalars)
		found = append(found, r)
		return nil
	})
	return found, err
}

// values are the columns of a row.
func (t *table) values(scalars []any) (values []property.Value, err error) {
	values = make([]property.Value, len(scalars))
	for i := range scalars {
		if values[i], err = t.typ.Columns[i].Value(scalars[i]); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// Query implements store.Store.
func (s *Store) Query(ctx context.Context, q store.Query) (page store.Page, err error) {
	l, err := s.layout()
	if err != nil {
		return store.Page{}, err
	}
	typ, column, err := l.schema.CheckQuery(&q)
	if err != nil {
		return store.Page{}, err
	}
	t := l.tables[typ.Name]
	err = s.view(ctx, func(tx Tx) error {
		start, err := counter(ctx, tx, startCounter)
		if err != nil {
			return err
		}
		page, err = t.page(ctx, tx, &q, column, start)
		return err
	})
	return page, err
}

// page reads one row more than there is room for, to know whether there is another page.
func (t *table) page(ctx context.Context, tx Tx, q *store.Query, column *store.Column, start uint64) (page store.Page, err error) {
	var id, autoload int64
	var raw rawState
	scalars := make([]any, len(t.typ.Columns))
	dest := []any{&id, &raw.version, &raw.start, &raw.app, &raw.entity, &autoload}
	for i := range scalars {
		dest = append(dest, &scalars[i])
	}
	err = tx.Query(ctx, t.pageStatement(q, column), func(scan func(...any) error) error {
		if err := scan(dest...); err != nil {
			return err
		}
		values, err := t.values(scalars)
		if err != nil {
			return fmt.Errorf("%v: %w", store.Key{Type: q.Type, ID: store.ID(id)}, err)
		}
		state := raw.state()
		page.Rows = append(page.Rows, store.Row{Key: store.Key{Type: q.Type, ID: store.ID(id)}, Version: state.Version,
			Holder: state.HeldBy(start), AutoLoad: autoload != 0, Columns: values})
		return nil
	})
	if err != nil || len(page.Rows) <= q.Limit {
		return page, err
	}
	page.Rows = page.Rows[:q.Limit]
	last := &page.Rows[q.Limit-1]
	page.Next = &store.Cursor{ID: last.ID}
	if column != nil {
		page.Next.Value = last.Columns[t.index(column)]
	}
	return page, nil
}

// index is the position of a column.
func (t *table) index(c *store.Column) int {
	return slices.IndexFunc(t.typ.Columns, func(d store.Column) bool { return d.Name == c.Name })
}

func (t *table) pageStatement(q *store.Query, column *store.Column) Statement {
	s := Statement{SQL: "SELECT id, version, " + holderColumns + ", autoload"}
	for i := range t.typ.Columns {
		s.SQL += ", " + columnName(t.typ.Columns[i].Name)
	}
	s.SQL += " FROM " + t.name + " WHERE id > 0"
	order, beyond := "", ">"
	if q.Descending {
		order, beyond = " DESC", "<"
	}
	arg := func(x any) string {
		s.Args = append(s.Args, x)
		return fmt.Sprintf("$%d", len(s.Args))
	}
	if q.AutoLoad {
		s.SQL += " AND autoload <> 0"
	}
	if column == nil {
		if q.After != nil {
			s.SQL += " AND id " + beyond + " " + arg(int64(q.After.ID))
		}
		s.SQL += " ORDER BY id" + order
	} else {
		name := columnName(column.Name)
		if !q.Min.IsNone() {
			s.SQL += " AND " + name + " >= " + arg(column.Scalar(q.Min))
		}
		if !q.Max.IsNone() {
			s.SQL += " AND " + name + " <= " + arg(column.Scalar(q.Max))
		}
		if q.After != nil {
			s.SQL += " AND (" + name + ", id) " + beyond + " (" + arg(column.Scalar(q.After.Value)) + ", " + arg(int64(q.After.ID)) + ")"
		}
		s.SQL += " ORDER BY " + name + order + ", id" + order
	}
	s.SQL += fmt.Sprintf(" LIMIT %d", q.Limit+1)
	return s
}
