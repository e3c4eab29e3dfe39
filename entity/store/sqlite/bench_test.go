package sqlite_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/entity/store/sqlite"
	"github.com/cellscape/cellscape/entity/store/storetest"
)

func BenchmarkStore(b *testing.B) {
	dir := b.TempDir()
	s, err := sqlite.Open(context.Background(), filepath.Join(dir, "store.db"), sqlite.Config{})
	if err != nil {
		b.Fatal(err)
	}
	raw := openRaw(b, filepath.Join(dir, "raw.db"))
	defer raw.db.Close()
	storetest.Bench(b, s, storetest.Raw{Create: raw.create, Write: raw.write, Load: raw.load})
}

// rawFile is a table by the driver alone.
type rawFile struct {
	db                         *sql.DB
	insert, update, hold, read *sql.Stmt
}

func openRaw(b *testing.B, path string) *rawFile {
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_txlock=immediate")
	if err != nil {
		b.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	for _, x := range []string{"CREATE TABLE raw (id INTEGER PRIMARY KEY, version INTEGER, holder INTEGER, data BLOB, name TEXT, level INTEGER)",
		"CREATE UNIQUE INDEX raw_name ON raw (name)", "CREATE INDEX raw_level ON raw (level, id)"} {
		if _, err := db.Exec(x); err != nil {
			b.Fatal(err)
		}
	}
	prepare := func(q string) *sql.Stmt {
		st, err := db.Prepare(q)
		if err != nil {
			b.Fatal(err)
		}
		return st
	}
	return &rawFile{
		db:     db,
		insert: prepare("INSERT INTO raw VALUES (?, ?, 0, ?, ?, ?)"),
		update: prepare("UPDATE raw SET version = ?, data = ?, name = ?, level = ? WHERE id = ?"),
		hold:   prepare("UPDATE raw SET holder = ? WHERE id = ?"),
		read:   prepare("SELECT id, version, holder, data, name, level FROM raw WHERE id IN (SELECT value FROM json_each(?))"),
	}
}

// within runs do in a transaction.
func (r *rawFile) within(do func(tx *sql.Tx) error) error {
	tx, err := r.db.Begin()
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		return err
	}
	return tx.Commit()
}

func (r *rawFile) create(batch []store.Record) error {
	return r.within(func(tx *sql.Tx) error {
		st := tx.Stmt(r.insert)
		for i := range batch {
			if _, err := st.Exec(int64(batch[i].ID), int64(batch[i].Version), batch[i].Data, batch[i].Columns[0].Str(), batch[i].Columns[1].Int()); err != nil {
				return err
			}
		}
		return nil
	})
}

func (r *rawFile) write(batch []store.Record) error {
	return r.within(func(tx *sql.Tx) error {
		st := tx.Stmt(r.update)
		for i := range batch {
			if _, err := st.Exec(int64(batch[i].Version), batch[i].Data, batch[i].Columns[0].Str(), batch[i].Columns[1].Int(), int64(batch[i].ID)); err != nil {
				return err
			}
		}
		return nil
	})
}

func (r *rawFile) load(ids []int64, holder int64) error {
	return r.within(func(tx *sql.Tx) error {
		list, err := json.Marshal(ids)
		if err != nil {
			return err
		}
		rows, err := tx.Stmt(r.read).Query(string(list))
		if err != nil {
			return err
		}
		for rows.Next() {
			var id, version, held, level int64
			var data []byte
			var name string
			if err := rows.Scan(&id, &version, &held, &data, &name, &level); err != nil {
				return err
			}
		}
		if err := rows.Close(); err != nil || holder == 0 {
			return err
		}
		st := tx.Stmt(r.hold)
		for _, id := range ids {
			if _, err := st.Exec(holder, id); err != nil {
				return err
			}
		}
		return nil
	})
}
