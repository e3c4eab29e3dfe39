package space

import (
	"errors"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/property"
)

// wished are the wishes that a base got, and forgets the rest.
func (r *rig) wished(id entity.ID) (list []flow.ServerCall) {
	for _, p := range r.bases[id].got {
		var x flow.ServerCall
		if flow.Payload(p[0]) == flow.ServerCallPayload && x.Parse(p[1:]) == nil && flow.IsWish(x.Method) {
			list = append(list, x)
		}
	}
	r.bases[id].got = nil
	return list
}

// A cell part wishes for a base and a name, crosses a border, and hears what became of them.
func TestWishes(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -20, 1)
	r.tick(3)
	r.wished(7)
	r.clean()
	a := r.avatar(7)
	set := func(*property.Values) {}
	for i, err := range []error{
		a.CreateBase(entity.BaseInfo{Type: "Account", Init: set, On: addr(5)}, "OnBase", 11),
		a.RegisterName("auction", "OnName", 12),
		a.LookupName("bank", "OnName", 13),
	} {
		if err != nil {
			t.Fatal(i, err)
		}
	}
	r.tick(1)
	list := r.wished(7)
	if len(list) != 3 {
		t.Fatalf("the base got %d wishes", len(list))
	}
	var w flow.Wish
	if err := w.Parse(list[0].Args); err != nil || w.Type != r.scripts.Schema().Type("Account").ID || w.On != addr(5) {
		t.Errorf("%+v, %v", w, err)
	}
	r.move(7, 60)
	r.tick(20)
	for i, g := range []flow.Grant{{ID: 99, Type: w.Type, App: addr(5)}, {Name: "auction", ID: 7}, {Name: "bank", Err: flow.Because(entity.ErrNoEntity, "nobody has the name")}} {
		answer := flow.Answer{Request: list[i].Request, Results: g.Append(nil)}
		r.say(7, answer.Append(nil))
		r.say(7, answer.Append(nil))
	}
	r.tick(3)
	r.diary(7, "leaving;entering;entered;base 11 is 99 ;name 12 auction is 7's ;name 13 bank is 0's nobody has the name;")
}

// A wish that nobody answers ends.
func TestWishTimesOut(t *testing.T) {
	r := newRig(t, 1)
	r.create(7, 0, 1)
	r.tick(3)
	r.clean()
	if err := r.avatar(7).LookupName("bank", "OnName", 1); err != nil {
		t.Fatal(err)
	}
	r.tick(int(wishPatience/tickPeriod) + 2)
	r.diary(7, "name 1  is 0's entity: no answer came in time;")
}

func TestWishFaults(t *testing.T) {
	r := newRig(t, 1)
	r.create(7, 0, 1)
	r.tick(3)
	a := r.avatar(7)
	for name, err := range map[string]error{
		"no callback": a.CreateBase(entity.BaseInfo{Type: "Account"}, "OnName", 0),
		"no such":     a.RegisterName("x", "OnBase", 0),
	} {
		if !errors.Is(err, entity.ErrNoCallback) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if a.CreateBase(entity.BaseInfo{Type: "Rock"}, "OnBase", 0) == nil || a.LookupName("", "OnName", 0) == nil {
		t.Error("a base of a type without one, or a name of nothing")
	}
	a.Destroy()
	if err := a.LookupName("x", "OnName", 0); !errors.Is(err, entity.ErrGone) {
		t.Error(err)
	}
}
