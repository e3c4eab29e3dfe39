package download

import (
	"crypto/sha256"
	"encoding"
	"fmt"
	"hash"
)

// Part is what a receiver knows of the beginning of a content that it has stored. With it the next
// offer of the same content, over another channel, goes on where
// the last one broke. The bytes themselves are in the sink, which the app keeps.
//
// The zero value is no part.
type Part struct {
	// Digest and Size name the whole content.
	Digest Digest
	Size   int64
	// Received is the number of bytes in the sink.
	Received int64
	state    []byte // of the SHA-256 over these bytes, so that they need not be read again
}

// IsZero reports whether there is no part.
func (p Part) IsZero() bool { return p.Received == 0 }

// newPart takes down how far a download has come.
func newPart(digest Digest, size, received int64, h hash.Hash) Part {
	if received == 0 {
		return Part{}
	}
	state, err := h.(encoding.BinaryMarshaler).MarshalBinary()
	if err != nil {
		return Part{} // a hash that cannot be kept is begun anew
	}
	return Part{Digest: digest, Size: size, Received: received, state: state}
}

// resume is a hash that has seen the part.
func (p Part) resume() (hash.Hash, error) {
	h := sha256.New()
	if p.IsZero() {
		return h, nil
	}
	if err := h.(encoding.BinaryUnmarshaler).UnmarshalBinary(p.state); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrPart, err)
	}
	return h, nil
}

// Memory is a sink in memory. It grows with what arrives, never by what is announced. The zero
// value is ready.
type Memory struct{ content []byte }

// Bytes is what was written, until the next write.
func (m *Memory) Bytes() []byte { return m.content }

// WriteAt implements io.WriterAt for writes that leave no gap.
func (m *Memory) WriteAt(p []byte, at int64) (int, error) {
	if at < 0 || at > int64(len(m.content)) {
		return 0, fmt.Errorf("download: write at %d leaves a gap behind %d bytes", at, len(m.content))
	}
	m.content = append(m.content[:at], p...)
	return len(p), nil
}
