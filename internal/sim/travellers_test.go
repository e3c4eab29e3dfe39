package sim

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/placement"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
	"github.com/cellscape/cellscape/property"
)

// travel runs a world in which all are teleported, and adds up how that ended.
func travel(t *testing.T, o Options, outcomes map[placement.Code]int) {
	t.Helper()
	o.Wild.Travellers = 6
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Run(); err != nil {
		t.Fatal(err)
	}
	// order does not show: each is added by itself
	for code, n := range c.world.outcomes {
		outcomes[code] += n
	}
}

// wantAll wants every outcome that a few such worlds must have.
func wantAll(t *testing.T, outcomes map[placement.Code]int) {
	t.Helper()
	for _, code := range []placement.Code{0, placement.Vetoed, placement.Forbidden, placement.NoSpace} {
		if outcomes[code] == 0 {
			t.Errorf("no teleport ended with %v: %v", code, outcomes)
		}
	}
	t.Logf("outcomes: %v", outcomes)
}

// All are teleported in every way, over a sound network, and each teleport ends once.
func TestTravellers(t *testing.T) {
	t.Parallel()
	outcomes := map[placement.Code]int{}
	travel(t, Options{Seed: 3, Link: mercurytest.Link{Delay: 5 * time.Millisecond}}, outcomes)
	wantAll(t, outcomes)
}

// The same with all that can go wrong: losses, broken channels, the deaths of origins, destinations,
// bases and managers.
func TestTravellersInBadTimes(t *testing.T) {
	t.Parallel()
	outcomes := map[placement.Code]int{}
	for seed := range uint64(4) {
		travel(t, Options{Seed: 100 + seed, Crash: true, CrashBase: seed%2 == 1, CrashManager: seed%2 == 0, Pause: true, Retire: seed == 3,
			Lodgers: 2, Wild: Wild{Clocks: 1, Stones: 2, Hold: true, Breaks: true, Dooms: true}}, outcomes)
	}
	wantAll(t, outcomes)
}

// Four players ride a lift again and again, to a haven and back, and far away in their space, over a lossy
// network. Each keeps the others on its screen: nobody leaves the view of a companion before that has been
// told of all who are near.
func TestRidersKeepEachOtherInSight(t *testing.T) {
	play(t, Options{Seed: 9, CellApps: 3, Players: 4, Rovers: 4, Balance: still(2), Wild: Wild{Travellers: 1}}, func(r *rig) {
		lift := r.board()
		far := r.across(60)
		for n, to := range []entity.Destination{{Position: lift, Space: theSpace}, {Space: r.world.haven, Position: far}, {Space: theSpace, Position: far}, {Position: lift}} {
			to.Transition = true
			to.Position.X += 0.37 + 7*float32(n) // never where they have been: movesInOrder could not tell
			r.ride(n, to)
		}
	})
}

// board brings all players to a lift, and stops all other teleports.
func (r *rig) board() (lift property.Vector3) {
	r.t.Helper()
	r.until("there is a haven", time.Minute, func() bool { return r.world.haven != 0 })
	r.world.stays = true // nobody goes by itself
	lift = r.across(-60)
	for i, pl := range r.players {
		to := property.Vector3{X: lift.X + float32(i), Z: lift.Z}
		pl.quiet, pl.steer = true, func() property.Vector3 { return to }
	}
	r.until("all stand in the lift", time.Minute, func() bool {
		in := 0
		for i, pl := range r.players {
			s, ok := r.walker(pl.id())
			if ok && s.Space() == theSpace && property.Distance(s.Position(), lift) < 10 {
				in++
			} else if ok && !s.Teleporting() {
				_ = s.Teleport(entity.Destination{Space: theSpace, Position: property.Vector3{X: lift.X + float32(i), Z: lift.Z}}, 1)
			}
		}
		return in == len(r.players)
	})
	r.wait(time.Second) // what clients have not heard yet of how they came here
	for _, pl := range r.players {
		pl.transits, pl.flickers = 0, 0
	}
	return lift
}

