package sim

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/spacekey"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

const updatesKey = "updates"

// updating counts together: each BaseApp adds to its own number of one shared value, which all of them
// change.
type updating struct {
	*rig
	made   map[string]int64 // by the name of the BaseApp
	chance *rand.Rand
	broken int
	// breakAt is when a channel may be broken again.
	breakAt time.Duration
}

// add has each BaseApp add some.
func (u *updating) add() {
	for p, a := range u.liveBaseApps() {
		for range u.chance.IntN(4) {
			err := a.Shared().Update(updatesKey, func(was any, ok bool) (any, bool) {
				sums := map[string]any{}
				if ok {
					sums = maps.Clone(was.(map[string]any))
				}
				n, _ := sums[p.Name].(int64)
				sums[p.Name] = n + 1
				return sums, true
			})
			if err == nil {
				u.made[p.Name]++
			}
		}
	}
}

// disturb ends the channel of a BaseApp to the manager, at one in some messages about updates, which is lost.
func (u *updating) disturb(p *Process, ch mercury.ChannelID, msg []byte) []byte {
	if p != u.manager || u.now < u.breakAt || u.chance.IntN(40) > 0 {
		return msg
	}
	var set wire.SetSpaceData
	var told wire.SpaceData
	switch kind(msg) {
	case wire.SetSpaceDataID:
		if set.Parse(msg[1:]) != nil || !set.Same {
			return msg
		}
	case wire.SpaceDataID:
		if told.Parse(msg[1:]) != nil || told.Entry.Key != spacekey.Updated {
			return msg
		}
	default:
		return msg
	}
	u.broken++
	u.parted, u.breakAt = true, u.now+time.Second
	u.manager.ep.Abort(ch)
	u.manager.app.Closed(u.now, ch, mercury.ErrUnacked)
	return nil
}

// faults compares the sums of all copies with what was added.
func (u *updating) faults() (faults []error) {
	u.eachShared(func(p *Process, d *app.Shared) {
		v, _ := d.Get(updatesKey)
		sums, _ := v.(map[string]any)
		for name, n := range u.made {
			if sums[name] != n {
				faults = append(faults, fmt.Errorf("%s has %v of the %d updates of %s", p.Name, sums[name], n, name))
			}
		}
	})
	return faults
}

// TestUpdates: whoever changes one shared value at the same time as others is counted once, while channels to
// the manager break and managers die.
func TestUpdates(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			play(t, Options{Seed: 7100 + seed, Players: 2, Rovers: 2, Balance: still(2)}, func(r *rig) {
				u := &updating{rig: r, made: map[string]int64{}, chance: rand.New(rand.NewPCG(seed, 1))}
				r.hook = u.disturb
				for range 3 { // managers
					for range 40 {
						u.add()
						r.wait(time.Duration(u.chance.IntN(150)) * time.Millisecond)
					}
					if seed > 0 {
						u.add()
						r.wait(time.Duration(u.chance.IntN(20)) * time.Millisecond)
						r.manager.crash()
						u.add()
						r.wait(time.Duration(u.chance.IntN(2000)) * time.Millisecond)
						r.nextTerm()
						r.wait(repaired)
					}
				}
				r.hook = nil
				r.until("all are counted", 4*repaired, func() bool { return len(u.faults()) == 0 })
				r.wait(repaired)
				for _, err := range u.faults() {
					t.Error(err)
				}
				if len(u.made) < 2 || u.broken < 2 && seed == 0 {
					t.Errorf("%v updates, and %d channels broke", u.made, u.broken)
				}
			})
		})
	}
}
