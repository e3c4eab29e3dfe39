package space

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/entity/placement"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space/internal/hosting"
)

// liar is a CellApp of the cluster that had none of the entities of which it speaks.
var liar = addr(9)

// tell lets the liar say something to a CellApp, and delivers what follows from it.
func (r *rig) tell(app int, m hosting.Message) {
	r.t.Helper()
	r.lies = true
	r.queue = append(r.queue, packet{liar, addr(app), clone(r.t, m)})
	r.pump()
}

// lied is a rig with the real of 7 on app 1, its ghost on app 2, and of 8 the other way round.
func lied(t *testing.T) *rig {
	r := newRig(t, 3)
	r.create(7, -20, 1)
	r.create(8, 20, 0)
	r.tick(5)
	if r.ghost(2, 7) == nil || r.ghost(1, 8) == nil {
		t.Fatal("no ghosts")
	}
	return r
}

// unharmed demands that nothing came of the lies.
func (r *rig) unharmed() {
	r.t.Helper()
	for id, app := range map[entity.ID]int{7: 1, 8: 2} {
		if x := r.real(id); x == nil || x.cell.self != addr(app) || x.e.Order != (entity.Order{Incarnation: 1}) {
			r.t.Errorf("the real of %d is %+v", id, x)
		}
		other := 3 - app
		if g := r.ghost(other, id); g == nil || g.Real != addr(app) {
			r.t.Errorf("the ghost of %d is %+v", id, g)
		}
		if n := len(r.bases[id].lost); n > 0 {
			r.t.Errorf("the base of %d heard that it is lost", id)
		}
	}
	r.calm()
}

func (r *rig) stateOf(id entity.ID, order entity.Order) *ghost.State {
	s := ghostOf(r.real(id))
	s.Order, s.Sequence, s.Space = order, 1<<20, 1
	return s
}

// TestLiesAboutAReal: no word of another CellApp ends the real that stands here.
func TestLiesAboutAReal(t *testing.T) {
	base := entity.Order{Incarnation: 1}
	for _, order := range []entity.Order{base.NextHop(), {Incarnation: 1, Hop: 1 << 30}, {Incarnation: 2}, {Incarnation: 1 << 30, Hop: 5}} {
		t.Run(order.String(), func(t *testing.T) {
			r := lied(t)
			before := r.apps[0].count.Unproved
			for range 3 {
				r.tell(1, r.stateOf(7, order))
				r.tell(1, &migrate.Onload{ID: 7, Type: r.real(7).e.Def.ID, Space: 1, Order: order, Base: r.base, Parts: r.real(7).appendParts(nil, false)})
				r.tell(1, &ghost.Delete{Head: ghost.Head{ID: 7, Order: order, Sequence: ghost.Last}})
				r.tick(3)
			}
			if n := r.apps[0].count.Unproved - before; n != 6 {
				t.Errorf("%d counted", n)
			}
			r.unharmed()
		})
	}
}

// TestBaseOverthrows: what another CellApp may not do, the base does, and the claim is followed then.
func TestBaseOverthrows(t *testing.T) {
	r := lied(t)
	b := r.bases[7]
	r.hold = func(p packet) bool { return p.to == r.base } // the base does not hear of the zombie
	r.apps[2].population.Create(&migrate.Create{ID: 7, Type: r.real(7).e.Def.ID, Space: 1, Order: entity.Order{Incarnation: 2}, Base: r.base,
		Parts: migrate.AppendFirst(nil, property.Vector3{X: 450}, property.Vector3{}, property.NewValues(r.real(7).e.Def, property.CellSide, nil), nil)}, r.base)
	b.order, b.app, b.in = entity.Order{Incarnation: 2}, r.apps[2].self, flow.NewReceiver(2, 0)
	rec := r.apps[2].population.find(7)
	rec.real.haunts.Add(r.apps[0].self, r.now)
	rec.real.showAll()
	r.pump()
	zombie := r.apps[0].population.find(7)
	if zombie.real == nil {
		t.Error("a State ended a real")
	}
	r.hold = nil
	r.pump()
	if g := r.ghost(1, 7); g == nil || g.Real != r.apps[2].self {
		t.Errorf("the base has spoken, and there is %+v", g)
	}
}

