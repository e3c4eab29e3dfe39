package mpack

import (
	"math"

	"github.com/vmihailenco/msgpack/v5"
)

// Writer appends MessagePack to a slice. It is the writer of its own encoder, which so needs no
// buffer between. The encoder is not of the library's pool, and meets neither reflection nor the
// encoders that others register. Its errors are those of the writer, which has none.
type Writer struct {
	B   []byte
	Enc *msgpack.Encoder
}

// NewWriter returns a writer that appends to b. NewWriter returns a writer that appends to b.
func NewWriter(b []byte) *Writer {
	w := &Writer{B: b}
	w.Enc = msgpack.NewEncoder(w)
	return w
}

// Write appends p.
func (w *Writer) Write(p []byte) (int, error) {
	w.B = append(w.B, p...)
	return len(p), nil
}

// WriteByte appends c.
func (w *Writer) WriteByte(c byte) error {
	w.B = append(w.B, c)
	return nil
}

// Bin writes bytes. The library's EncodeBytes writes nil for a nil slice.
func (w *Writer) Bin(p string) {
	_ = w.Enc.EncodeBytesLen(len(p))
	w.B = append(w.B, p...)
}

// Float32 writes a number of that width. The payload of a NaN is made one: conversions differ
// between machines.
func (w *Writer) Float32(f float64) {
	if f != f {
		_ = w.Enc.EncodeFloat32(math.Float32frombits(0x7fc00000))
		return
	}
	_ = w.Enc.EncodeFloat32(float32(f))
}
