package client

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/property"
)

// watcher is told all that a script can be told of the view.
type watcher struct {
	*Replica
	tell func(format string, args ...any) `cellscape:"local"`
}

func (w *watcher) Chat(string) {}
func (w *watcher) OnEntered() {
	w.tell("script: %v with %v at %v, the player %v", w.ID, w.Props.Get(health), w.Position.X, w.Client().Player().ID)
}
func (w *watcher) OnMoved() { w.tell("script: %v moved to %v", w.ID, w.Position.X) }
func (w *watcher) OnLeft()  { w.tell("script: %v left", w.ID) }

// watching is a rig in the world whose client has such scripts.
func watching(t *testing.T) *rig {
	r := newRig(t)
	r.c.cfg.Scripts = NewScripts(r.schema)
	Register(r.c.cfg.Scripts, "Avatar", func() *watcher {
		return &watcher{tell: func(format string, args ...any) { r.events = append(r.events, fmt.Sprintf(format, args...)) }}
	})
	if err := r.c.cfg.Scripts.Err(); err != nil {
		t.Fatal(err)
	}
	r.play()
	return r
}

// A script hears of its entity what the Events tell of all, and before them.
func TestScriptsWatch(t *testing.T) {
	r := watching(t)
	_ = r.others.Load(health, property.Int(80))
	r.say(r.enter(foe, 2).Append(r.cell(2)))
	r.wantEvents("script: 1.7 with 80 at 2, the player 1.1", "enter 1.7 health 80")
	r.say(place(foe, 3).AppendRest(r.cell(3)))
	r.wantEvents("script: 1.7 moved to 3", "moved 1.7 to {3 0 0}")
	r.say(place(foe, 3).AppendRest(r.cell(4))) // it is there
	r.wantEvents()
	r.say(r.enter(foe, 4).Append(r.cell(5)))
	r.wantEvents("script: 1.7 left", "left 1.7", "script: 1.7 with 80 at 4, the player 1.1", "enter 1.7 health 80")
	r.say(protocol.AppendLeave(r.cell(6), foe))
	r.wantEvents("script: 1.7 left", "left 1.7")
}

// Whatever ends the view, each script hears it once; the Events do not tell of each.
func TestScriptsHearTheEndOfTheView(t *testing.T) {
	for name, end := range map[string]func() []byte{
		"reset":          func() []byte { return protocol.AppendReset(nil) },
		"cell gone":      func() []byte { return protocol.AppendCellGone(nil) },
		"leave space":    func() []byte { return protocol.AppendLeaveSpace(nil) },
		"reset entities": func() []byte { return protocol.AppendResetEntities(nil) },
	} {
		t.Run(name, func(t *testing.T) {
			r := watching(t)
			r.say(r.enter(foe+1, 2).Append(r.enter(foe, 2).Append(r.cell(2))))
			r.events = nil
			r.say(end())
			if got := strings.Join(r.events, ", "); !strings.HasPrefix(got, "script: 1.7 left, script: 1.8 left") || strings.Contains(got, ", left") {
				t.Error(got)
			}
		})
	}
}

// When a script ends the session, nobody hears any more.
func TestScriptEndsTheSession(t *testing.T) {
	r := watching(t)
	r.say(r.enter(foe+1, 2).Append(r.enter(foe, 2).Append(r.cell(2))))
	r.c.Entity(foe).Script().(*watcher).tell = func(string, ...any) { r.c.Close() }
	r.events = nil
	r.say(protocol.AppendReset(nil))
	r.wantEvents()
	if r.c.Err() != ErrEnded {
		t.Error(r.c.Err())
	}
}

// Nor does one that enters in place of the one that ended it.
func TestScriptEndsTheSessionBeforeAnotherEnters(t *testing.T) {
	r := watching(t)
	r.say(r.enter(foe, 2).Append(r.cell(2)))
	r.c.Entity(foe).Script().(*watcher).tell = func(string, ...any) { r.c.Close() }
	r.events = nil
	r.say(r.enter(foe, 3).Append(r.cell(3)))
	r.wantEvents()
}

// Age is that of a place in a packet; a Rest has none.
func TestAge(t *testing.T) {
	r := newRig(t)
	r.play()
	r.say(r.enter(foe, 2).Append(r.cell(2)))
	e := r.c.Entity(foe)
	if age := e.Age(r.now + time.Second); age != 0 {
		t.Errorf("at first it is %v old", age)
	}
	r.now += 1500 * time.Millisecond
	r.c.Tick(r.now)
	r.whisper(packet(2, 1, place(foe, 3)))
	if age := e.Age(r.now + 250*time.Millisecond); e.Position.X != 3 || age != 250*time.Millisecond {
		t.Errorf("at %v, %v old", e.Position, age)
	}
	r.say(place(foe, 3).AppendRest(r.cell(3)))
	if age := e.Age(r.now + time.Second); age != 0 {
		t.Errorf("at rest it is %v old", age)
	}
}
