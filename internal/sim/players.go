package sim

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// player is a client and the person in front of it, who logs in, walks, dresses, greets, and logs
// in again after being thrown out.
type player struct {
	c    *Cluster
	p    *Process
	name string

	client  *client.Client
	target  property.Vector3
	nextAct time.Duration
	again   time.Duration // when to log in again; 0 while the session lives
	resting bool
	// steer, if not nil, says where to go in each tick, in place of chance; quiet players call
	// nothing.
	steer func() property.Vector3
	quiet bool
	rogue bool
	// cheat says that the player leaps; shoved is how often a test has put it elsewhere.
	cheat  bool
	shoved int
	// sneaks says that the player goes where it may not; see walls.go.
	sneaks bool
	// driven says that another player's client moves it.
	driven bool
	put    put
	// rude says that the player misbehaved in this session, leaving that it is logging out.
	rude, leaving bool
	ch            mercury.ChannelID
	// worn and greeted count the calls of this session.
	worn, greeted uint32
	logins        int
	placed        int           // how often it was told of a cell part
	placedAt      time.Duration // when it was last, or when it began to log in
	// transits is how often its view went along through a transition, with whom it did so last, until all
	// near by were told; and flickers how often one of those left the view meanwhile.
	transits, flickers int
	carried            []*client.Replica
	company            int // with how many it went the last time

	audited    int
	diff       []string
	heard      map[*client.Replica]retold
	heardWrong error
	bundles    uint64             // the number of the last one
	told       uint64             // bytes that its witnesses sent
	path       []property.Vector3 // where it was in this session
	forced     []property.Vector3 // where the server put it, among those
	ear        ear
}

// put is where a test has put a player aside, and what its client knew then.
type put struct {
	at     property.Vector3
	order  entity.Order
	forced uint64
	logins int
}

func newPlayer(c *Cluster, i int) *player {
	return &player{c: c, name: fmt.Sprintf("player%d", i+1), sneaks: c.opts.Wild.Walls && i%2 == 1}
}

// user is the account of the session.
func (pl *player) user() string { return fmt.Sprintf("%s.%d", pl.name, pl.logins) }

// playerApp is the client with its player, as one App.
type playerApp struct {
	*client.Client
	pl *player
}

func (pl *player) make(p *Process) (App, error) {
	pl.logins, pl.placedAt = pl.logins+1, pl.c.now
	pl.again, pl.worn, pl.greeted, pl.rude, pl.leaving = 0, 0, 0, false, false
	pl.path, pl.forced = pl.path[:0], pl.forced[:0]
	pl.heard, pl.bundles, pl.ear = map[*client.Replica]retold{}, 0, newEar()
	cl, err := client.New(client.Config{
		Transport: p.ep, Schema: pl.c.world.schema, LoginApp: mercurytest.Place(portLogin),
		User: pl.user(), Log: p.log(),
		Events: client.Events{
			CellPlayer: func(own *client.Replica) {
				pl.target, pl.ear.restored, pl.ear.retells = own.Position, true, true
				pl.wasPut(own.Position)
				pl.placed, pl.placedAt = pl.placed+1, pl.c.now
			},
			Transited: func(_ *client.Replica, _ property.Vector3, with []*client.Replica) {
				pl.transits++
				pl.carried, pl.company = with, len(with)
			},
			Left: func(r *client.Replica) {
				if slices.Contains(pl.carried, r) {
					pl.flickers++
				}
			},
			Arrived: func(*client.Replica) { pl.carried = nil },
			Called: func(from *client.Replica, m *property.Method, args []property.Value) {
				pl.hearRetold(from, m, args)
				pl.hear(from, m, args)
			},
			Downloaded: pl.gifted,
			Audited:    func(diff []string) { pl.audited++; pl.diff = diff },
			Closed: func(err error) {
				pl.c.trace.Event(pl.c.now, "closed", "%s: %v", pl.name, err)
				pl.c.closed(pl.user(), err)
				pl.again = pl.c.now + time.Second
				pl.c.losses++
			},
		},
	})
	pl.client = cl
	return playerApp{cl, pl}, err
}