// TestLiesAboutAGhost: a ghost ends, moves and becomes a real by the word of its real's app.
func TestLiesAboutAGhost(t *testing.T) {
	r := lied(t)
	was := entity.Order{Incarnation: 1}
	for name, m := range map[string]hosting.Message{
		"Delete":                       &ghost.Delete{Head: ghost.Head{ID: 7, Order: was, Sequence: ghost.Last}},
		"Delete of next":               &ghost.Delete{Head: ghost.Head{ID: 7, Order: was.NextHop(), Sequence: ghost.Last}},
		"Update":                       &ghost.Update{Head: ghost.Head{ID: 7, Order: was, Sequence: 1 << 20}, Position: property.Vector3{X: 9}},
		"Audit":                        &ghost.Audit{Head: ghost.Head{ID: 7, Order: was}, Sum: 1},
		"Query in the name of another": &ghost.Query{Head: ghost.Head{ID: 8}, Asker: addr(3)},
	} {
		before := r.apps[1].count.Unproved
		r.tell(2, m)
		if n := r.apps[1].count.Unproved - before; n != 1 {
			t.Errorf("%s: %d counted", name, n)
		}
		if g := r.ghost(2, 7); g == nil || g.Entity.Position.X == 9 {
			t.Errorf("%s: %+v", name, g)
		}
	}
	r.tick(int(GhostLease/tickPeriod) + 5)
	r.unharmed()
}

// TestDoubtedGhostGoes: the app of a ghost's real does not answer, and another says that the ghost
// must go. It goes, but not at once.
func TestDoubtedGhostGoes(t *testing.T) {
	r := lied(t)
	r.hold = func(p packet) bool { return p.from == addr(1) && p.to == addr(2) }
	end := &ghost.Delete{Head: ghost.Head{ID: 7, Order: entity.Order{Incarnation: 1}, Sequence: ghost.Last}}
	r.tell(2, end)
	r.tick(int(GhostLease/tickPeriod) / 2)
	r.tell(2, end) // does not make it longer
	if r.ghost(2, 7) == nil {
		t.Error("it went at once")
	}
	r.tick(int(GhostLease/tickPeriod)/2 + 1)
	if r.ghost(2, 7) != nil {
		t.Error("it stands for ever")
	}
}

// TestRumours: a CellApp that says of each entity that its ghosts must go keeps nobody from making
// them.
func TestRumours(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -300, 0)
	for range 200 {
		r.tell(2, &ghost.Delete{Head: ghost.Head{ID: 7, Order: entity.Order{Incarnation: 1 << 30}, Sequence: ghost.Last}})
		if x := r.real(7).e.Position.X; x < -50 {
			r.move(7, x+50)
		}
		r.tick(1)
	}
	if r.ghost(2, 7) == nil {
		t.Error("no ghost")
	}
	r.move(7, 50)
	r.tick(30)
	if r.real(7).cell.self != addr(2) {
		t.Error("the real cannot enter")
	}
	r.calm()
}

// TestLiesInAHandoff: only who was given a real acks it.
func TestLiesInAHandoff(t *testing.T) {
	r := lied(t)
	r.hold = func(p packet) bool { _, ok := p.m.(*migrate.Onload); return ok }
	r.move(7, 50)
	r.tick(2)
	order, waits := r.apps[0].population.handoffs.Has(7)
	if !waits {
		t.Fatal("not handed over")
	}
	r.tell(1, &migrate.OnloadAck{ID: 7, Order: order})
	r.tell(1, &migrate.OnloadRefused{ID: 7, Order: order, Code: placement.Full}) // of another app than the taker
	if err := r.apps[0].population.OnloadRefused(&migrate.OnloadRefused{ID: 7, Order: order, Code: placement.Full}, addr(2)); !errors.Is(err, errUntrue) {
		t.Errorf("the taker refuses who crosses a border: %v", err)
	}
	if _, waits := r.apps[0].population.handoffs.Has(7); !waits {
		t.Error("the frozen copy is gone")
	}
	r.hold = nil
	r.pump()
	if x := r.real(7); x == nil || x.cell.self != addr(2) {
		t.Error("the real is not where it was handed to")
	}
	r.calm()
}

