package witness

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/property"
)

// giantScene is scene with the Giant, which has so much to show that no bundle takes it.
func giantScene(t *testing.T) (*world, *presence.Entity) {
	text := property.Scalar(property.KindString)
	var scrolls []*property.Property
	for k := range 4 {
		scrolls = append(scrolls, &property.Property{Name: fmt.Sprint("scroll", k+1), Type: text, Flags: property.OtherClients})
	}
	wd := newWorldOf(t, testDefinition(t, scrolls...), Config{}, 1, 0)
	e := newEntity(wd.def, 7, 1, 50, 0)
	wd.all, wd.within[e.ID] = append(wd.all, e), true
	wd.w.Enter(wd.subject(e))
	wd.tell("enter 7", "set name", "set weapon", "set hp", "set scroll1", "set scroll2", "set scroll3", "set scroll4")
	return wd, e
}

// scene is one watcher at the origin and one entity at 50 m that the client has.
func scene(t *testing.T) (*world, *presence.Entity) {
	wd := newWorld(t, Config{}, 1, 0)
	e := newEntity(wd.def, 7, 1, 50, 0)
	wd.all, wd.within[e.ID] = append(wd.all, e), true
	wd.w.Enter(wd.subject(e))
	if wd.w.Pending(wd.watcher) != 1 {
		t.Fatal("an entering entity must be pending")
	}
	wd.tell("enter 7", "set name", "set weapon", "set hp")
	return wd, e
}

// tell updates, and demands that the bundle says what is wanted.
func (wd *world) tell(want ...string) {
	wd.t.Helper()
	b, p := wd.w.Update(wd.watcher, wd.tick, nil, false)
	wd.tick++
	wd.client.bundle(b)
	wd.client.packets(p)
	if got := wd.client.log; fmt.Sprint(got) != fmt.Sprint(want) {
		wd.t.Fatalf("the client was told\n%q, want\n%q", got, want)
	}
}

func TestChangesAndCallsInOrderOfNumbers(t *testing.T) {
	wd, e := scene(t)
	set(t, e, hp, 1)
	call(e, jump, 1)
	set(t, e, weapon, 1)
	set(t, e, badge, 1) // not visible at 50 m
	call(e, say, 2)
	call(e, jump, 3)
	set(t, e, hp, 2) // replaces the first change
	set(t, e, secret, 1)
	wd.tell("call 7 1", "change 7", "set weapon", "call 7 2", "call 7 3", "change 7", "set hp")
	wd.tell()
}

func TestDetailLevels(t *testing.T) {
	wd, e := scene(t)
	set(t, e, badge, 5)
	wd.tell()
	at := func(x float32) { wd.watcher.Position.X = 50 - x }
	at(19)
	if wd.w.Pending(wd.watcher) != 1 {
		t.Fatal("a property that came into sight must be pending")
	}
	wd.tell("change 7", "set badge")
	at(23) // within hysteresis
	set(t, e, badge, 6)
	wd.tell("change 7", "set badge")
	at(130)
	set(t, e, badge, 7)
	set(t, e, weapon, 8)
	wd.tell()
	at(15) // two levels at once: what changed since it was last this near
	wd.tell("change 7", "set badge", "set weapon")
	at(130)
	wd.tell()
	at(15)
	wd.tell()
	wd.settle(0)
}

// A property that has not changed since the entity was made still has a value that the client does
// not know.
func TestFirstSightOfALevelSendsDefaultsToo(t *testing.T) {
	wd, _ := scene(t)
	wd.watcher.Position.X = 45
	wd.tell("change 7", "set badge")
}

func TestCallsByDistance(t *testing.T) {
	wd, e := scene(t)
	wd.watcher.Position.X = -1 // 51 m
	call(e, say, 1)
	call(e, jump, 2)
	wd.tell("call 7 2")
	call(e, say, 3)
	if wd.w.Pending(wd.watcher) != 0 {
		t.Fatal("a call out of reach must not be pending")
	}
	wd.tell()
	wd.watcher.Position.X = 0
	wd.tell() // what was called out of reach stays unheard
}

func TestMovesThenRest(t *testing.T) {
	wd, e := scene(t)
	move := func(x float32) { e.MoveTo(wd.tick, property.Vector3{X: x}, property.Vector3{}) }
	update := func(wantPacket, wantBundle bool) {
		t.Helper()
		b, p := wd.w.Update(wd.watcher, wd.tick, nil, false)
		wd.tick++
		if (p != nil) != wantPacket || (b != nil) != wantBundle {
			t.Fatalf("packet %x, bundle %x", p, b)
		}
		wd.client.bundle(b)
		wd.client.packets(p)
		if p := wd.client.has[7].place; p.Position != e.Position {
			t.Fatalf("the client has it at %v, want %v", p, e.Position)
		}
	}
	move(51)
	update(true, false)
	move(52)
	update(true, false)
	update(false, false) // still moving, nothing newer than what was sent
	update(false, false)
	if wd.w.Pending(wd.watcher) != 1 {
		t.Fatal("a move not sent reliably must be pending")
	}
	update(false, true) // at rest
	update(false, false)
	wd.settle(0)
}

