package sim

import (
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/cellscape/cellscape/balance"
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
)

// rig is a cluster in the middle of a script.
type rig struct {
	*Cluster
	t *testing.T
	// hook, if not nil, is the Tamper of the moment.
	hook func(p *Process, ch mercury.ChannelID, msg []byte) []byte
	// lose, if not nil, picks the processes that get no unreliable message.
	lose func(p *Process) bool
	// snapAt is when a channel may be broken again; see snap.
	snapAt time.Duration
}

// play runs a script in place of the bad time. When it begins everyone has played for a few
// seconds; after it, the world has to come to rest with every promise kept.
func play(t *testing.T, o Options, script func(r *rig)) {
	t.Helper()
	t.Parallel() // with other tests; runs share nothing
	if *verbose {
		o.Log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	r := &rig{t: t}
	o.Tamper = func(p *Process, ch mercury.ChannelID, reliable bool, msg []byte) []byte {
		if !reliable && r.lose != nil && r.lose(p) {
			return nil
		}
		if r.hook != nil {
			return r.hook(p, ch, msg)
		}
		return msg
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	r.Cluster = c
	err = c.run(func(*Cluster) error {
		r.wait(4 * time.Second) // time to cut the cells, and to make ghosts and backups
		script(r)
		r.hook, r.lose = nil, nil
		return nil
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, replay(t, ""))
	}
}

// long skips a test that takes seconds, and so minutes under the race detector, which has nothing
// to find in it that it does not find in the others: a run is one goroutine.
func long(t *testing.T) {
	t.Helper()
	if racing {
		t.Skip("skipped under the race detector: it takes minutes")
	}
}

// still is a balance of n cells whose lines stay where they were made.
func still(n int) Balancing {
	return Balancing{
		Config: balance.Config{MinCells: n, MaxCells: n, MetaPeriod: time.Second},
		Policy: balance.ProfileConfig{TargetLoad: 0.85, MinMove: 1},
	}
}

// wait lets time pass.
func (r *rig) wait(d time.Duration) {
	if err := r.runFor(d); err != nil {
		r.fail(err)
	}
}

// until lets time pass until done returns true, at most for d.
func (r *rig) until(what string, d time.Duration, done func() bool) {
	r.t.Helper()
	if err := r.runUntil(d, done); err != nil {
		r.fail(err)
	}
	if !done() {
		r.t.Fatalf("not after %v: %s\n%s", d, what, replay(r.t, ""))
	}
}

// real finds the real of an entity.
func (r *rig) real(id entity.ID) (on *Process, cell *space.Hosted, real space.View) {
	for v := range r.reals() {
		if v.ID() == id {
			on, cell, real = v.p, &v.cell, v.View
		}
	}
	return on, cell, real
}

// base finds the base of an entity.
func (r *rig) base(id entity.ID) (on *Process, base baseapp.BaseView) {
	for b := range r.bases() {
		if b.ID == id {
			on, base = b.p, b.BaseView
		}
	}
	return on, base
}

// id is the entity of the first player, whom the scripts lead about.
func (r *rig) id() entity.ID { return r.players[0].id() }

// across is the place at a signed distance from the first line of the space, beyond it if positive,
// on a line through the middle of the area that it divides.
func (r *rig) across(d float64) property.Vector3 {
	r.t.Helper()
	for v := range r.views() {
		for n := range v.cell.Tree().Nodes() {
			if n.Axis == bsp.AxisX {
				return property.Vector3{X: float32(n.Line + d), Z: 50}
			}
			return property.Vector3{X: 50, Z: float32(n.Line + d)}
		}
	}
	r.t.Fatal("the space is not divided")
	panic("not reached")
}

// lead sends the first player somewhere and waits until its real is there.
func (r *rig) lead(to property.Vector3) {
	r.t.Helper()
	r.send(to)
	r.until("the player arrives", time.Minute, func() bool {
		on, _, v := r.real(r.id())
		return on != nil && v.Position() == to
	})
}

func (r *rig) send(to property.Vector3) {
	r.players[0].steer = func() property.Vector3 { return to }
}

// peer is the process at the other end of a channel of p.
func (r *rig) peer(p *Process, ch mercury.ChannelID) *Process {
	a, _ := p.ep.Peer(ch)
	return r.byPlace[a.At]
}

// join ends all cuts between the processes.
func (r *rig) join(procs ...*Process) {
	for _, a := range procs {
		for _, b := range procs {
			if a != nil && b != nil {
				r.net.Cut(a.at, b.at, false)
			}
		}
	}
}

// tally is the tally of an entity's base.
func (r *rig) tally(id entity.ID) tally {
	var t tally
	for b := range r.bases() {
		if b.ID == id {
			t = counts(b.app.Script(id))
		}
	}
	return t
}

// guest is a client that is not one of the players.
type guest struct {
	*client.Client
	closed error
}

// visit starts a guest.
func (r *rig) visit(user string, schema *property.Schema) *guest {
	r.t.Helper()
	return r.visitAs(0, user, schema)
}

// visitAs starts a guest beside others.
func (r *rig) visitAs(n int, user string, schema *property.Schema) *guest {
	r.t.Helper()
	g := &guest{}
	p := r.add("guest", portPlayers+90+n, func(p *Process) (App, error) {
		cl, err := client.New(client.Config{
			Transport: p.ep, Schema: schema, LoginApp: mercurytest.Place(portLogin), User: user, Log: p.log(),
			Events: client.Events{Closed: func(err error) { g.closed = err }},
		})
		g.Client = cl
		return cl, err
	})
	if err := p.start(); err != nil {
		r.t.Fatal(err)
	}
	return g
}

// orderOf reads which entity and order a message of a handoff is about.
func orderOf(id wire.ID, msg []byte) (entity.ID, entity.Order) {
	rd := codec.NewReader(msg[1:])
	e := fields.ReadID(&rd)
	if id == wire.OnloadID {
		rd.U16()
		rd.Uvarint()
	}
	return e, fields.ReadOrder(&rd)
}
