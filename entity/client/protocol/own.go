package protocol

import (
	"fmt"

	"github.com/cellscape/cellscape/property"
)

// A whole value of a property of the player's own entity has an ID of its own, if every value of the
// type takes the same number of bytes: the ID says which property it is and how long it is, so that the
// frame has no length and whoever knows no definitions can skip it. An INT32 takes five bytes.
//
//	1sssiiii    s: how long the value is (ownSizes); i: Property.FixedIndex
//
// No ID is 0xB0 or 0xB1: with those, messages of downloads begin (mercury/download).
const firstOwn ID = 0x80

// maxOwn is how many properties of one length have an ID of their own.
const maxOwn = 16

// ownSizes are the lengths of values that have an ID of their own, by the first half of the ID. 3 is a
// colour, 12 and 16 are VECTOR3 and VECTOR4.
func ownSizes() [8]int { return [...]int{1, 2, 4, 0, 8, 12, 16, 3} }

// ownSize is the length of the body of a message that has none in its frame, 0 of all others.
func ownSize(id ID) int {
	if id < firstOwn {
		return 0
	}
	return ownSizes()[(id-firstOwn)/maxOwn]
}

// ownID is the ID of the value of a property, if it has one of its own.
func ownID(p *property.Property) (id ID, ok bool) {
	if p.FixedIndex < 0 || p.FixedIndex >= maxOwn {
		return 0, false
	}
	size := p.Type.WireSize()
	for class, n := range ownSizes() {
		if n == size {
			return firstOwn + ID(class*maxOwn+p.FixedIndex), true
		}
	}
	return 0, false
}

// AppendOwnValue frames and encodes the value of a property of the player's own entity, if it has an ID
// of its own and c is a change of the whole; otherwise ok is false, and the change goes into an
// OwnProperty or BaseProperty.
func AppendOwnValue(b []byte, v *property.Values, c *property.Change) (out []byte, ok bool) {
	p := v.Definition().Properties[c.Index]
	if c.Nested() && !p.SendLatestOnly {
		return b, false
	}
	id, ok := ownID(p)
	if !ok {
		return b, false
	}
	return v.AppendValue(append(b, byte(id)), c.Index), true
}

// IsOwnValue reports whether a message is the value of a property of the player's own entity.
func IsOwnValue(id ID) bool { return ownSize(id) > 0 }

// OwnValue decodes such a message for a type.
func OwnValue(d *property.Definition, id ID, body []byte) (p *property.Property, v property.Value, err error) {
	size := ownSize(id)
	if p = d.ByFixedIndex(size, int(id-firstOwn)%maxOwn); size == 0 || p == nil {
		return nil, v, fmt.Errorf("%w: %s has no property of id %d", ErrMalformed, d.Name, id)
	}
	v, rest, err := d.ReadValue(body, p.Index)
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("%d bytes too many", len(rest))
	}
	if err != nil {
		return nil, v, fmt.Errorf("%w: %s.%s: %w", ErrMalformed, d.Name, p.Name, err)
	}
	return p, v, nil
}
