package cellappmgr

import (
	"math"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/balance"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// TestEveryCellAppRefused: while the scorers refuse every CellApp, spaces wait, are counted, and
// are named once. They get their cell as soon as there is a CellApp that is not refused; so does a
// space that waits after a death.
func TestEveryCellAppRefused(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Balance.Scorers = refusing(1, 2) })
	a := r.join(wire.CellApp, 10)
	base := r.join(wire.BaseApp, 30)
	for i := range 3 {
		base.send(&wire.CreateSpace{Number: uint64(i + 1), Info: aRoom()})
	}
	b := r.join(wire.CellApp, 11)
	r.pass(5 * time.Second)
	none[wire.AddCell](a)
	none[wire.AddCell](b)
	if n := len(take[wire.SpaceCreated](base)); n != 3 {
		t.Errorf("%d requests were answered, want 3", n)
	}
	if n := r.m.Counts().UnplacedSpaces; n != 4 {
		t.Errorf("%d spaces counted as waiting, want 4", n)
	}
	if n := strings.Count(r.log.String(), "a space waits for a CellApp"); n != 1 {
		t.Errorf("logged %d times, want once", n)
	}
	r.logged("a space waits for a CellApp", "space=1")

	c := r.join(wire.CellApp, 12)
	if n := len(c.confirm()); n != 4 {
		t.Errorf("a CellApp that is not refused was given %d cells, want 4", n)
	}
	r.logged("every space has a CellApp again")
	c.drop(mercury.ErrPeerRestarted)
	r.pass(5 * time.Second)
	none[wire.AddCell](a)
	if n := strings.Count(r.log.String(), "a space waits for a CellApp"); n != 2 {
		t.Errorf("logged %d times after the death, want twice", n)
	}
	if n := len(r.join(wire.CellApp, 13).confirm()); n != 4 {
		t.Errorf("after the death %d cells were placed, want 4", n)
	}
}

// TestVetoLifted: a scorer that refuses for a while is asked again even if nothing else happens.
func TestVetoLifted(t *testing.T) {
	refuse := true
	r := newRig(t, func(c *Config) {
		c.Balance.Scorers = []balance.Scorer{{Name: "moody", Rank: func(*balance.Candidate) (float64, bool) { return 0, !refuse }}}
	})
	a := r.join(wire.CellApp, 10)
	r.pass(2 * time.Second)
	none[wire.AddCell](a)
	refuse = false
	r.pass(time.Second)
	one[wire.AddCell](a)
}

// TestRoomsByScorer: rooms go by the scorers; here by the machine of the BaseApp that asked.
func TestRoomsByScorer(t *testing.T) {
	r := newRig(t, func(c *Config) {
		c.MinCellApps = 3
		c.Balance.Scorers = []balance.Scorer{balance.BaseTrafficScorer(), balance.AppLoadScorer()}
	})
	var apps []*peer
	for i := range 3 {
		apps = append(apps, r.join(wire.CellApp, 10+i))
	}
	apps[0].confirm()
	near := r.connect(wire.BaseApp, mercury.Address{At: netip.AddrPortFrom(apps[2].addr.At.Addr(), 9), Salt: 77})
	near.sendJoin()
	for i := range 4 {
		near.send(&wire.CreateSpace{Number: uint64(i + 1), Info: aRoom()})
	}
	if n := len(apps[2].confirm()); n != 4 {
		t.Errorf("%d of 4 rooms are on the machine of the BaseApp that asked", n)
	}
}

// TestRankIsNoNumber: a scorer whose rank for a room is not a number refuses it, and is named.
func TestRankIsNoNumber(t *testing.T) {
	r := newRig(t, func(c *Config) {
		c.Balance.Scorers = []balance.Scorer{{Name: "odd", Rank: func(c *balance.Candidate) (float64, bool) {
			if c.App.ID == 1 {
				return math.NaN(), true
			}
			return 0, true
		}}}
		c.MinCellApps = 2
	})
	a, b := r.join(wire.CellApp, 10), r.join(wire.CellApp, 11)
	none[wire.AddCell](a)
	one[wire.AddCell](b)
	if r.m.Counts().Implausible != 1 {
		t.Errorf("%d counted", r.m.Counts().Implausible)
	}
	r.logged("rank by the scorer odd")
}
