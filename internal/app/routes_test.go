package app

import (
	"errors"
	"net/netip"
	"slices"
	"testing"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// give encodes a message and has the routes handle it.
func give(r *Routes[string], from string, m wire.Message) error {
	id, body, err := wire.Split(wire.Encode(nil, m))
	if err != nil {
		return err
	}
	return r.Handle(from, id, body)
}

func TestRoutes(t *testing.T) {
	var r Routes[string]
	var heard []string
	broken := errors.New("refused by its handler")
	On(&r, func(from string, m *wire.Refused) { heard = append(heard, from+": "+m.Reason) })
	Try(&r, func(string, *wire.RetireApp) error { return broken })
	r.Ignore(wire.FreezeID)
	if err := give(&r, "ann", &wire.Refused{Reason: "no"}); err != nil || !slices.Equal(heard, []string{"ann: no"}) {
		t.Errorf("heard %q: %v", heard, err)
	}
	if err := give(&r, "ann", &wire.RetireApp{}); err != broken {
		t.Errorf("a handler's error: %v", err)
	}
	if err := give(&r, "ann", &wire.Freeze{}); err != nil {
		t.Errorf("ignored: %v", err)
	}
	var report wire.Report
	if r.Describe(&report); report.Received != (wire.Tally{wire.RefusedID: 1, wire.RetireAppID: 1, wire.FreezeID: 1}) {
		t.Errorf("counted %v", report.Received)
	}
	if err := give(&r, "ann", &wire.RejoinEnd{}); !errors.Is(err, wire.ErrMalformed) {
		t.Errorf("without a handler: %v", err)
	}
	if err := r.Handle("ann", wire.RefusedID, []byte{9}); !errors.Is(err, wire.ErrMalformed) || len(heard) != 1 {
		t.Errorf("cut short: %v, heard %q", err, heard)
	}
}

// A message that comes while one of its type is handled leaves that one alone.
func TestRoutesWithinAHandler(t *testing.T) {
	var r Routes[string]
	var heard []string
	On(&r, func(from string, m *wire.Refused) {
		if from == "ann" {
			if err := give(&r, "bob", &wire.Refused{Reason: "inner"}); err != nil {
				t.Error(err)
			}
		}
		heard = append(heard, m.Reason)
	})
	if err := give(&r, "ann", &wire.Refused{Reason: "outer"}); err != nil || !slices.Equal(heard, []string{"inner", "outer"}) {
		t.Errorf("heard %q: %v", heard, err)
	}
}

// What is done with a message is done when its handler returns, so a test may overwrite it.
func TestRoutesSpent(t *testing.T) {
	var r Routes[string]
	var kept *wire.Members
	On(&r, func(_ string, m *wire.Members) { kept = m })
	r.Spent = func(m wire.Message) { m.(*wire.Members).Apps = nil }
	if err := give(&r, "ann", &wire.Members{Apps: []wire.AppRef{{Role: wire.CellApp, App: mercury.Address{At: netip.MustParseAddrPort("10.0.0.1:1"), Salt: 1}}}}); err != nil || kept == nil || kept.Apps != nil {
		t.Errorf("%v, kept %+v", err, kept)
	}
}

func TestTwoHandlers(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a second handler of a type is taken")
		}
	}()
	var r Routes[string]
	r.Ignore(wire.RefusedID)
	On(&r, func(string, *wire.Refused) {})
}

func TestRoutesCheck(t *testing.T) {
	var r Routes[string]
	r.Ignore(wire.StatusID, wire.WorldEndingID, wire.WelcomeID, wire.RefusedID, wire.WatchedID)
	if got := r.Check(wire.Observer); !slices.Equal(got, []wire.ID{wire.DismissedID}) {
		t.Errorf("lacks %v", got)
	}
	r.Ignore(wire.DismissedID, wire.JoinID)
	if got := r.Check(wire.Observer); !slices.Equal(got, []wire.ID{wire.JoinID}) {
		t.Errorf("has too much: %v", got)
	}
}

func TestRoutesDoNotAllocate(t *testing.T) {
	var r Routes[string]
	moves := uint32(0)
	On(&r, func(_ string, m *wire.ClientMove) { moves += m.Sequence })
	_, body, _ := wire.Split(wire.Encode(nil, &wire.ClientMove{ID: 1}))
	if n := testing.AllocsPerRun(100, func() {
		if err := r.Handle("ann", wire.ClientMoveID, body); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
