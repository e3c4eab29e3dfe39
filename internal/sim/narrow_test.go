package sim

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
)

// channelTo finds the BaseApp of a player, and the channel on which it hears the player.
func (r *rig) channelTo(pl *player) (on *Process, ch mercury.ChannelID) {
	r.t.Helper()
	on, _ = r.base(pl.id())
	r.hook = func(p *Process, from mercury.ChannelID, msg []byte) []byte {
		if at, _ := p.ep.Peer(from); p == on && at.At == pl.p.at {
			ch = from
		}
		return msg
	}
	r.until("the player says something", 5*time.Second, func() bool { return ch != 0 })
	r.hook = nil
	return on, ch
}

// fare is how a player fared over a time.
type fare struct {
	lost  float64       // share of the packets to it
	bytes int           // a second that its witness sent
	trip  time.Duration // the longest round trip
	turns int           // of its budget from less to more and back
	most  int           // that its budget was
}

// fares lets time pass and looks how two players fare; ch is the channel to each at its BaseApp.
func (r *rig) fares(d time.Duration, players [2]*player, on [2]*Process, ch [2]mercury.ChannelID) (f [2]fare) {
	var from, now [2]mercury.Survey
	var told [2]uint64
	var last [2]int
	var falling [2]bool
	for i, pl := range players {
		from[i], _ = on[i].ep.Survey(ch[i])
		told[i] = pl.told
	}
	for range int(d / time.Second) {
		r.wait(time.Second)
		for i, pl := range players {
			now[i], _ = on[i].ep.Survey(ch[i])
			f[i].trip = max(f[i].trip, now[i].RTT)
			_, _, v := r.real(pl.id())
			budget := v.ClientBudget()
			if budget != last[i] && last[i] != 0 && (budget < last[i]) != falling[i] {
				falling[i] = !falling[i]
				f[i].turns++
			}
			last[i], f[i].most = budget, max(f[i].most, budget)
		}
	}
	for i, pl := range players {
		f[i].lost = float64(now[i].Lost-from[i].Lost) / float64(now[i].Packets-from[i].Packets)
		f[i].bytes = int(pl.told-told[i]) / int(d/time.Second)
	}
	return f
}

// TestNarrowLink: one player of forty comes over 64 kbit/s with the queue of a household's router,
// which is a third of what there is to tell. Within seconds it is told what the link carries, so that
// the queue goes and nothing is lost; the others are told everything. When the link is wide, it is
// told everything again.
func TestNarrowLink(t *testing.T) {
	long(t)
	play(t, Options{Seed: 54, CellApps: 2, Players: 40, Rovers: 6, Balance: still(2)}, func(r *rig) {
		both := [2]*player{r.players[0], r.players[1]}
		r.dance(r.across(5))
		for _, pl := range r.players {
			pl.quiet = true
		}
		r.wait(25 * time.Second)
		var on [2]*Process
		var ch [2]mercury.ChannelID
		for i, pl := range both {
			on[i], ch[i] = r.channelTo(pl)
		}
		before := r.fares(4*time.Second, both, on, ch)
		r.net.SetLinkBetween(on[0].at, both[0].p.at, mercurytest.Link{Delay: 20 * time.Millisecond, Rate: 8000})
		first := r.fares(10*time.Second, both, on, ch)
		r.wait(10 * time.Second)
		f := r.fares(40*time.Second, both, on, ch)
		r.net.SetLinkBetween(on[0].at, both[0].p.at, cleanLink())
		at := r.now
		r.until("the budget is whole again", 22*time.Second, func() bool {
			_, _, v := r.real(both[0].id())
			return v.ClientBudget() == before[0].most
		})
		t.Logf("before %+v\nat first %+v\nsettled %+v\nwhole again after %v", before, first, f, r.now-at)

		if f[0].lost > 0.02 || f[0].trip > 2*time.Second || f[0].trip > first[0].trip*3/5 {
			t.Errorf("the narrow link is full: %+v", f[0])
		}
		if f[0].bytes < 5000 || f[0].bytes > 8000 {
			t.Errorf("the narrow link is not used: %+v", f[0])
		}
		if f[0].turns > 8 {
			t.Errorf("the budget flaps: %+v", f[0])
		}
		if f[1].bytes < before[1].bytes*9/10 || f[1].most != before[1].most || f[1].turns != 0 || f[1].lost > 0 {
			t.Errorf("another player notices: %+v, before %+v", f[1], before[1])
		}
	})
}
