package baseapp

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/limits"
	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/spacekey"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
)

var room = entity.SpaceInfo{Bounds: bsp.Rect{MaxX: 10, MaxZ: 10}, MaxCells: 1}

const roomID entity.SpaceID = 1<<24 | 1

// A script asks for a space, is told its id, and makes its cell part there.
func TestCreateSpace(t *testing.T) {
	r := joinedRig(t)
	_, v := r.spawn()
	r.events = nil
	if err := v.CreateSpace(room, "OnRoom", -5); err != nil {
		t.Fatal(err)
	}
	m := one(t, told[wire.CreateSpace](r, cellAppMgr))
	if want := (wire.CreateSpace{Request: m.Request, Number: 1, Info: room}); fmt.Sprint(m) != fmt.Sprint(want) {
		t.Errorf("asked for %+v, want %+v", m, want)
	}
	r.do["room -5 is 16777217 "] = func(v *avatar) {
		if err := v.CreateCell(roomID, property.Vector3{}, property.Vector3{}, nil); err != nil {
			t.Error(err)
		}
	}
	r.say(r.managers, &wire.SpaceCreated{Request: m.Request, Space: roomID})
	r.say(r.managers, &wire.SpaceCreated{Request: m.Request, Space: roomID}) // answered twice
	r.wantEvents("room -5 is 16777217 ")
	r.tick()
	if m := one(t, told[wire.Locate](r, cellAppMgr)); m.Space != roomID {
		t.Errorf("the cell part is to be made in %d", m.Space)
	}
	r.pass(3 * time.Second)
	if got := told[wire.CreateSpace](r, cellAppMgr); len(got) != 0 {
		t.Errorf("asked again after the answer: %+v", got)
	}
}

// A space begins with data of the game's: as it was when it was asked for, and as much as a request may
// carry.
func TestCreateSpaceWithData(t *testing.T) {
	r := joinedRig(t)
	_, v := r.spawn()
	value := []byte("hard")
	with := func(d ...entity.SpaceDatum) entity.SpaceInfo { i := room; i.Data = d; return i }
	if err := v.CreateSpace(with(entity.SpaceDatum{Key: 7, Value: value}), "OnRoom", 0); err != nil {
		t.Fatal(err)
	}
	copy(value, "soft")
	r.take(cellAppMgr)
	r.pass(3 * time.Second) // it is said again
	if m := told[wire.CreateSpace](r, cellAppMgr); len(m) == 0 || len(m[0].Info.Data) != 1 || string(m[0].Info.Data[0].Value) != "hard" {
		t.Errorf("asked for %+v", m)
	}
	for why, d := range map[string][]entity.SpaceDatum{
		"0xff00":     {{Key: spacekey.First}},
		"without an": {{Key: 1, ID: 2}},
		"16384":      {{Key: 1, Value: make([]byte, limits.SpaceStartBytes+1)}},
		"64":         make([]entity.SpaceDatum, limits.SpaceStart+1),
	} {
		if err := v.CreateSpace(with(d...), "OnRoom", 0); !errors.Is(err, entity.ErrArguments) || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", why, err)
		}
	}
}

// asksForRoom is a base that has asked for a space, and the question.
func asksForRoom(t *testing.T, info entity.SpaceInfo, user int64) (*rig, wire.CreateSpace) {
	t.Helper()
	r := joinedRig(t)
	_, v := r.spawn()
	r.events = nil
	_ = v.CreateSpace(info, "OnRoom", user)
	return r, one(t, told[wire.CreateSpace](r, cellAppMgr))
}

// A space of which a script was told that panicked over it is given back: the next life of the base does
// not know it.
func TestSpaceOfAPanic(t *testing.T) {
	r, m := asksForRoom(t, room, 0)
	r.do["room 0 is 16777217 "] = func(*avatar) { panic("boom") }
	r.say(r.managers, &wire.SpaceCreated{Request: m.Request, Space: roomID})
	r.tick()
	if m := one(t, told[wire.DestroySpace](r, cellAppMgr)); m.Space != roomID {
		t.Errorf("given back: %+v", m)
	}
}

func TestRefusedSpace(t *testing.T) {
	r, m := asksForRoom(t, entity.SpaceInfo{}, 9)
	r.say(r.managers, &wire.SpaceCreated{Request: m.Request, Reason: "Bounds are empty"})
	r.wantEvents("room 9 is 0 Bounds are empty")
	r, m = asksForRoom(t, room, 9)
	r.say(r.managers, &wire.SpaceCreated{Request: m.Request, Reason: "there are 9", Full: true})
	r.wantEvents("room 9 is 0 " + entity.ErrTooMany.Error() + ": there are 9")
}