func TestIncarnations(t *testing.T) {
	wd, e := scene(t)
	wd.w.Leave(7)
	if wd.w.Pending(wd.watcher) != 1 || wd.w.Len() != 0 {
		t.Fatal("a leave must be pending")
	}
	wd.w.Enter(wd.subject(e)) // back before the leave was sent
	wd.tell()
	next := newEntity(wd.def, 7, 2, 50, 0)
	wd.w.Enter(wd.subject(next))
	wd.tell("leave 7", "enter 7", "set name", "set weapon", "set hp")
	wd.w.Leave(7)
	wd.w.Enter(wd.subject(newEntity(wd.def, 7, 3, 50, 0)))
	wd.w.Leave(7)
	wd.tell("leave 7")
	wd.w.Enter(wd.subject(next))
	wd.w.Leave(7) // never told
	wd.w.Leave(7)
	wd.tell()
	if wd.w.names.n != 0 {
		t.Fatal("an entry is left")
	}
}

func TestTypesWithoutClientAreIgnored(t *testing.T) {
	s, err := property.NewSchema(&property.Definition{Name: "Hidden", HasCell: true})
	if err != nil {
		t.Fatal(err)
	}
	e := newEntityOf(s.Type("Hidden"))
	w := New(Config{})
	w.Enter(&Subject{Entity: e})
	if w.Len() != 0 || len(w.AppendExpected(nil, e, e)) != 0 {
		t.Fatal("a type without client side is watched")
	}
}

func newEntityOf(d *property.Definition) *presence.Entity {
	return &presence.Entity{ID: 1, Def: d, History: property.NewHistory(d), Props: property.NewValues(d, property.CellSide, nil)}
}

func TestDirectMessagesComeFirst(t *testing.T) {
	wd, e := scene(t)
	set(t, e, hp, 1)
	direct := protocol.AppendReset(nil)
	b, _ := wd.w.Update(wd.watcher, wd.tick, direct, false)
	var ids []protocol.ID
	if err := protocol.Messages(b, func(id protocol.ID, _ []byte) error { ids = append(ids, id); return nil }); err != nil {
		t.Fatal(err)
	}
	if want := []protocol.ID{protocol.BundleID, protocol.ResetID, protocol.ChangesID}; fmt.Sprint(ids) != fmt.Sprint(want) {
		t.Fatalf("messages %v, want %v", ids, want)
	}
}

// A bundle that direct messages have filled takes nothing more. The leave of an entity and the
// enter of its next incarnation wait, in this order.
func TestFullBundle(t *testing.T) {
	wd, _ := scene(t)
	wd.w.Enter(wd.subject(newEntity(wd.def, 7, 2, 50, 0)))
	direct := make([]byte, MaxDirect)
	b, _ := wd.w.Update(wd.watcher, wd.tick, direct, true)
	if want := protocol.AppendBundle(nil, 2); len(b) != len(want)+len(direct) {
		t.Fatalf("a bundle of %d bytes for %d direct ones", len(b), len(direct))
	}
	wd.client.number++
	wd.tell("leave 7", "enter 7", "set name", "set weapon", "set hp")
}

// What no bundle can carry is kept back and counted; everything else goes on.
func TestOversize(t *testing.T) {
	wd, e := giantScene(t)
	other := newEntity(wd.def, 8, 1, 60, 0)
	wd.all, wd.within[8] = append(wd.all, other), true
	wd.w.Enter(wd.subject(other))
	wd.tell("enter 8", "set name", "set weapon", "set hp", "set scroll1", "set scroll2", "set scroll3", "set scroll4")
	scrolls := []int{extra, extra + 1, extra + 2, extra + 3}
	for _, i := range scrolls {
		if err := e.Props.Set(i, property.StringValue(strings.Repeat("x", property.MaxClientProperty-3))); err != nil {
			t.Fatal(err)
		}
	}
	set(t, other, hp, 9)
	wd.tell("change 8", "set hp")
	wd.tell()
	if wd.w.Dropped() != 1 || wd.w.Pending(wd.watcher) != 1 {
		t.Fatalf("dropped %d, pending %d", wd.w.Dropped(), wd.w.Pending(wd.watcher))
	}
	for _, i := range scrolls {
		if err := e.Props.Set(i, property.StringValue("short")); err != nil {
			t.Fatal(err)
		}
	}
	e.History.Add(jump, make([]byte, MaxEntity)) // a call can be dropped alone
	wd.tell("change 7", "set scroll1", "set scroll2", "set scroll3", "set scroll4")
	if wd.w.Dropped() != 2 {
		t.Fatalf("dropped %d", wd.w.Dropped())
	}
	wd.settle(10)
}

func TestConfigValidate(t *testing.T) {
	if err := (Config{}).Validate(); err != nil {
		t.Error(err)
	}
	bad := Config{BytesPerTick: -1, MaxDeficit: -1, MaxRadius: float32(math.NaN()), MaxWait: -1, DetailFactor: 1.5}
	err := bad.Validate()
	for _, field := range []string{"BytesPerTick", "MaxDeficit", "MaxRadius", "MaxWait", "DetailFactor"} {
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("no fault of %s in %v", field, err)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("New took an invalid Config")
		}
	}()
	New(bad)
}