// A party goes to another CellApp while a process dies. All arrive, or all are back: whether the message that
// hands them over is lost with the death, or the process dies so much later.
func TestPartyAcrossDeaths(t *testing.T) {
	type where func(r *rig, origin, destination *Process) *Process
	origin := func(_ *rig, x, _ *Process) *Process { return x }
	destination := func(_ *rig, _, x *Process) *Process { return x }
	for name, c := range map[string]struct {
		of    where
		after []time.Duration // in ms; -1 loses the message
	}{
		"origin":      {origin, []time.Duration{-1, 0, 10, 1000}},
		"destination": {destination, []time.Duration{-1, 0, 10, 1000}},
		"manager":     {func(r *rig, _, _ *Process) *Process { return r.manager }, []time.Duration{-1, 0}},
		"BaseApp":     {func(r *rig, _, _ *Process) *Process { on, _ := r.base(r.id()); return on }, []time.Duration{-1, 0, 100}},
	} {
		for _, after := range c.after {
			t.Run(fmt.Sprintf("%s %d ms", name, after), func(t *testing.T) {
				play(t, Options{Seed: 9, CellApps: 3, BaseApps: 3, Replicas: 1, Players: 4, Rovers: -1, Balance: still(2), Wild: Wild{Travellers: 1}}, func(r *rig) {
					r.board()
					from, _, _ := r.real(r.id())
					var to *Process
					fall := func() {
						p := c.of(r, from, to)
						if p == to && after < 0 {
							p.kill() // it is about to handle the message
						} else {
							p.crash()
						}
						p.restartAt = r.now + 5*time.Second
					}
					r.hook = func(p *Process, _ mercury.ChannelID, msg []byte) []byte {
						if len(msg) == 0 || kind(msg) != wire.OnloadPartyID || to != nil {
							return msg
						}
						if to = p; after < 0 {
							fall()
							return nil
						}
						return msg
					}
					ids := make([]entity.ID, len(r.players))
					for i, pl := range r.players {
						ids[i] = pl.id()
					}
					s, _ := r.walker(ids[0])
					if err := s.TeleportTogether(entity.Destination{Space: r.world.haven, Position: property.Vector3{X: 7, Z: 9}}, 1, ids...); err != nil {
						t.Fatal(err)
					}
					r.until("they set off", 5*time.Second, func() bool { return to != nil })
					if after >= 0 {
						r.wait(after * time.Millisecond)
						fall()
					}
					r.wait(10 * time.Second)
					away, home := 0, 0
					r.until("all are somewhere", 20*time.Second, func() bool {
						away, home = 0, 0
						for _, id := range ids {
							if s, ok := r.walker(id); ok && !s.Teleporting() {
								if s.Space() == theSpace {
									home++
								} else {
									away++
								}
							}
						}
						return away+home == len(ids)
					})
					t.Logf("%d have arrived, %d are back", away, home)
					if away > 0 && home > 0 {
						t.Errorf("%d have arrived, %d are back", away, home)
					}
					r.world.stays = false // they come home
				})
			})
		}
	}
}

// ride takes all players through a transition, and waits until they have arrived.
func (r *rig) ride(n int, to entity.Destination) {
	r.t.Helper()
	r.until("they see each other", time.Minute, func() bool { return r.allSeeEachOther() })
	begun := false
	r.until("they are on their way", 10*time.Second, func() bool {
		ids := make([]entity.ID, len(r.players))
		for i, pl := range r.players {
			ids[i] = pl.id()
		}
		s, ok := r.walker(ids[0])
		begun = begun || ok && s.TeleportTogether(to, 1, ids...) == nil
		return begun
	})
	for i, pl := range r.players {
		at := property.Vector3{X: to.Position.X + float32(i), Z: to.Position.Z}
		pl.steer = func() property.Vector3 { return at }
	}
	r.until("all have arrived", 15*time.Second, func() bool {
		return !slices.ContainsFunc(r.players, func(pl *player) bool { return pl.transits <= n || len(pl.carried) > 0 })
	})
	for _, pl := range r.players {
		if pl.transits != n+1 || pl.flickers > 0 {
			r.t.Errorf("ride %d: %s went along %d times, %d companions flickered", n, pl.name, pl.transits, pl.flickers)
		}
		if pl.company != len(r.players)-1 {
			r.t.Errorf("ride %d: %s went along with %d companions", n, pl.name, pl.company)
		}
	}
	if !r.allSeeEachOther() {
		r.t.Errorf("ride %d: they have lost each other", n)
	}
}

// allSeeEachOther reports whether each player has all others on its screen.
func (r *rig) allSeeEachOther() bool {
	for _, pl := range r.players {
		for _, other := range r.players {
			if other != pl && (pl.client == nil || other.id() == 0 || pl.client.Entity(other.id()) == nil) {
				return false
			}
		}
	}
	return true
}

// walker is the script of a player's real, if it is not under way.
func (r *rig) walker(id entity.ID) (*walkerCell, bool) {
	p, _, v := r.real(id)
	if p == nil {
		return nil, false
	}
	s, ok := v.Script().(*walkerCell)
	return s, ok
}
