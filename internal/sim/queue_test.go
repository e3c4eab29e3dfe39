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
	name              string
	position, in, out int // the last position; how often it was let in, and turned away
	why               error
}

// visitors come to a world with room for a number of players more than it has, and note who came in when.
type visitors struct {
	*rig
	n        int
	arrived  []string
	loginApp int // by which they come
}

func (v *visitors) come(name string) *visitor {
	v.t.Helper()
	x := &visitor{name: name}
	p := v.add("visitor", portPlayers+90+v.n, func(p *Process) (App, error) {
		c, err := client.New(client.Config{
			Transport: p.ep, Schema: v.world.schema, LoginApp: mercurytest.Place(v.loginApp), User: name, Log: p.log(),
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
		v := &visitors{rig: r, loginApp: portLogin}
		ann := v.come("ann")
		r.until("ann is in", 5*time.Second, func() bool { return ann.in == 1 })
		r.until("the world is full", 10*time.Second, func() bool { return r.observer.last.LoginsRefused })
		script(v, ann)
	})
}

// TestQueue: the world is full, and clients wait. One gives up. For each that leaves the world one comes
// in, in the order in which they came, also those for whom the LoginApp has lost its managers for a while.
func TestQueue(t *testing.T) {
	for _, seed := range []uint64{61, 70, 76} { // in 70 and 76 the first is asked for before the BaseAppMgr knows a BaseApp
		t.Run(fmt.Sprint(seed), func(t *testing.T) { queued(t, seed, waitInLine) })
	}
}

func waitInLine(v *visitors, ann *visitor) {
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

	for i, x := range []*visitor{ann, all[0], all[2], all[3]} {
		v.leave(x)
		v.until("the next is in", 30*time.Second, func() bool { return len(v.arrived) == min(i+2, 4) })
		v.wait(3 * time.Second) // for two to come in
		if want := []string{"ann", "bob", "dan", "eve"}[:min(i+2, 4)]; !slices.Equal(v.arrived, want) {
			v.t.Errorf("arrived %q, want %q", v.arrived, want)
		}
		if x.in != 1 || x.out != 1 {
			v.t.Errorf("let in %d times, its channel ended %d times: %v", x.in, x.out, x.why)
		}
	}
}

// TestQueues: several LoginApps have queues in a world that is full. As many come in as leave, by each in
// the order in which they came there, and by all LoginApps in turn.
func TestQueues(t *testing.T) {
	queued(t, 63, func(v *visitors, ann *visitor) {
		second := v.add("loginapp2", portLogin2, v.makeLoginApp)
		if err := second.start(); err != nil {
			v.t.Fatal(err)
		}
		v.wait(time.Second)
		first := v.queueUp("a1", "a2", "a3")
		v.loginApp = portLogin2
		other := v.queueUp("b1", "b2", "b3")
		present := []*visitor{ann}
		arrived := func() []string { return v.arrived[1:] }
		for n := 1; n <= 6; n++ {
			v.leave(present[0])
			v.until("another is in", 10*time.Second, func() bool { return len(arrived()) == n })
			v.wait(2 * time.Second) // for two to come in
			all := append(slices.Clone(first), other...)
			i := slices.IndexFunc(all, func(x *visitor) bool { return x.name == v.arrived[n] })
			present = []*visitor{all[i]}
		}
		if want := []string{"a1", "b1", "a2", "b2", "a3", "b3"}; !slices.Equal(arrived(), want) {
			v.t.Errorf("arrived %q, want %q", arrived(), want)
		}
		v.leave(present...)
	})
}

// TestRush: when room comes for two, and many come at once by two LoginApps, whether they wait or not, two
// come in.
func TestRush(t *testing.T) {
	queued(t, 64, func(v *visitors, ann *visitor) {
		second := v.add("loginapp2", portLogin2, v.makeLoginApp)
		if err := second.start(); err != nil {
			v.t.Fatal(err)
		}
		v.leave(ann)
		v.wait(3 * time.Second)
		var all []*visitor
		for i := range 8 {
			v.loginApp = []int{portLogin, portLogin2}[i%2]
			all = append(all, v.come(fmt.Sprint("v", i)))
		}
		v.wait(8 * time.Second)
		if len(v.arrived) != 2 {
			v.t.Errorf("arrived %q in a world with one place", v.arrived)
		}
		for _, x := range all {
			if x.in == 0 && x.position == 0 {
				v.t.Errorf("%s was told nothing", x.name)
			}
		}
		for n := range all {
			i := slices.IndexFunc(all, func(x *visitor) bool { return x.name == v.arrived[n+1] })
			v.leave(all[i])
			v.until("another is in", 10*time.Second, func() bool { return len(v.arrived) == min(n+3, len(all)+1) })
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
		v.wait(time.Second) // the new LoginApp joins, and hears that the world is full
		v.until("the world is full", 10*time.Second, func() bool { return v.observer.last.LoginsRefused })
		again := v.queueUp("cat", "bob")
		v.leave(ann)
		v.until("one is in", 30*time.Second, func() bool { return len(v.arrived) == 2 })
		v.leave(again[0])
		v.until("both are in", 30*time.Second, func() bool { return len(v.arrived) == 3 })
		if want := []string{"ann", "cat", "bob"}; !slices.Equal(v.arrived, want) {
			v.t.Errorf("arrived %q, want %q", v.arrived, want)
		}
		for _, x := range all {
			if x.in != 0 || x.out != 1 {
				v.t.Errorf("let in %d times, turned away %d times: %v", x.in, x.out, x.why)
			}
		}
		v.leave(again[1])
	})
}