// TestLiesInFlows: nobody passes on words of a base to a real that it did not hand over, and nobody
// speaks for a newer life of a caller that stands here.
func TestLiesInFlows(t *testing.T) {
	r := lied(t)
	before := r.apps[0].count.Unproved
	number := r.real(7).base().in.Last() + 1
	say := flow.Message{From: 7, FromPart: entity.BasePart, To: 7, ToPart: entity.CellPart, Incarnation: 1, Low: 1, Number: number, Reply: r.base,
		Payload: []byte{byte(flow.DestroyPayload)}}
	r.tell(1, &say)
	if err := r.real(7).sendBase([]byte{byte(flow.BundlePayload)}); err != nil {
		t.Fatal(err)
	}
	r.hold = func(p packet) bool { return p.to == r.base }
	r.tell(1, &flow.Ack{To: 7, ToPart: entity.CellPart, From: 7, FromPart: entity.BasePart, Incarnation: 1, Number: 1 << 40, Settled: 1 << 40})
	if r.real(7).base().out.Kept() == 0 {
		t.Error("what the base has not got is forgotten")
	}
	r.queue = slices.DeleteFunc(r.queue, func(p packet) bool { return p.to == r.base })
	r.hold = nil
	r.create(9, -30, 0)
	call := flow.MethodCall{Method: hitMethod, Args: arg(1)}
	r.tell(1, &flow.Message{From: 9, FromPart: entity.CellPart, To: 7, ToPart: entity.CellPart, Incarnation: 1 << 20, Low: 1, Number: 1, Reply: liar,
		Payload: call.Append(nil, flow.CallCellPayload)})
	if p := r.real(7).known(9, entity.CellPart); p != nil {
		t.Error("it heard a caller that stands beside it from elsewhere")
	}
	if n := r.apps[0].count.Unproved - before; n < 3 {
		t.Errorf("%d counted", n)
	}
	r.tick(int(time.Second / tickPeriod))
	if r.real(7) == nil {
		t.Fatal("destroyed")
	}
}

// TestFollowsThroughTheGiver: words of a base that come by way of the former app are heard.
func TestFollowsThroughTheGiver(t *testing.T) {
	r := lied(t)
	r.move(7, 50)
	r.tick(3)
	b := r.bases[7]
	b.app = addr(1) // where the base still believes it
	r.call(7, hitMethod, arg(4)...)
	r.pump()
	if d := r.avatar(7).Diary.Get(); !strings.HasSuffix(d, "hit 4;") {
		t.Errorf("the diary is %q", d)
	}
}

// TestHandoffOfAFormerLife: a handoff waits in a channel while the base makes the entity again
// where it was, and comes just before that of the new real. What the base says to the new one,
// passed on from there, is not told to the old one, which the base is about to refuse. (It was: the
// old one met a gap.)
func TestHandoffOfAFormerLife(t *testing.T) {
	r := lied(t)
	parts := slices.Clone(r.real(7).packed(true))
	ofOne := func(hop uint32) entity.Order { return entity.Order{Incarnation: 1, Hop: hop} }
	r.hold = func(p packet) bool { _, ok := p.m.(*migrate.Onload); return ok || p.to == r.base }
	r.move(7, 50)
	r.tick(2)
	r.restore(7, -20, parts, 0)
	if _, waits := r.apps[0].population.handoffs.Has(7); waits {
		t.Error("the frozen copy of the former life would be sent again")
	}
	r.move(7, 50)
	r.tick(3)
	r.hold = func(p packet) bool { return p.to == r.base }
	r.pump()
	old := r.apps[1].population.find(7)
	if old == nil || old.real == nil || old.e.Order != ofOne(1) {
		t.Fatalf("the old real is %+v", old)
	}
	r.call(7, hitMethod, arg(4)...)
	r.pump()
	if d := r.avatar(7).Diary.Get(); strings.Contains(d, "hit 4;") || old.real.base().in.Last() > 0 {
		t.Errorf("the old real heard what was for the new one: %q", d)
	}
	r.hold = nil
	r.tick(int((migrate.ResendOnload + time.Second) / tickPeriod))
	if x := r.real(7); x == nil || x.cell.self != addr(2) || x.e.Order != (entity.Order{Incarnation: 2, Hop: 1}) {
		t.Fatalf("the real is %+v", x)
	}
	r.resend(7)
	r.tick(1)
	if d := r.avatar(7).Diary.Get(); strings.Count(d, "hit 4;") != 1 {
		t.Errorf("the diary of the new real is %q", d)
	}
	r.calm()
}

