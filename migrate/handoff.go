package migrate

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/invariant"
	"github.com/cellscape/cellscape/mercury"
)

// Handoff is a frozen copy: what an origin keeps of a real until its destination has taken the real
// over.
type Handoff struct {
	To mercury.Address
	// Base decides if To dies; it is zero for an entity without a base, which dies with the CellApp
	// that has it.
	Base mercury.Address
	// Haunts are the apps that mirrored the real when it left. If To dies before it has told them
	// of the new hop, nobody else knows that their ghosts are orphans.
	Haunts []mercury.Address
	// Mirrored says that To had a ghost of the real when that left.
	Mirrored bool
	// Onload is the handoff as it was sent; its Parts are those of Offer. It is sent again until it
	// is acked; the destination knows the repeat by its Serial.
	Onload Onload
	// Party is what the Onload was sent in, nil if it was sent alone.
	Party *OnloadParty
	// SentAt is when it was last sent.
	SentAt time.Duration
	// Offer is the copy, ready to be sent.
	Offer Offer
	// ToldEnd says that the real knew that its space had ended. If it is refused and comes back, it is
	// not told again.
	ToldEnd bool
}

// ResendOnload is how long an origin waits for an ack before it sends a handoff again. Channels
// repair loss themselves, so this serves a channel that broke.
const ResendOnload = 2 * time.Second

// Handoffs are the frozen copies of one CellApp. The zero value holds none.
type Handoffs struct {
	list []*Handoff             // by entity id
	from map[entity.SpaceID]int // how many of each space; none at zero
	open map[mercury.Address]*serials
}

// serials are those of the handoffs to one app.
type serials struct {
	last uint64
	open []uint64 // ascending: in flight
}

// Low is the lowest serial of a handoff to an app that is in flight, or else the next one.
func (h *Handoffs) Low(to mercury.Address) uint64 {
	switch s := h.open[to]; {
	case s == nil:
		return 1
	case len(s.open) == 0:
		return s.last + 1
	default:
		return s.open[0]
	}
}

// number gives a handoff the next serial.
func (h *Handoffs) number(x *Handoff) {
	s := h.open[x.To]
	if s == nil {
		if h.open == nil {
			h.open = make(map[mercury.Address]*serials)
		}
		s = new(serials)
		h.open[x.To] = s
	}
	s.last++
	s.open = append(s.open, s.last)
	x.Onload.Serial, x.Onload.Low = s.last, s.open[0]
}

func (h *Handoffs) find(id entity.ID) (int, bool) {
	return slices.BinarySearchFunc(h.list, id, func(x *Handoff, id entity.ID) int { return cmp.Compare(x.Offer.ID, id) })
}

// Begin keeps a frozen copy, with a copy of its parts, and returns the Onload as it is kept. An older
// copy of the same entity is replaced: the real came back here and left again, so it had been taken
// over.
func (h *Handoffs) Begin(of Handoff) Onload {
	x := &of
	x.Offer.Parts = slices.Clone(x.Offer.Parts)
	x.Onload.Parts = x.Offer.Parts
	if h.from == nil {
		h.from = make(map[entity.SpaceID]int)
	}
	h.from[x.Offer.Space]++
	i, found := h.find(x.Offer.ID)
	if found {
		if invariant.On {
			h.assertNewer(h.list[i], x)
		}
		h.forget(h.list[i])
		h.list[i] = x
	} else {
		h.list = slices.Insert(h.list, i, x)
	}
	h.number(x)
	if invariant.On {
		h.assert()
	}
	return x.Onload
}

// Take takes out the copy that an OnloadAck is for, and reports whether there was one.
func (h *Handoffs) Take(id entity.ID, order entity.Order) (Handoff, bool) {
	i, found := h.find(id)
	if !found || order.Before(h.list[i].Offer.Order) {
		return Handoff{}, false
	}
	x := h.list[i]
	h.forget(x)
	h.list = slices.Delete(h.list, i, i+1)
	if invariant.On {
		h.assert()
	}
	return *x, true
}