func TestCreateSpaceFaults(t *testing.T) {
	r := joinedRig(t)
	_, v := r.spawn()
	for _, name := range []string{"", "OnRooms", "Tock", "Destroy"} {
		if err := v.CreateSpace(room, name, 0); !errors.Is(err, entity.ErrNoCallback) {
			t.Errorf("reply to %q: %v", name, err)
		}
	}
	if err := v.DestroySpace(0); err == nil {
		t.Error("space 0 is destroyed")
	}
	for range MaxSpaceRequests {
		if err := v.CreateSpace(room, "OnRoom", 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := v.CreateSpace(room, "OnRoom", 0); !errors.Is(err, entity.ErrTooMany) {
		t.Errorf("one too many: %v", err)
	}
	for id := range entity.SpaceID(app.MaxEndings) {
		if err := v.DestroySpace(id + 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := v.DestroySpace(1); err != nil {
		t.Errorf("the same once more: %v", err)
	}
	if err := v.DestroySpace(roomID); !errors.Is(err, entity.ErrTooMany) {
		t.Errorf("one end too many: %v", err)
	}
	v.Destroy()
	if err := v.CreateSpace(room, "OnRoom", 0); !errors.Is(err, entity.ErrGone) {
		t.Errorf("after the end of the base: %v", err)
	}
}

// Requests are asked again each second, also of a manager that was away; a space that comes when
// its base is gone is given back.
func TestSpaceRequestsAreRepeated(t *testing.T) {
	r := joinedRig(t)
	_, v := r.spawn()
	_ = v.CreateSpace(room, "OnRoom", 0)
	if err := v.DestroySpace(roomID + 7); err != nil {
		t.Fatal(err)
	}
	r.a.Closed(r.now, r.managers, mercury.ErrTimeout)
	r.pass(2 * time.Second)
	r.managers = r.open(cellAppMgr)
	r.say(r.managers, &wire.Welcome{Number: 7, Allocator: 5, BaseAppMgr: baseAppMgr})
	r.take(cellAppMgr)
	r.pass(3 * time.Second)
	var creates, destroys []uint64
	for _, msg := range r.take(cellAppMgr) {
		switch id, body, _ := wire.Split(msg); id {
		case wire.CreateSpaceID:
			creates = append(creates, parsed[wire.CreateSpace](t, body).Request)
		case wire.DestroySpaceID:
			destroys = append(destroys, parsed[wire.DestroySpace](t, body).Request)
		}
	}
	if len(creates) != 3 || len(destroys) != 3 {
		t.Fatalf("in 3 s asked %d times for the space, %d times for the end of another", len(creates), len(destroys))
	}
	r.say(r.managers, &wire.SpaceDestroyed{Request: destroys[1], Reason: "too late for the second"})
	r.say(r.managers, &wire.SpaceDestroyed{Request: destroys[2], Reason: "it stays"})
	v.Destroy()
	r.tick()
	for _, m := range told[wire.CreateSpace](r, cellAppMgr) {
		creates = append(creates, m.Request)
	}
	r.say(r.managers, &wire.SpaceCreated{Request: creates[len(creates)-1], Space: roomID})
	if m := one(t, told[wire.DestroySpace](r, cellAppMgr)); m.Space != roomID {
		t.Errorf("given back: %+v", m)
	}
	r.pass(1500 * time.Millisecond)
	again := told[wire.DestroySpace](r, cellAppMgr)
	if len(again) == 0 {
		t.Fatal("it is given back once, and not until the manager has heard")
	}
	r.say(r.managers, &wire.SpaceDestroyed{Request: again[len(again)-1].Request})
	r.pass(2 * time.Second)
	if got := told[wire.DestroySpace](r, cellAppMgr); len(got) != 0 {
		t.Errorf("asked again after the answer: %+v", got)
	}
}

// Only the CellAppMgr says what became of a space.
func TestOthersDoNotAnswerForSpaces(t *testing.T) {
	r, m := asksForRoom(t, room, 0)
	r.tell(appX, &wire.SpaceCreated{Request: m.Request, Space: roomID})
	r.say(r.bases, &wire.SpaceCreated{Request: m.Request, Space: roomID})
	r.wantEvents()
}

// The space has ended in which a cell part was to be made, or made again: the script hears that
// there will be none.
func TestTheSpaceHasEnded(t *testing.T) {
	r := joinedRig(t)
	id, v := r.spawn()
	r.events = nil
	r.createCell(v)
	r.tick()
	r.say(r.managers, &wire.Located{ID: id, Space: 2, Gone: true}) // of another space
	r.wantLink(id, linkLocating, 1, 0, mercury.Address{})
	r.say(r.managers, &wire.Located{ID: id, Space: 1, Gone: true})
	r.wantEvents("lost cell")
	r.say(r.managers, &wire.Located{ID: id, Space: 1, Gone: true})
	r.wantEvents()
	if s := r.a.byID[id].link.State(); s != linkNone {
		t.Errorf("the link is %v", s)
	}
}

func TestTheSpaceHasEndedMeanwhile(t *testing.T) {
	r := joinedRig(t)
	id, v := r.live()
	r.events = nil
	r.say(r.managers, &wire.Located{ID: id, Space: 1, Gone: true}) // it lives: a late word
	r.wantLink(id, linkLive, 1, 0, appX)
	r.say(r.managers, &wire.AppDead{Role: wire.CellApp, App: appX})
	r.pass(time.Second)
	r.say(r.managers, &wire.Located{ID: id, Space: 1, Gone: true})
	r.wantEvents("lost cell")
	if v.Cell().Call("hurt", int32(1)) == nil {
		t.Error("the cell part takes calls")
	}
	r.createCell(v) // somewhere else
}
