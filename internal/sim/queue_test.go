package sim

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/mercury/mercurytest"
	"github.com/cellscape/cellscape/space/cellappmgr"
)

// visitor is a client that may have to wait at the door.
type visitor struct {
	*client.Client
	position, in, out int // the last position; how often it was let in, and turned away
	why               error
}

// visitors come to a world with room for a number of players more than it has, and note who came in when.
type visitors struct {
	*rig
	n       int
	arrived []string
}

func (v *visitors) come(name string) *visitor {
	v.t.Helper()
	x := &visitor{}
	p := v.add("visitor", portPlayers+90+v.n, func(p *Process) (App, error) {
		c, err := client.New(client.Config{
			Transport: p.ep, Schema: v.world.schema, LoginApp: mercurytest.Place(portLogin), User: name, Log: p.log(),
			Events: client.Events{
				Waiting:  func(position, of int) { x.position = position },
				LoggedIn: func() { x.in++; v.arrived = append(v.arrived, name) },
				Closed:   func(err error) { x.out++; x.why = err },
			},
		})
		x.Client = c
		return c, err
	})
	v.n++
	if err := p.start(); err != nil {
		v.t.Fatal(err)
	}
	return x
}

// queueUp has clients come one after another to a full world, and wait.
func (v *visitors) queueUp(names ...string) (all []*visitor) {
	v.t.Helper()
	for i, name := range names {
		x := v.come(name)
		v.until(name+" waits", 5*time.Second, func() bool { return x.position == i+1 })
		all = append(all, x)
	}
	return all
}

func (v *visitors) leave(all ...*visitor) {
	v.t.Helper()
	for _, x := range all {
		x.Logout()
		v.until("a visitor has left", 10*time.Second, func() bool { return x.State() == client.Closed })
	}
}

// queued plays a script in a world whose last place ann has taken.
func queued(t *testing.T, seed uint64, script func(v *visitors, ann *visitor)) {
	const players = 3
	o := Options{Seed: seed, CellApps: 2, BaseApps: 1, Players: players, Rovers: -1, Balance: still(2)}
	o.Logins = cellappmgr.LoginConfig{MaxProxies: players + 1, Tolerance: time.Second, Queue: 4}
	play(t, o, func(r *rig) {
		v := &visitors{rig: r}
		ann := v.come("ann")
		r.until("ann is in", 5*time.Second, func() bool { return ann.in == 1 })
		r.until("the world is full", 10*time.Second, func() bool { return r.observer.last.LoginsRefused })
		script(v, ann)
	})
}

// TestQueue: the world is full, and clients wait. One gives up. When another leaves the world, they come
// in, in the order in which they came, also those for whom the LoginApp has lost its managers for a while.
func TestQueue(t *testing.T) {
	queued(t, 61, func(v *visitors, ann *visitor) {
		all := v.queueUp("bob", "cat", "dan", "eve")
		late := v.come("late")
		v.until("a fifth is refused", 5*time.Second, func() bool { return late.out == 1 })
		var why *protocol.Refused
		if !errors.As(late.why, &why) || why.Code != protocol.WorldFull {
			v.t.Errorf("told %v", late.why)
		}
		all[1].Logout() // gives up
		v.until("the others move up", 10*time.Second, func() bool { return all[2].position == 2 && all[3].position == 3 })

		baseAppMgr := v.logins[0]
		baseAppMgr.crash()
		baseAppMgr.restartAt = v.now + 2*time.Second
		v.manager.pause(time.Second)
		v.wait(8 * time.Second)
		if len(v.arrived) != 1 || !v.observer.last.LoginsRefused {
			v.t.Errorf("in a full world arrived %q", v.arrived)
		}

		v.leave(ann)
		v.until("all are in", 30*time.Second, func() bool { return len(v.arrived) == 4 })
		if want := []string{"ann", "bob", "dan", "eve"}; !slices.Equal(v.arrived, want) {
			v.t.Errorf("arrived %q, want %q", v.arrived, want)
		}
		for _, x := range []*visitor{all[0], all[2], all[3]} {
			if x.in != 1 || x.out != 0 {
				v.t.Errorf("let in %d times, turned away %d times: %v", x.in, x.out, x.why)
			}
			v.leave(x)
		}
	})
}

// TestQueueDies: the LoginApp dies with its queue. Each client's channel ends, once, and the next that come
// find a queue that is empty.
func TestQueueDies(t *testing.T) {
	queued(t, 62, func(v *visitors, ann *visitor) {
		all := v.queueUp("bob", "cat")
		loginApp := v.logins[1]
		loginApp.crash()
		loginApp.restartAt = v.now + time.Second
		for i, x := range all {
			v.until(fmt.Sprint("client ", i, " knows"), time.Minute, func() bool { return x.State() == client.Closed })
		}
		v.until("the new LoginApp knows that the world is full", 10*time.Second, func() bool { return v.observer.last.LoginsRefused })
		again := v.queueUp("cat", "bob")
		v.leave(ann)
		v.until("both are in", 30*time.Second, func() bool { return len(v.arrived) == 3 })
		if want := []string{"ann", "cat", "bob"}; !slices.Equal(v.arrived, want) {
			v.t.Errorf("arrived %q, want %q", v.arrived, want)
		}
		for _, x := range all {
			if x.in != 0 || x.out != 1 {
				v.t.Errorf("let in %d times, turned away %d times: %v", x.in, x.out, x.why)
			}
		}
		v.leave(again...)
	})
}
