package sample_test

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/mercury/mercurytest"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/property/defgen/internal/sample"
)

// figure is what a client program has for an Avatar.
type figure struct{ heard *[]string }

var (
	_ sample.AvatarClientMethods = figure{}
	_ sample.AvatarWeaponSetter  = figure{}
	_ sample.AvatarHealthSetter  = figure{}
)

func (f figure) note(format string, args ...any) {
	*f.heard = append(*f.heard, fmt.Sprintf(format, args...))
}

func (f figure) Heard(text string) { f.note("heard %s", text) }
func (f figure) Looted(items []sample.ItemData, from entity.ID) {
	f.note("looted %v from %v", items, from)
}
func (f figure) Struck(w sample.WeaponData, gem *sample.GemData) {
	f.note("struck by %s, %v", w.Name, gem)
}
func (f figure) OnSetWeapon(c *property.Change) { f.note("weapon: %v", c.New) }
func (f figure) OnSetHealth(c *property.Change) { f.note("health: %v", c.New) }

// handlers answers for Avatars only.
func handlers(heard *[]string) *sample.ClientHandlers {
	return &sample.ClientHandlers{Avatar: func(sample.AvatarReplica) sample.AvatarClientMethods { return figure{heard} }}
}

// replica is what a client holds of another player's entity.
func replica(t *testing.T, typeName string) *client.Replica {
	t.Helper()
	d := load(t).Type(typeName)
	return &client.Replica{ID: 3, Def: d, Props: property.NewValues(d, property.OtherClientSide, nil)}
}

// events sends what a script calls through a ClientMailbox to a handler, as the network would.
type events struct {
	h *sample.ClientHandlers
	r *client.Replica
}

func (e events) CallMethod(q entity.Request) error {
	method, args := q.Method, q.Args
	m := e.r.Def.ClientMethods[method]
	values, err := m.ReadArgs(args)
	if err == nil {
		e.h.Called(e.r, m, values)
	}
	return err
}

func TestCallsOfTheServerReachTheHandler(t *testing.T) {
	var heard []string
	r := replica(t, "Avatar")
	to := sample.NewAvatarClientMailbox(entity.Mailbox{ID: 3, Kind: entity.ClientMailbox, Def: r.Def, Via: events{handlers(&heard), r}})
	err := errors.Join(
		to.Heard("hello"),
		to.Looted([]sample.ItemData{{Kind: 1, Count: 2}, {Kind: 3}}, 8),
		to.Struck(sample.WeaponData{Name: "club"}, nil),
	)
	if err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"heard hello", "looted [{1 2} {3 0}] from 0.8", "struck by club, <nil>"}, heard); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if sample.DispatchAvatarCall(figure{&heard}, &property.Method{Name: "heard"}, nil) {
		t.Error("a call without its argument was made")
	}
}