// Refused takes out the copy of a teleport that To refuses at an order, and reports whether there was
// one.
func (h *Handoffs) Refused(id entity.ID, order entity.Order) (Handoff, bool) {
	i, found := h.find(id)
	if !found || h.list[i].Offer.Order != order || !h.list[i].Onload.Arrival.Teleports() {
		return Handoff{}, false
	}
	return h.Take(id, order)
}

// forget counts a copy that is taken out.
func (h *Handoffs) forget(x *Handoff) {
	if h.from[x.Offer.Space]--; h.from[x.Offer.Space] == 0 {
		delete(h.from, x.Offer.Space)
	}
	s := h.open[x.To]
	if i, found := slices.BinarySearch(s.open, x.Onload.Serial); found {
		s.open = slices.Delete(s.open, i, i+1)
	}
}

// Died takes out every copy whose destination died and calls f with each, in id order: f offers it
// to the base.
func (h *Handoffs) Died(app mercury.Address, f func(*Handoff)) {
	kept := h.list[:0]
	var died []*Handoff
	for _, x := range h.list {
		if x.To == app {
			h.forget(x)
			died = append(died, x)
		} else {
			kept = append(kept, x)
		}
	}
	clear(h.list[len(kept):])
	h.list = kept
	delete(h.open, app)
	if invariant.On {
		h.assert()
	}
	for _, x := range died {
		f(x)
	}
}

// Due calls f with each handoff that has waited ResendOnload, in id order: f sends it again. What is sent
// alone says the Low of now; a party says that of its first sending, which only frees memory later.
func (h *Handoffs) Due(now time.Duration, f func(*Handoff)) {
	for _, x := range h.list {
		if now-x.SentAt >= ResendOnload {
			x.SentAt, x.Onload.Low = now, h.Low(x.To)
			f(x)
		}
	}
}

// Again makes due the handoffs to an app whose channel has ended.
func (h *Handoffs) Again(app mercury.Address) {
	for i := range h.list {
		if h.list[i].To == app {
			h.list[i].SentAt = -ResendOnload
		}
	}
}

// Len is the number of handoffs in flight.
func (h *Handoffs) Len() int { return len(h.list) }

// From is the number of handoffs in flight from the cell of a space.
func (h *Handoffs) From(space entity.SpaceID) int { return h.from[space] }

// BasedFrom reports whether one of a space has a base.
func (h *Handoffs) BasedFrom(space entity.SpaceID) bool {
	return h.from[space] > 0 && slices.ContainsFunc(h.list, func(x *Handoff) bool { return x.Offer.Space == space && !x.Base.IsZero() })
}

// Has reports whether a handoff of the entity is in flight from here, and to what order.
func (h *Handoffs) Has(id entity.ID) (entity.Order, bool) {
	i, found := h.find(id)
	if !found {
		return entity.Order{}, false
	}
	return h.list[i].Offer.Order, true
}

// To is where an entity is being handed over to from here, zero if it is not.
func (h *Handoffs) To(id entity.ID) (to mercury.Address) {
	if i, found := h.find(id); found {
		to = h.list[i].To
	}
	return to
}

// Rebase gives the entities in flight whose base was on an app another one; heir says which, and is zero
// for a base that is gone.
func (h *Handoffs) Rebase(app mercury.Address, heir func(id entity.ID) mercury.Address) {
	for i := range h.list {
		x := h.list[i]
		if x.Base != app {
			continue
		}
		if to := heir(x.Offer.ID); !to.IsZero() {
			x.Base, x.Onload.Base = to, to
		}
	}
}

// Apps yields where each entity in flight from here is going, and the BaseApp of its base, which is
// zero for an entity without one.
func (h *Handoffs) Apps() iter.Seq2[mercury.Address, mercury.Address] {
	return func(yield func(to, base mercury.Address) bool) {
		for i := range h.list {
			if !yield(h.list[i].To, h.list[i].Base) {
				return
			}
		}
	}
}

// Towards reports whether a handoff from the cell of a space is in flight to an app.
func (h *Handoffs) Towards(app mercury.Address, space entity.SpaceID) bool {
	return slices.ContainsFunc(h.list, func(x *Handoff) bool { return x.To == app && x.Offer.Space == space })
}