// TestPhantoms: an app may make a CellApp take over what it never had. The base refuses that, and
// the real itself can come all the same.
func TestPhantoms(t *testing.T) {
	for _, order := range []entity.Order{{Incarnation: 1, Hop: 1}, {Incarnation: 1, Hop: 1 << 30}, {Incarnation: 1 << 30}} {
		for _, ghost := range []bool{false, true} {
			r := lied(t)
			d := r.real(7).e.Def.ID
			if ghost { // the ghost is led astray first
				r.tell(2, r.stateOf(7, order))
			}
			r.refuses = map[entity.ID]entity.Order{7: {Incarnation: 1}}
			r.tell(2, &migrate.Onload{ID: 7, Type: d, Space: 1, Order: order, Base: r.base, Title: r.real(7).title + 1, Parts: r.real(7).appendParts(nil, false)})
			r.pump()
			r.refuses = nil
			if x := r.real(7); x == nil || x.cell.self != addr(1) {
				t.Fatalf("%v: the real is %+v", order, x)
			}
			r.move(7, 50)
			r.tick(30)
			if x := r.real(7); x == nil || x.cell.self != addr(2) {
				t.Errorf("%v, ghost led astray %v: the real did not come in", order, ghost)
			}
		}
	}
}

// TestAstray: a ghost that was led astray keeps no real out that its app hands over, nor one that
// its base makes.
func TestAstray(t *testing.T) {
	for _, order := range []entity.Order{{Incarnation: 1, Hop: 1 << 30}, {Incarnation: 1 << 30}} {
		r := lied(t)
		r.tell(2, r.stateOf(7, order))
		r.tell(2, &ghost.Delete{Head: ghost.Head{ID: 7, Order: order, Sequence: ghost.Last}})
		r.tell(2, r.stateOf(7, order))
		r.move(7, 50)
		r.tick(5)
		if x := r.real(7); x == nil || x.cell.self != addr(2) {
			t.Fatalf("%v: the real did not come in", order)
		}
		r.tell(3, r.stateOf(7, order))
		b := r.bases[7]
		r.apps[1].cell.drop(r.real(7))
		r.pump()
		lost := len(b.lost)
		r.restore(7, 450, b.backup.Parts, b.backup.Handled)
		if b.order.Before(order) {
			if r.real(7) != nil || len(b.lost) != lost+1 || b.lost[lost].Order != b.order {
				t.Fatalf("%v: the base did not hear of the ghost: %v", order, b.lost)
			}
			r.restore(7, 450, b.backup.Parts, b.backup.Handled)
		}
		if x := r.real(7); x == nil || x.cell.self != addr(3) {
			t.Fatalf("%v: it is not restored", order)
		}
	}
}

// TestLateRealMeetsANewerGhost: a CellApp hands a real over, and the handoff comes late; so does an
// order to make one. Meanwhile the base has begun another incarnation elsewhere, whose ghost is here. No
// ghost goes back for it: the base is asked, and refuses the old one.
func TestLateRealMeetsANewerGhost(t *testing.T) {
	r := lied(t)
	b, was := r.bases[7], r.real(7)
	parts := was.appendParts(nil, false)
	late := []hosting.Message{
		&migrate.Onload{ID: 7, Type: was.e.Def.ID, Space: 1, Order: entity.Order{Incarnation: 1, Hop: 1}, Base: r.base, Parts: parts},
		&migrate.Create{ID: 7, Type: was.e.Def.ID, Space: 1, Order: entity.Order{Incarnation: 1}, Base: r.base, Restored: true, Parts: b.backup.Parts},
	}
	r.apps[0].cell.drop(was)
	r.restore(7, -20, b.backup.Parts, b.backup.Handled)
	r.tick(5)
	for i, m := range late {
		from := addr(1)
		if i == 1 {
			from = r.base
		}
		r.queue = append(r.queue, packet{from, addr(2), clone(t, m)})
		r.pump()
		if g := r.ghost(2, 7); g == nil || g.Entity.Order.Incarnation != 2 {
			t.Fatalf("%T: the ghost is %+v", m, g)
		}
	}
	r.tick(30)
	if x := r.real(7); x == nil || x.e.Order.Incarnation != 2 || x.cell.self != addr(1) {
		t.Errorf("the real is %+v", x)
	}
}

