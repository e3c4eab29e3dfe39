package space

import (
	"strings"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/property"
)

const taleProp = chestProp + 6

// taleRig is a rig of two cells with Avatars that carry a long text, which everyone sees. It notes
// the largest State and Onload.
func taleRig(t *testing.T, c property.Compression) (r *rig, largest *struct{ state, onload int }) {
	r = newRigOf(t, schemaOf(t, c, &property.Property{Name: "tale", Type: property.Scalar(property.KindString), Flags: property.AllClients}), 2)
	largest = new(struct{ state, onload int })
	r.hold = func(p packet) bool {
		switch m := p.m.(type) {
		case *ghost.State:
			largest.state = max(largest.state, len(m.Props))
		case *migrate.Onload:
			largest.onload = max(largest.onload, len(m.Parts))
		}
		return false
	}
	return r, largest
}

// A type with a long text is mirrored, seen, handed over and restored the same way packed and as it
// is; packed it is a fraction of the bytes.
func TestPackedLife(t *testing.T) {
	tale := strings.Repeat("and then the third son set out to seek his fortune, ", 100)
	for _, c := range []property.Compression{{}, {Internal: "ZIP_BEST_SPEED"}, {External: "ZIP_BEST_SPEED"}, {Internal: "ZIP_BEST_SPEED", External: "ZIP_6"}} {
		r, largest := taleRig(t, c)
		r.create(7, -10, 0)
		if err := r.real(7).e.Props.Set(taleProp, property.StringValue(tale)); err != nil {
			t.Fatal(err)
		}
		r.create(8, 20, 1)
		r.tick(20)
		wantTale := func(what string, v *property.Values) {
			t.Helper()
			if got := v.Get(taleProp).Str(); got != tale {
				t.Errorf("%+v: %s has a tale of %d bytes", c, what, len(got))
			}
		}
		if g := r.ghost(2, 7); g == nil {
			t.Fatalf("%+v: no ghost", c)
		} else {
			wantTale("the ghost", g.Entity.Props)
		}
		wantTale("the client of 8", r.entered(8, 7, c.External != "", tale))

		r.move(7, 60)
		r.tick(30)
		if r.apps[1].population.find(7).real == nil {
			t.Fatalf("%+v: not handed over", c)
		}
		wantTale("the real", r.real(7).e.Props)
		r.calm()

		r.attach(7, 5)
		wantTale("the own client", r.cellPlayer(7, c.External != "", tale))

		packed := c.Internal != ""
		for what, n := range map[string]int{"state": largest.state, "onload": largest.onload, "backup": len(r.bases[7].backup.Parts)} {
			if packed != (n < len(tale)/5) {
				t.Errorf("%+v: the largest %s has %d bytes", c, what, n)
			}
		}
		r.apps[1].population.Refuse(&migrate.Refuse{ID: 7, Order: r.bases[7].order}, r.base)
		r.restore(7, -20, r.bases[7].backup.Parts, 0)
		wantTale("the restored real", r.real(7).e.Props)
		if n := r.apps[0].count.Errors + r.apps[1].count.Errors; n != 0 {
			t.Errorf("%+v: %d errors", c, n)
		}
	}
}

// entered is what the client of an entity was told of another one when that entered.
func (r *rig) entered(watcher, id entity.ID, packed bool, tale string) *property.Values {
	r.t.Helper()
	d := r.scripts.Schema().Type("Avatar")
	v := property.NewValues(d, property.OtherClientSide, nil)
	list, bodies := r.bundles(watcher)
	for k, body := range bodies {
		var m protocol.Enter
		if list[k] != protocol.EnterID {
			continue
		}
		if err := m.Parse(body); err != nil {
			r.t.Fatal(err)
		}
		if m.ID != id {
			continue
		}
		props, err := new(property.Compressor).Unpack(m.Props, d.Packing(property.OtherClientStream), protocol.MaxProps)
		if err == nil {
			err = protocol.Whole(d, props, v.Load)
		}
		if err != nil || packed != (len(m.Props) < len(tale)/5) {
			r.t.Errorf("enter with %d bytes: %v", len(m.Props), err)
		}
	}
	return v
}

// attach gives an entity a client.
func (r *rig) attach(id entity.ID, session uint32) {
	r.t.Helper()
	r.bases[id].session = session
	m := flow.Session{Number: session}
	r.say(id, m.Append(nil, flow.SetClientPayload))
	r.pump()
	r.tick(2)
}

// cellPlayer is what the client of an entity was told of its own cell part.
func (r *rig) cellPlayer(id entity.ID, packed bool, tale string) *property.Values {
	r.t.Helper()
	v := property.NewValues(r.scripts.Schema().Type("Avatar"), property.OwnClientSide, nil)
	list, bodies := r.bundles(id)
	for k, body := range bodies {
		var m protocol.CellPlayer
		if list[k] != protocol.CellPlayerID {
			continue
		}
		err := m.Parse(body)
		if err == nil {
			err = new(property.Compressor).ReadStream(m.Props, v, property.OwnClientCellStream, protocol.MaxProps)
		}
		if err != nil || packed != (len(m.Props) < len(tale)/5) {
			r.t.Errorf("cell player with %d bytes: %v", len(m.Props), err)
		}
	}
	return v
}

// Packed bytes that are none harm one entity: the base is told, and may restore it.
func TestPackedGarbageRefused(t *testing.T) {
	r, _ := taleRig(t, property.Compression{Internal: "ZIP", External: "ZIP"})
	a := r.create(7, -10, 0)
	bomb := new(property.Compressor).Pack(nil, make([]byte, 1<<20), 1, 1<<20)
	parts := migrate.AppendPart(nil, migrate.CorePart, (&migrate.Core{}).Append)
	parts = migrate.AppendPart(parts, migrate.PropsPart, func(b []byte) []byte { return append(b, bomb...) })
	order := entity.Order{Incarnation: 1, Hop: 1}
	a.population.Onload(&migrate.Onload{ID: 9, Type: r.real(7).e.Def.ID, Space: 1, Order: order, Base: r.base, Parts: parts}, addr(2))
	if a.population.find(9) != nil || a.count.Errors != 1 {
		t.Errorf("a bomb came to life; %d errors", a.count.Errors)
	}
	a.population.GhostState(&ghost.State{Head: ghost.Head{ID: 10, Order: order, Sequence: 1}, Type: r.real(7).e.Def.ID, Space: 1, Props: bomb,
		History: property.NewHistory(r.real(7).e.Def).Append(nil)}, addr(2))
	if a.population.find(10) != nil || a.count.Errors != 2 {
		t.Errorf("a bomb is mirrored; %d errors", a.count.Errors)
	}
}
