package mercury

// ring is a queue in a circular slice: it reuses its memory, and its elements can be reached by
// index from the front.
type ring[T any] struct {
	buf  []T // length is a power of two
	head uint32
	n    uint32
}

const (
	// smallRing is the first size: most of thousands of channels have a packet or two in flight.
	smallRing = 2
	// keepRing is the largest size that an empty ring keeps, so that a channel that once carried
	// megabytes does not keep the memory for them.
	keepRing = 64
)

func (r *ring[T]) len() int { return int(r.n) }

// at is the i-th element from the front; the pointer is valid until the next push.
func (r *ring[T]) at(i int) *T { return &r.buf[(int(r.head)+i)&(len(r.buf)-1)] }

// push adds a zero element at the back and returns it.
func (r *ring[T]) push() *T {
	if r.len() == len(r.buf) {
		bigger := make([]T, max(smallRing, 2*len(r.buf)))
		for i := range r.len() {
			bigger[i] = *r.at(i)
		}
		r.buf, r.head = bigger, 0
	}
	r.n++
	p := r.at(r.len() - 1)
	var zero T
	*p = zero
	return p
}

// pop drops the front.
func (r *ring[T]) pop() {
	var zero T
	*r.at(0) = zero
	r.head = (r.head + 1) & uint32(len(r.buf)-1)
	r.n--
}

// shrink frees the memory of an empty ring if it is large.
func (r *ring[T]) shrink() {
	if r.n == 0 && len(r.buf) > keepRing {
		*r = ring[T]{}
	}
}
