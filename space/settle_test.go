package space

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space/internal/hosting"
)

// die has an app lose all that it has, as a process that is killed does, and come back empty;
// entities with a base that were on it are restored, in the order given.
func (r *rig) die(a *testApp, ids ...entity.ID) {
	r.t.Helper()
	r.queue = slices.DeleteFunc(r.queue, func(p packet) bool { return p.from == a.self || p.to == a.self })
	old := a.cell
	a.population = NewPopulation(*old.cfg, r.scripts, hosting.Env{
		Self: a.self, Out: a, Counters: &a.count,
		Chance: rand.New(rand.NewPCG(2, 2)), Log: slog.New(slog.DiscardHandler), Compressor: new(property.Compressor),
	})
	a.cell = a.population.NewCell(r.now, r.now, 1, old.id, old.tree, nil)
	for _, x := range r.apps {
		if x != a {
			x.population.CellAppDied(a.self)
		}
	}
	for _, id := range ids {
		b := r.bases[id]
		r.restore(id, b.backup.Position.X, b.backup.Parts, b.backup.Handled)
		r.tick(3)
	}
}

// alls is what an Avatar heard of other entities' clients, in order.
func (r *rig) alls(id entity.ID) string {
	var s string
	for x := range strings.SplitSeq(r.avatar(id).Diary.Get(), ";") {
		if strings.HasPrefix(x, "all") {
			s += x + ";"
		}
	}
	return s
}

// TestCallsSurviveDeaths has one player's client call another's entity, and kills the CellApp of
// either 0.1 to 4 seconds later, with and without a backup between: each call is handled once, in
// order, wherever the two live.
func TestCallsSurviveDeaths(t *testing.T) {
	const caller, target = 8, 7
	for _, c := range []struct {
		name   string
		x      float32 // of the target; the caller is at 20
		killed []entity.ID
	}{
		{"target across", -20, []entity.ID{target}},
		{"caller across", -20, []entity.ID{caller}},
		{"both in one cell, target first", 30, []entity.ID{target, caller}},
		{"both in one cell, caller first", 30, []entity.ID{caller, target}},
	} {
		for wait := 1; wait <= 40; wait += 3 {
			for backup := range 3 { // of nobody, the caller, the target
				r := newRig(t, 2)
				r.create(target, c.x, 1)
				r.create(caller, 20, 1)
				r.tick(5)
				want := ""
				for n := range 4 {
					r.clientCall(caller, target, allMethod, arg(byte(n))...)
					r.tick(1 + n%2)
					want += fmt.Sprintf("all %d by %d;", n, caller)
				}
				if id := []entity.ID{0, caller, target}[backup]; id != 0 {
					r.say(id, []byte{byte(flow.BackupNowPayload)})
				}
				r.tick(wait)
				r.die(r.at(r.real(c.killed[0]).Position().X), c.killed...)
				r.clientCall(caller, target, allMethod, arg(9)...)
				r.tick(60)
				if got := r.alls(target); got != want+"all 9 by 8;" {
					t.Errorf("%s, after %d ticks, backup %d:\n%s, want\n%s", c.name, wait, backup, got, want+"all 9 by 8;")
				}
				r.tick(300)
				for _, p := range r.real(caller).flows {
					if n := p.out.Kept(); n > 0 {
						t.Errorf("%s: %d calls are never settled", c.name, n)
					}
				}
			}
		}
	}
}

// The target is restored where the caller does not see it, and nobody writes to it.
func TestLostCallIsAskedFor(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -20, 1)
	r.create(8, 20, 1)
	r.tick(5)
	r.clientCall(8, 7, allMethod, arg(1)...)
	r.tick(5)
	b := r.bases[7]
	b.backup.Position.X = -900 // out of sight, and of the ghosts' reach
	r.apps[0].cell.drop(r.real(7))
	parts := migrateTo(t, b.backup.Parts, -900)
	r.restore(7, -900, parts, b.backup.Handled)
	r.tick(int(r.apps[0].population.probeAfter()/tickPeriod) + 20)
	if got := r.alls(7); got != "all 1 by 8;" {
		t.Errorf("it heard %q", got)
	}
}