// gifted looks at a download.
func (pl *player) gifted(id uint32, desc string, content []byte, err error) {
	switch w := pl.c.world; {
	case err != nil:
		pl.c.trace.Event(pl.c.now, "no gift", "%s: %v", pl.name, err)
	case id != 7 || desc != "gift" || !bytes.Equal(content, w.gift):
		panic("a gift that was not sent")
	default:
		w.taken++
	}
}

// id is the player's entity, 0 while it has none.
func (pl *player) id() entity.ID {
	if pl.client == nil || pl.client.Player() == nil {
		return 0
	}
	return pl.client.Player().ID
}

func (pl *player) playing() bool {
	return pl.again == 0 && !pl.leaving && pl.client != nil && pl.client.InWorld()
}

// Message implements mercury.Handler.
func (a playerApp) Message(now time.Duration, ch mercury.ChannelID, reliable bool, msg []byte) {
	if reliable && a.pl.c.opts.Wild.any() {
		a.pl.overhear(msg)
	}
	if !reliable || len(msg) > 0 && protocol.ID(msg[0]) == protocol.BundleID {
		a.pl.told += uint64(len(msg))
	}
	a.Client.Message(now, ch, reliable, msg)
}

// Opened implements mercury.Handler.
func (a playerApp) Opened(now time.Duration, ch mercury.ChannelID, peer mercury.Address) {
	a.pl.ch = ch
	a.Client.Opened(now, ch, peer)
}

// Tick implements App: the person acts, then the client.
func (a playerApp) Tick(now time.Duration) time.Duration {
	pl := a.pl
	if pl.again > 0 && now >= pl.again {
		// The client's program starts anew.
		pl.p.anew = true
		return never
	}
	if pl.rogue && pl.rude && pl.c.calm {
		pl.p.anew = true // from now on it is like all the others
		return never
	}
	if pl.playing() {
		pl.walk()
		if pl.rogue && !pl.c.calm && pl.c.now > 10*time.Second {
			pl.misbehave()
			if !pl.playing() {
				return a.Client.Tick(now)
			}
		}
		if now >= pl.nextAct && !pl.resting && !pl.quiet {
			pl.nextAct = now + time.Duration(200+pl.c.chance.IntN(800))*time.Millisecond
			pl.act()
		}
	}
	return a.Client.Tick(now)
}

const walkSpeed = 2.5 // metres a tick: 25 m/s, to cross many lines in a short run

func (pl *player) walk() {
	if pl.resting {
		return
	}
	own := pl.client.Player()
	if own.Vehicle() != 0 && pl.steer == nil {
		pl.stroll(own)
		return
	}
	at := own.Position
	if pl.cheat && pl.c.chance.IntN(5) == 0 {
		pl.leap(at)
		return
	}
	if pl.steer != nil {
		pl.target = pl.steer()
	}
	d := property.Distance(at, pl.target)
	if d < walkSpeed && pl.steer != nil {
		pl.step(pl.target)
		return
	}
	if d < walkSpeed {
		c := pl.c.chance
		if pl.c.opts.Gateway && c.IntN(4) > 0 {
			pl.target = atGate(c)
		} else if c.IntN(5) == 0 {
			// It goes towards the middle: a crowd gathers and parts again.
			pl.target = property.Vector3{X: float32(c.IntN(40) - 20), Z: float32(c.IntN(40) - 20)}
		} else {
			pl.target = property.Vector3{X: float32(c.IntN(2*half) - half), Z: float32(c.IntN(2*half) - half)}
		}
		return
	}
	f := walkSpeed / d
	to := property.Vector3{X: at.X + float32((pl.target.X-at.X)*f), Z: at.Z + float32((pl.target.Z-at.Z)*f)}
	pl.step(pl.sneak(at, to))
}

// stroll is how a player walks about on a vehicle, now and then.
func (pl *player) stroll(own *client.Replica) {
	if c := pl.c.wild.rides; c.IntN(6) == 0 {
		_ = own.SetSeat(property.Vector3{X: float32(c.IntN(5)), Y: 1, Z: float32(c.IntN(9) - 4)}, property.Vector3{X: 1})
	}
}

// leap claims to have flown a long way, also up.
func (pl *player) leap(at property.Vector3) {
	c := pl.c.chance
	pl.step(property.Vector3{X: float32(c.IntN(2*half) - half), Y: at.Y + float32(c.IntN(100)), Z: float32(c.IntN(2*half) - half)})
}

