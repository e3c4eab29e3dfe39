package baseapp

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// run calls the app when it asks for it, for a time, and returns how often that was.
func (r *rig) run(d time.Duration) (ticks int) {
	for end := r.now + d; r.a.NextTick() <= end; ticks++ {
		r.now = max(r.now, r.a.NextTick())
		r.a.Tick(r.now)
	}
	return ticks
}

// A BaseApp without bases and clients runs only to say that it is there, as often as with some.
func TestEmptyBaseAppRests(t *testing.T) {
	for _, backups := range []time.Duration{-1, 10 * time.Second} {
		r := joinedRig(t, func(c *Config) { c.BackupPeriod = backups })
		r.say(r.managers, &wire.Members{Apps: []wire.AppRef{{Role: wire.BaseApp, App: self}}})
		if backups > 0 {
			r.a.copying.ruling.manager, r.a.copying.ruling.heard = true, []mercury.Address{appW}
		}
		r.run(5 * time.Second)
		r.net.sent = nil
		n := r.run(time.Minute)
		words := len(r.take(cellAppMgr))
		loads := len(r.take(baseAppMgr))
		if n > words+10 || words < 200 || words > 240 || loads < 59 || loads > 61 {
			t.Errorf("backups every %v: called %d times in a minute, %d words to the CellAppMgr and %d to the BaseAppMgr", backups, n, words, loads)
		}
	}
}

// What comes in a rest, and what the game does from outside, finds the clocks as the last tick would
// have left them, and the next tick where it would have been.
func TestBaseAppRestEndsInStep(t *testing.T) {
	for name, f := range map[string]func(r *rig){
		"a guest": func(r *rig) { r.a.Opened(r.now, r.net.accept(address(99, 1)), address(99, 1)) },
		"a base": func(r *rig) {
			if _, err := r.start.CreateBase("Avatar", nil); err != nil {
				r.t.Fatal(err)
			}
		},
	} {
		r := joinedRig(t)
		r.run(time.Second)
		for r.a.NextTick()-r.now < 3*DefaultTick {
			r.run(r.a.NextTick() - r.now)
		}
		last, game := r.now+2*DefaultTick, r.a.game+2*DefaultTick
		r.now = last + DefaultTick/2
		f(r)
		r.run(0)
		if next := r.a.NextTick(); next != last+DefaultTick || r.a.game != game {
			t.Errorf("%s: the next tick is at %v, want %v; the game's time is %v, want %v", name, next, last+DefaultTick, r.a.game, game)
		}
		if n := r.run(10 * DefaultTick); n != 10 {
			t.Errorf("%s: %d ticks in the time of ten", name, n)
		}
	}
}

// There is no rest while a manager is away, or the world stands still.
func TestNoRestOfBaseApp(t *testing.T) {
	for name, f := range map[string]func(r *rig){
		"no manager":    func(r *rig) { r.a.Closed(r.now, r.managers, mercury.ErrTimeout) },
		"no BaseAppMgr": func(r *rig) { r.a.Closed(r.now, r.bases, mercury.ErrTimeout) },
		"frozen":        func(r *rig) { r.say(r.managers, &wire.Freeze{On: true}) },
	} {
		r := joinedRig(t)
		r.run(time.Second)
		f(r)
		if n := r.run(10 * DefaultTick); n != 10 {
			t.Errorf("%s: %d ticks in the time of ten", name, n)
		}
	}
}
