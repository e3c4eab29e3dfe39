package sim

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
)

// give has the base of one entity give its client to another.
func (r *rig) give(from, to entity.ID) {
	r.t.Helper()
	done := false
	for b := range r.bases() {
		if giver, ok := b.script().(interface {
			GiveClientTo(property.Mailbox, string) error
		}); ok && b.ID == from {
			if err := giver.GiveClientTo(property.Mailbox{Entity: uint64(to)}, "OnGiven"); err != nil {
				r.t.Fatal(err)
			}
			done = true
		}
	}
	if !done {
		r.t.Fatalf("%v cannot give its client", from)
	}
}

// giveToAndFro gives the client of a player to a rock or, each second time, back. Its channel is lost before
// that, later also some time before it, and once just after it.
func (r *rig) giveToAndFro(pl *player, n int, own, rock entity.ID) (to entity.ID) {
	r.t.Helper()
	from, to := own, rock
	if n%2 == 1 {
		from, to = to, from
	}
	if n >= 2 {
		r.loseChannel(pl)
	}
	if n >= 4 {
		r.wait(time.Duration(n) * 3 * time.Millisecond)
	}
	r.give(from, to)
	if n == 3 {
		r.loseChannel(pl)
	}
	return to
}

// TestGive: the client of a player goes to a rock and back, again and again, and its channel is
// lost on the way. The session goes on, and in the end the client sees what it should.
func TestGive(t *testing.T) {
	play(t, Options{Seed: 78, CellApps: 2, Players: 4, Rovers: 4, Balance: still(2), Wild: Wild{Rocks: 4}}, func(r *rig) {
		pl := r.players[0]
		pl.quiet = true // what it calls while it is given away is for nobody
		r.wait(2 * time.Second)
		own, logins := pl.id(), pl.logins
		on, _ := r.base(own)
		var rock entity.ID
		for b := range basesOf[*rockBase](r.Cluster) {
			if b.p == on && rock == 0 {
				rock = b.ID
			}
		}
		for n := range 6 {
			to := r.giveToAndFro(pl, n, own, rock)
			r.until("the client has another entity", 30*time.Second, func() bool { return pl.id() == to && pl.client.Interrupted() == nil })
			r.wait(500 * time.Millisecond)
		}
		r.until("it plays", 10*time.Second, pl.playing)
		if pl.logins != logins || pl.id() != own {
			t.Errorf("%d logins, entity %v after %v", pl.logins-logins, pl.id(), own)
		}
	})
}

// rockElsewhere is the base of a rock that is on another BaseApp than an entity.
func (r *rig) rockElsewhere(than entity.ID) (rock entity.ID) {
	r.t.Helper()
	on, _ := r.base(than)
	for b := range basesOf[*rockBase](r.Cluster) {
		if b.p != on && rock == 0 {
			rock = b.ID
		}
	}
	if rock == 0 {
		r.t.Fatal("all rocks are on one BaseApp")
	}
	return rock
}

// givenTo waits until a player has another entity, and checks that exactly that base has its client.
func (r *rig) givenTo(pl *player, to entity.ID) {
	r.t.Helper()
	logins := pl.logins
	r.until("the client has another entity", 60*time.Second, func() bool {
		return pl.logins != logins || pl.id() == to && pl.client.Interrupted() == nil
	})
	r.until("the giver knows", 30*time.Second, func() bool { // one whose app has died may hear of the last one again
		return slices.ContainsFunc(r.world.handed, func(g entity.ClientGiven) bool { return g.To == to })
	})
	for _, g := range r.world.handed {
		if g.Err != nil {
			r.t.Errorf("the script hears %+v", g)
		}
	}
	r.world.handed = nil
	if pl.logins != logins {
		r.t.Fatal("the session ended")
	}
}

// owners are the bases that believe that an account is theirs.
func (r *rig) owners(account string) (list []entity.ID) {
	for b := range r.bases() {
		if s, ok := b.script().(interface{ Account() string }); ok && s.Account() == account {
			list = append(list, b.ID)
		}
	}
	return list
}

// giveOptions is a world in which clients can go to other BaseApps.
func giveOptions(seed uint64) Options {
	return Options{Seed: seed, CellApps: 2, BaseApps: 3, Replicas: 1, Players: 4, Rovers: 4, Balance: still(2), Wild: Wild{Rocks: 9}}
}

// TestGiveElsewhere: the client of a player goes to a base on another BaseApp and back, again and
// again, and its channel is lost on the way. The session goes on.
func TestGiveElsewhere(t *testing.T) {
	play(t, giveOptions(7800), func(r *rig) {
		pl := r.players[0]
		pl.quiet = true
		r.wait(2 * backupPeriod)
		own, logins := pl.id(), pl.logins
		rock := r.rockElsewhere(own)
		account := fmt.Sprintf("%s.%d", pl.name, pl.logins)
		for n := range 6 {
			to := r.giveToAndFro(pl, n, own, rock)
			r.givenTo(pl, to)
			r.wait(500 * time.Millisecond)
			if list := r.owners(account); len(list) != 1 || list[0] != to {
				t.Fatalf("%v have the account, want %v", list, to)
			}
		}
		r.until("it plays", 10*time.Second, pl.playing)
		if pl.logins != logins || pl.id() != own {
			t.Errorf("%d logins, entity %v after %v", pl.logins-logins, pl.id(), own)
		}
	})
}

