package witness

import (
	"encoding/binary"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/codec"
)

// aliases gives each entity of the client a small number, by which Positions packets name it.
//
// A number that is given up names nobody until the client has applied the bundle with the leave: it
// has said so. Only then can it name another. So a packet that comes late, or ahead of its bundle,
// names whom it was written for, or nobody.
type aliases struct {
	used []bool // by alias
	free []uint16
	rest []resting // given up, in the order of bundles
}

// resting is an alias that waits for the client to forget whom it named.
type resting struct {
	alias  uint16
	bundle uint64
}

// none is the alias of an entity that has none: its places are told reliably alone, once it rests.
const none = protocol.NoAlias

// take gives a number out, or none if a client that does not say what it has seen has used them up.
func (a *aliases) take() uint16 {
	if n := len(a.free); n > 0 {
		alias := a.free[n-1]
		a.free = a.free[:n-1]
		a.used[alias] = true
		return alias
	}
	if len(a.used) >= protocol.MaxAlias {
		return none
	}
	a.used = append(a.used, true)
	return uint16(len(a.used) - 1)
}

// leave takes a number back, of an entity that the client is made to forget by a bundle.
func (a *aliases) leave(alias uint16, bundle uint64) {
	if alias == none {
		return
	}
	a.used[alias] = false
	a.rest = append(a.rest, resting{alias, bundle})
}

// unused takes a number back that the client was never told of.
func (a *aliases) unused(alias uint16) {
	if alias != none {
		a.used[alias] = false
		a.free = append(a.free, alias)
	}
}

// applied frees what the client has forgotten.
func (a *aliases) applied(bundle uint64) {
	n := 0
	for n < len(a.rest) && a.rest[n].bundle <= bundle {
		a.free = append(a.free, a.rest[n].alias)
		n++
	}
	a.rest = a.rest[:copy(a.rest, a.rest[n:])]
}

// append encodes what the next cell needs: how many numbers there are, without the free ones at the
// top, and which of them rest, the first to be freed first, each with how many bundles before next it
// was given up. Those that are in use come with their entries; all others are free.
func (a *aliases) append(b []byte, next uint64) []byte {
	b = binary.AppendUvarint(b, uint64(a.top()))
	b = binary.AppendUvarint(b, uint64(len(a.rest)))
	for _, x := range a.rest {
		b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(x.alias)), next-x.bundle)
	}
	return b
}

// top is one above the highest number that is not free.
func (a *aliases) top() int {
	n := len(a.used)
	for n > 0 && !a.used[n-1] {
		n--
	}
	for _, x := range a.rest {
		n = max(n, int(x.alias)+1)
	}
	return n
}

// read decodes what append wrote. Until settle all that rest count as in use, so that nobody claims one.
func (a *aliases) read(r *codec.Reader, next uint64) {
	given := r.Uvarint()
	if given > protocol.MaxAlias {
		r.Fail(errState)
		return
	}
	rest := r.Count(int(given), minResting)
	*a = aliases{used: make([]bool, given), rest: make([]resting, 0, rest)}
	last := uint64(0)
	for range rest {
		alias, ago := r.Uvarint(), r.Uvarint()
		if r.Err() != nil || alias >= given || ago > next || next-ago < last || !a.claim(uint16(alias)) {
			r.Fail(errState)
			return
		}
		last = next - ago
		a.rest = append(a.rest, resting{uint16(alias), last})
	}
}

// claim takes a certain number, after a handoff; it reports false if it is taken, or was never given out.
func (a *aliases) claim(alias uint16) bool {
	if int(alias) >= len(a.used) || a.used[alias] {
		return false
	}
	a.used[alias] = true
	return true
}

// settle frees all that neither rest nor were claimed, for the smallest to be taken first.
func (a *aliases) settle() {
	for alias := len(a.used) - 1; alias >= 0; alias-- {
		if !a.used[alias] {
			a.free = append(a.free, uint16(alias))
		}
	}
	for _, x := range a.rest {
		a.used[x.alias] = false
	}
}
