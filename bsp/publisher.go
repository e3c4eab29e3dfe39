package bsp

import (
	"bytes"
	"fmt"
)

// MaxKept is the most versions that a Publisher keeps. A tree of a thousand cells takes about a
// quarter of a megabyte, and a receiver that is a minute behind at one version a second is served
// as well with a whole tree.
const MaxKept = 64

// Publisher is the sending side of one space's geometry: it numbers the versions, keeps the last
// few, and makes, for a receiver of any version, the message that brings it up to date. It is a
// plain value without I/O; the manager that owns the tree owns it, too. Make it with NewPublisher.
type Publisher struct {
	term uint32
	n    uint32
	keep int
	past []edition // the oldest first; the last one is told now
	full []byte    // the last one as a whole tree
}

// edition is a version that some receiver may hold.
type edition struct {
	tree  *Tree
	delta []byte // from this version to the last; nil until someone asks
}

// NewPublisher returns a publisher for a manager of a term. It keeps the last keep versions, at
// least 1 and at most MaxKept; a receiver that is farther behind is sent a whole tree. A good value
// is how many versions may come while a message and the report that answers it are each lost once:
// about 8 at one version a second.
func NewPublisher(term uint32, keep int) *Publisher {
	return &Publisher{term: term, keep: min(max(1, keep), MaxKept)}
}

// Adopt makes known, to a publisher that has told nothing yet, a tree that an earlier manager told:
// receivers that hold it are sent the first version as a delta. At any other time Adopt does
// nothing. The tree must not be changed any more.
func (p *Publisher) Adopt(t *Tree) {
	if len(p.past) > 0 || t.version.Term >= p.term {
		return
	}
	p.past = append(p.past, edition{tree: t})
	p.full = t.Append(nil)
}

// Publish makes the next version of a tree, unless it would say the same as the last: then told is
// the last one and changed is false. Loads are rounded, see LoadBand. The tree itself is only read;
// its own version does not count. Receivers will have told, with the NodeIDs of t, so it must not
// be changed.
//
// The caller decides how often to publish: once a balance period is enough for lines and loads, and
// bounds the messages to one per period and receiver; a cell that was created, added or removed may
// be told at once.
//
// The error, which wraps ErrFormat, says that t is not a valid tree: a leaf was changed in a way
// that Leaf forbids. No one could apply such a tree, so it is not told.
func (p *Publisher) Publish(t *Tree) (told *Tree, changed bool, err error) {
	next, last := t.Clone(), p.Tree()
	next.quantise(last)
	if err := next.settle(); err != nil {
		return nil, false, fmt.Errorf("not published: %w", err)
	}
	if last != nil && last.version.Term == p.term {
		next.version = last.version
		if bytes.Equal(next.Append(nil), p.full) {
			return last, false, nil
		}
	}
	p.n++
	next.version = Version{Term: p.term, N: p.n}
	if len(p.past) == p.keep {
		p.past = append(p.past[:0], p.past[1:]...)
	}
	for i := range p.past {
		p.past[i].delta = nil
	}
	p.past = append(p.past, edition{tree: next})
	p.full = next.Append(nil)
	return next, true, nil
}

// Tree returns what is told now, nil before the first version.
func (p *Publisher) Tree() *Tree {
	if len(p.past) == 0 {
		return nil
	}
	return p.past[len(p.past)-1].tree
}

// Message returns what brings a receiver of a version up to date: a delta if that version is still
// kept and the delta is shorter than the whole tree, otherwise the whole tree. The zero Version
// asks for the whole tree. Message returns nil for a receiver that is up to date or has heard of a
// newer manager, and before the first version.
//
// The bytes are made once for all receivers of a version. They are valid until the next Publish and
// must not be changed.
func (p *Publisher) Message(from Version) []byte {
	now := p.Tree()
	if now == nil || !from.Less(now.version) {
		return nil
	}
	for i := range p.past {
		e := &p.past[i]
		if e.tree.version != from {
			continue
		}
		if e.delta == nil {
			e.delta = now.AppendDelta(nil, e.tree)
		}
		if len(e.delta) < len(p.full) {
			return e.delta
		}
	}
	return p.full
}
