package mercury

const (
	// smallBuffer holds what a tick sends to one client, and every packet of a handshake. It is a
	// size class of Go's allocator. Most of thousands of channels never need more.
	smallBuffer = 448
	// maxSpare bounds the bytes of each size that are kept for reuse.
	maxSpare = 3 << 20
)

// buffers are an Endpoint's free buffers, by size.
type buffers struct {
	sizes []int // ascending: smallBuffer, a usual datagram, and one of Config.MTU if that is more
	free  [][][]byte
	large int // the last of sizes
}

// newBuffers is for datagrams of up to mtu bytes.
func newBuffers(mtu int) buffers {
	b := buffers{sizes: []int{smallBuffer}, large: max(mtu, openSize)}
	if b.large > DefaultMTU {
		b.sizes = append(b.sizes, DefaultMTU)
	}
	b.sizes = append(b.sizes, b.large)
	b.free = make([][][]byte, len(b.sizes))
	return b
}

// buffer is an empty slice with room for n bytes. release takes it back.
func (e *Endpoint) buffer(n int) []byte {
	b := &e.buffers
	class := 0
	for class < len(b.sizes)-1 && n > b.sizes[class] {
		class++
	}
	free := &b.free[class]
	if last := len(*free) - 1; last >= 0 && n <= cap((*free)[last]) {
		p := (*free)[last]
		*free = (*free)[:last]
		return p
	}
	return make([]byte, 0, max(b.sizes[class], n)) // n is above size if the peer's datagrams are longer than ours
}

// grow returns p with room for n more bytes, as far as a packet goes.
func (e *Endpoint) grow(p []byte, n int) []byte {
	if len(p)+n <= cap(p) || cap(p) >= e.buffers.large {
		return p
	}
	larger := append(e.buffer(min(len(p)+n, e.buffers.large)), p...)
	e.release(p)
	return larger
}

func (e *Endpoint) release(p []byte) {
	b := &e.buffers
	if cap(p) > 2*b.large {
		return // the peer's datagrams are much longer than ours
	}
	for class := len(b.sizes) - 1; class >= 0; class-- {
		if size := b.sizes[class]; cap(p) >= size {
			if len(b.free[class]) < maxSpare/size {
				b.free[class] = append(b.free[class], p[:0])
			}
			return
		}
	}
}
