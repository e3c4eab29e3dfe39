package baseapp

import (
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/migrate"
)

// TestTitles: a CellApp that was never given the real cannot say that it has it, had it or lost it,
// of whatever order. With the title, which handoffs pass on, it can.
func TestTitles(t *testing.T) {
	r := joinedRig(t)
	r.untitled = true
	id, v := r.spawn()
	made := r.create(id, v)
	if made.Title == 0 || made.Title == r.title(id, 2) || made.Title == r.title(id+1, 1) {
		t.Errorf("the title is %d", made.Title)
	}
	r.tell(appX, &migrate.Current{ID: id, Order: made.Order, Title: made.Title})
	r.wantLink(id, linkLive, 1, 0, appX)
	for _, hop := range []uint32{0, 1, 1 << 30} {
		order := entity.Order{Incarnation: 1, Hop: hop}
		for _, shown := range []migrate.Title{0, made.Title + 1, r.title(id, 2)} {
			before := r.a.report.Refused
			r.tell(appY, &migrate.Current{ID: id, Order: order, Title: shown, Handled: 1 << 40})
			r.tell(appY, &migrate.Offer{ID: id, Order: order, Title: shown, Saves: 1 << 40, Parts: []byte("false")})
			if n := r.a.report.Refused - before; n != 2 {
				t.Errorf("%d counted", n)
			}
			r.tell(appY, &migrate.Lost{ID: id, Order: order, Title: shown, Reason: "ha"})
			r.wantLink(id, linkLive, 1, 0, appX)
		}
	}
	r.tell(appY, &migrate.Current{ID: id, Order: made.Order.NextHop(), Title: made.Title})
	r.wantLink(id, linkLive, 1, 1, appY)
	r.tell(appZ, &migrate.Lost{ID: id, Order: made.Order.NextHop().NextHop(), Title: made.Title, Reason: "its CellApp died"})
	if r.wantLink(id, linkLost, 1, 2, nowhere); t.Failed() {
		return
	}
	for range int(offerGrace/DefaultTick) + 2 {
		r.tick()
	}
	next := r.located(id, appX)
	if next.Title == made.Title {
		t.Error("an old title suffices for a new life")
	}
	r.tell(appY, &migrate.Current{ID: id, Order: next.Order.NextHop(), Title: made.Title})
	r.wantLink(id, linkCreating, 2, 0, appX)
}