func TestChangesReachTheSettersThatThereAre(t *testing.T) {
	var heard []string
	r, h := replica(t, "Avatar"), handlers(&heard)
	if _, err := property.FindSetters(reflect.TypeFor[*figure](), r.Def, property.OtherClientSide); err != nil {
		t.Errorf("the interfaces differ from what package property looks for: %v", err)
	}
	for _, name := range []string{"health", "mood", "weapon"} {
		h.PropertyChanged(r, &property.Change{Index: r.Def.Property(name).Index, New: property.StringValue(name)})
	}
	h.PropertyChanged(r, &property.Change{Index: -1})
	h.PropertyChanged(r, &property.Change{Index: len(r.Def.Properties)})
	h.PropertyChanged(replica(t, "Chest"), &property.Change{}) // nobody answers for it
	if diff := cmp.Diff([]string{`health: "health"`, `weapon: "weapon"`}, heard); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestGettersReadWhatTheClientSees(t *testing.T) {
	other := replica(t, "Avatar")
	a, ok := sample.NewAvatarReplica(other)
	if !ok {
		t.Fatal("it is an Avatar")
	}
	if _, ok := sample.NewChestReplica(other); ok {
		t.Error("an Avatar is taken for a Chest")
	}
	sword := sample.WeaponData{Name: "sword", Gem: &sample.GemData{Value: 9}, Runes: []int16{}}
	if err := other.Props.Load(other.Def.Property("weapon").Index, sample.ValueOfWeapon(sword)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sword, a.Weapon()); diff != "" {
		t.Errorf("weapon (-want +got):\n%s", diff)
	}
	if a.Health() != 100 || fmt.Sprint(a.Marks()) != "[0 0 0]" || len(a.Bag()) != 0 || a.Gold() != 0 {
		t.Errorf("health %d, marks %v, bag %v, gold %d", a.Health(), a.Marks(), a.Bag(), a.Gold())
	}
}

// player is a client whose own entity is an Avatar; the test plays the servers.
func player(t *testing.T) (*client.Client, *mercurytest.Stage) {
	t.Helper()
	schema, net := load(t), mercurytest.NewStage(mercurytest.Host(9, 1))
	c, err := client.New(client.Config{Transport: net, Schema: schema, LoginApp: mercurytest.Host(1, 0).At})
	if err != nil {
		t.Fatal(err)
	}
	open := func() {
		c.Tick(0)
		peer, _ := net.Peer(net.Last)
		c.Opened(0, net.Last, peer)
	}
	open()
	ok := protocol.LoginOK{Doors: []protocol.Door{{Network: protocol.UDP, Address: mercurytest.Host(2, 22)}}}
	c.Message(0, net.Last, true, ok.Append(nil))
	open()
	props := property.NewValues(schema.Type("Avatar"), property.OwnClientSide, nil)
	base := protocol.BasePlayer{ID: 5, Props: props.AppendStream(nil, property.OwnClientBaseStream)}
	c.Message(0, net.Last, true, base.Append((&protocol.Attached{}).Append(nil)))
	if c.Player() == nil {
		t.Fatalf("no player: %v, %v", c.State(), c.Err())
	}
	net.Sent = nil
	return c, net
}

func TestCallsOfAClientAreSent(t *testing.T) {
	c, net := player(t)
	own, _ := sample.NewAvatarReplica(c.Player())
	if err := own.Cell().Equip(sample.WeaponData{Name: "bow", Runes: []int16{1}}, nil); err != nil {
		t.Fatal(err)
	}
	if err := own.Base().Collect(&sample.GemData{Colour: 1}, 2); err != nil {
		t.Fatal(err)
	}
	var bodies [][]byte
	for _, sent := range net.Sent {
		err := protocol.Messages(sent.Message, func(_ protocol.ID, body []byte) error {
			bodies = append(bodies, body)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(bodies) != 2 {
		t.Fatalf("%d messages", len(bodies))
	}
	equip, collect := own.Def.CellMethod("equip"), own.Def.BaseMethod("collect")
	var cell protocol.CellCall
	if err := cell.Parse(bodies[0]); err != nil {
		t.Fatal(err)
	}
	args, err := equip.ReadArgs(cell.Args)
	if err != nil || cell.Target != 5 || int(cell.Method) != equip.ExposedIndex || fmt.Sprint(args) != `[["bow" 0 none [1]] []]` {
		t.Errorf("entity %v, method %d, arguments %v, error %v", cell.Target, cell.Method, args, err)
	}
	var base protocol.BaseCall
	if err := base.Parse(bodies[1]); err != nil {
		t.Fatal(err)
	}
	args, err = collect.ReadArgs(base.Args)
	if err != nil || int(base.Method) != collect.ExposedIndex || fmt.Sprint(args) != "[[1 0] 2]" {
		t.Errorf("method %d, arguments %v, error %v", base.Method, args, err)
	}
}

// The handlers fit the client's events as they are.
var _ = func(h *sample.ClientHandlers) client.Events {
	return client.Events{Called: h.Called, PropertyChanged: h.PropertyChanged}
}
