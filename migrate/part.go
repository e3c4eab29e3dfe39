package migrate

import (
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/mercury"
)

// Slices is how many slices the ids of bases are divided into, evenly, so that a part of an app's bases can
// be named in a few bytes however many they are.
const Slices = 64

// counterBits is how many bits of an id the counter has; see entity.ID.
const counterBits = 32

// Part is a part of the bases of an app that leaves it while the app goes on. The zero value is no part.
type Part struct {
	// Turn numbers the parts of one app, from 1.
	Turn uint64
	// Slices has a bit for each slice whose bases leave.
	Slices uint64
	// Below bounds the ids that the app itself has issued: it may issue others of these slices later, which
	// do not leave.
	Below entity.ID
	// To is the app whose bases by the rule leave: those of which it is the first holder. Zero is all.
	To mercury.Address
}

// SliceOf is the slice of an id, below Slices.
func SliceOf(id entity.ID) uint { return uint(mix(uint64(id)) % Slices) }

// takes reports whether a base of one of the slices left.
func (p *Part) takes(d *Departure, id entity.ID) bool {
	if id >= p.Below && uint64(id)>>counterBits == uint64(d.Allocator) {
		return false
	}
	return p.To.IsZero() || p.To == d.Rule.First(d.App, id)
}

// First is the first holder of a base of the owner, zero if there is none.
func (r *Rule) First(owner mercury.Address, id entity.ID) mercury.Address {
	var buf [1]mercury.Address
	if first := Holders(buf[:0], owner, id, r.List, 1); len(first) > 0 {
		return first[0]
	}
	return mercury.Address{}
}

// Code codes a part as a field of a message.
func (p *Part) Code(c *codec.Coder) {
	c.Uvarint(&p.Turn)
	c.Uvarint(&p.Slices)
	fields.ID(c, &p.Below)
	fields.Address(c, &p.To)
}
