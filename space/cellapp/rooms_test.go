package cellapp

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
)

func roomCell(id entity.SpaceID) bsp.CellID { return bsp.CellID{Term: 1, N: 1000 + uint32(id)} }

// room gives the app the only cell of a space.
func (r *rig) room(id entity.SpaceID, first bool) {
	whole := bsp.New(bsp.Version{Term: 1, N: 1}, bsp.Leaf{Cell: roomCell(id), App: addr(1).At, Salt: addr(1).Salt, Created: true})
	r.manage(&wire.AddCell{Space: id, Cell: roomCell(id), First: first, Tree: whole.Append(nil)})
}

// enter makes a real in a space, with or without a base.
func (r *rig) enter(id entity.ID, space entity.SpaceID) {
	d := r.app.cfg.Scripts.Schema().Type("Walker")
	parts := migrate.AppendFirst(nil, property.Vector3{X: 1}, property.Vector3{}, property.NewValues(d, property.CellSide, nil), nil)
	r.from(addr(3), &migrate.Create{ID: id, Space: space, Order: entity.Order{Incarnation: 1}, Base: addr(3), Parts: parts})
}

// sentTo takes out the messages of one type to an address.
func sentTo[T any, P interface {
	*T
	Parse([]byte) error
}](r *rig, to mercury.Address, id wire.ID) (out []T) {
	r.t.Helper()
	for _, s := range r.net.to(to) {
		var m T
		if s.id != id {
			continue
		}
		if err := P(&m).Parse(s.body); err != nil {
			r.t.Fatal(err)
		}
		out = append(out, m)
	}
	return out
}

var toManager = mercury.Address{At: manager}

// When a space ends, its entities are destroyed and their bases hear of it. When the bases have
// answered, the cell is gone; it waits for nobody's ack.
func TestEndedSpace(t *testing.T) {
	r := newRig(t)
	r.join()
	r.room(5, true)
	r.enter(7, 5)
	r.tick(2)
	base := sentTo[flow.Message](r, addr(3), wire.FlowID)
	r.from(addr(3), &flow.Ack{To: 7, ToPart: entity.CellPart, From: 7, FromPart: entity.BasePart, Incarnation: 1, Number: base[len(base)-1].Number, Settled: base[len(base)-1].Number})

	order := &wire.RemoveCell{Space: 5, Cell: roomCell(5), Peers: []mercury.Address{addr(2)}}
	r.manage(order) // a removal is under way and waits for a peer
	r.tick(1)
	order.Ended, order.Peers = true, nil
	r.manage(order)
	r.tick(1)
	if n := r.app.cell(5).Reals(); n != 0 {
		t.Fatalf("%d reals are left", n)
	}
	told := sentTo[flow.Message](r, addr(3), wire.FlowID)
	if len(told) != 1 || flow.Payload(told[0].Payload[0]) != flow.GonePayload {
		t.Fatalf("the base was told %+v", told)
	}
	r.enter(8, 5) // for a space that has ended meanwhile
	if lost := sentTo[migrate.Lost](r, addr(3), wire.CellLostID); len(lost) != 1 || lost[0].ID != 8 {
		t.Errorf("the base of a late real was told %+v", lost)
	}
	r.tick(3)
	if got := sentTo[wire.CellRemoved](r, toManager, wire.CellRemovedID); len(got) != 0 {
		t.Error("gone before the base has heard")
	}
	r.from(addr(3), &flow.Ack{To: 7, ToPart: entity.CellPart, From: 7, FromPart: entity.BasePart, Incarnation: 1, Number: told[0].Number, Settled: told[0].Number})
	r.tick(2)
	if got := sentTo[wire.CellRemoved](r, toManager, wire.CellRemovedID); len(got) != 1 || r.app.cell(5) != nil {
		t.Errorf("not gone: %v", got)
	}
	r.manage(order)
	if got := sentTo[wire.CellRemoved](r, toManager, wire.CellRemovedID); len(got) != 1 {
		t.Errorf("ordered again, it says %v", got)
	}
}

// A CellApp that is ending a space tells a restarted manager so.
func TestEndedSpaceIsToldToAnotherManager(t *testing.T) {
	r := newRig(t)
	r.join()
	r.room(5, true)
	r.enter(7, 5)
	r.manage(&wire.RemoveCell{Space: 5, Cell: roomCell(5), Ended: true})
	r.room(6, true)
	r.dial(77)
	got := sentTo[wire.RejoinCell](r, mercury.Address{At: manager, Salt: 77}, wire.RejoinCellID)
	if len(got) != 2 || !got[0].Ended || got[1].Ended {
		t.Errorf("it says %+v", got)
	}
}

