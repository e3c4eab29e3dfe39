package cluster_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/client/session"
	"github.com/cellscape/cellscape/mercury/secure"
	"github.com/cellscape/cellscape/mercury/stream/streamtest"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space/cellappmgr"
	"github.com/cellscape/cellscape/space/cluster"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// everyDoor is a door of each network.
var everyDoor = []cluster.Door{{Network: cluster.UDP}, {Network: cluster.WebSocket}, {Network: cluster.QUIC}, {Network: cluster.TCP}}

// withDoors is a sealed world with these doors, and what a client believes.
func withDoors(t testing.TB, doors ...cluster.Door) (cluster.Config, *tls.Config) {
	t.Helper()
	cfg := world(t)
	cfg.Key, cfg.Doors = testKey(1), doors
	if !slices.ContainsFunc(doors, func(d cluster.Door) bool { return d.Network != cluster.UDP && !d.Clear }) {
		return cfg, nil
	}
	cert, roots := streamtest.Certificate(t)
	cfg.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	return cfg, &tls.Config{RootCAs: roots}
}

// Each life is one of a player who comes in by a door of each network that the world has.
func TestLife(t *testing.T) {
	for _, x := range []struct {
		name, inner string
		clear       bool
		doors       []cluster.Door
	}{
		{name: "udp", doors: everyDoor[:1]},
		{name: "websocket", doors: everyDoor[1:2]},
		{name: "quic", doors: everyDoor[2:3]},
		{name: "tcp", doors: everyDoor[3:]},
		{name: "all doors", doors: everyDoor},
		{name: "all doors, inside over tcp", inner: cluster.TCP, doors: everyDoor},
		{name: "in the clear, inside over tcp", inner: cluster.TCP, clear: true, doors: []cluster.Door{{Network: cluster.WebSocket}, {Network: cluster.TCP}, {Network: cluster.UDP}}},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			cfg, roots := withDoors(t, x.doors...)
			if cfg.Inner = x.inner; x.clear {
				roots = nil
				cfg.Key, cfg.TLS = secure.PrivateKey{}, nil
			}
			live(t, cfg, roots)
		})
	}
}

// lifeOf is what a player meets.
type lifeOf struct {
	*session.Session
	network          string
	came, reset      chan struct{}
	cheered, changed chan struct{}
	resumed          chan struct{}
	told             chan telling
	closed           chan error
}

// comeIn logs a player in by a URL.
func comeIn(t *testing.T, cfg cluster.Config, roots *tls.Config, url string) *lifeOf {
	t.Helper()
	scheme, _, _ := strings.Cut(url, "://")
	return comeInAs(t, cfg, roots, url, scheme)
}

