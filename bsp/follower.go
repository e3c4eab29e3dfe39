package bsp

import (
	"fmt"
	"slices"
)

const (
	// maxHeld is how many deltas a Follower holds that do not follow from what it has. At one
	// version a second, a follower that misses more is served faster by a delta from its own
	// version, which it asks for.
	maxHeld = 4

	// maxHeldBytes bounds the size of all of those together. A larger delta is noted and not held.
	maxHeldBytes = 64 << 10

	// heldFor is how many further messages a held delta waits for the one that it follows. Without
	// an end, a delta from a version that never existed would make the Follower ask for ever.
	heldFor = 8
)

// Follower is the receiving side of one space's geometry. It takes trees and deltas in any order,
// with loss and doubling, and says what it lacks; the package comment draws its states. The zero
// Follower is ready to use and has no tree. It is a plain value without I/O.
type Follower struct {
	tree   *Tree
	doubt  bool // a delta from the very version that it has did not fit
	held   []heldDelta
	missed int
}

type heldDelta struct {
	head  Head
	bytes []byte // nil if too large to hold
	left  int    // messages
}

// Tree returns what the follower has, nil before the first tree. Each version is a Tree of its own
// and never changes afterwards.
func (f *Follower) Tree() *Tree { return f.tree }

// Lacks returns the version from which a repair should start, and whether one is needed now. It is
// needed when a delta came that does not follow from the tree here, or there is no tree, or the
// tree is in doubt; in the last two cases the version is zero, which asks for a whole tree. The
// version belongs into every regular report as well: only the sender notices when the last message
// was lost.
func (f *Follower) Lacks() (from Version, now bool) {
	if f.tree == nil || f.doubt {
		return Version{}, true
	}
	return f.tree.version, len(f.held) > 0
}

// Missed counts the deltas that were given up unused: held too long, one too many, or useless after
// all.
func (f *Follower) Missed() int { return f.missed }

// Take takes a message that a Publisher made. It reports whether Tree has changed. It ignores what
// is not newer than the tree, and first of all what comes from a manager of an older term. Errors
// wrap ErrFormat and leave the tree as it was; msg is not kept.
func (f *Follower) Take(msg []byte) (changed bool, err error) {
	if len(msg) > MaxEncoded {
		return false, fmt.Errorf("%w: %d bytes, a tree has at most %d", ErrFormat, len(msg), MaxEncoded)
	}
	h, err := ParseHead(msg)
	if err != nil {
		return false, err
	}
	f.age()
	switch {
	case !f.news(h):
		return false, nil
	case !h.Delta:
		t, err := Parse(msg)
		if err != nil {
			return false, err
		}
		f.set(t)
	case f.tree == nil || f.tree.version != h.Base:
		f.hold(h, msg)
		return false, nil
	default:
		if err := f.apply(msg); err != nil {
			return false, err
		}
	}
	f.applyHeld()
	return true, nil
}

// news reports whether a message can be of use. A whole tree of the version that is in doubt can.
func (f *Follower) news(h Head) bool {
	if f.tree == nil {
		return true
	}
	d := f.tree.version.Compare(h.Version)
	return d < 0 || (d == 0 && f.doubt && !h.Delta)
}

func (f *Follower) set(t *Tree) {
	f.tree, f.doubt = t, false
	f.drop(func(d *heldDelta) bool { return !f.news(d.head) })
}

// apply takes a delta from the version that is here. If it does not fit, either its bytes are
// damaged, or the tree here is not what the sender means by that version; a whole tree settles
// both.
func (f *Follower) apply(msg []byte) error {
	t, err := f.tree.Apply(msg)
	if err != nil {
		f.doubt = true
		return err
	}
	f.set(t) // its checksum was right, which also settles a doubt
	return nil
}

// applyHeld applies what follows now.
func (f *Follower) applyHeld() {
	for {
		i := slices.IndexFunc(f.held, func(d heldDelta) bool { return d.head.Base == f.tree.version && d.bytes != nil })
		if i < 0 {
			return
		}
		d := f.held[i]
		f.held = slices.Delete(f.held, i, i+1)
		if f.apply(d.bytes) != nil {
			f.missed++
			return
		}
	}
}

// hold keeps a delta until the one that it follows comes. If there are too many, the one that has
// waited longest goes.
func (f *Follower) hold(h Head, msg []byte) {
	if slices.ContainsFunc(f.held, func(d heldDelta) bool { return d.head == h }) {
		return
	}
	if len(f.held) == maxHeld {
		f.held = slices.Delete(f.held, 0, 1)
		f.missed++
	}
	total := len(msg)
	for i := range f.held {
		total += len(f.held[i].bytes)
	}
	d := heldDelta{head: h, left: heldFor}
	if total <= maxHeldBytes {
		d.bytes = slices.Clone(msg)
	}
	f.held = append(f.held, d)
}

func (f *Follower) age() {
	f.drop(func(d *heldDelta) bool {
		d.left--
		return d.left < 0
	})
}

func (f *Follower) drop(is func(*heldDelta) bool) {
	kept := f.held[:0]
	for i := range f.held {
		if is(&f.held[i]) {
			f.missed++
			continue
		}
		kept = append(kept, f.held[i])
	}
	clear(f.held[len(kept):])
	f.held = kept
}
