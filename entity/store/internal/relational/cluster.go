package relational

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/cellscape/cellscape/entity/store"
)

// Begin implements store.Store.
func (s *Store) Begin(ctx context.Context) (start uint64, err error) {
	err = s.update(ctx, s.dialect.OwnFence, func(tx Tx) error {
		start, err = add(ctx, tx, startCounter, 1)
		return err
	})
	return start, err
}

// Reserve implements store.Store.
func (s *Store) Reserve(ctx context.Context, c store.Counter, n uint64) (first uint64, err error) {
	if err := store.CheckReserve(c, n); err != nil {
		return 0, err
	}
	err = s.update(ctx, "", func(tx Tx) error {
		last, err := add(ctx, tx, "counter:"+string(c), n)
		first = last - n + 1
		return err
	})
	if err != nil {
		return 0, err
	}
	return first, nil
}

// Get implements store.Store.
func (s *Store) Get(ctx context.Context, key string) (b store.Blob, err error) {
	if err := store.CheckBlob(key, nil); err != nil {
		return b, err
	}
	err = s.view(ctx, func(tx Tx) error {
		var found blob
		err := tx.Query(ctx, Statement{"SELECT key, version, data FROM cellscape_blob WHERE key = $1", []any{key}}, found.scan)
		b = store.Blob(found)
		if err == nil && b.Version == 0 {
			err = fmt.Errorf("%w: blob %q", store.ErrMissing, key)
		}
		return err
	})
	return b, err
}

// Put implements store.Store.
func (s *Store) Put(ctx context.Context, key string, data []byte, version uint64) (next uint64, err error) {
	if err := store.CheckBlob(key, data); err != nil {
		return 0, err
	}
	err = s.update(ctx, "", func(tx Tx) error {
		if next, err = add(ctx, tx, blobCounter, 1); err != nil {
			return err
		}
		st := Statement{"UPDATE cellscape_blob SET version = $2, data = $3 WHERE key = $1 AND version = $4", []any{key, int64(next), bytesOf(data), int64(version)}}
		if version == 0 {
			st = Statement{"INSERT INTO cellscape_blob (key, version, data) VALUES ($1, $2, $3) ON CONFLICT (key) DO NOTHING", []any{key, int64(next), bytesOf(data)}}
		}
		n, err := tx.Exec(ctx, st)
		if err == nil && n == 0 {
			err = fmt.Errorf("%w: blob %q is not of version %d", store.ErrStale, key, version)
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	return next, nil
}

// Remove implements store.Store.
func (s *Store) Remove(ctx context.Context, key string, version uint64) error {
	if err := store.CheckBlob(key, nil); err != nil {
		return err
	}
	return s.update(ctx, "", func(tx Tx) error {
		n, err := tx.Exec(ctx, Statement{"DELETE FROM cellscape_blob WHERE key = $1 AND version = $2", []any{key, int64(version)}})
		if err != nil || n > 0 {
			return err
		}
		there := false
		err = tx.Query(ctx, Statement{"SELECT version FROM cellscape_blob WHERE key = $1", []any{key}}, func(scan func(...any) error) error {
			var v int64
			there = true
			return scan(&v)
		})
		switch {
		case err != nil:
			return err
		case there:
			return fmt.Errorf("%w: blob %q is not of version %d", store.ErrStale, key, version)
		}
		return fmt.Errorf("%w: blob %q", store.ErrMissing, key)
	})
}

// List implements store.Store.
func (s *Store) List(ctx context.Context, prefix, after string, limit int) (list []store.Blob, err error) {
	if err := store.CheckList(prefix, after, limit); err != nil {
		return nil, err
	}
	err = s.view(ctx, func(tx Tx) error {
		list = nil
		return tx.Query(ctx, Statement{fmt.Sprintf("SELECT key, version, data FROM cellscape_blob WHERE key >= $1 AND key > $2 AND substr(key, 1, %d) = $1 ORDER BY key LIMIT %d",
			utf8.RuneCountInString(prefix), limit), []any{prefix, after}}, func(scan func(...any) error) error {
			var b blob
			err := b.scan(scan)
			list = append(list, store.Blob(b))
			return err
		})
	})
	return list, err
}

// blob is a Blob that reads itself.
type blob store.Blob

func (b *blob) scan(scan func(...any) error) error {
	var version int64
	err := scan(&b.Key, &version, &b.Data)
	b.Version = uint64(version)
	return err
}
