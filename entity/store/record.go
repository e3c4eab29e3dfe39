package store

import (
	"fmt"

	"github.com/cellscape/cellscape/property"
)

// ID is a database id: it names a row among those of its type, for ever. An entity that is loaded
// has an entity.ID besides, which is another at each load.
type ID uint64

// MaxID is the largest ID: browsers and tools compute in 53 bits.
const MaxID ID = 1<<53 - 1

// Valid reports whether the id can name a row.
func (id ID) Valid() bool { return id != 0 && id <= MaxID }

// Key names a row.
type Key struct {
	Type string
	ID   ID
}

// String gives type:id.
func (k Key) String() string { return fmt.Sprintf("%s:%d", k.Type, k.ID) }

// Record is a row as it is written and loaded.
type Record struct {
	Key
	// Version counts the writes: 1 for a new row. See the package's documentation.
	Version uint64
	// Holder is who writes, and has the row checked out; after a load, who has it now.
	Holder Holder
	// Release gives the check-out back together with the write. A load leaves it false.
	Release bool
	// AutoLoad marks an entity that is to be brought back when the cluster starts: Query finds it.
	AutoLoad bool
	// Columns are the values of the type's columns, in their order. Loads give them as they are in
	// the database, where a tool may have changed them.
	Columns []property.Value
	// Data is the rest, as Type.Encode makes it. A store does not look into it.
	Data []byte
}

// Want asks for a row, by ID, or with ID 0 by the value of its type's identifier.
type Want struct {
	Key
	Identifier property.Value
	// Holder checks the row out. With nobody it is only read.
	Holder Holder
}

// Loaded is the answer to a Want: a Record or an error, such as ErrMissing or ErrHeld. Data and
// Columns belong to the caller.
type Loaded struct {
	Record
	Err error
}

// Handover moves a check-out from one holder to another, or with To nobody ends it.
type Handover struct {
	Key
	From, To Holder
}

// Removal names a row to delete, and who holds it.
type Removal struct {
	Key
	Holder Holder
}

// Limits of one call and one record.
const (
	// MaxData is the longest Data of a record, in bytes: with its columns it has to fit one message
	// of the transport, which is 1 MiB.
	MaxData = 1<<20 - 64<<10
	// MaxBatch is how many records a call may have: more would keep others waiting for the lock of
	// an embedded database for too long.
	MaxBatch = 1024
	// MaxBatchBytes bounds the Data of a call together: a database holds it in memory more than
	// once.
	MaxBatchBytes = 16 << 20
	// MaxPage is how many rows, or blobs, one page of a query may have.
	MaxPage = 1000
	// MaxName is the longest name of a counter or key of a blob, in bytes.
	MaxName = 256
	// MaxBlob is the longest Data of a blob, in bytes; see MaxData.
	MaxBlob = MaxData
)

// CheckRecords tells whether a call may carry these records: types and ids that exist, columns that
// fit, all within the limits, no row twice. It brings the columns into the form in which they are
// stored. The error is a *RecordError, of ErrValue, or ErrValue alone.
func (s *Schema) CheckRecords(records []Record) error {
	if err := checkCount(len(records)); err != nil {
		return err
	}
	seen, size := make(map[Key]bool, len(records)), 0
	for i := range records {
		r := &records[i]
		fault := func(format string, args ...any) error {
			return &RecordError{i, r.Key, fmt.Errorf("%w: "+format, append([]any{ErrValue}, args...)...)}
		}
		t := s.Type(r.Type)
		switch {
		case t == nil:
			return fault("there is no persistent type %q", r.Type)
		case !r.ID.Valid():
			return fault("%d is no id", r.ID)
		case seen[r.Key]:
			return fault("the row comes twice")
		case r.Version == 0 || r.Version > uint64(MaxID):
			return fault("version %d is not within 1 to %d", r.Version, MaxID)
		case len(r.Data) > MaxData:
			return fault("%d bytes are more than %d", len(r.Data), MaxData)
		case len(r.Columns) != len(t.Columns):
			return fault("%d columns, and the type has %d", len(r.Columns), len(t.Columns))
		}
		for k := range r.Columns {
			v, err := t.Columns[k].Fit(r.Columns[k])
			if err != nil {
				return &RecordError{i, r.Key, err}
			}
			r.Columns[k] = v
		}
		if size += len(r.Data); size > MaxBatchBytes {
			return fault("the records have more than %d bytes together", MaxBatchBytes)
		}
		seen[r.Key] = true
	}
	return nil
}

// CheckKeys tells whether a call may name these rows: see CheckRecords.
func (s *Schema) CheckKeys(n int, key func(i int) Key) error {
	if err := checkCount(n); err != nil {
		return err
	}
	seen := make(map[Key]bool, n)
	for i := range n {
		k := key(i)
		var err error
		switch {
		case s.Type(k.Type) == nil:
			err = fmt.Errorf("%w: there is no persistent type %q", ErrValue, k.Type)
		case !k.ID.Valid():
			err = fmt.Errorf("%w: %d is no id", ErrValue, k.ID)
		case seen[k]:
			err = fmt.Errorf("%w: the row comes twice", ErrValue)
		}
		if err != nil {
			return &RecordError{i, k, err}
		}
		seen[k] = true
	}
	return nil
}

// CheckWants tells whether a call may ask for these rows. It brings identifiers into the form in
// which they are stored.
func (s *Schema) CheckWants(wants []Want) error {
	if err := checkCount(len(wants)); err != nil {
		return err
	}
	for i := range wants {
		w := &wants[i]
		fault := func(err error) error { return &RecordError{i, w.Key, err} }
		t := s.Type(w.Type)
		switch {
		case t == nil:
			return fault(fmt.Errorf("%w: there is no persistent type %q", ErrValue, w.Type))
		case w.ID > MaxID:
			return fault(fmt.Errorf("%w: %d is no id", ErrValue, w.ID))
		case w.ID == 0 && t.Identifier() == nil:
			return fault(fmt.Errorf("%w: the type has no identifier, and the id is 0", ErrValue))
		case w.ID == 0:
			v, err := t.Identifier().Fit(w.Identifier)
			if err != nil {
				return fault(err)
			}
			w.Identifier = v
		}
	}
	return nil
}

func checkCount(n int) error {
	if n > MaxBatch {
		return fmt.Errorf("%w: %d records are more than %d", ErrValue, n, MaxBatch)
	}
	return nil
}
