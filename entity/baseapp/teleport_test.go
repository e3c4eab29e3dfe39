package baseapp

import (
	"errors"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/entity/placement"
	"github.com/cellscape/cellscape/internal/wire"
)

// Each teleport that a base asks for ends once: well, refused, or with the cell part, and only then.
func TestTeleportCell(t *testing.T) {
	r := joinedRig(t)
	_, nobody := r.spawn()
	if err := nobody.TeleportCell(entity.Destination{Space: 2}, "OnThere", 7); !errors.Is(err, entity.ErrNoPart) {
		t.Errorf("without a cell part: %v", err)
	}
	id, v := r.live()
	if err := v.TeleportCell(entity.Destination{Space: 2}, "OnRoom", 7); !errors.Is(err, entity.ErrNoCallback) {
		t.Errorf("with a callback of another kind: %v", err)
	}
	r.events = nil
	for n := range int64(MaxTeleports) {
		if err := v.TeleportCell(entity.Destination{Space: 2}, "OnThere", 100+n); err != nil {
			t.Fatalf("request %d: %v", n+1, err)
		}
	}
	if err := v.TeleportCell(entity.Destination{Space: 2}, "OnThere", 7); !errors.Is(err, entity.ErrTooMany) {
		t.Errorf("one too many: %v", err)
	}
	end := func(number, request uint64, code placement.Code) {
		m := flow.Teleported{Request: request, Code: code}
		r.up(appX, id, 1, number, m.Append(nil))
	}
	end(1, 2, 0)
	end(2, 2, placement.Full) // said again by a restored cell part
	end(3, 1, placement.Full)
	end(4, 77, 0)
	r.wantEvents("teleport 101 <nil>", "teleport 100 teleport: full")
	r.events = nil
	r.up(appX, id, 1, 5, (&flow.Gone{}).Append(nil))
	if len(r.events) != 1+MaxTeleports-2 || r.events[1] != "teleport 102 teleport: no cell part" {
		t.Errorf("after the end of the cell part: %q", r.events)
	}
}

// What a base asked for after its copy was made is undone. That it ends all the same must not end what the
// restored base asks for.
func TestTeleportCellOfAFormerLife(t *testing.T) {
	first := joinedRig(t)
	id, v := busy(t, first)
	if err := v.TeleportCell(entity.Destination{Space: 2}, "OnThere", 31); err != nil {
		t.Fatal(err)
	}
	old := first.a.byID[id]
	parts, known := old.appendParts(nil), old.teleported
	if err := v.TeleportCell(entity.Destination{Space: 2}, "OnThere", 32); err != nil {
		t.Fatal(err)
	}
	r := heir(t)
	if err := r.a.restore(&heritage{id: id, lives: 1, parts: parts}); err != nil {
		t.Fatal(err)
	}
	if err := r.script(id).TeleportCell(entity.Destination{Space: 2}, "OnThere", 33); err != nil {
		t.Fatal(err)
	}
	r.events = nil
	b := r.a.byID[id]
	if old.teleported == known || b.teleported <= old.teleported {
		t.Errorf("numbers %d, %d and then %d", known, old.teleported, b.teleported)
	}
	b.endTeleport(&flow.Teleported{Request: known, Code: placement.Full})
	b.endTeleport(&flow.Teleported{Request: old.teleported, Code: placement.Full})
	b.endTeleport(&flow.Teleported{Request: b.teleported})
	r.wantEvents("teleport 31 teleport: full", "teleport 33 <nil>")
}

// A CellApp is told where a real is, that nobody knows now, or that there is none.
func TestWhereis(t *testing.T) {
	r := joinedRig(t)
	id, v := r.live()
	alone, _ := r.spawn()
	ask := func(id entity.ID, want wire.Whereabouts) {
		t.Helper()
		r.tell(appY, &wire.Whereis{ID: id, Asker: 9})
		want.ID, want.Asker = id, 9
		if got := one(t, told[wire.Whereabouts](r, appY)); got != want {
			t.Errorf("answered %+v, want %+v", got, want)
		}
	}
	ask(id, wire.Whereabouts{App: appX})
	ask(alone, wire.Whereabouts{Gone: true})
	ask(id+1000, wire.Whereabouts{Gone: true})
	_ = v.DestroyCell()
	ask(id, wire.Whereabouts{Gone: true})
}
