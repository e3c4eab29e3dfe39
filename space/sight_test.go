package space

import (
	"errors"
	"slices"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/property"
)

// beacon makes an entity of a type with ManualAoI.
func (r *rig) beacon(x float32) entity.ID {
	r.t.Helper()
	id, err := r.at(x).cell.Spawn("Beacon", property.Vector3{X: x}, property.Vector3{}, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	return id
}

// told is what the client was told since the last call, without changes and places.
func (r *rig) told(id entity.ID) (list []protocol.ID) {
	r.t.Helper()
	all, _ := r.bundles(id)
	for _, m := range all {
		switch m {
		case protocol.EnterID, protocol.LeaveID, protocol.KeepID, protocol.ReturnID:
			list = append(list, m)
		}
	}
	r.bases[id].got = nil
	return list
}

func (r *rig) wantTold(id entity.ID, want ...protocol.ID) {
	r.t.Helper()
	if got := r.told(id); !slices.Equal(got, want) {
		r.t.Errorf("the client of %v was told %v, want %v", id, got, want)
	}
}

// audited demands that the client is to hold just these.
func (r *rig) audited(id entity.ID, want ...entity.ID) {
	r.t.Helper()
	r.told(id)
	r.audit(id)
	r.tick(3)
	list, bodies := r.bundles(id)
	var got []entity.ID
	for i, m := range list {
		var audit protocol.Audit
		if m == protocol.AuditID && audit.Parse(bodies[i]) == nil {
			for _, e := range audit.Entities {
				got = append(got, e.ID)
			}
		}
	}
	if !slices.Equal(got, want) {
		r.t.Errorf("the client of %v is to hold %v, want %v", id, got, want)
	}
	for _, id := range want {
		if !slices.Contains(r.sees(7), id) {
			r.t.Errorf("%v is not seen", id)
		}
	}
}

// An entity of a type with ManualAoI is seen by whom a script says, as far as it has a ghost.
func TestManualAoI(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -20, 1)
	near, far := r.beacon(-10), r.beacon(110)
	r.tick(5)
	r.wantTold(7)
	if err := r.real(7).AddToAoI(far); err != nil {
		t.Fatal(err)
	}
	r.tick(2)
	r.wantTold(7, protocol.EnterID)
	r.audited(7, far)
	if err := errors.Join(r.real(7).AddToAoI(near), r.real(7).AddToAoI(near)); err != nil {
		t.Fatal(err)
	}
	r.tick(2)
	r.wantTold(7, protocol.EnterID)
	if !r.real(7).sees(near) || !r.real(far).watched(r.real(far).cell.population.find(far)) {
		t.Error("the client must not call what it sees, or nobody knows that it is seen")
	}
	for _, x := range []float32{-30, -130, -20} { // out of range and back
		r.real(7).cell.population.find(near).real.place(property.Vector3{X: x}, property.Vector3{})
		r.tick(2)
	}
	r.wantTold(7)
	if err := r.real(7).RemoveFromAoI(near); err != nil {
		t.Fatal(err)
	}
	r.tick(2)
	r.wantTold(7, protocol.KeepID)
	r.audited(7, far)

	r.move(7, 20) // to the other cell
	r.tick(20)
	if r.apps[1].count.Migrations == 0 {
		t.Fatal("it was not handed over")
	}
	r.wantTold(7)
	r.audited(7, far)
	r.real(far).Destroy()
	r.tick(2)
	r.audited(7)
	r.tick(80)
	if r.real(7).witness.HasPairs() || len(r.real(7).cell.adders) != 0 {
		t.Error("what was said of an entity that is no more is kept")
	}
	r.calm()
}

// Whoever comes back within a while is seen again.
func TestAddedIsRestored(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -20, 1)
	d := r.scripts.Schema().Type("Beacon")
	show := func(incarnation uint32) {
		head := ghost.Head{ID: 99, Order: entity.Order{Incarnation: incarnation}, Sequence: 1}
		r.apps[0].population.GhostState(&ghost.State{
			Head: head, Type: d.ID, Space: 1,
			Props: property.NewValues(d, property.GhostSide, nil).AppendStream(nil, property.GhostStream), History: property.NewHistory(d).Append(nil),
		}, r.apps[1].self)
	}
	show(1)
	if err := r.real(7).AddToAoI(99); err != nil {
		t.Fatal(err)
	}
	r.tick(2)
	r.apps[0].population.GhostDelete(&ghost.Delete{Head: ghost.Head{ID: 99, Order: entity.Order{Incarnation: 1}, Sequence: 2}}, r.apps[1].self)
	r.tick(20)
	r.wantTold(7, protocol.EnterID, protocol.LeaveID)
	show(2)
	r.tick(2)
	r.wantTold(7, protocol.EnterID)
}

func TestAddToAoIRefused(t *testing.T) {
	r := newRig(t, 1)
	r.create(7, -20, 1)
	r.create(8, -20, 0)
	b := r.beacon(-10)
	for _, x := range []struct {
		of, what entity.ID
		want     error
	}{{7, 8, ErrNotManual}, {7, 7, ErrNotHere}, {7, 12345, ErrNotHere}, {8, b, ErrNoClient}} {
		if err := r.real(x.of).AddToAoI(x.what); !errors.Is(err, x.want) {
			t.Errorf("%v takes %v: %v, want %v", x.of, x.what, err, x.want)
		}
	}
	if err := r.real(7).RemoveFromAoI(b); !errors.Is(err, ErrNotHere) {
		t.Errorf("removed what was not added: %v", err)
	}
	if err := r.real(8).RemoveFromAoI(b); !errors.Is(err, ErrNoClient) {
		t.Errorf("removed without a client: %v", err)
	}
	gone := r.real(8)
	gone.Destroy()
	if err := gone.AddToAoI(b); !errors.Is(err, entity.ErrGone) {
		t.Errorf("a real that is gone: %v", err)
	}
}

