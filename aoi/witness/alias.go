package witness

import "github.com/cellscape/cellscape/entity/client/protocol"

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

// claim takes a certain number, after a handoff; it reports false if it is taken, or was never given out.
func (a *aliases) claim(alias uint16) bool {
	if int(alias) >= len(a.used) || a.used[alias] {
		return false
	}
	a.used[alias] = true
	return true
}

// settle lets all that nobody has claimed rest until the client has applied a bundle: the cell before
// may have given them up in it. Among them are those above all that are in use: the cell before says
// how many it has given out, or the next to come would get the name of who has just gone.
func (a *aliases) settle(bundle uint64) {
	for alias, used := range a.used {
		if !used {
			a.rest = append(a.rest, resting{uint16(alias), bundle})
		}
	}
}