// comeInAs is comeIn with the name of a user.
func comeInAs(t *testing.T, cfg cluster.Config, roots *tls.Config, url, user string) *lifeOf {
	t.Helper()
	p := &lifeOf{
		came: make(chan struct{}, 64), reset: make(chan struct{}, 64), cheered: make(chan struct{}, 64), changed: make(chan struct{}, 64), resumed: make(chan struct{}, 64), told: make(chan telling, 1024), closed: make(chan error, 1),
	}
	scheme, _, _ := strings.Cut(url, "://")
	p.network = map[string]string{"udp": "udp", "ws": "websocket", "wss": "websocket", "quic": "quic", "tls": "tcp", "tcp": "tcp"}[scheme]
	c := session.Config{
		LoginApp: url, Schema: cfg.CellScripts.Schema(), User: user, Password: "secret", Retry: true, Tick: cfg.Tick,
		Events: client.Events{
			CellPlayer:      func(*client.Replica) { p.came <- struct{}{} },
			Reset:           func() { p.reset <- struct{}{} },
			Called:          p.called,
			Resumed:         func() { p.resumed <- struct{}{} },
			PropertyChanged: func(*client.Replica, *property.Change) { p.changed <- struct{}{} },
			Closed:          func(err error) { p.closed <- err },
		},
	}
	if p.network != cluster.UDP {
		c.TLS = roots
	} else if !cfg.Key.IsZero() {
		c.ServerKey = cfg.Key.Public()
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var err error
	if p.Session, err = session.Dial(ctx, c); err != nil {
		t.Fatalf("%s: %v", url, err)
	}
	t.Cleanup(func() { _ = p.Close() })
	wait(t, "in the world", p.came)
	return p
}

// telling is a number that an entity has heard from its client, and how many it had heard in order by
// then.
type telling struct {
	method string
	n, of  uint32
}

func (p *lifeOf) called(_ *client.Replica, m *property.Method, args []property.Value) {
	if m.Name == "cheered" {
		p.cheered <- struct{}{}
		return
	}
	p.told <- telling{m.Name, uint32(args[0].Uint()), uint32(args[1].Uint())}
}

// do runs f on the player's goroutine.
func (p *lifeOf) do(t *testing.T, f func(*client.Client) error) {
	t.Helper()
	if err := p.Do(f); err != nil {
		t.Fatalf("%s: %v", p.network, err)
	}
}

// cheer calls up, and hears a call and a change come down.
func (p *lifeOf) cheer(t *testing.T) {
	t.Helper()
	p.do(t, func(c *client.Client) error { return c.Player().Cell().Call("cheer") })
	wait(t, "cheered over "+p.network, p.cheered)
}

func live(t *testing.T, cfg cluster.Config, roots *tls.Config) {
	const half = float64(cluster.DefaultSpaceSize / 2)
	cfg.Spaces = []cellappmgr.SpaceConfig{{ID: 1, MinCells: 2, Bounds: bsp.Rect{MinX: -half, MinZ: -half, MaxX: half, MaxZ: half}}}
	w := started(t, cfg)
	urls := w.LoginURLs()
	if len(urls) != len(cfg.Doors) {
		t.Fatalf("doors %v", urls)
	}
	var players []*lifeOf
	for _, url := range urls {
		players = append(players, comeIn(t, cfg, roots, url))
	}
	for _, p := range players {
		p.cheer(t)
		wait(t, "changed over "+p.network, p.changed)
	}
	cross(t, w, players)
	fares(t, w, players)
	for _, p := range players {
		p.reconnect(t)
	}
	strike(t, w, players)
	for i, p := range players {
		players[i] = p.again(t, cfg, roots, urls[i])
	}
	leave(t, w, players)
}

// corners are those of a ring, as shares of its radius: players go from one to the next. A line may
// stand outside the ring, and a new cell's often does: with hardly any load there is no reason to
// move it further. So the ring grows with each round, from 300 m until almost the end of the space.
var corners = []property.Vector3{{X: 1, Z: 1}, {X: -1, Z: -1}, {X: 1, Z: -1}, {X: -1, Z: 1}}

// corner is where those who are i steps on their way stand.
func corner(i int) property.Vector3 {
	at, radius := corners[i%len(corners)], min(300+float32(i/len(corners))*30, 490)
	return property.Vector3{X: at.X * radius, Z: at.Z * radius}
}

// cross has each player go from corner to corner until all can have crossed a border twice. In each they stay
// for half a second and more: on a busy machine no cell looks for who has left it sooner.
func cross(t *testing.T, w *cluster.Cluster, players []*lifeOf) {
	t.Helper()
	for deadline, i := time.Now().Add(patience), 0; ; i++ {
		st, err := w.Status()
		if err != nil {
			t.Fatal(err)
		}
		if st.Cells == 2 && int(st.Counters.Migrations) >= 2*len(players) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d border crossings, %d cells", st.Counters.Migrations, st.Cells)
		}
		for k, p := range players { // no two at one place, so that there is always one to cross, wherever the line goes
			p.do(t, func(c *client.Client) error {
				return c.SetPosition(corner(i/25+k), property.Vector3{})
			})
		}
		time.Sleep(20 * time.Millisecond)
	}
	for _, p := range players {
		p.cheer(t)
	}
}

// fares looks at what the status tells of the carriers by app: there the players are.
func fares(t *testing.T, w *cluster.Cluster, players []*lifeOf) {
	t.Helper()
	what := ""
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		st, err := w.Status()
		if err != nil {
			t.Fatal(err)
		}
		base, _ := st.App(status.RoleBaseApp)
		what = ""
		for _, p := range players {
			i := slices.IndexFunc(base.Carriers, func(c status.Carrier) bool { return c.Outer && c.Network == p.network })
			if i < 0 || base.Carriers[i].Channels != 1 || base.Carriers[i].MessagesIn == 0 || base.Carriers[i].BytesOut == 0 {
				what = fmt.Sprintf("%s: %+v", p.network, base.Carriers)
			}
		}
		for _, a := range st.Apps {
			if len(a.Carriers) == 0 || a.Carriers[0].Outer || a.Carriers[0].Channels == 0 || a.Carriers[0].MessagesIn == 0 {
				what = fmt.Sprintf("%s: %+v", a.Role, a.Carriers)
			}
		}
		if what == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(what)
		}
	}
}

