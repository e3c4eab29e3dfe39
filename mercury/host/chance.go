package host

import (
	crand "crypto/rand"
	"encoding/binary"
	"math/rand/v2"
	"sync"
)

// chances is where salts, secrets and sources of chance come from.
type chances struct {
	mu     sync.Mutex
	seeded *rand.ChaCha8 // nil: from the system
}

func newChances(seed uint64) *chances {
	if seed == 0 {
		return &chances{}
	}
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	return &chances{seeded: rand.NewChaCha8(key)}
}

// fill fills b with unpredictable bytes, or with those that follow from the seed.
func (c *chances) fill(b []byte) {
	if c.seeded == nil {
		// It never fails: where the system gives no randomness, the program ends.
		_, _ = crand.Read(b)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, _ = c.seeded.Read(b) // it never fails either
}

// Read is fill as an io.Reader, for keys.
func (c *chances) Read(b []byte) (int, error) {
	c.fill(b)
	return len(b), nil
}

func (c *chances) uint64() uint64 {
	var b [8]byte
	c.fill(b[:])
	return binary.LittleEndian.Uint64(b[:])
}

// salt is never 0, which would mean "any start".
func (c *chances) salt() uint32 {
	for {
		if s := uint32(c.uint64()); s != 0 {
			return s
		}
	}
}

// source is a source of chance of its own.
func (c *chances) source() *rand.Rand { return rand.New(rand.NewPCG(c.uint64(), c.uint64())) }