// When a space ends, scripts can make nothing in it any more. An entity without a base goes, too,
// even in a frozen world.
func TestEndedSpaceStaysEmpty(t *testing.T) {
	r := newRig(t)
	r.join()
	r.room(5, false)
	c := r.app.cell(5)
	if _, err := c.Spawn("Walker", property.Vector3{}, property.Vector3{}, nil); err != nil {
		t.Fatal(err)
	}
	r.manage(&wire.Freeze{On: true})
	r.manage(&wire.RemoveCell{Space: 5, Cell: roomCell(5), Ended: true})
	if _, err := c.Spawn("Walker", property.Vector3{}, property.Vector3{}, nil); err != space.ErrEnded {
		t.Errorf("spawned: %v", err)
	}
	r.tick(1)
	if r.app.cell(5) != nil {
		t.Error("it is not gone")
	}
}

// A request to destroy a space is repeated until the manager has answered it.
func TestDestroySpaceIsRepeated(t *testing.T) {
	r := newRig(t)
	r.join()
	r.room(5, true)
	var request uint64
	asked := func() int {
		sent := sentTo[wire.DestroySpace](r, toManager, wire.DestroySpaceID)
		if len(sent) > 0 {
			request = sent[len(sent)-1].Request
		}
		return len(sent)
	}
	r.app.cell(5).DestroySpace()
	r.app.cell(5).DestroySpace()
	if n := asked(); n != 1 {
		t.Errorf("asked %d times", n)
	}
	r.app.Closed(r.now, r.mgr, mercury.ErrTimeout)
	r.tick(40)
	r.mgr = r.net.channel(r.net.dialled[len(r.net.dialled)-1])
	r.app.Opened(r.now, r.mgr, mercury.Address{At: manager, Salt: 9})
	r.manage(&wire.Welcome{Number: 1, Allocator: 2, Term: 9})
	asked()
	r.tick(20)
	if n := asked(); n != 2 {
		t.Errorf("asked again %d times in 2 s", n)
	}
	r.manage(&wire.SpaceDestroyed{Request: request})
	r.tick(20)
	if n := asked(); n != 0 {
		t.Errorf("asked %d times after the answer", n)
	}
}

// The game hears of the first cell of a space once, in a tick with the right time.
func TestOnFirstCell(t *testing.T) {
	r := newRig(t)
	type begin struct {
		space entity.SpaceID
		store bool
	}
	var got []begin
	r.app.cfg.Scripts.OnFirstCell(func(c *space.Cell, fromStore bool) {
		got = append(got, begin{c.Space(), fromStore})
		if _, err := c.Spawn("Walker", property.Vector3{}, property.Vector3{}, nil); err != nil {
			t.Error(err)
		}
		if c.Space() == 8 {
			panic("a fault of the game")
		}
	})
	r.join()
	r.room(5, true)
	r.room(5, true) // the order was repeated for lack of an answer
	r.room(6, false)
	if len(got) != 0 {
		t.Error("called outside of a tick")
	}
	r.tick(1)
	r.room(5, true)
	r.tick(2)
	if want := []begin{{5, false}}; !slices.Equal(got, want) || r.app.cell(5).Reals() != 1 || r.app.cell(6).Reals() != 0 {
		t.Errorf("called for %v, want %v", got, want)
	}
	r.manage(&wire.Freeze{On: true})
	r.room(7, true)
	r.room(8, true)
	r.room(9, true)
	r.manage(&wire.RemoveCell{Space: 9, Cell: roomCell(9), Ended: true})
	r.tick(2)
	if len(got) != 1 {
		t.Error("called in a frozen world")
	}
	r.manage(&wire.Freeze{})
	r.tick(2)
	r.room(10, true)
	r.manage(&wire.RemoveCell{Space: 10, Cell: roomCell(10), Ended: true})
	r.tick(2)
	if want := []begin{{5, false}, {7, false}, {8, false}}; !slices.Equal(got, want) || r.app.Counters().Errors != 1 {
		t.Errorf("called for %v, want %v; %d errors", got, want, r.app.Counters().Errors)
	}
	r.app.cfg.Scripts.OnFirstCell(nil)
	if r.app.cfg.Scripts.Err() == nil {
		t.Error("a second function is no fault")
	}
}

