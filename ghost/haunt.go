package ghost

import (
	"encoding/binary"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/invariant"
	"github.com/cellscape/cellscape/mercury"
)

// MaxHaunts bounds the ghosts of one real: an entity whose surroundings touch more cells than this
// stands where the cut is far too fine.
const MaxHaunts = 256

// Haunt is one CellApp that holds a ghost.
type Haunt struct {
	App mercury.Address
	// Since is when the ghost was made, by the local clock of the real's app; a real that has just
	// arrived counts its haunts from its arrival.
	Since time.Duration
	// Behind says that there was no room for what the real did: a State tells this haunt the result
	// later.
	Behind bool
	// Watched says that a client sees the ghost.
	Watched bool
}

// Haunts are the CellApps that hold ghosts of one real. The zero value has none.
type Haunts struct {
	list []Haunt // by address
}

func (h *Haunts) find(app mercury.Address) (int, bool) {
	return slices.BinarySearchFunc(h.list, app, func(x Haunt, app mercury.Address) int { return x.App.Compare(app) })
}

// Has reports whether app holds a ghost.
func (h *Haunts) Has(app mercury.Address) bool {
	_, found := h.find(app)
	return found
}

// Add notes that app gets a ghost now. It returns false if it has one, or if there are MaxHaunts.
func (h *Haunts) Add(app mercury.Address, now time.Duration) bool {
	i, found := h.find(app)
	if found || len(h.list) >= MaxHaunts {
		return false
	}
	h.list = slices.Insert(h.list, i, Haunt{App: app, Since: now})
	if invariant.On {
		h.assert()
	}
	return true
}

// Remove forgets app and reports whether it had a ghost.
func (h *Haunts) Remove(app mercury.Address) bool {
	i, found := h.find(app)
	if found {
		h.list = slices.Delete(h.list, i, i+1)
	}
	return found
}

// All yields the haunts by address. The yielded one may be removed only through Sweep.
func (h *Haunts) All() iter.Seq[Haunt] { return slices.Values(h.list) }

// Each calls f with every haunt, which f may change except for its App.
func (h *Haunts) Each(f func(*Haunt)) {
	for i := range h.list {
		f(&h.list[i])
	}
}

// SetBehind says whether app's ghost is behind.
func (h *Haunts) SetBehind(app mercury.Address, behind bool) {
	if i, found := h.find(app); found {
		h.list[i].Behind = behind
	}
}

// SetWatched says whether a client sees app's ghost. It returns false if app has none.
func (h *Haunts) SetWatched(app mercury.Address, watched bool) bool {
	i, found := h.find(app)
	if found {
		h.list[i].Watched = watched
	}
	return found
}

// Watched reports whether a client sees any of the ghosts.
func (h *Haunts) Watched() bool {
	for i := range h.list {
		if h.list[i].Watched {
			return true
		}
	}
	return false
}

// Sweep removes every haunt for which drop returns true.
func (h *Haunts) Sweep(drop func(Haunt) bool) {
	// This does not use slices.DeleteFunc, through which drop would escape: each real with a ghost
	// is swept at each check.
	kept := h.list[:0]
	for _, x := range h.list {
		if !drop(x) {
			kept = append(kept, x)
		}
	}
	clear(h.list[len(kept):])
	h.list = kept
	if invariant.On {
		h.assert()
	}
}

// Len is the number of haunts.
func (h *Haunts) Len() int { return len(h.list) }

// Append encodes the list for an offload.
func (h *Haunts) Append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(h.list)))
	for _, x := range h.list {
		b = codec.AppendBool(mercury.AppendAddress(b, x.App), x.Watched)
	}
	return b
}

// Read decodes a list; the haunts count from now.
func (h *Haunts) Read(r *codec.Reader, now time.Duration) {
	n := r.Count(MaxHaunts, 3)
	h.list = h.list[:0]
	for range n {
		app, watched := mercury.ReadAddress(r), r.Bool()
		if r.Err() != nil {
			return
		}
		if app.IsZero() || !h.Add(app, now) {
			r.Fail(errors.New("ghost: a haunt nowhere, or twice"))
			return
		}
		h.SetWatched(app, watched)
	}
}
