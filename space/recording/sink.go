package recording

import "errors"

// ErrFull is returned by a Stream that has no room now: the cell tries again a little later.
var ErrFull = errors.New("recording: the sink has no room now")

// Sink takes what cells record. The cells of all CellApps that share one call it, each on its own
// goroutine.
type Sink interface {
	// Open begins the log of one cell. It must not block. With an error the cell tries again
	// later. The sink may keep h.
	Open(h *Header) (Stream, error)
}

// Stream takes the log of one cell, on one goroutine.
type Stream interface {
	// Append takes a chunk whole, or returns an error: ErrFull, or one after which the cell closes the
	// stream and opens another later. It must not block, and must copy the chunk.
	Append(chunk []byte) error
	// Close says that nothing follows. It must not block. The error is that of anything taken before
	// that was lost, as far as it is known.
	Close() error
}
