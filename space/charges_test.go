package space

import (
	"slices"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space/internal/hosting"
)

// testDriver is a player whose client moves other entities.
type testDriver struct {
	*testClient
	heard   int // of the messages to it
	charges map[entity.ID]protocol.Controlled
	told    int // Controlled messages
}

func (r *rig) newDriver(id entity.ID, x float32) *testDriver {
	return &testDriver{testClient: r.newClient(id, x), charges: map[entity.ID]protocol.Controlled{}}
}

// hear applies what has come.
func (d *testDriver) hear() {
	d.testClient.hear()
	list, bodies := d.bundles(d.id)
	for i := d.heard; i < len(list); i++ {
		switch list[i] {
		case protocol.CellPlayerID, protocol.LeaveSpaceID:
			clear(d.charges)
		case protocol.LeaveID:
			id, err := protocol.ParseLeave(bodies[i])
			if err != nil {
				d.t.Fatal(err)
			}
			if _, has := d.charges[id]; has {
				d.t.Errorf("%v leaves under the client's control", id)
			}
		case protocol.ControlledID:
			var m protocol.Controlled
			if err := m.Parse(bodies[i]); err != nil {
				d.t.Fatal(err)
			}
			d.told++
			if delete(d.charges, m.ID); m.Control {
				d.charges[m.ID] = m
			}
		}
	}
	d.heard = len(list)
}

func (d *testDriver) steer(id entity.ID, at property.Vector3) flow.Steer {
	d.sequence++
	ch := d.charges[id]
	return flow.Steer{
		Target: id, By: d.id, Session: 1, Sequence: d.sequence, Incarnation: ch.Incarnation, Forced: ch.Number, Position: at,
	}
}

// drive uploads a place, and reports whether the real went there.
func (d *testDriver) drive(id entity.ID, at property.Vector3) bool {
	d.pass(d.steer(id, at))
	return d.real(id) != nil && d.real(id).Position() == at
}

func (d *testDriver) pass(m flow.Steer) {
	var way hosting.Way
	for to := d.app(d.bases[d.id].app); to != nil; to = d.app(way.To) {
		_ = to.population.Follow(way.Order, func() error {
			way = to.population.Steer(&m)
			return nil
		})
	}
}

// park uploads a place reliably.
func (d *testDriver) park(id entity.ID, at property.Vector3) {
	m := d.steer(id, at)
	d.say(d.id, m.Append(nil, flow.SteerPayload))
	d.pump()
}

// say is that of the rig.
func (d *testDriver) say(id entity.ID, payload []byte) { d.rig.say(id, payload) }

// A client moves a pet: wherever the two are, and only while it has the control.
func TestDrive(t *testing.T) {
	r := newRig(t, 2, func(c *Config) { c.ClientTopSpeed = 10 })
	d, own := r.newDriver(7, -30), r.newClient(8, -20)
	if err := r.real(8).SetControlledBy(7); err != nil {
		t.Fatal(err)
	}
	if r.real(8).ControlledBy() != 7 || own.say(x(-21)) {
		t.Error("its own client still moves it")
	}
	r.tick(2)
	d.hear()
	if own.hear(); own.control || len(d.charges) != 1 || d.charges[8].Position != x(-20) {
		t.Fatalf("the own client has control %v, the other of %v", own.control, d.charges)
	}
	for at, tick := float32(-20), 0; at < 60; tick++ { // the pet crosses the line, then its master
		at++
		r.tick(1)
		d.hear()
		if !d.drive(8, x(at)) {
			t.Fatalf("at %g the pet stays at %v; the client controls %v", at, r.real(8).Position(), d.charges)
		}
		if at > 0 {
			d.testClient.say(x(d.at.X + 1))
		}
		own.hear()
	}
	d.park(8, x(61))
	r.tick(2)
	if got := r.real(8).Position(); got != x(61) {
		t.Errorf("it rests at %v", got)
	}
	if corrected, overruled := d.counted(); corrected != 0 || overruled != 1 {
		t.Errorf("%d corrected, %d overruled", corrected, overruled)
	}
	if n := r.apps[0].count.Migrations + r.apps[1].count.Migrations; n != 2 {
		t.Errorf("%d have crossed the line", n)
	}
	if own.hear(); own.at.X < 59 {
		t.Errorf("its own client believes it at %v", own.at)
	}
	// Too fast, and put elsewhere: the driver is told the place and the new number, once.
	told := d.told
	if d.drive(8, x(90)) {
		t.Error("a leap is taken")
	}
	r.tick(2)
	if d.hear(); d.charges[8].Position != x(61) || d.told != told+1 {
		t.Errorf("after the leap it is told %v, %d times", d.charges[8], d.told-told)
	}
	old := d.charges[8]
	r.move(8, 50)
	if d.drive(8, x(51)) {
		t.Error("a move that was made before counts")
	}
	r.tick(2)
	d.hear()
	if d.charges[8].Position != x(50) || d.charges[8].Number == old.Number || !d.drive(8, x(51)) {
		t.Errorf("after it was put elsewhere it is told %v", d.charges[8])
	}
	// The control comes back to its own client.
	if err := r.real(8).SetControlledBy(8); err != nil {
		t.Fatal(err)
	}
	if d.drive(8, x(52)) {
		t.Error("it moves after the control has gone")
	}
	r.tick(2)
	d.hear()
	if own.hear(); len(d.charges) != 0 || !own.control || !own.say(x(52)) {
		t.Errorf("own %v, other %v", own.control, d.charges)
	}
	r.calm()
}

