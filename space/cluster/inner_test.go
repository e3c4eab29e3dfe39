package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/host"
	"github.com/cellscape/cellscape/mercury/secure"
	"github.com/cellscape/cellscape/space/cluster"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// outsider dials what it is told to, says one thing to each, and keeps what it hears.
type outsider struct {
	t    *testing.T
	env  host.Env
	mu   sync.Mutex
	told []wire.ID
	ends map[netip.AddrPort]error
	to   map[mercury.ChannelID]netip.AddrPort
}

func (x *outsider) Opened(time.Duration, mercury.ChannelID, mercury.Address) {}

func (x *outsider) Message(_ time.Duration, _ mercury.ChannelID, _ bool, msg []byte) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.told = append(x.told, wire.ID(msg[0]))
}

func (x *outsider) Closed(_ time.Duration, ch mercury.ChannelID, reason error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.ends[x.to[ch]] = reason
}

func (x *outsider) Tick(now time.Duration) time.Duration { return now + time.Second }

// say dials a place and says all that a process of the cluster might say first.
func (x *outsider) say(p *host.Process, at netip.AddrPort) {
	x.t.Helper()
	err := p.Do(func(host.App) {
		ch := x.env.Transport.Dial(mercury.Address{At: at})
		x.mu.Lock()
		x.to[ch] = at
		x.mu.Unlock()
		for _, m := range []wire.Message{
			&wire.Join{Speaks: wire.Spoken(), Role: wire.CellApp, Term: 99}, &wire.Join{Role: wire.Observer}, &wire.Freeze{On: true},
			&wire.AppDead{Role: wire.CellApp}, &wire.Dismissed{Term: 99}, &wire.Rejoin{}, &wire.Welcome{Term: 99},
		} {
			_ = x.env.Transport.Send(ch, wire.Encode(nil, m))
		}
	})
	if err != nil {
		x.t.Fatal(err)
	}
}

// end waits until the channel to a place has ended, and says why.
func (x *outsider) end(at netip.AddrPort) error {
	x.t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		x.mu.Lock()
		err, ok := x.ends[at]
		x.mu.Unlock()
		if ok {
			return err
		}
	}
	x.t.Fatalf("the channel to %v never ended", at)
	return nil
}

