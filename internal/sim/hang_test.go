package sim

import (
	"fmt"
	"testing"
	"time"
)

// healedIn is how long it may take until all see fresh places again, once a process goes on: the
// others have held back what was for it, and send it at the pace of a channel that has just rested.
const healedIn = 3 * time.Second

// heals demands that no player holds another where that one was long ago, for a second on end.
func (r *rig) heals() {
	r.t.Helper()
	began, stale, known := r.now, r.now, map[[2]*player]*pair{}
	oldest := time.Duration(0)
	r.until("all see fresh places", healedIn, func() bool {
		o := r.oldest(known)
		if oldest = max(oldest, o); o >= time.Second {
			stale = r.now
		}
		return r.now-stale >= time.Second
	})
	r.t.Logf("healed after %v, the oldest was %v old", stale-began, oldest)
}

// A process that is stopped for some seconds, or gets a processor for a moment now and then, is not
// declared dead: its port is open. When it goes on, all see fresh places soon.
func TestStarvedLives(t *testing.T) {
	for name, starve := range map[string]func(r *rig, p *Process){
		"stopped": func(r *rig, p *Process) { p.pause(8 * time.Second); r.wait(8 * time.Second) },
		"gasping": func(r *rig, p *Process) {
			for i := range 6 {
				d := time.Duration(3+i) * time.Second
				p.pause(d)
				r.wait(d + 100*time.Millisecond)
			}
		},
		"all gasping": func(r *rig, _ *Process) {
			for i := range 4 {
				for j, q := range append(r.cellApps[:len(r.cellApps):len(r.cellApps)], r.baseApps...) {
					q.pause(time.Duration(3+(i+j)%6) * time.Second)
				}
				r.wait(8*time.Second + 300*time.Millisecond)
			}
		},
	} {
		for _, role := range []string{"cellapp", "baseapp"} {
			t.Run(fmt.Sprintf("%s %s", name, role), func(t *testing.T) {
				play(t, Options{Seed: 71, Lookout: true, Starved: true, Players: 12, Balance: still(4)}, func(r *rig) {
					r.fresh.off = true
					r.wait(6 * time.Second)
					p := r.cellApps[0]
					if role == "baseapp" {
						p = r.baseApps[0]
					}
					if starve(r, p); r.observer.last.Deaths != 0 {
						t.Fatalf("%d deaths", r.observer.last.Deaths)
					}
					r.heals()
					r.wait(time.Second)
					if r.observer.last.Deaths != 0 {
						t.Errorf("%d deaths", r.observer.last.Deaths)
					}
				})
			})
		}
	}
}

// A process that hangs for ever is dead after HangTimeout, and its players go on elsewhere.
func TestHangsForEver(t *testing.T) {
	play(t, Options{Seed: 72, Lookout: true, Balance: still(4)}, func(r *rig) {
		r.fresh.off = true
		r.wait(4 * time.Second)
		took := r.bereave(func(p *Process) { p.pause(time.Hour) })
		t.Logf("a place after %v", took)
		if took < 8*time.Second || took > 9500*time.Millisecond {
			t.Errorf("without a place for %v", took)
		}
	})
}
