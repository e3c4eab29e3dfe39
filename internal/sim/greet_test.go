package sim

import (
	"fmt"
	"testing"
	"time"

	"github.com/cellscape/cellscape/property"
)

// TestGreetedAcrossDeaths: one player greets another, and 0.1 to 4 seconds later the CellApp of the
// first, of the second, or of both dies. The greeting is handled once.
func TestGreetedAcrossDeaths(t *testing.T) {
	for _, c := range []struct {
		name   string
		x      float64 // of the target, across the line; the caller is at -30
		caller bool    // whose CellApp dies
	}{{"target across", 30, false}, {"caller across", 30, true}, {"both in one cell", -35, false}} {
		for _, after := range []time.Duration{100, 400, 1000, 2500, 4000} {
			t.Run(fmt.Sprintf("%s after %d ms", c.name, after), func(t *testing.T) {
				play(t, Options{Seed: 1, Rovers: -1, Players: 3, Balance: still(2)}, func(r *rig) {
					for _, pl := range r.players {
						pl.quiet = true
					}
					caller, target := r.players[0], r.players[1]
					r.place(caller, r.across(-30))
					r.place(target, r.across(c.x))
					r.until("the caller sees the target", time.Minute, func() bool { return caller.client.Entity(target.id()) != nil })
					r.wait(3 * time.Second)
					before := r.greetedBy(target.id(), caller.id())
					for range 2 {
						if err := caller.greet(target.id()); err != nil {
							t.Fatal(err)
						}
					}
					r.until("it is greeted", 5*time.Second, func() bool { return r.greetedBy(target.id(), caller.id()) == before+2 })
					r.wait(after * time.Millisecond)
					on, _, _ := r.real(target.id())
					if c.caller {
						on, _, _ = r.real(caller.id())
					}
					on.crash()
					on.restartAt = r.now + time.Second
					r.wait(5 * time.Second)
					if err := caller.greet(target.id()); err != nil {
						t.Fatal(err)
					}
					r.until("both greetings are handled, and a third one", 20*time.Second, func() bool { return r.greetedBy(target.id(), caller.id()) == before+3 })
				})
			})
		}
	}
}

// place leads a player somewhere.
func (r *rig) place(pl *player, at property.Vector3) {
	r.t.Helper()
	pl.steer = func() property.Vector3 { return at }
	r.until(pl.name+" arrives", time.Minute, func() bool {
		on, _, v := r.real(pl.id())
		return on != nil && v.Position() == at
	})
}