func approach(t *testing.T, cfg secure.Config) (*outsider, *host.Process) {
	t.Helper()
	h, err := host.New(host.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	x := &outsider{t: t, ends: map[netip.AddrPort]error{}, to: map[mercury.ChannelID]netip.AddrPort{}}
	p, err := h.Start("outsider", "127.0.0.1:0", func(e host.Env) (host.App, error) {
		x.env = e
		return x, nil
	}, host.Secure(cfg))
	if err != nil {
		t.Fatal(err)
	}
	return x, p
}

// Whoever has what every player has can neither join nor speak as an app; nor can an observer. The
// world does not notice.
func TestPublicKeyDoesNotLetIn(t *testing.T) {
	t.Parallel()
	cfg := world(t)
	cfg.Key = testKey(1)
	c := started(t, cfg)
	s := play(t, c, "ada")
	base := func() netip.AddrPort {
		st, err := c.Status()
		if err != nil {
			t.Fatal(err)
		}
		for i := range st.Apps {
			if st.Apps[i].Role == wire.BaseApp.String() {
				return st.Apps[i].AddrPort()
			}
		}
		t.Fatal("no BaseApp")
		return netip.AddrPort{}
	}()

	before := sealStats(t, c)
	x, p := approach(t, secure.Config{ServerKey: cfg.Key.Public()})
	for _, at := range []netip.AddrPort{c.ManagerAddr(), c.CellAppAddr(0), base} {
		x.say(p, at)
		if err := x.end(at); !errors.Is(err, mercury.ErrKey) {
			t.Errorf("an outsider at %v: %v", at, err)
		}
	}
	x.say(p, c.LoginAddr()) // a player's door
	if err := x.end(c.LoginAddr()); errors.Is(err, mercury.ErrTimeout) {
		t.Errorf("an outsider at the LoginApp: %v", err)
	}
	x.mu.Lock()
	told := x.told
	x.mu.Unlock()
	for _, id := range told { // the LoginApp tells a player why
		if id != wire.ID(protocol.RefusedID) {
			t.Errorf("the outsider was told %v", told)
		}
	}
	reader, p := approach(t, secure.Config{ServerKey: cfg.Key.Public(), Access: cfg.Key.ClusterKey().Observer()})
	reader.say(p, c.CellAppAddr(0))
	if err := reader.end(c.CellAppAddr(0)); !errors.Is(err, mercury.ErrKey) {
		t.Errorf("an observer at a CellApp: %v", err)
	}
	after := sealStats(t, c)
	if n := after.Strangers - before.Strangers; n != 4 {
		t.Errorf("%d strangers were counted", n)
	}

	// A Join as an app, and a Freeze, over an observer's channel.
	reader.say(p, c.ManagerAddr())
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		reader.mu.Lock()
		told := len(reader.told)
		reader.mu.Unlock()
		if told >= 2 { // refused as a CellApp, welcome as an observer
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the observer was told %d times", told)
		}
	}
	st, err := c.Status()
	if err != nil {
		t.Fatal(err)
	}
	for i := range st.Apps {
		if st.Apps[i].AddrPort() == p.Address().At && st.Apps[i].Role != wire.Observer.String() {
			t.Errorf("it has joined as a %v", st.Apps[i].Role)
		}
	}
	if st.Deaths > 0 {
		t.Errorf("%d died of it", st.Deaths)
	}
	if err := s.Do(func(c *client.Client) error {
		if !c.InWorld() {
			return fmt.Errorf("the player is %v: %w", c.State(), c.Err())
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// To read is not to operate.
func TestObserverMayNotFreeze(t *testing.T) {
	t.Parallel()
	cfg := world(t)
	cfg.Key = testKey(1)
	c := started(t, cfg)
	watch := cluster.ObserverConfig{Manager: c.ManagerAddr(), ServerKey: cfg.Key.Public()}
	if _, err := cluster.Observe(context.Background(), watch); err == nil {
		t.Error("an observer of a sealed world was started without an access key")
	}
	for access, want := range map[secure.AccessKey]error{
		cfg.Key.ClusterKey().Observer(): cluster.ErrNotOperator, cfg.Key.ClusterKey().Operator(): nil,
	} {
		watch.Access = access
		o, err := cluster.Observe(context.Background(), watch)
		if err != nil {
			t.Fatal(err)
		}
		observe(t, o, "told", func(*status.World) bool { return true })
		if err := o.Freeze(true); !errors.Is(err, want) {
			t.Errorf("a %v froze the world: %v", access.Standing(), err)
		}
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A world of several processes changes its cluster keys while a player is in it: no channel ends,
// nobody dies, and then the old key lets nobody in.
func TestClusterKeysChangeInARunningWorld(t *testing.T) {
	for _, inner := range []string{cluster.UDP, cluster.TCP} {
		t.Run(inner, func(t *testing.T) { changeClusterKeys(t, inner) })
	}
}

func changeClusterKeys(t *testing.T, inner string) {
	t.Parallel()
	ctx, cfg := context.Background(), world(t)
	cfg.Inner = inner
	before, after := secure.ClusterKey(testKey(11)), secure.ClusterKey(testKey(12))
	cfg.Key, cfg.ClusterKeys = testKey(1), []secure.ClusterKey{before}
	var all []*cluster.Cluster
	run := func(c *cluster.Cluster, err error) *cluster.Cluster {
		t.Helper()
		all = append(all, kept(t)(c, err))
		return c
	}
	managers := run(cluster.StartManagers(ctx, cfg))
	at := managers.ManagerAddr()
	run(cluster.StartBaseApp(ctx, cfg, at))
	cells := run(cluster.StartCellApp(ctx, cfg, at))
	login := run(cluster.StartLogin(ctx, cfg, at))
	watch := cluster.ObserverConfig{Manager: at, ServerKey: cfg.Key.Public(), Access: before.Operator()}
	o, err := cluster.Observe(ctx, watch)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = o.Close() }()
	observe(t, o, "ready", func(s *status.World) bool { return s.Cells == 1 && s.Spaces[0].Ready() })
	ada := play(t, login, "ada")

	for _, keys := range [][]secure.ClusterKey{{before, after}, {after, before}, {after}} {
		for _, c := range all {
			if err := c.SetClusterKeys(keys...); err != nil {
				t.Fatal(err)
			}
		}
		if err := cells.AddCellApp(); err != nil { // has the keys of now
			t.Fatal(err)
		}
		n := cells.CellApps()
		observe(t, o, "joined by one more CellApp", func(s *status.World) bool { return s.AppCount(wire.CellApp.String()) == n })
	}
	play(t, login, "bob")
	observe(t, o, "told of both players", func(s *status.World) bool { return s.Clients == 2 })
	st, err := managers.Status()
	if err != nil {
		t.Fatal(err)
	}
	if st.Deaths != 0 {
		t.Errorf("%d died of it", st.Deaths)
	}
	if err := ada.Do(func(c *client.Client) error {
		if !c.InWorld() {
			return fmt.Errorf("the player is %v: %w", c.State(), c.Err())
		}
		return nil
	}); err != nil {
		t.Error(err)
	}

	// The old key is refused, of an app and of an observer.
	if c, err := cluster.StartCellApp(ctx, cfg, at); !errors.Is(err, mercury.ErrKey) {
		if err == nil {
			_ = c.Stop()
		}
		t.Errorf("with the old key: %v", err)
	}
	late, err := cluster.Observe(ctx, watch)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = late.Close() }()
	for deadline := time.Now().Add(patience); !errors.Is(late.Trouble(), mercury.ErrKey); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("an observer with the old key: %v", late.Trouble())
		}
	}
	if s := sealStats(t, managers); inner == cluster.UDP && s.OldKeys < 2 {
		t.Errorf("counted %+v", s)
	}
	for why, err := range map[string]error{"none": managers.SetClusterKeys(), "a zero key": managers.SetClusterKeys(secure.ClusterKey{})} {
		if err == nil {
			t.Errorf("took %s", why)
		}
	}
}

func TestClusterKeyFaults(t *testing.T) {
	cfg := world(t)
	cfg.ClusterKeys = make([]secure.ClusterKey, 1)
	for _, key := range []secure.PrivateKey{{}, testKey(1)} {
		cfg.Key = key
		if err := cfg.Validate(); err == nil {
			t.Errorf("a cluster key of zeros, sealed %v", !key.IsZero())
		}
	}
	if err := started(t, world(t)).SetClusterKeys(secure.ClusterKey(testKey(2))); !errors.Is(err, host.ErrUnsealed) {
		t.Errorf("keys of a world in the clear: %v", err)
	}
}
