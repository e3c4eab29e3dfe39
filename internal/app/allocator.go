package app

import (
	"errors"
	"fmt"

	"github.com/cellscape/cellscape/entity"
)

// MaxAllocator is the largest allocator number.
const MaxAllocator = 1<<21 - 1

// idBits is how many bits of an id the counter has; entity.ID.String shows both parts.
const idBits = 32

// ErrIDsExhausted is returned when an allocator has issued all its ids, which takes four billion
// entities in one start of one app.
var ErrIDsExhausted = errors.New("app: this app has issued all ids of its allocator")

// Allocator issues the ids of one start of one app.
type Allocator struct {
	number uint64
	next   uint64
}

// NewAllocator returns the allocator with the number, 1 to MaxAllocator, that a manager issued for
// this start.
func NewAllocator(number uint32) (*Allocator, error) {
	if number == 0 || number > MaxAllocator {
		return nil, fmt.Errorf("app: allocator number %d is outside 1..%d", number, MaxAllocator)
	}
	return &Allocator{number: uint64(number), next: 1}, nil
}

// Issues reports whether an id is of this allocator.
func (a *Allocator) Issues(id entity.ID) bool { return uint64(id)>>idBits == a.number }

// Peek is the id that Next would issue. All that were issued are below.
func (a *Allocator) Peek() entity.ID { return entity.ID(a.number<<idBits | a.next) }

// Next issues an id.
func (a *Allocator) Next() (entity.ID, error) {
	if a.next >= 1<<idBits {
		return 0, ErrIDsExhausted
	}
	id := entity.ID(a.number<<idBits | a.next)
	a.next++
	return id, nil
}
