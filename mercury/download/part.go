package download

import (
	"crypto/sha256"
	"encoding"
	"encoding/binary"
	"fmt"
	"hash"
	"io"

	"github.com/cellscape/cellscape/internal/codec"
)

// Part is what a receiver knows of the beginning of a content that it has stored. With it the next
// offer of the same content, over another channel or in another run of the program, goes on where
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

// maxHashState bounds the state of a hash: SHA-256's has 108 bytes.
const maxHashState = 256

// IsZero reports whether there is no part.
func (p Part) IsZero() bool { return p.Received == 0 }

// PartOf makes a part of the first received bytes of what a sink has kept, for a program that has
// no other record of it. It reads them all: see DigestOf.
func PartOf(kept io.ReaderAt, received, size int64, digest Digest) (Part, error) {
	if received < 0 || received > size || size > MaxSize {
		return Part{}, fmt.Errorf("%w: %d of %d bytes", ErrPart, received, size)
	}
	h := sha256.New()
	n, err := io.Copy(h, io.NewSectionReader(kept, 0, received))
	if err == nil && n < received {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return Part{}, err
	}
	return newPart(digest, size, received, h), nil
}

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

// Append encodes p for keeping beside the sink's bytes.
func (p Part) Append(b []byte) []byte {
	b = append(b, p.Digest[:]...)
	b = binary.AppendUvarint(b, uint64(p.Size))
	b = binary.AppendUvarint(b, uint64(p.Received))
	return codec.AppendBytes(b, p.state)
}

// Decode reads what Append wrote. A part that was damaged in a way that does not show is found out
// at the end of its download, by the digest. ErrPart says that p cannot be gone on with: the
// content is fetched from its beginning.
func (p *Part) Decode(b []byte) error {
	r := codec.NewReader(b)
	var d Part
	d.Digest = readDigest(&r)
	d.Size = int64(limited(&r, MaxSize))
	d.Received = int64(limited(&r, MaxSize))
	d.state = append([]byte(nil), r.Bytes(maxHashState)...)
	if err := r.Close(); err != nil {
		return fmt.Errorf("%w: %w", ErrPart, err)
	}
	if d.Received > d.Size || d.Received == 0 && (d.Size > 0 || len(d.state) > 0 || !d.Digest.IsZero()) {
		return ErrPart
	}
	if _, err := d.resume(); err != nil {
		return err
	}
	*p = d
	return nil
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
