package kinds_test

import (
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/property/defgen/internal/kinds"
)

func schema(t *testing.T) *property.Schema {
	t.Helper()
	s, err := kinds.Schema()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestHandlesFitTheirProperties(t *testing.T) {
	s := schema(t)
	for _, x := range []struct {
		name   string
		side   property.Side
		handle reflect.Type
	}{
		{"Hero", property.CellSide, reflect.TypeFor[kinds.HeroCell]()},
		{"Hero", property.BaseSide, reflect.TypeFor[kinds.HeroBase]()},
		{"Spy", property.CellSide, reflect.TypeFor[kinds.SpyCell]()},
		{"Spy", property.BaseSide, reflect.TypeFor[kinds.SpyBase]()},
	} {
		if err := property.CheckFields(x.handle, s.Type(x.name), x.side); err != nil {
			t.Error(err)
		}
	}
}

func TestHandlesWriteTheirProperties(t *testing.T) {
	d := schema(t).Type("Hero")
	cell, base := property.NewValues(d, property.CellSide, nil), property.NewValues(d, property.BaseSide, nil)
	var h kinds.HeroCell
	var b kinds.HeroBase
	property.BindFields(&h, cell)
	property.BindFields(&b, base)
	err := errors.Join(
		h.Ranks.Set("smith", 3), h.Ranks.Set("baker", 1), h.Quest.Reward.Set(kinds.Coins{Silver: 2}),
		h.Quests.Set(9, kinds.ValueOfHeroQuestsItem(kinds.HeroQuestsItemDataOf(h.Quest.Value()))),
		h.Purse.Set(kinds.Coins{Copper: 7}), b.Origin.Set(netip.MustParseAddr("10.0.0.1")), b.Legs.Wear.Set("boots", 4),
	)
	if err != nil {
		t.Fatal(err)
	}
	h.Legs.Speed.Set(12)
	if got := fmt.Sprint(cell.Get(d.Property("ranks").Index)); got != `["baker" 1 "smith" 3]` {
		t.Errorf("ranks are %s", got)
	}
	if got := cell.Get(d.Property("legs.speed").Index).Int(); got != 12 {
		t.Errorf("speed is %d", got)
	}
	if got := b.Origin.Get(); got.String() != "10.0.0.1" {
		t.Errorf("origin is %v", got)
	}
	if v, ok := h.Quests.Get(9); !ok || !property.Equal(v, h.Quest.Value()) {
		t.Errorf("quest is %v, want %v", v, h.Quest.Value())
	}

	own := property.NewValues(d, property.OwnClientSide, nil)
	if _, err := own.ReadStream(cell.AppendStream(nil, property.OwnClientCellStream), property.OwnClientCellStream); err != nil {
		t.Fatal(err)
	}
	seen, _ := kinds.NewHeroReplica(&client.Replica{Def: d, Props: own})
	if diff := cmp.Diff([]kinds.Pair[string, int32]{{Key: "baker", Value: 1}, {Key: "smith", Value: 3}}, seen.Ranks()); diff != "" {
		t.Errorf("ranks (-want +got):\n%s", diff)
	}
	if seen.Purse() != (kinds.Coins{Copper: 7}) || seen.LegsSpeed() != 12 || len(seen.Quests()) != 1 || seen.Quests()[0].Key != 9 {
		t.Errorf("purse %v, speed %d, quests %v", seen.Purse(), seen.LegsSpeed(), seen.Quests())
	}
}

// hero keeps what it has learned.
type hero struct{ learned *string }

func (h hero) Learned(ranks []kinds.Pair[string, int32], quests []kinds.Pair[entity.ID, kinds.HeroQuestsItemData]) {
	*h.learned = fmt.Sprint(ranks, quests[0].Key, quests[0].Value.Step)
}

type caller func(method int, args []byte) error

func (f caller) CallMethod(q entity.Request) error {
	method, args := q.Method, q.Args
	return f(method, args)
}

// Pairs may be given in any order, and come sorted.
func TestPairsTravel(t *testing.T) {
	d := schema(t).Type("Hero")
	learned := ""
	h := kinds.ClientHandlers{Hero: func(kinds.HeroReplica) kinds.HeroClientMethods { return hero{&learned} }}
	to := kinds.NewHeroClientMailbox(entity.Mailbox{Kind: entity.ClientMailbox, Def: d, Via: caller(func(method int, args []byte) error {
		values, err := d.ClientMethods[method].ReadArgs(args)
		if err == nil {
			h.Called(&client.Replica{Def: d}, d.ClientMethods[method], values)
		}
		return err
	})})
	reward, err := property.UserValue(d.Property("purse").Type, kinds.Coins{Copper: 1})
	if err != nil {
		t.Fatal(err)
	}
	whim, err := property.AnyValue("none")
	if err != nil {
		t.Fatal(err)
	}
	quests := []kinds.Pair[entity.ID, kinds.HeroQuestsItemData]{{Key: 5, Value: kinds.HeroQuestsItemData{Step: 2, Reward: reward, Extra: whim}}}
	if err := to.Learned([]kinds.Pair[string, int32]{{Key: "b", Value: 2}, {Key: "a", Value: 1}}, quests); err != nil {
		t.Fatal(err)
	}
	if want := "[{a 1} {b 2}] 0.5 2"; learned != want {
		t.Errorf("learned %s, want %s", learned, want)
	}
}
