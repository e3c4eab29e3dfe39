package baseapp

import (
	"errors"
	"fmt"
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
	if _, err := nobody.TeleportCell(entity.Destination{Space: 2}, "OnThere", 7); !errors.Is(err, entity.ErrNoPart) {
		t.Errorf("without a cell part: %v", err)
	}
	id, v := r.live()
	if _, err := v.TeleportCell(entity.Destination{Space: 2}, "OnRoom", 7); !errors.Is(err, entity.ErrNoCallback) {
		t.Errorf("with a callback of another kind: %v", err)
	}
	r.events = nil
	for n := range uint64(MaxTeleports) {
		if got, err := v.TeleportCell(entity.Destination{Space: 2}, "OnThere", 7); got != n+1 || err != nil {
			t.Fatalf("request %d: %d, %v", n+1, got, err)
		}
	}
	if _, err := v.TeleportCell(entity.Destination{Space: 2}, "OnThere", 7); !errors.Is(err, entity.ErrTooMany) {
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
	r.wantEvents("teleport 2 <nil>", "teleport 1 teleport: full")
	r.events = nil
	r.up(appX, id, 1, 5, []byte{byte(flow.GonePayload)})
	if len(r.events) != 1+MaxTeleports-2 || r.events[1] != "teleport 3 teleport: no cell part" {
		t.Errorf("after the end of the cell part: %q", r.events)
	}
}

// What a base asked for after its copy was made is undone. That it ends all the same must not end what the
// restored base asks for.
func TestTeleportCellOfAFormerLife(t *testing.T) {
	first := joinedRig(t)
	id, v := busy(t, first)
	known, err := v.TeleportCell(entity.Destination{Space: 2}, "OnThere", 7)
	if err != nil {
		t.Fatal(err)
	}
	parts := first.a.byID[id].appendParts(nil)
	undone, err := v.TeleportCell(entity.Destination{Space: 2}, "OnThere", 7)
	if err != nil {
		t.Fatal(err)
	}
	r := heir(t)
	if err := r.a.restore(&heritage{id: id, lives: 1, parts: parts}); err != nil {
		t.Fatal(err)
	}
	asked, err := r.script(id).TeleportCell(entity.Destination{Space: 2}, "OnThere", 7)
	if err != nil {
		t.Fatal(err)
	}
	r.events = nil
	b := r.a.byID[id]
	b.endTeleport(&flow.Teleported{Request: known, Code: placement.Full})
	b.endTeleport(&flow.Teleported{Request: undone, Code: placement.Full})
	b.endTeleport(&flow.Teleported{Request: asked})
	r.wantEvents(fmt.Sprintf("teleport %d teleport: full", known), fmt.Sprintf("teleport %d <nil>", asked))
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