// step puts the player at a place.
func (pl *player) step(to property.Vector3) {
	if to != pl.client.Player().Position {
		pl.stepped(to)
	}
	_ = pl.client.SetPosition(to, property.Vector3{X: 1})
}

func (pl *player) act() {
	c := pl.c.chance
	if pl.c.opts.Churn && !pl.c.calm && c.IntN(15) == 0 {
		if c.IntN(2) == 0 {
			pl.logout()
		} else {
			pl.p.anew = true
		}
		return
	}
	var err error
	switch c.IntN(3) {
	case 0, 1:
		err = pl.wear()
	default:
		var seen []entity.ID
		for r := range pl.client.Entities() {
			if r.Def.CellMethod("greet") == nil {
				continue // it cannot hear
			}
			seen = append(seen, r.ID)
		}
		if len(seen) > 0 {
			err = pl.greet(seen[c.IntN(len(seen))])
		}
	}
	if err != nil {
		pl.c.fail(fmt.Errorf("%s: %w", pl.name, err))
	}
}

// wear calls the player's own cell part with the next number.
func (pl *player) wear() error {
	pl.worn++
	return pl.client.Player().Cell().Call("wear", pl.worn)
}

func (pl *player) logout() {
	pl.leaving = true
	pl.client.Logout()
}

func (pl *player) audit() {
	pl.audited, pl.diff = 0, nil
	if pl.playing() {
		_ = pl.client.RequestAudit()
	}
}

func (c *Cluster) allPlaying() bool {
	for _, pl := range c.players {
		if !pl.playing() {
			return false
		}
	}
	return true
}

func (c *Cluster) notPlaying() string {
	s := ""
	for _, pl := range c.players {
		if !pl.playing() {
			s += fmt.Sprintf("%s (%v, %v) ", pl.name, pl.client.State(), pl.client.Err())
		}
	}
	return s
}

// observer watches the cluster through its manager, as an operator's tool does.
type observer struct {
	c       *Cluster
	links   app.Links
	manager app.Member
	last    status.World
	ends    bool        // it orders the end of the world, of each manager there is
	ending  status.Stop // as it was told
	watched []wire.Watched
}

func (o *observer) make(p *Process) (App, error) {
	o.links = app.Links{Transport: p.ep}
	o.manager = app.NewMember(&o.links, o.c.managerAt(), wire.Join{Role: wire.Observer})
	o.manager.Among(o.c.places()...)
	return o, nil
}

// Opened implements mercury.Handler.
func (o *observer) Opened(_ time.Duration, ch mercury.ChannelID, _ mercury.Address) {
	o.manager.Opened(ch)
}

// Closed implements mercury.Handler.
func (o *observer) Closed(now time.Duration, ch mercury.ChannelID, reason error) {
	o.manager.Closed(now, ch, reason)
}

// Message implements mercury.Handler.
func (o *observer) Message(_ time.Duration, _ mercury.ChannelID, _ bool, msg []byte) {
	id, body, err := wire.Split(msg)
	if err == nil && id == wire.WorldEndingID {
		var m wire.WorldEnding
		if err := m.Parse(body); err != nil {
			o.c.fail(errors.Join(errors.New("report of a stop"), err))
		}
		o.ending = m.Stop
		return
	}
	if err == nil && id == wire.WatchedID {
		var m wire.Watched
		if err := m.Parse(body); err != nil {
			o.c.fail(errors.Join(errors.New("answer to a question"), err))
		}
		o.watched = append(o.watched, m)
	}
	if err != nil || id != wire.StatusID {
		return
	}
	var st wire.Status
	if err := st.Parse(body); err != nil {
		o.c.fail(errors.Join(errors.New("status"), err))
	}
	o.last = st.World
}

// Tick implements App.
func (o *observer) Tick(now time.Duration) time.Duration {
	o.manager.Tick(now)
	if o.ends && !o.ending.Done {
		o.manager.Send(&wire.EndWorld{Reason: "an update"})
	}
	return now + 200*time.Millisecond
}

func (o *observer) freeze(on bool) {
	o.last.ReportsSinceFreeze = 0
	o.manager.Send(&wire.Freeze{On: on})
}
