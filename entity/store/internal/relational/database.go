package relational

import "context"

// Statement is SQL with its arguments, which are $1, $2 and so on: int64, float64, string, []byte,
// and what Dialect.Ints makes.
type Statement struct {
	SQL  string
	Args []any
}

// Tx is a transaction. Errors are the driver's.
type Tx interface {
	// Exec returns how many rows it changed.
	Exec(ctx context.Context, s Statement) (int64, error)
	// Query calls row for each row of the answer.
	Query(ctx context.Context, s Statement, row func(scan func(dest ...any) error) error) error
	// Batch executes statements. failed is the index of the one that err is about, or -1.
	Batch(ctx context.Context, list []Statement) (failed int, err error)
}

// Database makes transactions.
type Database interface {
	// Update runs fn in a transaction, and commits if it returns nil. What is committed survives
	// a crash. Its error is fn's or the driver's.
	Update(ctx context.Context, fn func(Tx) error) error
	// View runs fn, which only reads, and need not see one state of the database throughout.
	View(ctx context.Context, fn func(Tx) error) error
	// Error turns a driver's error into one of package store, and leaves others as they are.
	Error(err error) error
	Close() error
}

// Dialect is where databases differ.
type Dialect struct {
	ID, Int, Real, Text, Blob string // types of columns; ID is that of a primary key
	// AnyInt is a condition on the column id, for one argument that Ints made.
	AnyInt string
	Ints   func([]int64) any
	// ForUpdate locks the rows of a SELECT.
	ForUpdate string
	// ShareFence and OwnFence lock the store against those who take the other; "" where writers
	// exclude each other anyway.
	ShareFence, OwnFence string
}
