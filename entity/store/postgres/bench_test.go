package postgres_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/entity/store/postgres"
	"github.com/cellscape/cellscape/entity/store/storetest"
)

func BenchmarkStore(b *testing.B) {
	ctx := context.Background()
	server, made := serverURL(b), &schemas{}
	at := made.fresh(b, server)
	s, err := postgres.Open(ctx, at)
	if err != nil {
		b.Fatal(err)
	}
	conn, err := pgx.Connect(ctx, at)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, `CREATE TABLE raw (id BIGINT PRIMARY KEY, version BIGINT, holder BIGINT, data BYTEA, name TEXT COLLATE "C", level BIGINT);
		CREATE UNIQUE INDEX raw_name ON raw (name); CREATE INDEX raw_level ON raw (level, id)`); err != nil {
		b.Fatal(err)
	}
	batched := func(n int, queue func(b *pgx.Batch, i int)) error {
		return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			batch := &pgx.Batch{}
			for i := range n {
				queue(batch, i)
			}
			return tx.SendBatch(ctx, batch).Close()
		})
	}
	storetest.Bench(b, s, storetest.Raw{
		Create: func(list []store.Record) error {
			return batched(len(list), func(b *pgx.Batch, i int) {
				b.Queue("INSERT INTO raw VALUES ($1, $2, 0, $3, $4, $5)", int64(list[i].ID), int64(list[i].Version), list[i].Data, list[i].Columns[0].Str(), list[i].Columns[1].Int())
			})
		},
		Write: func(list []store.Record) error {
			return batched(len(list), func(b *pgx.Batch, i int) {
				b.Queue("UPDATE raw SET version = $2, data = $3, name = $4, level = $5 WHERE id = $1",
					int64(list[i].ID), int64(list[i].Version), list[i].Data, list[i].Columns[0].Str(), list[i].Columns[1].Int())
			})
		},
		Load: func(ids []int64, holder int64) error { return rawLoad(ctx, conn, ids, holder) },
	})
}

func rawLoad(ctx context.Context, conn *pgx.Conn, ids []int64, holder int64) error {
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, "SELECT id, version, holder, data, name, level FROM raw WHERE id = ANY($1)", ids)
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
		if rows.Close(); rows.Err() != nil || holder == 0 {
			return rows.Err()
		}
		batch := &pgx.Batch{}
		for _, id := range ids {
			batch.Queue("UPDATE raw SET holder = $2 WHERE id = $1", id, holder)
		}
		return tx.SendBatch(ctx, batch).Close()
	})
}