// reconnect takes the connection away in the middle of numbered calls, three times. All come, once and in
// order, and so do the answers.
func (p *lifeOf) reconnect(t *testing.T) {
	t.Helper()
	const rounds, each = 3, 20
	for round := range rounds {
		for i := range each {
			n := uint32(round*each + i + 1)
			p.do(t, func(c *client.Client) error {
				if i == each/2 {
					c.Reconnect()
				}
				return errors.Join(c.Player().Cell().Call("count", n), c.Player().Base().Call("tick", n))
			})
		}
		wait(t, "resumed over "+p.network, p.resumed)
	}
	next := map[string]uint32{}
	for range 2 * rounds * each {
		select {
		case x := <-p.told:
			if next[x.method]++; x.n != next[x.method] || x.of != x.n {
				t.Fatalf("%s: %s of %d, the %d. in order, after %d", p.network, x.method, x.n, x.of, next[x.method]-1)
			}
		case <-time.After(patience):
			t.Fatalf("%s: after %v nothing comes", p.network, next)
		}
	}
}

// again logs the account in while it plays, and then after its client was killed. Each time the new
// client has the entity of the old one, at once.
func (p *lifeOf) again(t *testing.T, cfg cluster.Config, roots *tls.Config, url string) *lifeOf {
	t.Helper()
	next := comeIn(t, cfg, roots, url)
	select {
	case err := <-p.closed:
		var refused *protocol.Refused
		if !errors.As(err, &refused) || refused.Code != protocol.Replaced {
			t.Errorf("%s: the old client ended with %v", p.network, err)
		}
	case <-time.After(patience):
		t.Fatalf("%s: two clients of one account", p.network)
	}
	next.cheer(t)
	own := next.entity(t)
	next.do(t, func(c *client.Client) error { c.Close(); return nil }) // without a word, as a crash
	last := comeIn(t, cfg, roots, url)
	last.cheer(t)
	if id := last.entity(t); id != own {
		t.Errorf("%s: entity %v after %v", p.network, id, own)
	}
	return last
}

func (p *lifeOf) entity(t *testing.T) (id entity.ID) {
	t.Helper()
	p.do(t, func(c *client.Client) error { id = c.Player().ID; return nil })
	return id
}

// reportsAfter is how long it takes until every CellApp has reported, and a little for the borders
// that are crossed before.
const reportsAfter = 1300 * time.Millisecond

// strike kills the CellApp on which the players are: they come back elsewhere.
func strike(t *testing.T, w *cluster.Cluster, players []*lifeOf) {
	t.Helper()
	at := meet(t, w, players)
	for i := range w.CellApps() {
		if w.CellAppAddr(i) == at {
			_ = w.KillCellApp(i)
			break
		}
	}
	for _, p := range players {
		wait(t, "reset over "+p.network, p.reset)
		wait(t, "back over "+p.network, p.came)
		p.cheer(t)
	}
}

// meet brings the players together, and returns where the CellApp is that has them all.
func meet(t *testing.T, w *cluster.Cluster, players []*lifeOf) netip.AddrPort {
	t.Helper()
	for deadline, i := time.Now().Add(patience), 0; ; i++ {
		for _, p := range players {
			p.do(t, func(c *client.Client) error { return c.SetPosition(corner(i), property.Vector3{}) })
			for len(p.reset)+len(p.came) > 0 { // of how the session began
				select {
				case <-p.reset:
				case <-p.came:
				}
			}
		}
		time.Sleep(reportsAfter) // reports of before tell of where the players were
		st, err := w.Status()
		if err != nil {
			t.Fatal(err)
		}
		if at, ok := holdsAll(&st, len(players)); ok {
			return at
		}
		if time.Now().After(deadline) {
			t.Fatalf("the players never meet: %+v", st.Spaces)
		}
	}
}

// holdsAll is where the CellApp is whose cell holds all reals.
func holdsAll(st *status.World, n int) (at netip.AddrPort, ok bool) {
	for _, c := range st.Spaces[0].Cells {
		for _, a := range st.Apps {
			if a.Role == status.RoleCellApp && a.Number == c.App && int(c.Reals) == n {
				return a.AddrPort(), true
			}
		}
	}
	return at, false
}

// leave logs all out, and the world is empty.
func leave(t *testing.T, w *cluster.Cluster, players []*lifeOf) {
	t.Helper()
	for _, p := range players {
		p.do(t, func(c *client.Client) error { c.Logout(); return nil })
		select {
		case err := <-p.closed:
			var refused *protocol.Refused
			if !errors.As(err, &refused) || refused.Code != protocol.LoggedOut {
				t.Errorf("%s: %v", p.network, err)
			}
		case <-time.After(patience):
			t.Fatalf("%s: never logged out", p.network)
		}
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		st, err := w.Status()
		if err != nil {
			t.Fatal(err)
		}
		if st.Clients == 0 && st.Reals == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d clients and %d reals are left", st.Clients, st.Reals)
		}
	}
}