// TestGiveWhileBasesMove: the app of the giver, or of the taker, leaves while the client of a
// player is on its way. The session goes on, and in the end one of both has the client, as the
// giver was told.
func TestGiveWhileBasesMove(t *testing.T) {
	for seed := uint64(1); seed <= 2; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			o := giveOptions(7840 + seed)
			o.MoveBatch = 1
			play(t, o, func(r *rig) {
				pl := r.players[0]
				pl.quiet = true
				r.wait(2 * backupPeriod)
				has, logins := pl.id(), pl.logins
				walker, account := has, fmt.Sprintf("%s.%d", pl.name, pl.logins)
				other := r.rockElsewhere(has)
				leaver, _ := r.base([]entity.ID{has, other}[seed%2])
				r.leave(leaver)
				times := 0
				for ; !leaver.app.(*baseapp.BaseApp).Retired(); times++ {
					if r.now > 2*time.Minute {
						t.Fatal("it does not leave")
					}
					r.wait(time.Duration(20+r.chance.IntN(300)) * time.Millisecond)
					if at, _ := r.base(has); at == nil || pl.client.Interrupted() != nil || pl.id() != has {
						times--
						continue // on its way itself
					}
					if on, _ := r.base(other); on == nil {
						times--
						continue
					}
					r.give(has, other)
					r.until("the giver knows", 30*time.Second, func() bool { return len(r.world.handed) > 0 })
					g := r.world.handed[len(r.world.handed)-1]
					if r.world.handed = nil; g.Err == nil {
						has, other = other, has
					}
					r.until("the client plays", 30*time.Second, func() bool {
						return pl.logins != logins || pl.id() == has && pl.client.Interrupted() == nil
					})
					if pl.logins != logins {
						t.Fatal("the session ended")
					}
				}
				if times < 3 {
					t.Errorf("given %d times", times)
				}
				leaver.crash()
				leaver.restartAt = r.now + time.Second
				r.wait(2 * time.Second)
				if list := r.owners(account); len(list) != 1 || list[0] != has {
					t.Errorf("%v have the account, want %v", list, has)
				}
				if has != pl.id() {
					t.Errorf("the client has %v", pl.id())
				}
				if _, ok := r.base(has); ok.ID != has {
					t.Error("it has no base")
				}
				if has == walker {
					return
				}
				r.give(has, walker) // a rock has no place in the world, where all are to be in the end
				r.until("it plays", 30*time.Second, pl.playing)
			})
		})
	}
}

// giveStep is a moment in which something happens to a client that is on its way: a message arrives.
type giveStep struct {
	name string
	is   func(r *rig, pl, p *Process, msg []byte) bool
}

func payloadIs(kind flow.Payload) func(*rig, *Process, *Process, []byte) bool {
	return func(_ *rig, _, _ *Process, msg []byte) bool {
		id, body, err := wire.Split(msg)
		var m flow.Message
		return err == nil && id == wire.FlowID && m.Parse(body) == nil && flow.Payload(m.Payload[0]) == kind
	}
}

func giveSteps() []giveStep {
	return []giveStep{
		{"Give", payloadIs(flow.GivePayload)},
		{"Taken", payloadIs(flow.TakenPayload)},
		{"Switch", func(_ *rig, pl, p *Process, msg []byte) bool {
			return p == pl && protocol.ID(msg[0]) == protocol.SwitchID
		}},
		{"Resume", func(r *rig, pl, p *Process, msg []byte) bool {
			return p.takes("baseapp") && protocol.ID(msg[0]) == protocol.ResumeID
		}},
	}
}

// TestGiveInBadTimes: exactly when the client of a player is on its way, a channel breaks, or the
// app of the giver or of the taker dies. The session goes on, and the client is where it was to go,
// or the giver was told why not.
func TestGiveInBadTimes(t *testing.T) {
	for i, s := range giveSteps() {
		for k, what := range []string{"a channel breaks", "the giver dies", "the taker dies"} {
			t.Run(s.name+", "+what, func(t *testing.T) {
				play(t, giveOptions(uint64(7810+3*i+k)), func(r *rig) {
					pl := r.players[0]
					pl.quiet = true
					r.wait(2 * backupPeriod)
					own, logins := pl.id(), pl.logins
					account := fmt.Sprintf("%s.%d", pl.name, pl.logins)
					for n := range 2 {
						from, to := own, r.rockElsewhere(own)
						giver, _ := r.base(from)
						taker, _ := r.base(to)
						times := 0
						r.hook = func(p *Process, ch mercury.ChannelID, msg []byte) []byte {
							if times > 0 || len(msg) == 0 || !s.is(r, pl.p, p, msg) {
								return msg
							}
							times++
							switch k {
							case 0:
								r.snap(p, ch)
								return nil
							case 1:
								giver.dying = true
								giver.restartAt = r.now + 5*time.Second
							case 2:
								taker.dying = true
								taker.restartAt = r.now + 5*time.Second
							}
							if p.dying {
								return nil
							}
							return msg
						}
						r.give(from, to)
						r.givenTo(pl, to)
						if r.hook = nil; times == 0 {
							t.Error("nothing happened on the way")
						}
						r.wait(2 * time.Second)
						if list := r.owners(account); len(list) != 1 || list[0] != to {
							t.Fatalf("%v have the account, want %v", list, to)
						}
						r.give(to, own)
						r.givenTo(pl, own)
						r.wait(time.Duration(n+1) * 4 * time.Second)
					}
					if pl.logins != logins {
						t.Errorf("%d sessions ended", pl.logins-logins)
					}
				})
			})
		}
	}
}
