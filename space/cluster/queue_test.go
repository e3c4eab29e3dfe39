package cluster_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/entity/client/session"
	"github.com/cellscape/cellscape/space/cellappmgr"
	"github.com/cellscape/cellscape/space/cluster"
)

// guest is a player who may have to wait.
type guest struct {
	*session.Session
	in, moved chan struct{} // in the world; told another position
	mu        sync.Mutex
	position  int // 0 until it waits
}

func (g *guest) at() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.position
}

// standsAt waits until a guest was told a position.
func (g *guest) standsAt(t *testing.T, position int) {
	t.Helper()
	for g.at() != position {
		wait(t, "moved up", g.moved)
	}
}

// arrivals are guests in the order in which they came into the world.
type arrivals struct {
	mu    sync.Mutex
	names []string
}

func (a *arrivals) visit(t *testing.T, c *cluster.Cluster, name string) *guest {
	t.Helper()
	g := &guest{in: make(chan struct{}), moved: make(chan struct{}, 64)}
	s, err := c.Connect(name, "", client.Events{
		LoggedIn: func() {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.names = append(a.names, name)
		},
		CellPlayer: func(*client.Replica) { close(g.in) },
		Waiting: func(position, of int) {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.position = position
			g.moved <- struct{}{}
		},
		Closed: func(err error) { t.Logf("%s: %v", name, err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	g.Session = s
	return g
}

// list is who has come in.
func (a *arrivals) list() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.names)
}

// Of a world that is full by the number of its players, two leave. As many come in, in the order in which
// they came, and nobody else, however long the loads are tolerated.
func TestAsManyComeInAsLeave(t *testing.T) {
	noLeaks(t)
	cfg := world(t)
	cfg.Logins = cellappmgr.LoginConfig{MaxProxies: 2, Tolerance: 500 * time.Millisecond}
	c, err := cluster.Start(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	var came arrivals
	ada, bob := came.visit(t, c, "ada"), came.visit(t, c, "bob")
	wait(t, "in the world", ada.in)
	wait(t, "in the world", bob.in)
	full := func() bool {
		st, err := c.Status()
		if err != nil {
			t.Fatal(err)
		}
		return st.LoginsRefused
	}
	for deadline := time.Now().Add(patience); !full(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("two players of two do not make the world full")
		}
	}
	var queue []*guest
	for i, name := range []string{"cat", "dan", "eve"} {
		queue = append(queue, came.visit(t, c, name))
		queue[i].standsAt(t, i+1)
	}
	for _, g := range []*guest{ada, bob} {
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
	}
	wait(t, "in the world", queue[0].in)
	wait(t, "in the world", queue[1].in)
	queue[2].standsAt(t, 1)
	time.Sleep(2 * time.Second) // no signal tells that nobody comes in
	if in := came.list(); !slices.Equal(in[2:], []string{"cat", "dan"}) || !full() {
		t.Errorf("came in: %q", in)
	}
	if err := c.Stop(); err != nil {
		t.Error(err)
	}
}
