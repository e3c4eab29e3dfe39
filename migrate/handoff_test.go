package migrate

import (
	"net/netip"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/mercury"
)

func app(n byte) mercury.Address {
	return mercury.Address{At: netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, n}), 1000), Salt: uint32(n)}
}

func order(hop uint32) entity.Order { return entity.Order{Incarnation: 1, Hop: hop} }

func begin(h *Handoffs, id entity.ID, hop uint32, to byte) {
	put(h, id, 0, hop, app(to), []byte{byte(id), byte(hop)})
}

func put(h *Handoffs, id entity.ID, space entity.SpaceID, hop uint32, to mercury.Address, parts []byte) {
	h.Begin(Handoff{To: to, Base: app(9),
		Onload: Onload{ID: id, Space: space, Order: order(hop)},
		Offer:  Offer{ID: id, Space: space, Order: order(hop), Parts: parts}})
}

func acked(h *Handoffs, id entity.ID, order entity.Order) bool {
	_, ok := h.Take(id, order)
	return ok
}

func TestHandoffAcked(t *testing.T) {
	var h Handoffs
	begin(&h, 7, 2, 1)
	if acked(&h, 8, order(2)) || acked(&h, 7, order(1)) {
		t.Error("an ack of another entity, or an older one, drops the copy")
	}
	if o, ok := h.Has(7); !ok || o != order(2) {
		t.Errorf("Has(7) = %v, %v", o, ok)
	}
	if !acked(&h, 7, order(2)) || h.Len() != 0 {
		t.Error("the ack does not drop the copy")
	}
	if _, ok := h.Has(7); ok || acked(&h, 7, order(2)) {
		t.Error("the copy is still there")
	}
	begin(&h, 7, 2, 1)
	if !acked(&h, 7, order(3)) {
		t.Error("an ack of a newer order tells that this one was taken over, too")
	}
}

func TestHandoffReplaced(t *testing.T) {
	var h Handoffs
	parts := []byte{1}
	put(&h, 7, 0, 1, app(1), parts)
	parts[0] = 2
	begin(&h, 7, 3, 2)
	if o, _ := h.Has(7); h.Len() != 1 || o != order(3) {
		t.Errorf("%d copies, the last of order %v", h.Len(), o)
	}
	h.Died(app(1), func(*Handoff) { t.Error("the replaced copy is offered") })
}

func TestHandoffDied(t *testing.T) {
	var h Handoffs
	for id, to := range []byte{1, 2, 1, 2, 1} {
		begin(&h, entity.ID(9-id), 1, to)
	}
	var got []entity.ID
	h.Died(app(1), func(x *Handoff) {
		got = append(got, x.Offer.ID)
		if x.Base != app(9) || x.Offer.Parts[0] != byte(x.Offer.ID) {
			t.Errorf("the copy of %v is %+v", x.Offer.ID, x)
		}
	})
	if len(got) != 3 || got[0] != 5 || got[1] != 7 || got[2] != 9 || h.Len() != 2 {
		t.Errorf("offered %v, %d left", got, h.Len())
	}
	h.Died(app(1), func(*Handoff) { t.Error("offered twice") })
}

func TestHandoffCopiesParts(t *testing.T) {
	var h Handoffs
	parts := []byte{1}
	put(&h, 7, 0, 1, app(1), parts)
	parts[0] = 2
	h.Died(app(1), func(x *Handoff) {
		if x.Offer.Parts[0] != 1 {
			t.Error("the frozen copy is not frozen")
		}
	})
}

// A CellApp has many cells; what is on its way from one of them does not concern the others.
func TestHandoffsOfASpace(t *testing.T) {
	var h Handoffs
	check := func(first, second int) {
		t.Helper()
		if a, b := h.From(1), h.From(2); a != first || b != second {
			t.Errorf("%d and %d handoffs, want %d and %d", a, b, first, second)
		}
	}
	put(&h, 7, 1, 1, app(1), nil)
	put(&h, 8, 1, 1, app(2), nil)
	put(&h, 9, 2, 1, app(2), nil)
	check(2, 1)
	if !h.Towards(app(1), 1) || h.Towards(app(1), 2) || !h.Towards(app(2), 2) {
		t.Error("a handoff of another space is counted")
	}
	put(&h, 7, 2, 3, app(1), nil) // it came back, and left from elsewhere
	check(1, 2)
	h.Died(app(2), func(*Handoff) {})
	check(0, 1)
	acked(&h, 7, order(3))
	check(0, 0)
}

// Serials count the handoffs to each app, and Low is the lowest that is in flight.
func TestHandoffSerials(t *testing.T) {
	var h Handoffs
	a, b := app(1), app(2)
	begin := func(id entity.ID, to mercury.Address, hop uint32) (serial, low uint64) {
		o := order(hop)
		m := h.Begin(Handoff{To: to, Onload: Onload{ID: id, Space: 1, Order: o}, Offer: Offer{ID: id, Space: 1, Order: o}})
		return m.Serial, m.Low
	}
	for i, step := range []struct {
		do          func() (serial, low uint64)
		serial, low uint64
	}{
		{func() (uint64, uint64) { return begin(1, a, 1) }, 1, 1},
		{func() (uint64, uint64) { return begin(2, a, 1) }, 2, 1},
		{func() (uint64, uint64) { return begin(3, b, 1) }, 1, 1},
		{func() (uint64, uint64) { h.Take(2, order(1)); return begin(4, a, 1) }, 3, 1},
		{func() (uint64, uint64) { h.Take(1, order(1)); return begin(5, a, 1) }, 4, 3},
		{func() (uint64, uint64) { return begin(4, a, 3) }, 5, 4}, // it came back and left again
		{func() (uint64, uint64) { return 0, h.Low(b) }, 0, 1},
		{func() (uint64, uint64) { h.Take(3, order(1)); return 0, h.Low(b) }, 0, 2},
		{func() (uint64, uint64) { h.Died(a, func(*Handoff) {}); return 0, h.Low(a) }, 0, 1},
	} {
		if serial, low := step.do(); serial != step.serial || low != step.low {
			t.Errorf("step %d: serial %d, low %d; want %d, %d", i, serial, low, step.serial, step.low)
		}
	}
}
