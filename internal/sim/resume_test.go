package sim

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/mercury"
)

// resumed waits until a player has resumed its session n times, and nothing is missing.
func (r *rig) resumed(pl *player, n uint64) {
	r.t.Helper()
	r.until("the session goes on", 30*time.Second, func() bool {
		return pl.client.Stats().Resumed >= n && pl.client.Interrupted() == nil
	})
}

// stayed checks that a player has the session and the entity that it began with.
func (r *rig) stayed(pl *player, own *client.Replica) {
	r.t.Helper()
	if !pl.playing() || pl.client.Player() != own {
		r.t.Fatalf("%s plays %t, after %d logins", pl.name, pl.playing(), pl.logins)
	}
}

// TestResume: a player's channel is lost in the middle of play, by silence and by a break, again and
// again. It goes on with the entities that it sees, and the numbers of all calls tell that none was lost
// or made twice, in either direction.
func TestResume(t *testing.T) {
	play(t, Options{Seed: 76, CellApps: 2, Players: 6, Rovers: 6, Balance: still(2)}, func(r *rig) {
		pl := r.players[0]
		own, company := pl.client.Player(), 0
		for n := uint64(1); n <= 6; n++ {
			was := map[*client.Replica]bool{}
			for e := range pl.client.Entities() {
				was[e] = true
			}
			if n%3 == 0 {
				r.partFromBases(pl.p, time.Minute)
				r.until("the client gives up its channel", 20*time.Second, func() bool { return pl.client.Interrupted() != nil })
				r.wait(2 * time.Second)
				if pl.client.Len() == 0 && len(was) > 0 {
					t.Error("nobody is in sight any more")
				}
				r.rejoin(func(cut) bool { return true })
			} else {
				r.loseChannel(pl)
			}
			r.resumed(pl, n)
			r.stayed(pl, own)
			same := 0
			for e := range pl.client.Entities() {
				if was[e] {
					same++
				}
			}
			if len(was) > 0 {
				company++
				if n%3 != 0 && same == 0 {
					t.Error("everybody was told anew")
				}
			}
			r.wait(time.Duration(n) * 300 * time.Millisecond)
		}
		if company < 4 {
			t.Errorf("somebody was in sight in %d of 6 times: take another seed", company)
		}
	})
}

// TestResumeBreaks breaks the new channel at each message with which a session goes on.
func TestResumeBreaks(t *testing.T) {
	for name, id := range map[string]protocol.ID{"resume": protocol.ResumeID, "resumed": protocol.ResumedID, "heard": protocol.HeardID, "first bundle": protocol.BundleID} {
		t.Run(name, func(t *testing.T) {
			play(t, Options{Seed: 72, CellApps: 2, Players: 4, Rovers: 4, Balance: still(2)}, func(r *rig) {
				pl := r.players[0]
				own := pl.client.Player()
				strikes := 0
				r.hook = func(p *Process, ch mercury.ChannelID, msg []byte) []byte {
					up := r.peer(p, ch) == pl.p
					if !up && p != pl.p || protocol.ID(msg[0]) != id || strikes >= 3 || pl.client.Stats().Interrupted == 0 {
						return msg
					}
					strikes++
					r.breakChannel(p, ch)
					return nil
				}
				r.loseChannel(pl)
				r.until("the channel was broken", time.Minute, func() bool { return strikes == 3 })
				r.hook = nil
				r.resumed(pl, 1)
				r.stayed(pl, own)
			})
		})
	}
}

// TestResumeAfterDeath: the CellApp of a player dies while the player is away.
func TestResumeAfterDeath(t *testing.T) {
	play(t, Options{Seed: 73, CellApps: 3, Players: 4, Rovers: 4, Balance: still(2)}, func(r *rig) {
		pl := r.players[0]
		own := pl.client.Player()
		r.partFromBases(pl.p, time.Minute)
		r.until("the client gives up its channel", 20*time.Second, func() bool { return pl.client.Interrupted() != nil })
		on, _, _ := r.real(pl.id())
		on.crash()
		r.wait(4 * time.Second)
		r.rejoin(func(cut) bool { return true })
		r.resumed(pl, 1)
		r.until("the player is in the world", 20*time.Second, func() bool { return pl.client.InWorld() })
		r.stayed(pl, own)
		on.restartAt = r.now + time.Second
	})
}

// TestResumeTooLate: a player who does not come back in time is told so, and comes in anew.
func TestResumeTooLate(t *testing.T) {
	play(t, Options{Seed: 74, CellApps: 2, Players: 4, Rovers: 4, Balance: still(2)}, func(r *rig) {
		pl := r.players[0]
		id := pl.id()
		r.partFromBases(pl.p, mercury.DefaultInactivity+resumeTime+5*time.Second)
		r.wait(mercury.DefaultInactivity + resumeTime + 4*time.Second)
		if on, _ := r.base(id); on != nil || pl.logins < 1 || pl.playing() && pl.id() == id {
			t.Errorf("the entity %v lives on", id)
		}
		r.rejoin(func(cut) bool { return true })
		r.until("it plays anew", 30*time.Second, func() bool { return pl.playing() && pl.id() != id })
	})
}