// Cells with nothing new are reported once a second, in messages that are not too long.
func TestReportsOfManyRooms(t *testing.T) {
	r := newRig(t)
	r.join()
	const rooms = wire.MaxCells + 10
	for id := range entity.SpaceID(rooms) {
		r.room(id+1, false)
	}
	r.net.to(toManager)
	reports := func(ticks int) (messages, cells int) {
		r.tick(ticks)
		for _, m := range sentTo[wire.CellsReport](r, toManager, wire.CellsReportID) {
			messages++
			cells += len(m.Cells)
			if m.Further != (messages == 2) {
				t.Errorf("message %d goes on: %v", messages, m.Further)
			}
		}
		return messages, cells
	}
	if m, n := reports(3); m != 2 || n != rooms {
		t.Fatalf("first %d messages of %d cells", m, n)
	}
	r.enter(7, 3)
	m, n := reports(3)
	m2, n2 := reports(3)
	if m+m2 != 2 || n+n2 != 1 {
		t.Errorf("then %d messages of %d cells, want 2 of the one that has changed", m+m2, n+n2)
	}
	seen := 0
	for range 4 {
		r.tick(3)
		for _, m := range sentTo[wire.CellsReport](r, toManager, wire.CellsReportID) {
			seen += len(m.Cells)
		}
	}
	if seen != rooms && seen != rooms+1 {
		t.Errorf("in the next second %d cells are told, want all %d", seen, rooms)
	}
}

// A report tells the load that reals brought or took, together with the cell's load. While nobody
// comes or goes, that is not news.
func TestReportOfWhatCame(t *testing.T) {
	r := newRig(t)
	r.join()
	r.room(5, false)
	last := func(ticks int) (c wire.CellReport, told int) {
		r.tick(ticks)
		for _, m := range sentTo[wire.CellsReport](r, toManager, wire.CellsReportID) {
			for _, c = range m.Cells {
				told++
			}
		}
		return c, told
	}
	if c, told := last(3); told != 1 || c.Gained != 0 {
		t.Errorf("empty: told %d times, %+v", told, c)
	}
	r.enter(7, 5)
	r.enter(8, 5)
	perReal := r.app.cfg.Space.ArtificialLoad
	if c, _ := last(3); c.Gained != 2*perReal || c.Load != c.Gained {
		t.Errorf("two came: gained %d, load %d, want %d", c.Gained, c.Load, 2*perReal)
	}
	if _, told := last(6); told != 0 {
		t.Errorf("told %d times of a cell with nothing new", told)
	}
	r.from(addr(3), &flow.Message{From: 7, FromPart: entity.BasePart, To: 7, ToPart: entity.CellPart, Incarnation: 1, Low: 1, Number: 1,
		Reply: addr(3), Payload: []byte{byte(flow.DestroyPayload)}})
	if c, _ := last(3); c.Gained != perReal || c.Load != perReal {
		t.Errorf("one went: gained %d, load %d, want %d", c.Gained, c.Load, perReal)
	}
}

// A CellApp that is welcomed again says everything again, since perhaps nobody heard it the first
// time.
func TestAllIsSaidAgain(t *testing.T) {
	r := newRig(t)
	r.join()
	r.room(5, false)
	r.tick(3)
	r.net.to(toManager)
	r.manage(&wire.Welcome{Number: 4, Allocator: 6, Term: 1})
	r.tick(3)
	if got := sentTo[wire.CellsReport](r, toManager, wire.CellsReportID); len(got) != 1 || len(got[0].Cells) != 1 {
		t.Errorf("reported %+v", got)
	}
}

// An entity made before the first tick of its cell has the present time, not zero. One that a
// message ends is gone before the next tick.
func TestBetweenTicks(t *testing.T) {
	r := newRig(t)
	r.join()
	r.room(5, false)
	r.enter(7, 5)
	r.enter(8, 5)
	for v := range r.app.cell(5).Views() {
		if now := v.Script().(*Walker).Now(); now < time.Hour {
			t.Errorf("entity %v is made at %v of game time", v.ID(), now)
		}
	}
	for i, id := range []entity.ID{7, 8} {
		r.from(addr(3), &flow.Message{From: id, FromPart: entity.BasePart, To: id, ToPart: entity.CellPart, Incarnation: 1, Low: 1, Number: 1,
			Reply: addr(3), Payload: []byte{byte(flow.DestroyPayload)}})
		if n := r.app.cell(5).Reals(); n != 1-i {
			t.Errorf("%d reals are left", n)
		}
	}
}

