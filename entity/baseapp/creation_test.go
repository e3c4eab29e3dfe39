package baseapp

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/entity/limits"
	"github.com/cellscape/cellscape/entity/placement"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/property"
)

// nearTo is the mailbox of another avatar's cell part.
func nearTo(v *avatar, id entity.ID) property.Mailbox {
	return v.Lookup(id, "Avatar", entity.CellMailbox).Value()
}

// createAt asks for a cell part, and forgets what the script has heard.
func (r *rig) createAt(v *avatar, info entity.CellInfo, user int64) {
	r.t.Helper()
	r.events = nil
	if err := v.CreateCellAt(info, "OnCell", user); err != nil {
		r.t.Fatal(err)
	}
}

// asked is the ask that went to an entity on an app.
func (r *rig) asked(on mercury.Address, near entity.ID) flow.ServerCall {
	r.t.Helper()
	m := one(r.t, told[flow.Message](r, on))
	var x flow.ServerCall
	if err := x.Parse(m.Payload[1:]); err != nil || m.To != near || m.ToPart != entity.CellPart || x.Method != flow.AskPlace {
		r.t.Fatalf("asked %+v, %+v, %v", m, x, err)
	}
	return x
}

// replies is what an entity's cell part answers.
func (r *rig) replies(from mercury.Address, by, to entity.ID, number uint64, a flow.Answer) {
	r.tell(from, &flow.Message{From: by, FromPart: entity.CellPart, To: to, ToPart: entity.BasePart,
		Incarnation: 1, Born: 1, Low: 1, Number: number, Reply: from, Payload: a.Append(nil)})
}

func placeOf(x *flow.ServerCall, at flow.Place) flow.Answer {
	return flow.Answer{Request: x.Request, Results: at.Append(nil)}
}

// A cell part is made in a space, and the script is told after OnGetCell.
func TestCreateCellAtSpace(t *testing.T) {
	r := joinedRig(t)
	id, v := r.spawn()
	r.createAt(v, entity.CellInfo{Space: 1, Position: property.Vector3{X: 3}}, 1)
	if err := v.CreateCell(1, property.Vector3{}, property.Vector3{}, nil); !errors.Is(err, entity.ErrHasPart) {
		t.Errorf("a second one: %v", err)
	}
	r.tick()
	r.located(id, appX)
	r.current(appX, id, 1, 0, 0)
	r.current(appX, id, 1, 0, 0)
	r.wantEvents("got cell", "cell 1 <nil>")
	r.up(appX, id, 1, 1, (&flow.Gone{}).Append(nil))
	r.wantEvents("lost cell")
	r.createAt(v, entity.CellInfo{Space: 1}, 2)
	r.pass(CreatePatience * 2)
	r.wantEvents("cell 2 create: no cell: no CellApp made it in time")
}

// A cell part is made where another entity is that has a base here, elsewhere, or none.
func TestCreateCellNear(t *testing.T) {
	r := joinedRig(t)
	friend, _ := r.live()
	for n, c := range []struct {
		near entity.ID
		on   mercury.Address
	}{{friend, appX}, {ofW, appW}, {ofX, appX}} {
		id, v := r.spawn()
		r.createAt(v, entity.CellInfo{Near: nearTo(v, c.near), Position: property.Vector3{X: 3}, Direction: property.Vector3{Y: 1}}, 1)
		if err := v.CreateCell(1, property.Vector3{}, property.Vector3{}, nil); !errors.Is(err, entity.ErrHasPart) {
			t.Errorf("a second one: %v", err)
		}
		if err := v.Cell().Call("hurt", 1); !errors.Is(err, entity.ErrNoPart) {
			t.Errorf("a call before there is a place: %v", err)
		}
		x := r.asked(c.on, c.near)
		a := placeOf(&x, flow.Place{Space: 5, Position: property.Vector3{X: 10, Z: 7}})
		r.replies(appX, c.near, id, 1, a)
		r.replies(appX, c.near, id, 2, a)
		r.tick()
		if m := one(t, told[wire.Locate](r, cellAppMgr)); m.Space != 5 || m.Position != (property.Vector3{X: 13, Z: 7}) {
			t.Errorf("%d: to be made at %+v", n, m)
		}
		r.say(r.managers, &wire.Located{ID: id, Space: 5, App: appY})
		var core migrate.Core
		m := one(t, told[migrate.Create](r, appY))
		if err := migrate.EachPart(m.Parts, func(tag migrate.Tag, body []byte) error {
			if tag == migrate.CorePart {
				return core.Parse(body)
			}
			return nil
		}); err != nil || core.Position != (property.Vector3{X: 13, Z: 7}) || core.Direction.Y != 1 {
			t.Errorf("%d: %+v, %v", n, core, err)
		}
		r.current(appY, id, 1, 0, 0)
		r.wantEvents("got cell", "cell 1 <nil>")
		r.take(appX)
	}
}

