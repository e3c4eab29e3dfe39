package relational

import (
	"context"
	"fmt"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/store"
)

// work is the statements of a call, and which record each is for.
type work struct {
	list []Statement
	of   []int
}

func (w *work) add(record int, sql string, args ...any) {
	w.list, w.of = append(w.list, Statement{sql, args}), append(w.of, record)
}

// do executes them. An error that is about one record, and not about the store, says so.
func (s *Store) do(ctx context.Context, tx Tx, w *work, key func(i int) store.Key) error {
	if len(w.list) == 0 {
		return nil
	}
	failed, err := tx.Batch(ctx, w.list)
	if err == nil || failed < 0 || failed >= len(w.of) {
		return err
	}
	told := s.db.Error(err)
	if refused(told) {
		i := w.of[failed]
		return &store.RecordError{Index: i, Key: key(i), Err: told}
	}
	return err
}

// states locks rows, and returns those that there are.
func (l *layout) states(ctx context.Context, d *Dialect, tx Tx, types []string, n int, key func(i int) store.Key) (map[store.Key]store.State, error) {
	found := make(map[store.Key]store.State, n)
	for _, name := range types {
		var ids []int64
		for i := range n {
			if k := key(i); k.Type == name {
				ids = append(ids, int64(k.ID))
			}
		}
		err := tx.Query(ctx, Statement{l.tables[name].states, []any{d.Ints(ids)}}, func(scan func(...any) error) error {
			var id int64
			var r rawState
			if err := scan(&id, &r.version, &r.start, &r.app, &r.entity); err != nil {
				return err
			}
			found[store.Key{Type: name, ID: store.ID(id)}] = r.state()
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// rawState is a State as it stands in a table.
type rawState struct{ version, start, app, entity int64 }

func (r rawState) state() store.State {
	return store.State{Version: uint64(r.version), Holder: store.Holder{Start: uint64(r.start), App: uint32(r.app), Entity: entity.ID(r.entity)}}
}

// change is a call on rows that exist or come to be: the records are checked, the rows are locked, and
// each is decided by what.
func (s *Store) changeRows(ctx context.Context, types []string, n int, key func(i int) store.Key,
	decide func(l *layout, w *work, i int, state store.State, there bool, start uint64) error) error {
	l, err := s.layout()
	if err != nil {
		return err
	}
	return s.change(ctx, func(tx Tx, start uint64) error {
		states, err := l.states(ctx, s.dialect, tx, types, n, key)
		if err != nil {
			return err
		}
		w := &work{list: make([]Statement, 0, n), of: make([]int, 0, n)}
		for i := range n {
			state, there := states[key(i)]
			if err := decide(l, w, i, state, there, start); err != nil {
				return &store.RecordError{Index: i, Key: key(i), Err: err}
			}
		}
		return s.do(ctx, tx, w, key)
	})
}

// Create implements store.Store.
func (s *Store) Create(ctx context.Context, records []store.Record) error {
	return s.changeRecords(ctx, records, func(l *layout, w *work, i int, state store.State, there bool, _ uint64) error {
		r := &records[i]
		if there {
			return state.Create(r)
		}
		t, next := l.tables[r.Type], store.Created(r)
		args := append(make([]any, 0, 7+len(r.Columns)), int64(r.ID), int64(r.Version),
			int64(next.Holder.Start), int64(next.Holder.App), int64(next.Holder.Entity), truth(r.AutoLoad), bytesOf(r.Data))
		w.add(i, t.insert, t.scalars(args, r)...)
		return nil
	})
}

// Write implements store.Store.
func (s *Store) Write(ctx context.Context, records []store.Record) error {
	return s.changeRecords(ctx, records, func(l *layout, w *work, i int, state store.State, there bool, start uint64) error {
		r := &records[i]
		if !there {
			return store.ErrMissing
		}
		next, done, err := state.Write(r, start)
		if err != nil || done {
			return err
		}
		t := l.tables[r.Type]
		args := append(make([]any, 0, 4+len(r.Columns)), int64(r.ID), int64(r.Version), truth(r.AutoLoad), bytesOf(r.Data))
		w.add(i, t.update, t.scalars(args, r)...)
		if next.Holder != state.Holder {
			w.hold(i, t, r.ID, next.Holder)
		}
		return nil
	})
}

// changeRecords is changeRows for records, whose holders make the call.
func (s *Store) changeRecords(ctx context.Context, records []store.Record, decide func(*layout, *work, int, store.State, bool, uint64) error) error {
	l, err := s.layout()
	if err != nil {
		return err
	}
	if err := l.schema.CheckRecords(records); err != nil {
		return err
	}
	types := names(records, func(r *store.Record) string { return r.Type })
	return s.changeRows(ctx, types, len(records), func(i int) store.Key { return records[i].Key },
		func(l *layout, w *work, i int, state store.State, there bool, start uint64) error {
			if err := records[i].Holder.Check(start); err != nil {
				return err
			}
			return decide(l, w, i, state, there, start)
		})
}

// HandOver implements store.Store.
func (s *Store) HandOver(ctx context.Context, hs []store.Handover) error {
	l, err := s.layout()
	if err != nil {
		return err
	}
	key := func(i int) store.Key { return hs[i].Key }
	if err := l.schema.CheckKeys(len(hs), key); err != nil {
		return err
	}
	types := names(hs, func(h *store.Handover) string { return h.Type })
	return s.changeRows(ctx, types, len(hs), key, func(l *layout, w *work, i int, state store.State, there bool, start uint64) error {
		h := &hs[i]
		caller := h.To
		if caller.Nobody() {
			caller = h.From
		}
		if err := caller.Check(start); err != nil {
			return err
		}
		if !there {
			return store.ErrMissing
		}
		next, err := state.HandOver(h.From, h.To, start)
		if err == nil && next != state {
			w.hold(i, l.tables[h.Type], h.ID, next.Holder)
		}
		return err
	})
}

// Delete implements store.Store.
func (s *Store) Delete(ctx context.Context, rs []store.Removal) error {
	l, err := s.layout()
	if err != nil {
		return err
	}
	key := func(i int) store.Key { return rs[i].Key }
	if err := l.schema.CheckKeys(len(rs), key); err != nil {
		return err
	}
	types := names(rs, func(r *store.Removal) string { return r.Type })
	return s.changeRows(ctx, types, len(rs), key, func(l *layout, w *work, i int, state store.State, there bool, start uint64) error {
		if err := rs[i].Holder.Check(start); err != nil {
			return err
		}
		if !there {
			return store.ErrMissing
		}
		if err := state.Delete(rs[i].Holder, start); err != nil {
			return err
		}
		w.add(i, l.tables[rs[i].Type].remove, int64(rs[i].ID))
		return nil
	})
}

// Free implements store.Store.
func (s *Store) Free(ctx context.Context, start uint64, app uint32) (n int, err error) {
	l, err := s.layout()
	if err != nil {
		return 0, err
	}
	err = s.change(ctx, func(tx Tx, newest uint64) error {
		n = 0
		if start != newest {
			return fmt.Errorf("%w: start %d, the newest is %d", store.ErrSuperseded, start, newest)
		}
		for _, t := range l.schema.Types {
			k, err := tx.Exec(ctx, Statement{l.tables[t.Name].free, []any{int64(app), int64(start)}})
			if err != nil {
				return err
			}
			n += int(k)
		}
		return nil
	})
	return n, err
}

func (w *work) hold(i int, t *table, id store.ID, h store.Holder) {
	w.add(i, t.hold, int64(id), int64(h.Start), int64(h.App), int64(h.Entity))
}

func (t *table) scalars(args []any, r *store.Record) []any {
	for i := range r.Columns {
		args = append(args, t.typ.Columns[i].Scalar(r.Columns[i]))
	}
	return args
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// bytesOf is never nil, which a database would take for NULL.
func bytesOf(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
