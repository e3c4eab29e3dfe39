package sim

import (
	"fmt"
	"math"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
)

// lastWord checks that the server has the last word on a player's place: however a client leaps, its
// real, and so all who see it, goes no farther than the time that has passed and the debt allow. And
// an honest player is never put back while the network is sound: not at top speed, and not at a
// border. That a client and the server agree in the end, its audit shows (clientsConverge).
type lastWord struct {
	c  *Cluster
	on map[entity.ID]walked
	// unsound is when the network was unsound last.
	unsound time.Duration
	made    map[entity.ID]restored
	checked time.Duration
}

// restored is the newest incarnation of a cell part that its base has made, and when at the
// earliest. The cell part may be on its way to another cell from then on, and be seen five seconds
// later, while the former one, which does not know yet that it was given up, is seen all the time
// (seed 187002).
type restored struct {
	incarnation uint32
	at          time.Duration
}

// noteMade takes in which incarnations bases have made.
func (k *lastWord) noteMade() {
	for b := range k.c.bases() {
		if k.made[b.ID].incarnation < b.Order.Incarnation {
			k.made[b.ID] = restored{b.Order.Incarnation, k.checked}
		}
	}
	k.checked = k.c.now
}

// walked is how far a real has come since it was first seen in its incarnation.
type walked struct {
	logins      int
	incarnation uint32
	since       time.Duration
	seen        time.Duration // the last check that found a real
	at          property.Vector3
	way         float64
	forced      uint64 // what its client had heard by then
	steady      bool   // the network has been sound since
	// cuts is how often its client had lost its channel, or come back. cutAt is when that was seen, or the
	// real after it had been away for long.
	cuts  uint64
	cutAt time.Duration
}

// allowance is more than the debt of a move, the tolerance of clocks, and the time of the cluster of
// one CellApp that differs from that of another.
const allowance = 500 * time.Millisecond

// cutGrace is how long a client that has come back may be put back: it walks on while nobody hears
// it, and farther than the debt of a move allows at once. The same holds for all while a network that was
// unsound delivers what it has held up: seven seconds of moves on a CellApp that nobody had reached.
const cutGrace = 2 * time.Second

// longAway is how long a real may be on its way to another cell before its client counts as one that has come
// back: nobody takes its moves meanwhile, and when the real has arrived they make up for no more than this
// (space's maxSilence). One was twenty seconds in a bad channel.
const longAway = 5 * time.Second

func (k *lastWord) safe() error {
	k.noteMade()
	if !k.c.fresh.active() {
		k.unsound = k.c.now
	}
	for v := range k.c.reals() {
		pl := k.c.owner(v.ID())
		if pl == nil || pl.rogue || pl.shoved > 0 || pl.driven || k.c.world.travels || k.c.world.rides { // who is teleported leaps, who rides is faster
			continue
		}
		w, steady := k.on[v.ID()], k.c.now >= k.unsound+cutGrace
		order := v.Order().Incarnation
		if w.logins == pl.logins && order < w.incarnation {
			continue // the real has been given up, and does not know yet
		}
		if w.logins != pl.logins || w.incarnation != order {
			since := k.c.now
			switch {
			case w.logins == pl.logins && w.seen > 0:
				since = w.seen // it may have stood since then, and have been on its way to another cell at each check
			case v.Order().Hop > 0:
				since = pl.placedAt // the same, for one that left its first cell before a check
			}
			if m := k.made[v.ID()]; m.incarnation == order && w.logins == pl.logins {
				since = min(since, m.at)
			}
			w = walked{logins: pl.logins, incarnation: order, since: since, at: v.Position(), forced: pl.client.Stats().Forced}
		}
		stats := pl.client.Stats()
		if n := stats.Interrupted + stats.Resumed + stats.Switched; n != w.cuts || w.seen > 0 && k.c.now > w.seen+longAway {
			w.cuts, w.cutAt = n, k.c.now
		}
		w.seen = k.c.now
		if cut := k.c.now < w.cutAt+cutGrace && w.cutAt > 0; cut || steady && !w.steady {
			w.steady, w.forced = steady && !cut, stats.Forced
		}
		to := v.Position()
		w.way += math.Hypot(float64(property.Distance(w.at, to)), float64(to.Y-w.at.Y))
		w.at = to
		k.on[v.ID()] = w
		if most := 1.01 * walkSpeed / tick.Seconds() * (k.c.now - w.since + allowance).Seconds(); w.way > most {
			return fmt.Errorf("promise 4: %s of %s on %s has gone %.1f m in %v, at most %.1f m are allowed", v.ID(), pl.name, v.p.Name, w.way, k.c.now-w.since, most)
		}
		if n := pl.client.Stats().Forced; steady && !pl.cheat && !pl.sneaks && n > w.forced {
			return fmt.Errorf("promise 4: %s walks as it may, and was put back %d times", pl.name, n-w.forced)
		}
	}
	return nil
}

func (k *lastWord) converged() error { return nil }