// Each failure is told once, with its reason, and leaves the base without a cell part: it may try again.
func TestCreateCellAtFails(t *testing.T) {
	for name, c := range map[string]struct {
		space entity.SpaceID
		fail  func(r *rig, id entity.ID, v *avatar, x flow.ServerCall)
		want  string
	}{
		"the other has ended": {0, func(r *rig, id entity.ID, v *avatar, x flow.ServerCall) {
			r.tell(appW, &flow.Ack{To: id, ToPart: entity.BasePart, From: ofW, FromPart: entity.CellPart, Gone: true})
			r.tick()
		}, "not found: entity: there is no such entity"},
		"its BaseApp dies": {0, func(r *rig, id entity.ID, v *avatar, x flow.ServerCall) {
			r.say(r.managers, &wire.AppDead{Role: wire.BaseApp, App: appW})
			r.tick()
		}, "not found: entity: there is no such entity"},
		"no answer": {0, func(r *rig, id entity.ID, v *avatar, x flow.ServerCall) {
			r.pass(limits.DefaultCallTime + time.Second)
		}, "no answer: entity: no answer came in time"},
		"refused": {0, func(r *rig, id entity.ID, v *avatar, x flow.ServerCall) {
			a := flow.Answer{Request: x.Request}
			a.Fail(entity.ErrNoMethod)
			r.replies(appX, ofW, id, 1, a)
		}, "not found: entity: no such method"},
		"nonsense": {0, func(r *rig, id entity.ID, v *avatar, x flow.ServerCall) {
			r.replies(appX, ofW, id, 1, flow.Answer{Request: x.Request, Results: []byte("?")})
		}, "not found: flow: place"},
		"out of range": {0, func(r *rig, id entity.ID, v *avatar, x flow.ServerCall) {
			r.replies(appX, ofW, id, 1, placeOf(&x, flow.Place{Space: 5, Position: property.Vector3{X: property.MaxCoordinate}}))
		}, "not found: the place is out of range"},
		"given up while it asks": {0, func(r *rig, id entity.ID, v *avatar, x flow.ServerCall) {
			if err := v.DestroyCell(); err != nil {
				r.t.Error(err)
			}
			r.replies(appX, ofW, id, 1, placeOf(&x, flow.Place{Space: 5}))
		}, "no cell part: it was destroyed before it was made"},
		"its space ends": {0, func(r *rig, id entity.ID, v *avatar, x flow.ServerCall) {
			r.replies(appX, ofW, id, 1, placeOf(&x, flow.Place{Space: 5}))
			r.tick()
			r.say(r.managers, &wire.Located{ID: id, Space: 5, Gone: true})
		}, "no such space"},
		"no such space": {5, func(r *rig, id entity.ID, v *avatar, x flow.ServerCall) {
			r.tick()
			r.say(r.managers, &wire.Located{ID: id, Space: 5, Gone: true})
		}, "no such space"},
		"the CellApp dies, and no other": {5, func(r *rig, id entity.ID, v *avatar, x flow.ServerCall) {
			r.tick()
			r.say(r.managers, &wire.Located{ID: id, Space: 5, App: appX})
			r.say(r.managers, &wire.AppDead{Role: wire.CellApp, App: appX})
			r.pass(CreatePatience * 2)
		}, "no cell: no CellApp made it in time"},
		"the script panics each time": {5, func(r *rig, id entity.ID, v *avatar, x flow.ServerCall) {
			for range 40 {
				r.tick()
				r.say(r.managers, &wire.Located{ID: id, Space: 5, App: appX})
				if b := r.a.byID[id]; b.link.State() == linkCreating {
					r.tell(appX, &migrate.Lost{ID: id, Order: b.link.Order(), Reason: "boom"})
				}
				r.pass(offerGrace)
			}
		}, "no cell: no CellApp made it in time: boom"},
		"the space is full": {5, func(r *rig, id entity.ID, v *avatar, x flow.ServerCall) {
			r.tick()
			r.say(r.managers, &wire.Located{ID: id, Space: 5, App: appX})
			lost := &migrate.Lost{ID: id, Order: r.a.byID[id].link.Order(), Code: placement.Full, Reason: "full"}
			r.tell(appX, lost)
			r.tell(appX, lost)
		}, "full: full"},
		"destroyed while it is made": {5, func(r *rig, id entity.ID, v *avatar, x flow.ServerCall) {
			r.tick()
			r.say(r.managers, &wire.Located{ID: id, Space: 5, App: appX})
			if err := v.DestroyCell(); err != nil {
				r.t.Error(err)
			}
			r.pass(createTimeout + time.Second)
		}, "no cell part: it was destroyed before it was made"},
	} {
		t.Run(name, func(t *testing.T) {
			r := joinedRig(t)
			id, v := r.spawn()
			var x flow.ServerCall
			if info := (entity.CellInfo{Space: c.space}); c.space != 0 {
				r.createAt(v, info, 1)
			} else {
				info.Near, info.Position = nearTo(v, ofW), property.Vector3{X: 1}
				r.createAt(v, info, 1)
				x = r.asked(appW, ofW)
			}
			c.fail(r, id, v, x)
			if len(r.events) != 1 || !strings.HasPrefix(r.events[0], "cell 1 create: "+c.want) {
				t.Errorf("the script heard %q, want %q", r.events, c.want)
			}
			r.take(cellAppMgr)
			r.createAt(v, entity.CellInfo{Space: 1}, 2)
			r.tick()
			r.located(id, appY)
			b := r.a.byID[id]
			r.current(appY, id, b.link.Order().Incarnation, 0, 0)
			r.wantEvents("got cell", "cell 2 <nil>")
		})
	}
}