// An entity without a client is driven, too. A walk takes the control away as from its own client.
func TestDriveWhileWalked(t *testing.T) {
	r := newRig(t, 2)
	d := r.newDriver(7, -30)
	r.create(8, 20, 0) // on the other cell
	if err := r.real(8).SetControlledBy(7); err != nil {
		t.Fatal(err)
	}
	r.tick(5)
	if d.hear(); !d.drive(8, x(21)) {
		t.Fatalf("the client controls %v", d.charges)
	}
	if _, err := r.real(8).MoveTo(x(31), 10, "", 0); err != nil {
		t.Fatal(err)
	}
	r.tick(3)
	if d.hear(); len(d.charges) != 0 || d.drive(8, x(0)) {
		t.Error("the client moves what walks")
	}
	r.tick(20)
	if d.hear(); d.charges[8].Position != x(31) || !d.drive(8, x(32)) {
		t.Errorf("after the walk at %v it controls %v", r.real(8).Position(), d.charges)
	}
	r.calm()
}

// The control ends when the entity is out of sight, destroyed or restored, and comes back with it. It
// also survives that the driver is restored.
func TestDriveEnds(t *testing.T) {
	r := newRig(t, 2)
	d := r.newDriver(7, -30)
	r.create(8, 20, 0)
	r.create(9, -20, 0)
	for _, id := range []entity.ID{8, 9} {
		if err := r.real(id).SetControlledBy(7); err != nil {
			t.Fatal(err)
		}
	}
	r.tick(5)
	if d.hear(); len(d.charges) != 2 {
		t.Fatalf("the client controls %v", d.charges)
	}
	was := d.charges[8]
	r.move(8, 300)
	r.tick(5)
	if d.hear(); len(d.charges) != 1 || d.drive(8, x(299)) {
		t.Errorf("it moves who is out of sight: %v", d.charges)
	}
	d.charges[8] = was
	if d.drive(8, x(21)) {
		t.Error("an old move counts")
	}
	delete(d.charges, 8)
	r.move(8, 20)
	r.tick(5)
	if d.hear(); !d.drive(8, x(22)) {
		t.Errorf("back in sight, it controls %v", d.charges)
	}
	old := d.charges[8]
	b := r.backUp(8)
	r.real(8).cell.drop(r.real(8))
	r.restore(8, 22, b.Parts, b.Handled)
	stale := d.steer(8, x(23))
	if d.pass(stale); r.real(8).Position() == x(23) {
		t.Error("a move of the lost incarnation counts")
	}
	r.tick(5)
	if d.hear(); d.charges[8].Incarnation == old.Incarnation || !d.drive(8, x(24)) {
		t.Errorf("restored, it is controlled by %v", d.charges)
	}
	r.real(9).Destroy()
	r.tick(5)
	if d.hear(); len(d.charges) != 1 {
		t.Errorf("one was destroyed: %v", d.charges)
	}
	b = r.backUp(7)
	r.real(7).cell.drop(r.real(7))
	r.restore(7, -30, b.Parts, b.Handled)
	r.tick(5)
	if d.hear(); !d.drive(8, x(25)) {
		t.Errorf("the driver was restored, and controls %v", d.charges)
	}
	r.calm()
}

