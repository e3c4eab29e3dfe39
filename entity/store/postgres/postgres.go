package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/entity/store/internal/relational"
)

// Open opens the store in the database that a connection string names, as a URL or as key=value words
// (https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING). pool_max_conns there
// says how many calls work at once. It fails if the server cannot be reached now; later the store
// outlasts that. Errors are those of package store.
func Open(ctx context.Context, connString string) (store.Store, error) {
	cfg, err := pgxpool.ParseConfig(connString)
	if err != nil {
		return nil, fmt.Errorf("%w: postgres: %w", store.ErrValue, err)
	}
	cfg.ConnConfig.RuntimeParams["synchronous_commit"] = "on"
	if cfg.ConnConfig.RuntimeParams["application_name"] == "" {
		cfg.ConnConfig.RuntimeParams["application_name"] = "cellscape"
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("%w: postgres: %w", store.ErrValue, err)
	}
	s, err := relational.New(ctx, &server{pool: pool}, dialect())
	if err != nil {
		return nil, err
	}
	return s, nil
}

// fenceNumber is the advisory lock of the stores of a database. Calls on rows share it; Begin and Apply own
// it.
const fenceNumber = "1667591276" // "cell" in ASCII

func dialect() *relational.Dialect {
	return &relational.Dialect{
		ID: "BIGINT PRIMARY KEY", Int: "BIGINT", Real: "DOUBLE PRECISION", Text: `TEXT COLLATE "C"`, Blob: "BYTEA",
		AnyInt:     "id = ANY($1)",
		Ints:       func(ids []int64) any { return ids },
		ForUpdate:  " FOR UPDATE",
		ShareFence: "SELECT pg_advisory_xact_lock_shared(" + fenceNumber + ")",
		OwnFence:   "SELECT pg_advisory_xact_lock(" + fenceNumber + ")",
	}
}

// txOptions: each statement sees what was committed before it, so that after the fence and the locks
// of rows nothing is stale.
func txOptions() pgx.TxOptions { return pgx.TxOptions{IsoLevel: pgx.ReadCommitted} }