// Whoever did not ask for an answer hears that a full space has refused its cell part. One that has
// lived comes back whatever a CellApp says.
func TestCreateCellInFullSpace(t *testing.T) {
	r := joinedRig(t)
	id, v := r.spawn()
	r.create(id, v)
	r.events = nil
	r.tell(appX, &migrate.Lost{ID: id, Order: entity.Order{Incarnation: 1}, Code: placement.Full})
	r.wantEvents("lost cell")
	r.wantLink(id, linkNone, 1, 0, mercury.Address{})
	id, _ = r.live()
	r.events = nil
	r.tell(appX, &migrate.Lost{ID: id, Order: entity.Order{Incarnation: 1}, Code: placement.Full})
	r.pass(time.Second)
	r.wantEvents()
	r.wantLink(id, linkLocating, 2, 0, mercury.Address{})
}

// What cannot be is refused at once. A base that ends hears nothing more.
func TestCreateCellAtFaults(t *testing.T) {
	r := joinedRig(t)
	id, v := r.spawn()
	near := nearTo(v, ofW)
	for name, c := range map[string]struct {
		info   entity.CellInfo
		method string
		want   error
	}{
		"no callback": {entity.CellInfo{Space: 1}, "OnRoom", entity.ErrNoCallback},
		"itself":      {entity.CellInfo{Near: nearTo(v, id)}, "OnCell", entity.ErrNoPart},
		"no type":     {entity.CellInfo{Near: property.Mailbox{Entity: 9, Type: 99, Kind: 1}}, "OnCell", entity.ErrNoPart},
	} {
		if err := v.CreateCellAt(c.info, c.method, 0); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	for _, info := range []entity.CellInfo{{}, {Space: 1, Near: near}, {Space: 1, Position: property.Vector3{X: property.MaxCoordinate * 2}}} {
		if err := v.CreateCellAt(info, "OnCell", 0); err == nil {
			t.Errorf("%+v was taken", info)
		}
	}
	r.createAt(v, entity.CellInfo{Near: near}, 1)
	x := r.asked(appW, ofW)
	v.Destroy()
	r.replies(appX, ofW, id, 1, placeOf(&x, flow.Place{Space: 5}))
	r.pass(limits.DefaultCallTime * 2)
	r.wantEvents("destroyed")
	if err := v.CreateCellAt(entity.CellInfo{Space: 1}, "OnCell", 0); !errors.Is(err, entity.ErrNoPart) {
		t.Errorf("after the end of the base: %v", err)
	}
}

// A base that is carried to another app while it asks, or while its cell part is made, is answered there,
// once.
func TestCreateCellAtIsCarried(t *testing.T) {
	for _, asking := range []bool{true, false} {
		first := joinedRig(t)
		id, v := first.spawn()
		info := entity.CellInfo{Space: 5}
		var x flow.ServerCall
		if asking {
			info = entity.CellInfo{Near: nearTo(v, ofW), Position: property.Vector3{X: 3}}
		}
		first.createAt(v, info, -9)
		if asking {
			x = first.asked(appW, ofW)
		}
		r := heir(t)
		if err := r.a.restore(&heritage{id: id, lives: 1, parts: first.a.byID[id].appendParts(nil)}); err != nil {
			t.Fatal(err)
		}
		r.wantEvents("restored")
		if asking {
			r.replies(appX, ofW, id, 1, placeOf(&x, flow.Place{Space: 5, Position: property.Vector3{X: 10}}))
		}
		r.pass(adoptGrace + time.Second)
		if m := told[wire.Locate](r, cellAppMgr); len(m) == 0 || m[0].Space != 5 || asking && m[0].Position.X != 13 {
			t.Fatalf("asking %v: it is looked for at %+v", asking, m)
		}
		r.say(r.managers, &wire.Located{ID: id, Space: 5, App: appY})
		m := one(t, told[migrate.Create](r, appY))
		r.tell(appY, &migrate.Current{ID: id, Order: m.Order, Title: m.Title})
		r.wantEvents("got cell", "cell -9 <nil>")
	}
}
