package mpack

import (
	"bytes"
	"fmt"
	"io"

	"github.com/vmihailenco/msgpack/v5"
)

// Reader reads MessagePack that has passed ScanStore or ScanFree, so every claimed length is there.
// The library's decoder converts freely: nil is 0, false and "", numbers wrap, an extension before
// a map is skipped. So look at the class of each item before decoding it.
type Reader struct {
	B   []byte
	src *bytes.Reader // over b
	Dec *msgpack.Decoder
}

// NewReader returns a reader of b, which must have passed a scan.
func NewReader(b []byte) *Reader {
	src := bytes.NewReader(b) // can unread a byte: the decoder puts no buffer of its own before it
	return &Reader{B: b, src: src, Dec: msgpack.NewDecoder(src)}
}

// At returns how many bytes have been read.
func (r *Reader) At() int { return len(r.B) - r.src.Len() }

// Class returns what the next item is.
func (r *Reader) Class() Class {
	h, err := readHead(r.B[r.At():])
	if err != nil {
		return Nil // cannot be: the scanner has been here, and nobody reads beyond the end
	}
	return h.class
}

// Bytes returns the bytes of a str or bin in place.
func (r *Reader) Bytes(limit int) ([]byte, error) {
	n, err := r.Dec.DecodeBytesLen()
	if err != nil {
		return nil, err
	}
	if n > limit {
		return nil, fmt.Errorf("%w: %d bytes are more than %d", ErrLength, n, limit)
	}
	at := r.At()
	if err := r.skip(n); err != nil {
		return nil, err
	}
	return r.B[at : at+n], nil
}

// text returns a copy of a str or bin.
func (r *Reader) text() (string, error) {
	s, err := r.Bytes(len(r.B))
	return string(s), err
}

// skip passes n bytes.
func (r *Reader) skip(n int) error {
	_, err := r.src.Seek(int64(n), io.SeekCurrent)
	return err
}

// SkipValue passes one value. The library's Skip would recurse and copy.
func (r *Reader) SkipValue() error {
	n, err := ScanStore(r.B[r.At():])
	if err != nil {
		return err
	}
	return r.skip(n)
}
