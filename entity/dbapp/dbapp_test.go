package dbapp

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/entity/store/memory"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/property"
)

// TestRoutes checks that each message that a DBApp takes has a handler.
func TestRoutes(t *testing.T) {
	d := &DBApp{}
	d.route()
	if differ := d.routes.Check(wire.DBApp); len(differ) > 0 {
		t.Error(differ)
	}
}

func TestConfigTellsAllFaults(t *testing.T) {
	_, err := New(Config{Tick: -1})
	for _, want := range []string{"Transport", "Manager", "Schema", "Store", "Types", "Jobs", "Tick"} {
		if err == nil || !strings.Contains(err.Error(), "Config."+want) {
			t.Errorf("%s is missing in %v", want, err)
		}
	}
}

// TestCallsMeanTheSameTwice makes each call of a row twice, as when an answer was lost.
func TestCallsMeanTheSameTwice(t *testing.T) {
	def, err := property.NewSchema(&property.Definition{Name: "Chest", HasBase: true, Persistent: true, Properties: []*property.Property{
		{Name: "name", Type: property.Scalar(property.KindString), Flags: property.Base, Persistent: true, Identifier: true},
	}})
	if err != nil {
		t.Fatal(err)
	}
	types, err := store.NewSchema(def)
	if err != nil {
		t.Fatal(err)
	}
	ctx, s, typ := context.Background(), memory.New(), types.Type("Chest")
	if _, err := s.Apply(ctx, types, false); err != nil {
		t.Fatal(err)
	}
	start, err := s.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	props := property.NewValues(def.Type("Chest"), property.BaseSide, nil)
	if err := props.Load(0, property.StringValue("gold")); err != nil {
		t.Fatal(err)
	}
	_, data, err := typ.Encode(props, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	mine, heirs, others := store.Holder{Start: start, App: 3, Entity: 3<<32 | 1}, store.Holder{Start: start, App: 5, Entity: 3<<32 | 1}, store.Holder{Start: start, App: 7, Entity: 7<<32 | 1}
	for i, x := range []struct {
		by   store.Holder
		m    wire.CallStore
		want entity.StoreCode
	}{
		{mine, wire.CallStore{Op: wire.StoreCreate, Row: 1, Version: 1, Data: data}, entity.StoreDone},
		{mine, wire.CallStore{Op: wire.StoreWrite, Row: 1, Version: 2, Data: data}, entity.StoreDone},
		{others, wire.CallStore{Op: wire.StoreLoad, Identifier: "gold"}, entity.StoreHeld},
		{others, wire.CallStore{Op: wire.StoreLoad, Identifier: "silver"}, entity.StoreMissing},
		{others, wire.CallStore{Op: wire.StoreCreate, Row: 2, Version: 1, Data: data}, entity.StoreTaken},
		{heirs, wire.CallStore{Op: wire.StoreTakeOver, Row: 1, FromApp: 3}, entity.StoreDone},
		{mine, wire.CallStore{Op: wire.StoreWrite, Row: 1, Version: 3, Data: data}, entity.StoreHeld},
		{heirs, wire.CallStore{Op: wire.StoreWrite, Row: 1, Version: 1, Data: data}, entity.StoreStale},
		{heirs, wire.CallStore{Op: wire.StoreWrite, Row: 1, Version: 3, Release: true, Data: data}, entity.StoreDone},
		{others, wire.CallStore{Op: wire.StoreLoad, Identifier: "gold"}, entity.StoreDone},
		{others, wire.CallStore{Op: wire.StoreFree, Row: 1}, entity.StoreDone},
		{mine, wire.CallStore{Op: wire.StoreLoad, Row: 1}, entity.StoreDone},
		{mine, wire.CallStore{Op: wire.StoreDelete, Row: 1}, entity.StoreDone},
	} {
		for range 2 {
			x.m.Type = "Chest"
			c := &call{m: x.m, typ: typ, holder: x.by}
			o := job(s, context.WithCancel, []*call{c})(ctx).([]outcome)[0]
			got := entity.StoreDone
			if o.err != nil {
				got = codeOf(o.err)
			}
			if got != x.want {
				t.Errorf("call %d: %v, want %v: %v", i, got, x.want, o.err)
			}
		}
	}
}

// TestCodes checks what an app is told of an error.
func TestCodes(t *testing.T) {
	for err, want := range map[error]entity.StoreCode{
		store.ErrFull: entity.StoreBusy, errFull: entity.StoreBusy, store.ErrSuperseded: entity.StoreSuperseded, errCall: entity.StoreRefused,
		errors.New("?"): entity.StoreRefused, &store.HeldError{}: entity.StoreHeld,
	} {
		if got := codeOf(err); got != want {
			t.Errorf("%v is %v, want %v", err, got, want)
		}
	}
}
