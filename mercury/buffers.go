package mercury

const (
	// smallBuffer holds what a tick sends to one client, and every packet of a handshake. It is a
	// size class of Go's allocator. Most of thousands of channels never need more.
	smallBuffer = 448
	// maxSpare bounds the bytes of each size that are kept for reuse.
	maxSpare = 3 << 20
)

// buffers are an Endpoint's free buffers, in two sizes.
type buffers struct {
	small, full [][]byte
	large       int // size of the large ones
}

// buffer is an empty slice with room for n bytes, or for a packet if n is more. release takes it
// back.
func (e *Endpoint) buffer(n int) []byte {
	b := &e.buffers
	from, size := &b.full, b.large
	if n <= smallBuffer {
		from, size = &b.small, smallBuffer
	}
	if last := len(*from) - 1; last >= 0 {
		p := (*from)[last]
		*from = (*from)[:last]
		return p
	}
	return make([]byte, 0, max(size, n)) // n is above size if the peer's datagrams are longer than ours
}

// grow returns p with room for n more bytes, as far as a packet goes.
func (e *Endpoint) grow(p []byte, n int) []byte {
	if len(p)+n <= cap(p) || cap(p) >= e.buffers.large {
		return p
	}
	larger := append(e.buffer(e.buffers.large), p...)
	e.release(p)
	return larger
}

func (e *Endpoint) release(p []byte) {
	b := &e.buffers
	switch {
	case cap(p) > 2*b.large: // the peer's datagrams are much longer than ours
	case cap(p) >= b.large:
		if len(b.full) < maxSpare/b.large {
			b.full = append(b.full, p[:0])
		}
	case cap(p) >= smallBuffer:
		if len(b.small) < maxSpare/smallBuffer {
			b.small = append(b.small, p[:0])
		}
	}
}