// A teleport of the driven entity takes the control; one of the driver begins its view anew, and the
// control with that.
func TestDriveOverTeleports(t *testing.T) {
	r := newRig(t, 2)
	d := r.newDriver(7, -30)
	r.create(8, -20, 0)
	if err := r.real(8).SetControlledBy(7); err != nil {
		t.Fatal(err)
	}
	r.tick(5)
	for i, step := range []struct {
		id   entity.ID
		to   float32
		both bool
	}{{8, 300, false}, {7, 310, true}, {7, -300, false}, {8, -290, true}} {
		d.hear()
		old := d.charges
		if err := r.real(step.id).Teleport(entity.Destination{Position: x(step.to)}, 0); err != nil {
			t.Fatal(err)
		}
		r.tick(10)
		at := r.real(8).Position()
		for _, ch := range old {
			d.charges = map[entity.ID]protocol.Controlled{8: ch}
			if d.drive(8, x(at.X+1)) && !step.both {
				t.Errorf("step %d: an old move counts", i)
			}
		}
		d.charges = map[entity.ID]protocol.Controlled{}
		d.heard = 0 // anew, in order
		d.hear()
		if drives := d.drive(8, x(at.X+2)); drives != step.both {
			t.Errorf("step %d: the client drives %v, with %v; the entity is at %v", i, drives, d.charges, r.real(8).Position())
		}
	}
	r.calm()
}

// A client that uploads for what it does not control is refused and counted, also in the name of
// others, and more than MaxControlled are not given.
func TestDriveHostile(t *testing.T) {
	r := newRig(t, 1)
	d := r.newDriver(7, -30)
	r.newClient(8, -20)
	r.tick(3)
	d.hear()
	for number := range uint32(4) {
		d.charges[8] = protocol.Controlled{ID: 8, Incarnation: 1, Number: number}
		if d.drive(8, x(-19)) {
			t.Error("a client moves another player")
		}
		d.park(8, x(-18))
	}
	if _, overruled := d.counted(); overruled != 8 || r.real(8).Position() != x(-20) {
		t.Errorf("%d overruled", overruled)
	}
	for _, bad := range []flow.Steer{
		{Target: 8, By: 7, Passed: true, Session: 1, Sequence: 99, Incarnation: 1, Forced: 1, Position: x(-19)},
		{Target: 8, By: 8, Session: 1, Sequence: 99, Incarnation: 1, Forced: 1, Position: x(-19)},
		{Target: 99, By: 98, Session: 1},
		{Target: 8, Passed: true, Session: 1, Sequence: 99, Incarnation: 1, Forced: 1, Position: x(-19)},
	} {
		d.pass(bad)
		refused := r.apps[0].count.Refused
		d.say(7, bad.Append(nil, flow.SteerPayload))
		if r.pump(); bad.By != 7 && r.apps[0].count.Refused == refused {
			t.Errorf("%+v is not refused", bad)
		}
	}
	if r.real(8).Position() != x(-20) {
		t.Error("another player was moved")
	}
	if r.real(8).SetControlledBy(1<<60) == nil {
		t.Error("an id that nobody has is taken")
	}
	clear(d.charges)
	for id := range entity.ID(MaxControlled + 3) {
		r.create(100+id, -20, 0)
		if err := r.real(100 + id).SetControlledBy(7); err != nil {
			t.Fatal(err)
		}
	}
	r.tick(5)
	if d.hear(); len(d.charges) != MaxControlled {
		t.Errorf("the client controls %d", len(d.charges))
	}
	r.real(100).Destroy()
	r.tick(5)
	if d.hear(); len(d.charges) != MaxControlled {
		t.Errorf("after one has gone, the client controls %d", len(d.charges))
	}
}

// Charges that travel must be possible.
func FuzzCharges(f *testing.F) {
	f.Add((&charges{{3, 1, 2, true}, {5, 9, 1 << 30, false}}).append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		var l, again charges
		rd := codec.NewReader(b)
		if l.read(&rd); rd.Close() != nil {
			return
		}
		rd = codec.NewReader(l.append(nil))
		if again.read(&rd); rd.Close() != nil || !slices.Equal(l, again) {
			t.Errorf("%v became %v", l, again)
		}
	})
}
