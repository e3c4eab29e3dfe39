package cluster_test

import (
	"context"
	"crypto/tls"
	"net/netip"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/host"
	"github.com/cellscape/cellscape/mercury/quic"
	"github.com/cellscape/cellscape/mercury/secure"
	"github.com/cellscape/cellscape/mercury/tcp"
	"github.com/cellscape/cellscape/mercury/udp"
	"github.com/cellscape/cellscape/mercury/websocket"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/space/cluster"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// doorsOf are where an app is reached from outside, by network.
func doorsOf(t *testing.T, w *cluster.Cluster, role string) (doors map[string]status.Carrier) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		st, err := w.Status()
		if err != nil {
			t.Fatal(err)
		}
		doors = make(map[string]status.Carrier)
		app, _ := st.App(role)
		for _, c := range app.Carriers {
			if c.Outer {
				doors[c.Network] = c
			}
		}
		if len(doors) > 0 {
			return doors
		}
		if time.Now().After(deadline) {
			t.Fatalf("the %s has told no doors", role)
		}
	}
}

func placeOf(c status.Carrier) netip.AddrPort {
	a := status.App{Address: c.Address}
	return a.AddrPort()
}

// crowdIn is a world with all doors, and a player at each.
func crowdIn(t *testing.T) (*cluster.Cluster, *tls.Config, cluster.Config, []*lifeOf) {
	t.Helper()
	cfg, roots := withDoors(t, everyDoor...)
	w := started(t, cfg)
	var players []*lifeOf
	for _, url := range w.LoginURLs() {
		players = append(players, comeIn(t, cfg, roots, url))
	}
	return w, roots, cfg, players
}

// TestHalfOpenDoors has ten thousand begin to come in by each door of the LoginApp, and go no further:
// memory stays bounded, it is counted, and players notice nothing. While they stand at a door, one
// more player comes in by it and plays.
func TestHalfOpenDoors(t *testing.T) {
	mostMemory := uint64(32 << 20 * detector) // a door keeps stream.DefaultMaxPending of them at a time
	want := 10_000
	if testing.Short() {
		want = 2_000
	}
	w, roots, cfg, players := crowdIn(t)
	for _, url := range w.LoginURLs() {
		network := players[slices.Index(w.LoginURLs(), url)].network
		door := doorsOf(t, w, status.RoleLoginApp)[network]
		before, began := heap(), time.Now()
		x := crowdAt(t, network, placeOf(door), want, cfg.Key.Public())
		honest := comeInAs(t, cfg, roots, url, "honest-"+network)
		honest.cheer(t)
		for _, p := range players {
			p.cheer(t)
		}
		after := heap()
		if after > before+mostMemory {
			t.Errorf("%s: the heap grew from %d to %d KB", network, before>>10, after>>10)
		}
		if x.opened < want*9/10 {
			t.Errorf("%s: only %d of %d stand at the door", network, x.opened, want)
		}
		x.leave(t)
		t.Logf("%s: %d at the door, the heap was %d KB, and is %d KB; %v", network, x.opened, before>>10, after>>10, time.Since(began).Round(10*time.Millisecond))
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		doors := doorsOf(t, w, status.RoleLoginApp)
		// Of datagrams the socket itself drops most where the LoginApp has no processor.
		if doors["udp"].Refused+doors["udp"].Counts["udp.Overflow"] >= uint64(want/2) && doors["tcp"].Refused > 0 && doors["websocket"].Refused > 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("not counted: %+v %+v", doors["udp"], doors)
		}
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// intruder says one thing to each place that it dials, and waits to be shown out.
type intruder struct {
	env host.Env
	say []byte
	to  mercury.Address
	out chan error
}

func (i *intruder) Tick(now time.Duration) time.Duration {
	if i.env.Transport != nil && i.to.At.IsValid() {
		ch := i.env.Transport.Dial(i.to)
		_ = i.env.Transport.Send(ch, i.say)
		i.to = mercury.Address{}
	}
	return now + time.Second
}
func (i *intruder) Opened(time.Duration, mercury.ChannelID, mercury.Address)  {}
func (i *intruder) Message(time.Duration, mercury.ChannelID, bool, []byte)    {}
func (i *intruder) Closed(_ time.Duration, _ mercury.ChannelID, reason error) { i.out <- reason }

// TestAppsAtTheOuterDoor says what only apps may say, at the outer doors of the LoginApp and of a
// BaseApp, over each network: whoever does is shown out and counted, nothing comes of it, and
// players go on.
func TestAppsAtTheOuterDoor(t *testing.T) {
	t.Parallel()
	w, roots, cfg, players := crowdIn(t)
	h, err := host.New(host.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = h.Close() }()
	before, err := w.Status()
	if err != nil {
		t.Fatal(err)
	}
	said := []wire.Message{
		&wire.Dismissed{Term: 99}, &wire.Welcome{Term: 99}, &wire.AppDead{Role: wire.CellApp}, &wire.Join{Speaks: wire.Spoken(), Role: wire.BaseApp},
		&migrate.Lost{ID: 1, Order: entity.Order{Incarnation: 1}},
	}
	n := 0
	for _, role := range []string{status.RoleLoginApp, status.RoleBaseApp} {
		for network, door := range doorsOf(t, w, role) {
			for _, m := range said {
				if err := intrude(t, h, cfg, roots, network, placeOf(door), wire.Encode(nil, m)); err == nil {
					t.Errorf("%T at the %s over %s: not shown out", m, role, network)
				}
				n++
			}
		}
	}
	for _, p := range players {
		p.cheer(t)
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		st, err := w.Status()
		if err != nil {
			t.Fatal(err)
		}
		if refused := st.Counters.Refused - before.Counters.Refused; int(refused) >= n {
			if st.Deaths > 0 || st.Clients != len(players) {
				t.Errorf("%d deaths, %d clients", st.Deaths, st.Clients)
			}
			return
		} else if time.Now().After(deadline) {
			t.Fatalf("%d of %d are counted", refused, n)
		}
	}
}

// intrude says something to a door, as the first message of a channel, and returns how that channel
// ended.
func intrude(t *testing.T, h *host.Host, cfg cluster.Config, roots *tls.Config, network string, at netip.AddrPort, say []byte) error {
	t.Helper()
	var c mercury.Carrier
	var err error
	opts := []host.Option{host.Shared()}
	switch network {
	case "udp":
		var s *udp.Socket
		if s, err = udp.Listen("127.0.0.1:0"); err == nil {
			c = udp.NewCarrier(s, mercury.Config{})
		}
		opts = append(opts, host.Secure(secure.Config{ServerKey: cfg.Key.Public()}))
	case "tcp":
		c, err = tcp.Listen("", tcp.Config{DialTLS: roots}, nil)
	case "quic":
		c, err = quic.Listen("", quic.Config{DialTLS: roots}, nil)
	case "websocket":
		c, err = websocket.Listen("", websocket.Config{DialTLS: roots}, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	i := &intruder{say: say, to: mercury.Address{At: at}, out: make(chan error, 4)}
	p, err := h.Start("intruder", "", func(e host.Env) (host.App, error) { i.env = e; return i, nil }, append(opts, host.Carriers(c))...)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	select {
	case err := <-i.out:
		return err
	case <-ctx.Done():
		return nil
	}
}