// A call that was refused, or whose target has ended, is given up at the base's word, and not
// before.
func TestBaseSaysThatTargetHasEnded(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -20, 1)
	a := r.create(8, 20, 1)
	r.tick(5)
	r.hold = func(p packet) bool { _, is := p.m.(*flow.Message); return is && p.to == addr(1) }
	r.clientCall(8, 7, allMethod, arg(1)...)
	r.tick(5)
	r.apps[0].cell.drop(r.real(7)) // it is lost, and its base is slow to restore it
	r.hold = nil
	r.queue = nil
	r.tick(int(2 * FlowGiveUp / tickPeriod))
	if a.population.Pending() == 0 {
		t.Fatal("the call was given up, though its target will come back")
	}
	// An app that is not the base's may not say so.
	gone := &flow.Ack{To: 8, ToPart: entity.CellPart, From: 7, FromPart: entity.CellPart, Incarnation: 1, Gone: true}
	a.population.HandleAck(gone, addr(3))
	if a.population.Pending() == 0 {
		t.Fatal("anybody can have calls given up")
	}
	r.bases[7].got = append(r.bases[7].got, (&flow.Gone{}).Append(nil))
	r.tick(int(flow.ResendAfter/tickPeriod) + 2)
	if n := a.population.Pending(); n != 0 || a.count.Refused != 1 {
		t.Errorf("pending %d, refused %d", n, a.count.Refused)
	}
}

// What a destroyed entity had asked of another is still asked.
func TestCallsOfDepartedArrive(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -20, 1)
	a := r.create(8, 20, 1)
	r.tick(5)
	r.clientCall(8, 7, allMethod, arg(1)...)
	r.tick(3)
	r.real(8).Destroy()
	r.tick(3)
	if len(a.population.departed.list) == 0 {
		t.Fatal("nothing is kept of the call")
	}
	r.die(r.apps[0], 7)
	r.tick(60)
	if got := r.alls(7); got != "all 1 by 8;" {
		t.Errorf("it heard %q", got)
	}
	r.tick(200)
	if len(a.population.departed.list) != 0 {
		t.Error("a settled call is kept for ever")
	}
}

// Many calls have the target backed up early, but not each tick; and nobody keeps more than the
// limit.
func TestCallsForceBackup(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -20, 1)
	r.create(8, 20, 1)
	r.tick(5)
	was, most := r.real(7).saves, 0
	for range 300 { // 30 s
		for range 20 {
			r.clientCall(8, 7, allMethod, arg(1)...)
		}
		r.tick(1)
		most = max(most, r.real(8).known(7, entity.CellPart).out.Kept())
	}
	saves := r.real(7).saves - was
	if most > 20*(int(earlyBackup/tickPeriod)+3) {
		t.Errorf("the caller kept %d calls", most)
	}
	if limit := uint64(30*time.Second/earlyBackup) + 4; saves > limit || saves < 20 {
		t.Errorf("%d backups in 30 s, at most %d wanted", saves, limit)
	}
	r.hold = func(p packet) bool { _, is := p.m.(*flow.Ack); return is && p.to == addr(2) }
	for range 400 {
		for range 20 {
			r.clientCall(8, 7, allMethod, arg(1)...)
		}
		r.tick(1)
	}
	if n := r.real(8).known(7, entity.CellPart).out.Bytes(); n > MaxTail {
		t.Errorf("%d bytes are kept, at most %d wanted", n, MaxTail)
	}
}