// Whoever is withheld is hidden from all clients, here and where it is a ghost, and wherever it goes.
func TestWithheld(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -20, 1)
	r.create(9, 20, 1)
	r.create(8, -10, 2)
	r.tick(5)
	r.told(7)
	r.told(9)
	r.real(8).SetWithheld(true)
	if !r.real(8).Withheld() || r.real(8).AlwaysDetailed() {
		t.Error("it does not say so")
	}
	r.tick(3)
	r.wantTold(7, protocol.KeepID)
	r.wantTold(9, protocol.KeepID)
	if r.real(7).sees(8) || r.real(9).sees(8) || !slices.Equal(r.sees(8), []entity.ID{7, 9}) {
		t.Error("clients may call it, or it does not see others")
	}
	r.audited(7, 9)
	for x := float32(-10); x <= 30; x += 5 {
		r.move(8, x)
		r.tick(3)
	}
	if r.apps[1].count.Migrations == 0 || !r.real(8).Withheld() {
		t.Fatal("it was not handed over, or shows itself then")
	}
	r.wantTold(7)
	r.wantTold(9)
	r.real(8).backup()
	r.pump()
	b := r.bases[8]
	r.apps[1].cell.drop(r.real(8))
	r.restore(8, -30, b.backup.Parts, b.backup.Handled)
	r.tick(5)
	if !r.real(8).Withheld() {
		t.Error("it shows itself when it is restored")
	}
	r.wantTold(7)
	r.wantTold(9)
	r.real(8).SetWithheld(false)
	r.tick(3)
	r.wantTold(7, protocol.EnterID)
	r.wantTold(9, protocol.EnterID)
	r.calm()
}

// An entity that is always detailed is told exactly while it moves.
func TestAlwaysDetailed(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -20, 1)
	r.create(8, 10, 0)
	r.tick(5)
	r.real(8).SetAlwaysDetailed(true)
	r.tick(2)
	if g := r.ghost(1, 8); g == nil || g.Entity.Aspect != presence.AlwaysDetailed {
		t.Fatal("its ghost does not know")
	}
	longest := 0
	for i := range 5 {
		r.bases[7].got = nil
		r.move(8, 10+float32(i)*0.3)
		r.tick(1)
		for _, p := range r.places[7] {
			longest = max(longest, len(p))
		}
	}
	if longest < 25 {
		t.Errorf("places take %d bytes", longest)
	}
	r.calm()
}

func TestSetUpdateScheme(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -20, 1)
	r.create(8, -10, 0)
	r.tick(2)
	often := property.UpdateScheme{Min: 1, Max: 2}
	for _, x := range []struct {
		of, what entity.ID
		scheme   property.UpdateScheme
	}{{7, 8, property.UpdateScheme{Min: 2, Max: 1}}, {7, 8, property.UpdateScheme{Max: 1}}, {7, 8, property.UpdateScheme{Min: 1, Max: 1, Distance: -1}}, {7, 9, often}, {8, 7, often}} {
		if r.real(x.of).SetUpdateScheme(x.what, x.scheme) == nil {
			t.Errorf("%+v was taken", x)
		}
	}
	if err := r.real(7).SetUpdateScheme(8, often); err != nil {
		t.Fatal(err)
	}
	r.move(7, 20)
	r.tick(10)
	if r.apps[1].count.Migrations == 0 || !r.real(7).witness.HasPairs() || len(r.real(7).cell.adders) != 1 {
		t.Error("it is not known on the next cell")
	}
	if err := r.real(7).SetUpdateScheme(8, property.UpdateScheme{}); err != nil || r.real(7).witness.HasPairs() {
		t.Errorf("it is still there: %v", err)
	}
	r.tick(5)
	if len(r.real(7).cell.adders) != 0 {
		t.Error("nothing is said and it is still looked after")
	}
}

// A client hears what others say to all from as far as its detail factor lets it, on whatever cell, until the
// session ends.
func TestSetDetailFactor(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -20, 1)
	r.create(8, 30, 0) // 50 m away; a whisper carries 60 m
	r.tick(5)
	hears := func(want bool) {
		t.Helper()
		r.bases[7].got, r.places[7] = nil, nil
		if err := r.avatar(8).AllClients().Call("whisper", uint32(1)); err != nil {
			t.Fatal(err)
		}
		r.tick(3)
		list, _ := r.bundles(7)
		if got := slices.Contains(list, protocol.CallID); got != want {
			t.Errorf("it hears a whisper: %v, want %v; it was told %v", got, want, list)
		}
	}
	hears(true)
	r.real(7).SetDetailFactor(0.5)
	r.real(7).SetDetailFactor(2) // nonsense
	hears(false)
	r.move(8, -25)
	hears(true)
	r.move(8, 70)
	r.move(7, 20)
	r.tick(5)
	if r.real(7).cell.id != cellID(2) {
		t.Fatal("it was not handed over")
	}
	hears(false)
	r.real(7).SetDetailFactor(1)
	hears(true)
	r.real(8).SetDetailFactor(0.5) // nobody plays it
}
