package baseapp

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/argument"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/property"
)

var nowhere mercury.Address

func TestCreateCell(t *testing.T) {
	r := joinedRig(t)
	id, v := r.spawn()
	if err := v.Cell().Call("hurt", int32(1)); !errors.Is(err, entity.ErrNoPart) {
		t.Errorf("call without a cell part: %v", err)
	}
	health := r.schema.Type("Avatar").Property("health").Index
	err := v.CreateCell(1, property.Vector3{X: 3, Z: 4}, property.Vector3{X: 1}, func(cell *property.Values) {
		_ = cell.Set(health, property.Int(55))
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := v.CreateCell(1, property.Vector3{}, property.Vector3{}, nil); !errors.Is(err, entity.ErrHasPart) {
		t.Errorf("a second time: %v", err)
	}
	if err := v.Cell().Call("hurt", int32(1)); err != nil {
		t.Errorf("call while it is made: %v", err)
	}
	r.tick()
	locate := one(t, told[wire.Locate](r, cellAppMgr))
	if locate.ID != id || locate.Space != 1 || locate.Position != (property.Vector3{X: 3, Z: 4}) {
		t.Errorf("asked %+v", locate)
	}
	r.say(r.managers, &wire.Located{ID: id, Space: 1, App: appX})
	c := one(t, told[migrate.Create](r, appX))
	if c.ID != id || c.Type != r.schema.Type("Avatar").ID || c.Space != 1 || c.Order != (entity.Order{Incarnation: 1}) || c.Base != self || c.Handled != 0 || c.Restored {
		t.Errorf("created by %+v", c)
	}
	cell := property.NewValues(r.schema.Type("Avatar"), property.CellSide, nil)
	var core migrate.Core
	err = migrate.EachPart(c.Parts, func(tag migrate.Tag, body []byte) error {
		if tag == migrate.CorePart {
			return core.Parse(body)
		}
		_, err := cell.ReadStream(body, property.CellStream)
		return err
	})
	if err != nil || core.Position.X != 3 || core.Direction.X != 1 || cell.Get(health).Int() != 55 {
		t.Errorf("parts: %+v, health %v, %v", core, cell.Get(health), err)
	}
	r.events = nil
	r.current(appX, id, 1, 0, 0)
	r.wantEvents("got cell")
	if got := r.flow(appX); !slices.Equal(got, []string{"1:1"}) {
		t.Errorf("after Current it was sent %v", got)
	}
	r.wantLink(id, linkLive, 1, 0, appX)
}

func TestCreateCellFaults(t *testing.T) {
	r := joinedRig(t)
	_, v := r.spawn()
	nan := float32(math.NaN())
	for name, err := range map[string]error{
		"space":     v.CreateCell(0, property.Vector3{}, property.Vector3{}, nil),
		"position":  v.CreateCell(1, property.Vector3{X: nan}, property.Vector3{}, nil),
		"direction": v.CreateCell(1, property.Vector3{}, property.Vector3{Y: nan}, nil),
		"destroy":   v.DestroyCell(),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestLocateIsRetriedEachSecond(t *testing.T) {
	r := joinedRig(t)
	id, v := r.spawn()
	r.createCell(v)
	r.pass(2 * locateRetry)
	if n := len(told[wire.Locate](r, cellAppMgr)); n != 2 {
		t.Errorf("asked %d times in two seconds", n)
	}
	r.say(r.managers, &wire.Located{ID: id, Space: 1})
	r.wantLink(id, linkLocating, 1, 0, nowhere)
	r.say(r.managers, &wire.Located{ID: id, Space: 2, App: appX})
	r.wantLink(id, linkLocating, 1, 0, nowhere)
	r.say(r.managers, &wire.Located{ID: id, Space: 1, App: appX})
	r.say(r.managers, &wire.Located{ID: id, Space: 1, App: appY})
	r.wantLink(id, linkCreating, 1, 0, appX)
	if n := len(told[migrate.Create](r, appY)); n != 0 {
		t.Error("a doubled Located made a second real")
	}
}

func TestLocatedOnADeadApp(t *testing.T) {
	r := joinedRig(t)
	id, v := r.spawn()
	r.createCell(v)
	r.tick()
	r.say(r.managers, &wire.AppDead{Role: wire.CellApp, App: appX})
	r.say(r.managers, &wire.Located{ID: id, Space: 1, App: appX})
	r.wantLink(id, linkLocating, 1, 0, nowhere)
}

func TestLocatedComesFromTheManagerOnly(t *testing.T) {
	r := joinedRig(t)
	id, v := r.spawn()
	r.createCell(v)
	r.tick()
	r.tell(appY, &wire.Located{ID: id, Space: 1, App: appY})
	r.wantLink(id, linkLocating, 1, 0, nowhere)
}

func TestLostCreateIsRepeatedUnderTheNextIncarnation(t *testing.T) {
	r := joinedRig(t)
	id, v := r.spawn()
	r.create(id, v)
	_ = v.Cell().Call("hurt", int32(1))
	r.pass(createTimeout)
	if m := one(t, told[migrate.Probe](r, appX)); m.ID != id || m.Order != (entity.Order{Incarnation: 1}) || m.Hops != 0 {
		t.Errorf("asked by %+v", m)
	}
	r.take(cellAppMgr)
	r.tell(appX, &migrate.Lost{ID: id, Order: entity.Order{Incarnation: 1}})
	r.wantRefuse(appX, id, entity.Order{Incarnation: 1})
	r.pass(offerGrace)
	c := r.located(id, appY)
	if c.Order != (entity.Order{Incarnation: 2}) || c.Restored {
		t.Errorf("created by %+v", c)
	}
	// The first one is there nevertheless.
	r.current(appX, id, 1, 0, 0)
	r.wantRefuse(appX, id, entity.Order{Incarnation: 1})
	r.up(appX, id, 1, 1, bundle(1, "late"))
	r.wantRefuse(appX, id, entity.Order{Incarnation: 1, Hop: math.MaxUint32})
	r.current(appY, id, 2, 0, 0)
	r.wantLink(id, linkLive, 2, 0, appY)
	if m := one(t, told[flow.Message](r, appY)); m.Incarnation != 0 || m.Number != 1 || m.Low != 1 || m.Reply != self {
		t.Errorf("sent %+v", m)
	}
}

// TestSlowCellAppIsWaitedFor: ten thousand cell parts take a CellApp longer than createTimeout. It
// is asked now and then, by a few bases a tick, and no other real is made meanwhile.
func TestSlowCellAppIsWaitedFor(t *testing.T) {
	const bases = 200
	r := joinedRig(t)
	var ids []entity.ID
	for range bases {
		id, v := r.spawn()
		r.create(id, v)
		ids = append(ids, id)
	}
	r.take(cellAppMgr)
	probes := 0
	for range 12 {
		r.pass(time.Second)
		probes += len(told[migrate.Probe](r, appX))
	}
	if n := len(told[wire.Locate](r, cellAppMgr)); n != 0 || probes < 2*bases || probes > 3*bases {
		t.Errorf("%d bases asked %d times, and %d are to be made elsewhere", bases, probes, n)
	}
	for _, id := range ids {
		r.current(appX, id, 1, 0, 0)
		r.wantLink(id, linkLive, 1, 0, appX)
	}
}

// TestCreateOnACellAppThatHasLeft: a CellApp that has left the cluster makes nothing any more.
func TestCreateOnACellAppThatHasLeft(t *testing.T) {
	r := joinedRig(t)
	id, v := r.spawn()
	r.create(id, v)
	r.say(r.managers, &wire.AppLeft{App: appX})
	r.wantLink(id, linkCreating, 1, 0, appX) // it may have handed the real on
	r.take(cellAppMgr)
	r.pass(createTimeout)
	if m := one(t, told[wire.AppSilent](r, cellAppMgr)); m.App != appX {
		t.Errorf("asked about %v", m.App)
	}
	r.say(r.managers, &wire.AppLeft{App: appX})
	r.pass(offerGrace)
	r.located(id, appY)
}

func TestCurrentOfAnUnknownEntityIsRefused(t *testing.T) {
	r := joinedRig(t)
	r.current(appX, 77, 3, 4, 0)
	r.wantRefuse(appX, 77, entity.Order{Incarnation: 3, Hop: 4})
}

func TestFlowOfAnUnknownEntityIsRefused(t *testing.T) {
	r := joinedRig(t)
	r.up(appX, 77, 3, 1, (&flow.Gone{}).Append(nil))
	r.wantRefuse(appX, 77, entity.Order{Incarnation: 3, Hop: math.MaxUint32})
}

func TestOfferOfAnUnknownEntityIsRefused(t *testing.T) {
	r := joinedRig(t)
	r.tell(appX, &migrate.Offer{ID: 77, Order: entity.Order{Incarnation: 3, Hop: 4}})
	r.wantRefuse(appX, 77, entity.Order{Incarnation: 3, Hop: 4})
	r.tell(appX, &migrate.Lost{ID: 77})
}

func TestMoveSendsTheTailToTheNewAddress(t *testing.T) {
	r := joinedRig(t)
	id, v := r.live()
	for i := range 4 {
		_ = v.Cell().Call("hurt", int32(i))
	}
	if got := r.flow(appX); !slices.Equal(got, []string{"1:1", "2:1", "3:1", "4:1"}) {
		t.Errorf("X got %v", got)
	}
	r.tell(appX, &flow.Ack{To: id, ToPart: entity.BasePart, From: id, FromPart: entity.CellPart, Life: 1, Number: 1})
	r.current(appY, id, 1, 1, 2)
	if got := r.flow(appY); !slices.Equal(got, []string{"3:1", "4:1"}) {
		t.Errorf("Y got %v", got)
	}
	// X's word, late, of the order before.
	r.current(appX, id, 1, 0, 2)
	r.wantRefuse(appX, id, entity.Order{Incarnation: 1})
	r.wantLink(id, linkLive, 1, 1, appY)
	// Y's word, doubled.
	r.current(appY, id, 1, 1, 3)
	if got := r.flow(appY); len(got) != 0 {
		t.Errorf("sent again for a doubled Current: %v", got)
	}
	if view, _ := r.view(id); view.Unreceived != 1 || view.Kept != 4 {
		t.Errorf("%d unreceived, %d kept", view.Unreceived, view.Kept)
	}
}

func TestUnacknowledgedIsSentAgain(t *testing.T) {
	r := joinedRig(t)
	id, v := r.live()
	_ = v.Cell().Call("hurt", int32(1))
	r.take(appX)
	r.pass(flow.ResendAfter)
	if got := r.flow(appX); !slices.Equal(got, []string{"1:1"}) {
		t.Errorf("sent again: %v", got)
	}
	r.tell(appX, &flow.Ack{To: id, ToPart: entity.BasePart, From: id, FromPart: entity.CellPart, Life: 1, Number: 1})
	r.pass(2 * flow.ResendAfter)
	if got := r.flow(appX); len(got) != 0 {
		t.Errorf("sent again after the ack: %v", got)
	}
}

// die kills a CellApp by verdict and brings the base to ask for another one.
func (r *rig) die(app mercury.Address) {
	r.say(r.managers, &wire.AppDead{Role: wire.CellApp, App: app})
	r.take(cellAppMgr)
	r.pass(offerGrace)
}

func TestDeathRestoresFromTheBackupAndReplays(t *testing.T) {
	r := joinedRig(t)
	id, v := r.live()
	for i := range 3 {
		_ = v.Cell().Call("hurt", int32(i))
	}
	r.up(appX, id, 1, 1, backup(1, 0, 1, 1, "one"))
	r.up(appX, id, 1, 2, backup(1, 0, 2, 2, "two"))
	r.tell(appX, &flow.Ack{To: id, ToPart: entity.BasePart, From: id, FromPart: entity.CellPart, Life: 1, Number: 3})
	r.events = nil
	r.die(appX)
	c := r.located(id, appY)
	if c.Order != (entity.Order{Incarnation: 2}) || !c.Restored || c.Handled != 2 || string(c.Parts) != "two" {
		t.Errorf("restored by %+v", c)
	}
	_ = v.Cell().Call("hurt", int32(3)) // kept while it comes back
	// An ack of the dead incarnation, on its way through another app, says nothing.
	r.tell(appZ, &flow.Ack{To: id, ToPart: entity.BasePart, From: id, FromPart: entity.CellPart, Life: 1, Number: 4})
	r.current(appY, id, 2, 0, 2)
	if got := r.flow(appY); !slices.Equal(got, []string{"3:1", "4:1"}) {
		t.Errorf("replayed %v", got)
	}
	r.wantEvents() // for the script it is the same cell part
}

func TestADeadAppIsNotHeard(t *testing.T) {
	r := joinedRig(t)
	id, _ := r.live()
	r.die(appX)
	r.current(appX, id, 1, 9, 0)
	r.up(appX, id, 1, 1, backup(1, 9, 9, 0, "zombie"))
	r.tell(appX, &migrate.Offer{ID: id, Order: entity.Order{Incarnation: 1, Hop: 9}, Parts: []byte("zombie")})
	if c := r.located(id, appY); string(c.Parts) == "zombie" {
		t.Error("restored from what a dead app said")
	}
}

func TestDeathWhileCreating(t *testing.T) {
	r := joinedRig(t)
	id, v := r.spawn()
	r.create(id, v)
	r.die(appX)
	if c := r.located(id, appY); c.Order.Incarnation != 2 || c.Restored {
		t.Errorf("created by %+v", c)
	}
}

func TestDeathOfAnotherAppConcernsNobody(t *testing.T) {
	r := joinedRig(t)
	id, _ := r.live()
	r.die(appZ)
	r.wantLink(id, linkLive, 1, 0, appX)
}

func TestOfferIsFresherThanTheBackup(t *testing.T) {
	r := joinedRig(t)
	id, v := r.live()
	for i := range 3 {
		_ = v.Cell().Call("hurt", int32(i))
	}
	r.up(appX, id, 1, 1, backup(1, 0, 1, 1, "backup"))
	// X handed the real to Y, which died; the base has not heard of the handoff.
	r.tell(appX, &migrate.Offer{ID: id, Order: entity.Order{Incarnation: 1, Hop: 1}, Saves: 1, Handled: 2, Space: 1, Parts: []byte("offer")})
	r.wantLink(id, linkLost, 1, 0, nowhere)
	r.take(cellAppMgr)
	r.pass(offerGrace)
	c := r.located(id, appZ)
	if string(c.Parts) != "offer" || c.Handled != 2 || c.Order.Incarnation != 2 {
		t.Errorf("restored by %+v", c)
	}
	r.current(appZ, id, 2, 0, 2)
	if got := r.flow(appZ); !slices.Equal(got, []string{"3:1"}) {
		t.Errorf("replayed %v", got)
	}
}

func TestOfferInTheGraceOfADeath(t *testing.T) {
	r := joinedRig(t)
	id, _ := r.live()
	r.current(appY, id, 1, 1, 0)
	r.say(r.managers, &wire.AppDead{Role: wire.CellApp, App: appY})
	r.take(cellAppMgr)
	r.tick()
	r.tell(appX, &migrate.Offer{ID: id, Order: entity.Order{Incarnation: 1, Hop: 1}, Space: 1, Parts: []byte("offer")})
	r.pass(offerGrace)
	if c := r.located(id, appZ); string(c.Parts) != "offer" {
		t.Errorf("restored by %+v", c)
	}
}

func TestARealThatWentOnCancelsTheLoss(t *testing.T) {
	r := joinedRig(t)
	id, v := r.live()
	_ = v.Cell().Call("hurt", int32(0))
	r.tell(appX, &migrate.Offer{ID: id, Order: entity.Order{Incarnation: 1, Hop: 1}, Space: 1, Parts: []byte("offer")})
	r.wantLink(id, linkLost, 1, 0, nowhere)
	r.current(appZ, id, 1, 2, 0)
	r.wantLink(id, linkLive, 1, 2, appZ)
	r.pass(time.Second)
	r.wantLink(id, linkLive, 1, 2, appZ)
	if got := r.flow(appZ); got[0] != "1:1" {
		t.Errorf("Z got %v", got)
	}
}

func TestARealThatWentOnIsHeardInTheGrace(t *testing.T) {
	r := joinedRig(t)
	id, _ := r.live()
	r.say(r.managers, &wire.AppDead{Role: wire.CellApp, App: appX})
	r.up(appY, id, 1, 1, backup(1, 1, 5, 0, "fresh"))
	r.take(cellAppMgr)
	r.pass(offerGrace)
	if c := r.located(id, appZ); string(c.Parts) != "fresh" {
		t.Errorf("restored by %q", c.Parts)
	}
	r.current(appY, id, 1, 1, 0) // too late
	r.wantRefuse(appY, id, entity.Order{Incarnation: 1, Hop: 1})
}

func TestLostIsRestored(t *testing.T) {
	r := joinedRig(t)
	id, _ := r.live()
	r.up(appX, id, 1, 1, backup(1, 0, 1, 0, "backup"))
	r.take(cellAppMgr)
	r.tell(appX, &migrate.Lost{ID: id, Order: entity.Order{Incarnation: 0, Hop: 9}, Reason: "old"})
	r.wantLink(id, linkLive, 1, 0, appX)
	r.tell(appX, &migrate.Lost{ID: id, Order: entity.Order{Incarnation: 1}, Reason: "panic"})
	r.wantLink(id, linkLost, 1, 0, nowhere)
	r.pass(offerGrace)
	// The same app, which is not dead.
	if c := r.located(id, appX); string(c.Parts) != "backup" || c.Order.Incarnation != 2 {
		t.Errorf("restored by %+v", c)
	}
}

func TestFlowFromTheCell(t *testing.T) {
	r := joinedRig(t)
	id, _ := r.live()
	r.events = nil
	buy := flow.MethodCall{Method: 1}
	args, err := argument.Append(nil, r.schema.Type("Avatar").BaseMethod("buy"), []any{"hat", int32(2)})
	if err != nil {
		t.Fatal(err)
	}
	buy.Args = args
	hidden := flow.MethodCall{Method: 0}
	r.up(appX, id, 1, 2, hidden.Append(nil, flow.CallBasePayload)) // early
	r.wantEvents()
	r.up(appX, id, 1, 1, buy.Append(nil, flow.CallBasePayload))
	r.up(appX, id, 1, 1, buy.Append(nil, flow.CallBasePayload)) // doubled
	r.wantEvents("buy hat 2", "hidden")
	r.up(appX, id, 0, 3, hidden.Append(nil, flow.CallBasePayload)) // of a life before
	r.up(appX, id, 2, 1, hidden.Append(nil, flow.CallBasePayload)) // of a life to come
	r.wantEvents()
	r.take(appX)
	r.tick()
	ack := one(t, told[flow.Ack](r, appX))
	if ack != (flow.Ack{To: id, ToPart: entity.CellPart, From: id, FromPart: entity.BasePart, Incarnation: 1, Number: 2, Settled: 2}) {
		t.Errorf("ack %+v", ack)
	}
	r.tick()
	if n := len(told[flow.Ack](r, appX)); n != 0 {
		t.Error("acknowledged again without need")
	}
	if rep := r.a.Counters(); rep.FlowHandled != 2 {
		t.Errorf("%d handled", rep.FlowHandled)
	}
}

func TestAckGoesToWhereTheRealIs(t *testing.T) {
	r := joinedRig(t)
	id, _ := r.live()
	r.up(appX, id, 1, 1, backup(1, 0, 1, 0, "a"))
	r.tick()
	if n := len(told[flow.Ack](r, appX)); n != 1 {
		t.Errorf("%d acks to the app that is known", n)
	}
	r.up(appY, id, 1, 2, backup(1, 1, 2, 0, "b")) // Y took over; its Current was lost
	r.tick()
	if n := len(told[flow.Ack](r, appX)); n != 0 {
		t.Errorf("%d acks of what an app said that does not hold the entity", n)
	}
	if m := one(t, told[migrate.Probe](r, appY)); m.ID != id || m.Hops != 1 {
		t.Errorf("asked %+v", m)
	}
	r.current(appY, id, 1, 1, 0)
	r.up(appY, id, 1, 1, backup(1, 1, 1, 0, "b"))
	r.tick()
	if n := len(told[flow.Ack](r, appY)); n != 1 {
		t.Errorf("%d acks after the move", n)
	}
}

func TestBadFlowMessagesAreCounted(t *testing.T) {
	r := joinedRig(t)
	id, _ := r.live()
	for i, p := range [][]byte{{}, {200}, {byte(flow.BackupPayload)}, {byte(flow.BundlePayload), 1}, {byte(flow.CallBasePayload), 9, 0}} {
		r.up(appX, id, 1, uint64(i+1), p)
	}
	if rep := r.a.Counters(); rep.Errors != 5 {
		t.Errorf("%d errors", rep.Errors)
	}
	r.tell(appX, &flow.Message{From: 9, FromPart: entity.CellPart, To: id, ToPart: entity.BasePart, Incarnation: 1, Number: 1})
	r.tell(appX, &flow.Message{From: id, FromPart: entity.CellPart, To: id, ToPart: entity.CellPart, Incarnation: 1, Number: 1})
	if rep := r.a.Counters(); rep.Refused != 2 {
		t.Errorf("%d refused", rep.Refused)
	}
}

func TestKeptForcesABackup(t *testing.T) {
	r := joinedRig(t)
	id, v := r.live()
	call := func(n int) {
		for range n {
			if err := v.Cell().Call("hurt", int32(1)); err != nil {
				t.Fatal(err)
			}
		}
	}
	asked := func() (n int) {
		r.tick()
		for _, m := range told[flow.Message](r, appX) {
			if flow.Payload(m.Payload[0]) == flow.BackupNowPayload {
				n++
			}
		}
		return n
	}
	call(KeptForcesBackup)
	if n := asked(); n != 0 {
		t.Error("asked at the limit")
	}
	call(1)
	if n := asked(); n != 1 {
		t.Errorf("asked %d times above it", n)
	}
	call(1)
	if n := asked(); n != 0 {
		t.Error("asked again before the backup came")
	}
	r.up(appX, id, 1, 1, backup(1, 0, 1, 1, "b"))
	if n := asked(); n != 1 {
		t.Errorf("asked %d times while still above", n)
	}
	r.up(appX, id, 1, 2, backup(1, 0, 2, KeptForcesBackup, "b"))
	if n := asked(); n != 0 {
		t.Error("asked without need")
	}
}

func TestFlowFull(t *testing.T) {
	r := joinedRig(t)
	_, v := r.live()
	var err error
	for range flow.MaxKept + 1 {
		if err = v.Cell().Call("hurt", int32(1)); err != nil {
			break
		}
	}
	if !errors.Is(err, flow.ErrFull) {
		t.Errorf("got %v", err)
	}
}

func TestDestroyCell(t *testing.T) {
	r := joinedRig(t)
	id, v := r.live()
	r.events = nil
	if err := v.DestroyCell(); err != nil {
		t.Fatal(err)
	}
	if err := v.Cell().Call("hurt", int32(1)); !errors.Is(err, entity.ErrNoPart) {
		t.Errorf("call to a cell part that is leaving: %v", err)
	}
	if err := v.DestroyCell(); !errors.Is(err, entity.ErrNoPart) {
		t.Errorf("a second time: %v", err)
	}
	if got := r.flow(appX); !slices.Equal(got, []string{fmt.Sprintf("1:%d", flow.DestroyPayload)}) {
		t.Errorf("sent %v", got)
	}
	r.up(appX, id, 1, 1, (&flow.Gone{}).Append(nil))
	r.wantEvents("lost cell")
	if n := len(told[flow.Ack](r, appX)); n != 1 {
		t.Errorf("%d acks of the last word", n)
	}
	r.wantLink(id, linkNone, 1, 0, nowhere)
	// The last word again, since its ack was lost: acknowledged, and nothing else.
	r.up(appX, id, 1, 1, (&flow.Gone{}).Append(nil))
	r.tick()
	if n := len(told[flow.Ack](r, appX)); n != 1 {
		t.Errorf("%d acks of the doubled last word", n)
	}
	r.wantEvents()
	// An orphan that says more is refused.
	r.up(appX, id, 1, 2, bundle(1, "x"))
	r.wantRefuse(appX, id, entity.Order{Incarnation: 1, Hop: math.MaxUint32})
	// A second life.
	c := r.create(id, v)
	if c.Order.Incarnation != 2 || c.Handled != 1 || c.Restored {
		t.Errorf("second life created by %+v", c)
	}
	r.current(appX, id, 2, 0, 1)
	r.wantEvents("got cell")
	_ = v.Cell().Call("hurt", int32(1))
	if m := one(t, told[flow.Message](r, appX)); m.Number != 2 || m.Low != 2 || m.Incarnation != 0 {
		t.Errorf("sent %+v", m)
	}
}

// A cell part that was told to go may be on its app already, and handle what comes by its own way. So
// the base says of no call that came by way of it that the part has ended, until it has.
func TestPartThatLeavesHasNotEnded(t *testing.T) {
	for _, live := range []bool{false, true} {
		t.Run(fmt.Sprintf("live=%t", live), func(t *testing.T) {
			r := joinedRig(t)
			id, v := r.spawn()
			r.create(id, v)
			if live {
				r.current(appX, id, 1, 0, 0)
			}
			if err := v.DestroyCell(); err != nil {
				t.Fatal(err)
			}
			m := call(ofX, entity.CellPart, id, 1, ofX)
			m.ToPart, m.Reply = entity.CellPart, appY
			said := func() (ends, remainders int) {
				r.take(appY)
				r.tell(appY, m)
				r.tell(appY, &flow.Inquiry{Of: id, OfPart: entity.CellPart, By: ofX, ByPart: entity.CellPart, Reply: appY, Stamp: 1})
				for _, x := range r.take(appY) {
					switch id, body, err := wire.Split(x); {
					case err != nil:
						t.Fatal(err)
					case id == wire.FlowAckID && parsed[flow.Ack](t, body).Gone:
						ends++
					case id == wire.FlowRemainderID:
						remainders++
					}
				}
				return ends, remainders
			}
			if ends, remainders := said(); ends+remainders != 0 {
				t.Errorf("before the end it was told of %d ends, and %d remainders", ends, remainders)
			}
			if !live {
				r.current(appX, id, 1, 0, 0)
			}
			r.up(appX, id, 1, 1, (&flow.Gone{}).Append(nil))
			r.wantLink(id, linkNone, 1, 0, nowhere)
			if ends, remainders := said(); ends != 1 || remainders != 1 {
				t.Errorf("after the end it was told of %d ends, and %d remainders", ends, remainders)
			}
		})
	}
}

func TestTheScriptMayCreateTheNextCellWhenItLosesOne(t *testing.T) {
	r := joinedRig(t)
	r.do["lost cell"] = func(v *avatar) { r.createCell(v) }
	id, v := r.live()
	_ = v.DestroyCell()
	r.up(appX, id, 1, 1, (&flow.Gone{}).Append(nil))
	r.wantLink(id, linkLocating, 2, 0, nowhere)
}

func TestDestroyBase(t *testing.T) {
	for _, tt := range []struct {
		name string
		end  func(r *rig, id entity.ID)
	}{
		{"gone", func(r *rig, id entity.ID) { r.up(appX, id, 1, 1, (&flow.Gone{}).Append(nil)) }},
		{"death", func(r *rig, id entity.ID) { r.say(r.managers, &wire.AppDead{Role: wire.CellApp, App: appX}) }},
		{"lost", func(r *rig, id entity.ID) { r.tell(appX, &migrate.Lost{ID: id, Order: entity.Order{Incarnation: 1}}) }},
		{"offer", func(r *rig, id entity.ID) {
			r.tell(appX, &migrate.Offer{ID: id, Order: entity.Order{Incarnation: 1, Hop: 1}})
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := joinedRig(t)
			id, v := r.live()
			r.events = nil
			v.Destroy()
			v.Destroy()
			if got := r.flow(appX); !slices.Equal(got, []string{fmt.Sprintf("1:%d", flow.EndPayload)}) {
				t.Errorf("sent %v", got)
			}
			if _, ok := r.view(id); !ok {
				t.Error("gone before its cell part")
			}
			tt.end(r, id)
			r.wantEvents("lost cell", "destroyed")
			if _, ok := r.view(id); ok {
				t.Error("still there")
			}
			r.tick()
			r.current(appZ, id, 1, 5, 0)
			r.wantRefuse(appZ, id, entity.Order{Incarnation: 1, Hop: 5})
			if err := v.CreateCell(1, property.Vector3{}, property.Vector3{}, nil); !errors.Is(err, entity.ErrNoPart) {
				t.Errorf("a destroyed base makes a cell part: %v", err)
			}
		})
	}
}

func TestDestroyWithoutALiveCell(t *testing.T) {
	r := joinedRig(t)
	_, v := r.spawn()
	r.events = nil
	v.Destroy()
	r.wantEvents("destroyed")

	id, v := r.spawn() // locating
	r.createCell(v)
	r.events = nil
	v.Destroy()
	r.wantEvents("destroyed")
	r.tick()
	r.say(r.managers, &wire.Located{ID: id, Space: 1, App: appX})
	if n := len(told[migrate.Create](r, appX)); n != 0 {
		t.Error("a late Located made a real without a base")
	}
}

func TestDestroyWhileCreating(t *testing.T) {
	r := joinedRig(t)
	id, v := r.spawn()
	r.create(id, v)
	v.Destroy()
	r.current(appX, id, 1, 0, 0)
	if got := r.flow(appX); !slices.Equal(got, []string{fmt.Sprintf("1:%d", flow.EndPayload)}) {
		t.Errorf("the real that came was told %v", got)
	}
	r.up(appX, id, 1, 1, (&flow.Gone{}).Append(nil))
	if _, ok := r.view(id); ok {
		t.Error("still there")
	}

	id, v = r.spawn() // and one that never answers
	r.create(id, v)
	v.Destroy()
	r.pass(createTimeout - DefaultTick)
	if _, ok := r.view(id); !ok {
		t.Error("given up too early")
	}
	r.tick()
	if _, ok := r.view(id); ok {
		t.Error("still waits for a CellApp that does not answer")
	}
}

func TestManagerAwayChangesNothing(t *testing.T) {
	r := joinedRig(t)
	id, v := r.live()
	r.a.Closed(r.now, r.managers, mercury.ErrTimeout)
	_, w := r.spawn()
	r.createCell(w)
	r.pass(3 * time.Second)
	r.managers = r.open(cellAppMgr)
	r.say(r.managers, &wire.Welcome{Number: 8, Allocator: 6})
	r.wantLink(id, linkLive, 1, 0, appX)
	if v.Cell().Call("hurt", int32(1)) != nil || len(r.flow(appX)) != 1 {
		t.Error("the cell part cannot be called")
	}
	r.take(cellAppMgr)
	r.pass(time.Second)
	one(t, told[wire.Locate](r, cellAppMgr))
	if next, _ := r.spawn(); next>>32 != 5 {
		t.Errorf("ids go on with allocator %d", next>>32)
	}
}

func TestDestroyWithAFullFlowCutsTheLink(t *testing.T) {
	r := joinedRig(t)
	id, v := r.live()
	calls := 0
	for ; v.Cell().Call("hurt", int32(1)) == nil; calls++ {
	}
	if free := flow.MaxKept - calls; free < flow.Reserved-2 {
		t.Errorf("%d calls leave room for %d messages of the library", calls, free)
	}
	for b := r.a.byID[id]; b.addToFlow([]byte{byte(flow.BackupNowPayload)}) == nil; {
	}
	r.take(appX)
	r.events = nil
	v.Destroy()
	r.wantRefuse(appX, id, entity.Order{Incarnation: 1})
	r.wantEvents("lost cell", "destroyed")
	if _, ok := r.view(id); ok {
		t.Error("still there")
	}
	if rep := r.a.Counters(); rep.Errors != 1 {
		t.Errorf("%d errors", rep.Errors)
	}
}

func TestDestroyCellBeforeItIsMade(t *testing.T) {
	r := joinedRig(t)
	id, v := r.spawn()
	r.createCell(v)
	r.events = nil
	if err := v.DestroyCell(); err != nil {
		t.Fatal(err)
	}
	r.wantLink(id, linkNone, 1, 0, nowhere)
	r.wantEvents()
	r.pass(time.Second)
	if n := len(told[wire.Locate](r, cellAppMgr)); n != 0 {
		t.Error("asked for a CellApp without need")
	}
}

func TestDestroyCellWhileItIsLost(t *testing.T) {
	r := joinedRig(t)
	p, id, v := r.playLive()
	r.say(r.managers, &wire.AppDead{Role: wire.CellApp, App: appX})
	if err := v.DestroyCell(); err != nil {
		t.Fatal(err)
	}
	p.wantHeard("[44]")
	r.wantEvents("lost cell")
	// The real had gone on: it is one too many now.
	r.current(appY, id, 1, 1, 0)
	r.wantRefuse(appY, id, entity.Order{Incarnation: 1, Hop: 1})
}

func TestLostChannelToACellAppIsRepairedByTheFlow(t *testing.T) {
	r := joinedRig(t)
	_, v := r.live()
	ch := r.net.Dial(appX)
	_ = v.Cell().Call("hurt", int32(1))
	r.take(appX)
	r.net.ended[ch] = true
	r.a.Closed(r.now, ch, mercury.ErrTimeout)
	r.pass(flow.ResendAfter)
	if got := r.flow(appX); !slices.Equal(got, []string{"1:1"}) || r.net.Dial(appX) == ch {
		t.Errorf("sent again: %v", got)
	}
}