// A thousand callers cost what they send: one that has called once, and nothing since, costs the
// target a few bytes of its backups, and one ack more.
func TestThousandCallers(t *testing.T) {
	r := newRig(t, 1)
	a := r.create(7, -50, 1)
	r.tick(20)
	before := len(r.bases[7].backup.Parts)
	call := flow.MethodCall{Cause: uint64(flow.MarkOf(1, 1)), Method: 99}
	for i := range entity.ID(1000) {
		a.population.HandleFlow(&flow.Message{
			From: 1<<40 + i, FromPart: entity.CellPart, To: 7, ToPart: entity.CellPart, Incarnation: 1, Low: 1, Number: 1,
			Reply: addr(50), Payload: call.Append(nil, flow.RemoteCallPayload),
		}, addr(50))
	}
	acks, bytes := 0, 0
	r.hold = func(p packet) bool {
		if m, is := p.m.(*flow.Ack); is && p.to == addr(50) {
			acks++
			bytes += len(m.Append(nil))
		}
		return false
	}
	r.tick(300)
	size := len(r.bases[7].backup.Parts) - before
	if acks != 2000 || bytes > acks*24 || size > 1000*27 {
		t.Errorf("%d acks of %d bytes, %d bytes more in a backup", acks, bytes, size)
	}
}

// What a flow to a real of an older incarnation was told does not count for the next.
func TestLateAckOfFormerLife(t *testing.T) {
	population := NewPopulation(Config{}, nil, hosting.Env{})
	var p peer
	for range 3 {
		if _, err := p.out.Add(0, []byte("call")); err != nil {
			t.Fatal(err)
		}
	}
	ack := func(life uint32, number, settled uint64) {
		population.takeAck(nil, &p, &flow.Ack{FromPart: entity.CellPart, Incarnation: 1, Life: life, Number: number, Settled: settled}, 1, mercury.Address{})
	}
	ack(1, 3, 1)
	if p.out.Unreceived() != 0 || p.out.Kept() != 2 {
		t.Fatalf("%d unreceived, %d kept", p.out.Unreceived(), p.out.Kept())
	}
	ack(2, 1, 1)
	if p.out.Unreceived() != 2 {
		t.Errorf("%d are sent again, want 2", p.out.Unreceived())
	}
	ack(1, 3, 3)
	if p.out.Unreceived() != 2 || p.out.Kept() != 2 {
		t.Errorf("a late ack: %d unreceived, %d kept", p.out.Unreceived(), p.out.Kept())
	}
}

