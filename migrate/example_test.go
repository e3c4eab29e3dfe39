package migrate_test

import (
	"fmt"
	"net/netip"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// An origin keeps a frozen copy until the destination has taken over. If that
// dies first, the base is offered the copy, and decides.
func ExampleHandoffs() {
	there := mercury.Address{At: netip.MustParseAddrPort("10.0.0.2:20013"), Salt: 2}
	order := entity.Order{Incarnation: 1, Hop: 4}
	var h migrate.Handoffs
	h.Begin(migrate.Handoff{To: there, Onload: migrate.Onload{ID: 7, Order: order}, Offer: migrate.Offer{ID: 7, Order: order}})
	h.Begin(migrate.Handoff{To: there, Onload: migrate.Onload{ID: 8, Order: order}, Offer: migrate.Offer{ID: 8, Order: order}})
	_, acked := h.Take(7, order)
	fmt.Println("acked:", acked)
	h.Died(there, func(x *migrate.Handoff) { fmt.Println("offer", x.Offer.ID, x.Offer.Order) })
	// Output:
	// acked: true
	// offer 0.8 1/4
}

func ExampleEachPart() {
	var core migrate.Core
	parts := migrate.AppendPart(nil, migrate.CorePart, core.Append)
	parts = migrate.AppendPart(parts, migrate.PropsPart, func(b []byte) []byte { return append(b, 1, 2, 3) })
	err := migrate.EachPart(parts, func(tag migrate.Tag, body []byte) error {
		fmt.Println(tag, len(body))
		return nil
	})
	fmt.Println(err)
	// Output:
	// core 26
	// props 3
	// <nil>
}