// TestLateStatesAfterDelete: a ghost has gone by the word of its real's app. States of older hops come
// after that, seconds late, from an app that had the real before. None brings the ghost back, nor do
// two. (Two did: a rumour held up only one.)
func TestLateStatesAfterDelete(t *testing.T) {
	r := lied(t)
	rec := r.apps[1].population.find(7)
	rec.e.Order = entity.Order{Incarnation: 1, Hop: 9}
	r.apps[1].population.GhostDelete(&ghost.Delete{Head: ghost.Head{ID: 7, Order: rec.e.Order, Sequence: ghost.Last}}, rec.ghost.Real)
	if r.ghost(2, 7) != nil {
		t.Fatal("the ghost stays")
	}
	for hop := range uint32(8) {
		r.tell(2, r.stateOf(7, entity.Order{Incarnation: 1, Hop: hop}))
		if g := r.ghost(2, 7); g != nil {
			t.Errorf("a late State of hop %d brought back the ghost at %v", hop, g.Entity.Order)
		}
	}
	// An answer to a question that was asked before the end is such a State, too.
	s := r.stateOf(7, entity.Order{Incarnation: 1, Hop: 3})
	s.Answers = ghost.Moment(r.now - tickPeriod)
	r.tell(2, s)
	if g := r.ghost(2, 7); g != nil {
		t.Errorf("a late answer brought back the ghost at %v", g.Entity.Order)
	}
	// One to a question asked since is believed.
	s.Answers = ghost.Moment(r.now + tickPeriod)
	r.tell(2, s)
	if r.ghost(2, 7) == nil {
		t.Error("an answer is not believed")
	}
}

// TestRefusedStaysAway: a handoff comes a second time, long after the base has refused the real
// that the first one made. It is answered, so that it ends, and makes nothing. (It did, and ghosts
// of the real went back to what it had been.)
func TestRefusedStaysAway(t *testing.T) {
	r := lied(t)
	var late *migrate.Onload
	r.hold = func(p packet) bool {
		if m, ok := p.m.(*migrate.Onload); ok && late == nil {
			x := *m
			x.Parts = slices.Clone(m.Parts)
			late = &x
		}
		return false
	}
	r.move(7, 50)
	r.tick(3)
	old := r.apps[1].population.find(7)
	if late == nil || old == nil || old.real == nil {
		t.Fatalf("it was not handed over: %+v", old)
	}
	r.apps[1].population.Refuse(&migrate.Refuse{ID: 7, Order: late.Order}, r.base)
	if x := r.apps[1].population.find(7); x != nil && x.real != nil {
		t.Fatal("the refused real is there")
	}
	if err := r.apps[1].population.Onload(late, addr(1)); err != nil {
		t.Error(err)
	}
	if x := r.apps[1].population.find(7); x != nil && x.real != nil {
		t.Error("it came to life once more")
	}
	next := *late // another title: the true one of a real that an app had made up
	next.Title++
	if r.apps[1].population.refusals.forbids(&next) {
		t.Error("another real of that order is kept away")
	}
	next = *late
	next.Order.Hop++
	if r.apps[1].population.refusals.forbids(&next) {
		t.Error("a later hop is kept away")
	}
	r.apps[1].population.refusals.leases.Expire(r.apps[1].population.now + ghost.TombstoneLease)
	if r.apps[1].population.refusals.forbids(late) || r.apps[1].population.refusals.leases.Len() != 0 {
		t.Error("it is remembered for ever")
	}
}
