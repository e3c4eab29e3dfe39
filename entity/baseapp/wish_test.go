package baseapp

import (
	"errors"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/wire"
)

// wishes says wishes as the cell part, each in a message of its own.
func (r *rig) wishes(id entity.ID, first uint64, what uint16, request flow.RequestID, w flow.Wish) {
	call := flow.ServerCall{Caller: id, CallerPart: entity.CellPart, Request: request, Within: time.Minute, Part: entity.BasePart, Method: what, Args: w.Append(nil)}
	r.up(appX, id, 1, first, call.Append(nil))
}

// grants are the answers that the cell part was sent.
func (r *rig) grants() (list []flow.Grant) {
	r.t.Helper()
	for _, m := range told[flow.Message](r, appX) {
		var a flow.Answer
		var g flow.Grant
		if p, body, err := flow.SplitPayload(m.Payload); err != nil || p != flow.AnswerPayload || a.Parse(body) != nil || g.Parse(a.Results) != nil {
			r.t.Fatalf("the cell part was sent %x", m.Payload)
		}
		list = append(list, g)
	}
	return list
}

// A cell part has its base made on another app, take a name, and find one. A wish that a restored cell
// part says again is granted once.
func TestWishesOfTheCellPart(t *testing.T) {
	r := joinedRig(t)
	id, _ := r.live()
	typ := r.schema.Type("Avatar").ID
	again := flow.RequestID{Cause: 3, Number: 1}
	for n := range uint64(2) {
		r.wishes(id, n+1, flow.WishForBase, again, flow.Wish{Type: typ, On: appW, Props: []byte("props")})
	}
	ask := one(t, told[wire.CreateBase](r, baseAppMgr))
	if ask.On != appW || ask.Type != typ || string(ask.Props) != "props" {
		t.Errorf("asked for %+v", ask)
	}
	r.say(r.bases, &wire.BaseMade{Request: ask.Request, ID: 99})
	if g := one(t, r.grants()); g.ID != 99 || g.Type != typ || g.App != appW || g.Err != nil {
		t.Errorf("granted %+v", g)
	}
	r.wishes(id, 3, flow.WishForBase, again, flow.Wish{Type: typ, On: appW, Props: []byte("props")})
	if g := one(t, r.grants()); g.ID != 99 {
		t.Errorf("granted again %+v", g)
	}
	r.wishes(id, 4, flow.WishForName, flow.RequestID{Life: 1, Number: 1}, flow.Wish{Name: "auction"})
	name := one(t, told[wire.RegisterName](r, baseAppMgr))
	r.say(r.bases, &wire.NameHeld{Request: name.Request, ID: id, Type: typ, App: self})
	r.wishes(id, 5, flow.WishForHolder, flow.RequestID{Life: 1, Number: 2}, flow.Wish{Name: "bank"})
	find := one(t, told[wire.FindName](r, baseAppMgr))
	r.say(r.bases, &wire.NameHeld{Request: find.Request})
	g := r.grants()
	if len(g) != 2 || g[0].ID != id || g[0].Name != "auction" || g[0].Err != nil || g[1].ID != 0 || !errors.Is(g[1].Err, entity.ErrNoEntity) {
		t.Errorf("granted %+v", g)
	}
	if b := r.a.byID[id]; len(b.names) != 1 || !b.names[0].has {
		t.Errorf("the base has names %v", b.names)
	}
}

func TestWishesRefused(t *testing.T) {
	r := joinedRig(t)
	id, _ := r.live()
	for n, c := range []struct {
		what uint16
		w    flow.Wish
	}{
		{flow.WishForBase, flow.Wish{Type: 99}},
		{flow.WishForName, flow.Wish{}},
		{flow.WishForHolder, flow.Wish{}},
	} {
		r.wishes(id, uint64(n)+1, c.what, flow.RequestID{Life: 1, Number: uint64(n) + 1}, c.w)
		if g := one(t, r.grants()); g.ID != 0 || g.Err == nil {
			t.Errorf("wish %d is granted: %+v", n, g)
		}
	}
	// Nobody but the own cell part has wishes.
	w := flow.Wish{Name: "auction"}
	call := flow.ServerCall{Caller: 77, CallerPart: entity.CellPart, Request: flow.RequestID{Life: 1, Number: 1}, Within: time.Minute, Part: entity.BasePart, Method: flow.WishForName, Args: w.Append(nil)}
	r.tell(appX, &flow.Message{From: 77, FromPart: entity.CellPart, To: id, ToPart: entity.BasePart, Incarnation: 1, Born: 1, Low: 1, Number: 1, Reply: appX, Payload: call.Append(nil)})
	if got := told[wire.RegisterName](r, baseAppMgr); len(got) != 0 {
		t.Errorf("another entity's wish: %+v", got)
	}
	// There is an end to what a base remembers.
	for n := range uint64(maxWishes + 9) {
		r.wishes(id, 4+n, flow.WishForHolder, flow.RequestID{Life: 1, Number: 10 + n}, flow.Wish{Name: "bank"})
	}
	if b := r.a.byID[id]; len(b.wishes) != maxWishes {
		t.Errorf("%d wishes are remembered", len(b.wishes))
	}
}
