// Package bits packs small numbers into as many bits as they need, the lowest of a byte first.
package bits

import "math/bits"

// Of returns how many bits say a position among n.
func Of(n int) uint { return uint(bits.Len(uint(max(n, 1) - 1))) }

// Writer appends bits, the lowest of a byte first.
type Writer struct {
	Bytes []byte
	acc   uint64
	n     uint // bits in acc, less than 8 between calls
}

// Put appends the n lowest bits of x, at most 32.
func (w *Writer) Put(x uint64, n uint) {
	w.acc |= x << w.n
	for w.n += n; w.n >= 8; w.n -= 8 {
		w.Bytes = append(w.Bytes, byte(w.acc))
		w.acc >>= 8
	}
}

// Close fills the last byte with zeros.
func (w *Writer) Close() []byte {
	if w.n > 0 {
		w.Bytes, w.n = append(w.Bytes, byte(w.acc)), 0
	}
	return w.Bytes
}

// NewReader returns a reader of b.
func NewReader(b []byte) Reader { return Reader{b: b} }

// Reader takes bits off the front of b.
type Reader struct {
	b     []byte
	acc   uint64
	n     uint // bits in acc
	short bool
}

// Get takes n bits, at most 32; zeros beyond the end.
func (r *Reader) Get(n uint) uint64 {
	for r.n < n {
		if len(r.b) == 0 {
			r.short = true
			return 0
		}
		r.acc |= uint64(r.b[0]) << r.n
		r.b, r.n = r.b[1:], r.n+8
	}
	x := r.acc & (1<<n - 1)
	r.acc, r.n = r.acc>>n, r.n-n
	return x
}

// Close returns the bytes after the bits, whether there were too few, and whether those that fill
// the last byte are zero, as Close of a Writer makes them.
func (r *Reader) Close() (rest []byte, short, clean bool) { return r.b, r.short, r.acc == 0 }