// migrateTo is a copy of parts with another place.
func migrateTo(t *testing.T, parts []byte, x float32) []byte {
	t.Helper()
	var b []byte
	err := migrate.EachPart(parts, func(tag migrate.Tag, body []byte) error {
		b = migrate.AppendPart(b, tag, func(b []byte) []byte {
			if tag == migrate.CorePart {
				core := migrate.Core{Position: property.Vector3{X: x}}
				return core.Append(b)
			}
			return append(b, body...)
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// createAnew has a base make another cell part, after one that was destroyed.
func (r *rig) createAnew(id entity.ID, x float32) {
	r.t.Helper()
	first := property.NewValues(r.scripts.Schema().Type("Avatar"), property.CellSide, nil)
	r.restore(id, x, migrate.AppendFirst(nil, at(x), property.Vector3{}, first, nil), 0)
}

// What a destroyed cell part has left behind is not kept for ever if its base makes another one, which the
// target hears first: calls of the older one are refused then, and it is told.
func TestOutlivedCallsAreGivenUp(t *testing.T) {
	r := newRig(t, 2)
	r.two()
	r.hold = func(p packet) bool {
		m, is := p.m.(*flow.Message)
		return is && m.From == 7 && m.To == 8 && m.Incarnation == 1
	}
	if err := r.cellOf(7, 8).Call("hit", 1); err != nil {
		t.Fatal(err)
	}
	r.tick(2)
	r.real(7).Destroy()
	r.tick(5)
	r.createAnew(7, -50)
	if err := r.cellOf(7, 8).Call("hit", 2); err != nil {
		t.Fatal(err)
	}
	r.tick(5)
	r.hold = nil
	r.tick(30)
	r.diary(8, "hit 2;")
	if n := r.apps[0].population.Pending(); n != 0 || r.apps[0].count.Refused != 1 {
		t.Errorf("%d pending, %d refused", n, r.apps[0].count.Refused)
	}
	r.calm()
}

// What a destroyed cell part has left behind is settled though its base makes another one where the target
// is: the acks go to where it was destroyed, also while the target calls the new one.
func TestLeftCallsAreSettledBesideANewCaller(t *testing.T) {
	for _, calls := range []bool{false, true} {
		r := newRig(t, 2)
		r.two()
		r.hold = func(p packet) bool {
			a, is := p.m.(*flow.Ack)
			return is && a.To == 7 && a.From == 8
		}
		if err := r.cellOf(7, 8).Call("hit", 1); err != nil {
			t.Fatal(err)
		}
		r.tick(2)
		r.real(7).Destroy()
		r.tick(5)
		r.createAnew(7, 30)
		r.queue, r.hold = slices.DeleteFunc(r.queue, r.hold), nil
		for n := range 100 {
			if n%10 == 0 {
				r.say(8, []byte{byte(flow.BackupNowPayload)})
			}
			if calls {
				if err := r.cellOf(8, 7).Call("hit", n); err != nil {
					t.Fatal(err)
				}
			}
			r.tick(1)
		}
		r.diary(8, "hit 1;")
		if n := len(r.apps[0].population.departed.list); n != 0 {
			t.Errorf("calls back %t: %d flows of the destroyed one are left", calls, n)
		}
		r.calm()
	}
}

// Whoever says the end of an entity but need not know is not believed, and is no sign of life
// either: the target is given up as soon as one of whom nobody says anything.
func TestEndThatIsNotBelieved(t *testing.T) {
	r := newRig(t, 2)
	a := r.create(7, 20, 1)
	r.tick(5)
	if err := r.cellOf(7, 99).Then("OnPaid", 0).Within(time.Minute).Call("pay", 1); err != nil {
		t.Fatal(err)
	}
	for range int(FlowGiveUp/tickPeriod) - 5 {
		r.tick(1)
		a.population.HandleAck(&flow.Ack{To: 7, ToPart: entity.CellPart, From: 99, FromPart: entity.CellPart, Incarnation: 1, Gone: true}, addr(3))
	}
	if got := r.avatar(7).Diary.Get(); strings.Contains(got, "pay") {
		t.Fatalf("it believes anyone: %q", got)
	}
	r.tick(20)
	if got := r.avatar(7).Diary.Get(); !strings.Contains(got, "pay of 0.99: "+errNowhere.Error()) {
		t.Errorf("it heard %q", got)
	}
}

// A call to an entity without a base is given up some time after its CellApp died, not after its ghost
// has gone as well.
func TestCallToOrphanIsGivenUp(t *testing.T) {
	r := newRig(t, 2)
	a := r.create(7, -20, 1)
	rock := r.spawn(20).ID()
	r.tick(5)
	r.hold = func(p packet) bool { _, is := p.m.(*flow.Message); return is && p.to == addr(2) }
	if err := r.cellOf(7, rock).Then("OnPaid", 0).Within(time.Minute).Call("pay", 1); err != nil {
		t.Fatal(err)
	}
	r.tick(2)
	r.apps = r.apps[:1]
	a.dead = append(a.dead, addr(2))
	a.population.CellAppDied(addr(2))
	r.tick(int(FlowGiveUp/tickPeriod) - 5)
	if got := r.avatar(7).Diary.Get(); strings.Contains(got, "pay") {
		t.Fatalf("it heard %q too early", got)
	}
	r.tick(10)
	if got := r.avatar(7).Diary.Get(); !strings.Contains(got, errNowhere.Error()) {
		t.Errorf("it heard %q", got)
	}
}
