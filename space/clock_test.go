package space

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/gametime"
)

// clocks is how a manager changes a rate: each Clock continues the one before.
func clocks(rates ...uint16) []gametime.Clock {
	list := []gametime.Clock{{}}
	for i, rate := range rates {
		k := gametime.Clock{Number: uint64(i + 1), At: time.Duration(i+1) * time.Second, Rate: rate}
		k.Game = list[i].GameAt(k.At)
		list = append(list, k)
	}
	return list[1:]
}

// Cells that hear of every rate in time have one game time, whenever they tick and whenever they
// heard; so has one that is made later.
func TestGameTimeIsTheSameOnAllCells(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	list := clocks(750, 563, 423, 200, 220, 1000)
	var cells [5]pace
	heard := [5]int{}
	late := pace{}
	for now := time.Duration(0); now < 9*time.Second; now += 10 * time.Millisecond {
		truth := gametime.Clock{}
		for i, k := range list {
			if k.At <= now {
				truth = k
			}
			for c := range cells {
				lead := time.Duration(r.IntN(400)) * time.Millisecond
				if heard[c] == i && now >= k.At-500*time.Millisecond+lead {
					cells[c].set(k, now)
					heard[c]++
				}
			}
			if k.Number == 3 && now == k.At {
				late.set(k, now)
			}
			if k.Number > 3 && now == k.At-100*time.Millisecond {
				late.set(k, now)
			}
		}
		for c := range cells {
			if r.IntN(5) == 0 {
				if game := cells[c].advance(now); game != truth.GameAt(now) {
					t.Fatalf("cell %d at %v: game time %v, want %v", c, now, game, truth.GameAt(now))
				}
			}
		}
		if late.begun {
			if game := late.advance(now); game != truth.GameAt(now) {
				t.Fatalf("the new cell at %v: game time %v, want %v", now, game, truth.GameAt(now))
			}
		}
	}
}

// Whoever hears too late has run ahead. It does not go back, nor stand still, and is with the others
// again after the time that the doc of pace states.
func TestLateCellCatchesUp(t *testing.T) {
	const tick, delay = 100 * time.Millisecond, 3 * time.Second
	k := gametime.Clock{Number: 1, At: time.Second, Game: time.Second, Rate: 400}
	var p pace
	var last, caught time.Duration
	for now := tick; now < 20*time.Second; now += tick {
		if now == k.At+delay {
			p.set(k, now)
		}
		game := p.advance(now)
		switch step := game - last; {
		case step < tick*200/1000 || step > tick:
			t.Fatalf("at %v game time goes on by %v in a tick", now, step)
		case gametime.AtRate(tick, p.rate) != step && game != k.GameAt(now):
			t.Fatalf("at %v controllers go by rate %d, game time by %v", now, p.rate, step)
		}
		if now > k.At+delay && caught == 0 && game == k.GameAt(now) {
			caught = now
		}
		last = game
	}
	// Ahead by 2.9 s × 0.6 at its last fast tick; the others gain 0.2 s each second.
	if want := k.At + delay - tick + 8700*time.Millisecond; caught != want {
		t.Errorf("with the others at %v, want %v", caught, want)
	}
}

func TestOlderClocksAreIgnored(t *testing.T) {
	list := clocks(500, 250)
	var p pace
	p.advance(0)
	p.set(list[1], 0)
	p.set(list[0], 0)
	p.set(gametime.Clock{Rate: 1}, 0)
	if p.number() != 2 || p.advance(1900*time.Millisecond) != 1900*time.Millisecond {
		t.Errorf("clock %d, game time %v", p.number(), p.game)
	}
	if p.advance(2 * time.Second); p.rate != 125 { // ahead, as it knew nothing of the first
		t.Errorf("rate %d", p.rate)
	}
	if p.advance(time.Second); p.game < list[1].Game {
		t.Error("a clock that was set back sets game time back")
	}
}

// dilate gives the cells of some apps a rate from now on.
func (r *rig) dilate(rate uint16, apps ...int) {
	k := gametime.Clock{Number: 1, At: r.now, Game: r.now, Rate: rate}
	for _, a := range apps {
		r.apps[a-1].cell.SetClock(k, r.now)
	}
}

// Timers and controllers go by game time; periods of the cell do not.
func TestSlowSpace(t *testing.T) {
	r := newRig(t, 1, func(c *Config) { c.BackupPeriod = 2 * time.Second })
	r.tick(1)
	r.create(7, -300, 0)
	a := r.avatar(7)
	saves := a.saves
	r.dilate(250, 1)
	if _, err := a.AddTimer(time.Second, 0, "OnTimer", 1); err != nil {
		t.Fatal(err)
	}
	if _, err := a.MoveTo(vec(-200), 10, "", 0); err != nil {
		t.Fatal(err)
	}
	began := a.Now()
	r.tick(39)
	if a.Now()-began != 975*time.Millisecond || a.Rate() != 0.25 {
		t.Errorf("3.9 s at a quarter are %v, the rate is %v", a.Now()-began, a.Rate())
	}
	r.diary(7, "created;")
	r.tick(1)
	r.diary(7, "created;timer 1;")
	if x := a.Position().X; x < -290.01 || x > -289.99 {
		t.Errorf("10 m/s for a second of game time from -300 is %v", x)
	}
	if a.saves < saves+1 {
		t.Error("backups wait for game time")
	}
}

// A new cell has its game time before its first tick: timers that come to it at once are not due.
func TestNewCellHasItsGameTime(t *testing.T) {
	r := newRig(t, 1)
	r.apps[0].cell.SetClock(gametime.Clock{Number: 4, At: time.Hour, Game: 40 * time.Minute, Rate: 500}, 2*time.Hour)
	r.create(7, 0, 0)
	if got := r.avatar(7).Now(); got != 70*time.Minute {
		t.Errorf("game time %v, want 1h10m", got)
	}
}