func TestWhatIsNew(t *testing.T) {
	base := wire.CellReport{Space: 1, Load: load.Core / 2, Reals: 3, Held: true}
	for name, tt := range map[string]struct {
		change func(*wire.CellReport)
		after  time.Duration
		want   bool
	}{
		"nothing":       {func(*wire.CellReport) {}, 0, false},
		"a second":      {func(*wire.CellReport) {}, time.Second, true},
		"a little load": {func(r *wire.CellReport) { r.Load += sameLoad }, 0, false},
		"load":          {func(r *wire.CellReport) { r.Load -= sameLoad + 1 }, 0, true},
		"what came":     {func(r *wire.CellReport) { r.Gained-- }, 0, true},
		"a real":        {func(r *wire.CellReport) { r.Reals++ }, 0, true},
		"who came":      {func(r *wire.CellReport) { r.Occupied = true }, 0, true},
		"a version":     {func(r *wire.CellReport) { r.Version.N++ }, 0, true},
		"a step":        {func(r *wire.CellReport) { r.Profile.X[3] = 1 }, 0, true},
		"no number":     {func(r *wire.CellReport) { r.Profile.X[3] = float32(math.NaN()) }, 0, true},
	} {
		s := said{at: time.Hour, report: base, ever: true}
		r := base
		tt.change(&r)
		if got := s.again(time.Hour+tt.after, &r); got != tt.want {
			t.Errorf("%s: told again %v", name, got)
		}
	}
	if r := base; !(&said{}).again(0, &r) {
		t.Error("the first report is left out")
	}
}

// After a thousand rooms were made and destroyed over and over, nothing is left of them.
func TestNoRoomIsLeft(t *testing.T) {
	r := newRig(t)
	r.join()
	for round := range 10 {
		for i := range entity.SpaceID(100) {
			id := 1000*entity.SpaceID(round) + i + 1
			r.room(id, true)
			r.enter(entity.ID(id), id)
		}
		r.tick(2)
		for i := range entity.SpaceID(100) {
			id := 1000*entity.SpaceID(round) + i + 1
			r.manage(&wire.RemoveCell{Space: id, Cell: roomCell(id), Ended: true})
		}
		r.tick(1)
		for _, m := range sentTo[flow.Message](r, addr(3), wire.FlowID) {
			r.from(addr(3), &flow.Ack{To: m.To, ToPart: entity.CellPart, From: m.To, FromPart: entity.BasePart, Incarnation: 1, Number: m.Number, Settled: m.Number})
		}
		r.tick(2)
		if got := len(sentTo[wire.CellRemoved](r, toManager, wire.CellRemovedID)); got != 100 {
			t.Fatalf("round %d: %d cells removed", round, got)
		}
	}
	if n := len(r.app.cells) + len(r.app.removals.own) + len(r.app.removals.going) + len(r.app.removals.acked); n != 0 {
		t.Errorf("%d things are left", n)
	}
	for id := range entity.ID(10000) {
		if r.here(id) {
			t.Fatalf("entity %v is left", id)
		}
	}
}

// BenchmarkThousandRooms measures a tick of a CellApp with 1,000 empty rooms. B/s is what it
// reports of them to its manager.
func BenchmarkThousandRooms(b *testing.B) {
	r := newRig(b)
	r.join()
	begun := time.Now()
	r.app.cfg.Clock = func() time.Duration { return time.Since(begun) }
	r.app.ticks.Clock = r.app.cfg.Clock
	for id := range entity.SpaceID(1000) {
		r.room(id+1, false)
	}
	r.tick(1)
	r.net.to(toManager)
	bytes, ticks := 0, 0
	b.ReportAllocs()
	for b.Loop() {
		r.tick(1)
		ticks++
		for _, s := range r.net.sent {
			bytes += len(s.body)
		}
		r.net.sent = r.net.sent[:0]
	}
	b.ReportMetric(float64(bytes)/(float64(ticks)*DefaultTick.Seconds()), "B/s")
}
