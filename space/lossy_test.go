package space

import (
	"slices"
	"testing"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/property"
)

// A change of an unreliable property reaches a ghost like any other, and there the clients in a packet.
// Once it rests, they are told it in a bundle.
func TestUnreliableProperty(t *testing.T) {
	heat := &property.Property{Name: "heat", Type: property.Scalar(property.KindUint32), Flags: property.AllClients, Unreliable: true}
	r := newRigOf(t, schemaOf(t, property.Compression{}, heat), 2)
	r.create(7, -5, 1)
	r.create(8, 5, 2) // beyond the line
	for id, b := range r.bases {
		m := flow.Session{Number: b.session, Room: 900}
		r.say(id, m.Append(nil, flow.SetClientPayload))
	}
	r.tick(10)
	d := r.scripts.Schema().Type("Avatar")
	i := d.Property("heat").Index
	told := func() (news int, ids []protocol.ID) {
		r.tick(1)
		var reader protocol.PositionsReader
		for _, p := range r.places[7] {
			err := reader.Read(p, func(*protocol.PacketHead, *protocol.Moved) {}, func(_ *protocol.PacketHead, n *protocol.News) {
				news++
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		ids, _ = r.bundles(7)
		delete(r.places, 7)
		r.bases[7].got = nil
		return news, slices.DeleteFunc(ids, func(id protocol.ID) bool { return id != protocol.ChangesID })
	}
	told()
	r.bases[8].got = nil
	all := 0
	for v := range uint64(5) {
		if err := r.real(8).e.Props.Set(i, property.Uint(v+1)); err != nil {
			t.Fatal(err)
		}
		news, ids := told()
		if all += news; len(ids) > 0 || news > 1 {
			t.Errorf("change %d: %d pieces of news, messages %v", v, news, ids)
		}
	}
	if all < 4 {
		t.Errorf("%d pieces of news of 5 changes", all)
	}
	var changes []protocol.ID
	for range 5 {
		_, ids := told()
		changes = append(changes, ids...)
	}
	if len(changes) != 1 {
		t.Errorf("at rest it was told %d times reliably", len(changes))
	}
	if got := r.ghost(1, 8).Entity.Props.Get(i).Uint(); got != 5 {
		t.Errorf("the ghost has %d", got)
	}
	ids, _ := r.bundles(8)
	own := 0
	for _, id := range ids {
		if protocol.IsOwnValue(id) {
			own++
		}
	}
	if own != 5 {
		t.Errorf("the own client was told %d changes of 5", own)
	}
}
