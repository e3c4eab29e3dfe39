package session_test

import (
	"context"
	"crypto/rand"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/client/session"
	"github.com/cellscape/cellscape/entity/loginapp"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/host"
	"github.com/cellscape/cellscape/mercury/secure"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cellappmgr"
	"github.com/cellscape/cellscape/space/cluster"
)

// patience bounds what a test waits for.
const patience = 20 * time.Second

type account struct{ *entity.Base }

// OnCreated gives everyone a cell part but those who are named so.
func (a *account) OnCreated() {
	if a.Account() != "bodiless" {
		_ = a.CreateCell(1, property.Vector3{}, property.Vector3{}, nil)
	}
}

// gate lets in whoever knows the word.
type gate struct{}

// Authenticate implements loginapp.Auth.
func (gate) Authenticate(_ context.Context, user, password string) (loginapp.Player, error) {
	if password != "swordfish" {
		return loginapp.Player{}, errors.New("no")
	}
	return loginapp.Player{Account: user}, nil
}

var _ loginapp.Auth = gate{}

// world is a small one.
func world(t *testing.T) cluster.Config {
	t.Helper()
	schema, err := property.Load(fstest.MapFS{
		"entities.xml":           {Data: []byte(`<root> <Avatar/> </root>`)},
		"entity_defs/Avatar.def": {Data: []byte(`<root/>`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	bases := baseapp.NewScripts(schema)
	baseapp.Register[account](bases, "Avatar")
	return cluster.Config{
		CellScripts: space.NewScripts(schema), BaseScripts: bases, PlayerType: "Avatar", CellApps: 1, BaseApps: 1, Auth: gate{},
		Tick: 20 * time.Millisecond, StatusPeriod: 50 * time.Millisecond,
		Logins: cellappmgr.LoginConfig{Always: true}, // a busy machine makes a load of late ticks
	}
}

func sealed(t *testing.T) cluster.Config {
	t.Helper()
	cfg := world(t)
	var err error
	if cfg.Key, err = secure.GenerateKey(rand.Reader); err != nil {
		t.Fatal(err)
	}
	return cfg
}

func running(t *testing.T, c *cluster.Cluster, err error) *cluster.Cluster {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func started(t *testing.T, cfg cluster.Config) *cluster.Cluster {
	t.Helper()
	c, err := cluster.Start(context.Background(), cfg)
	return running(t, c, err)
}

// A process that stops says so to its players, who could not tell it from a peer that has hung up.
func TestStopIsTold(t *testing.T) {
	t.Parallel()
	cfg := sealed(t)
	w, err := cluster.Start(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.Dial(patient(t), player(cfg, w.LoginAddr(), "ada"))
	if err := errors.Join(err, w.Stop()); err != nil {
		t.Fatal(err)
	}
	<-s.Done()
	var refused *protocol.Refused
	if !errors.As(s.Err(), &refused) || refused.Code != protocol.ServerClosing {
		t.Errorf("after the end of the world: %v", s.Err())
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// player is a Config for someone of that name in a world at that address.
func player(cfg cluster.Config, login netip.AddrPort, user string) session.Config {
	c := session.Config{
		LoginApp: login.String(), Schema: cfg.CellScripts.Schema(), User: user, Password: "swordfish", Tick: cfg.Tick,
	}
	if !cfg.Key.IsZero() {
		c.ServerKey = cfg.Key.Public()
	}
	return c
}

func patient(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// Whoever has the address, the key, the name and the password is in the world when Dial returns.
func TestDial(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]cluster.Config{"clear": world(t), "sealed": sealed(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := started(t, cfg)
			ctx, cancel := context.WithCancel(patient(t))
			s, err := session.Dial(ctx, player(cfg, w.LoginAddr(), "ada"))
			if err != nil {
				t.Fatal(err)
			}
			cancel() // the session outlives it
			err = s.Do(func(c *client.Client) error {
				if c.Space() != 1 {
					t.Errorf("in space %d", c.Space())
				}
				return c.SetPosition(property.Vector3{X: 1}, property.Vector3{})
			})
			if err := errors.Join(err, s.Err(), s.Ready(ctx)); err != nil {
				t.Error(err)
			}
			select {
			case <-s.Done():
				t.Error("done while it plays")
			default:
			}
			if a, b := s.Now(), s.Now(); a <= 0 || b < a {
				t.Errorf("the clock says %v, then %v", a, b)
			}
			if seal, err := w.SealStats(); err != nil || (seal.Resumed == 1) == cfg.Key.IsZero() {
				t.Errorf("%d channels opened by a ticket, %v", seal.Resumed, err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			<-s.Done()
			if err := s.Do(func(*client.Client) error { return nil }); !errors.Is(err, host.ErrStopped) {
				t.Errorf("Do after Close: %v", err)
			}
			if !errors.Is(s.Err(), client.ErrEnded) || !errors.Is(s.Ready(patient(t)), client.ErrEnded) {
				t.Errorf("after Close: %v", s.Err())
			}
		})
	}
}

// What no second try would change is told at once, with Retry too, and as the event Closed.
func TestDialIsRefused(t *testing.T) {
	t.Parallel()
	cfg := sealed(t)
	w := started(t, cfg)
	other := sealed(t)
	for name, x := range map[string]struct {
		change func(*session.Config)
		is     func(error) bool
	}{
		"password": {func(c *session.Config) { c.Password = "wrong" }, refusal(protocol.BadCredentials)},
		"definitions": {func(c *session.Config) {
			c.Schema = otherSchema(t)
		}, refusal(protocol.BadDigest)},
		"no key":      {func(c *session.Config) { c.ServerKey = secure.PublicKey{} }, is(mercury.ErrKey)},
		"another key": {func(c *session.Config) { c.ServerKey = other.Key.Public() }, is(mercury.ErrKey)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := player(cfg, w.LoginAddr(), "eve")
			closed := make(chan error, 2)
			c.Retry = true
			c.Events.Closed = func(err error) { closed <- err }
			x.change(&c)
			s, err := session.Dial(patient(t), c)
			if err == nil || s != nil || !x.is(err) {
				t.Fatalf("%v, %v", s, err)
			}
			if n := len(closed); n != 1 || !x.is(<-closed) {
				t.Errorf("%d events", n)
			}
		})
	}
}

// Who gives up in the queue of a full world is told that, and not that nobody has answered.
func TestDialWaitsInQueue(t *testing.T) {
	t.Parallel()
	cfg := sealed(t)
	cfg.Logins = cellappmgr.LoginConfig{MaxProxies: 1, AvgLoad: 900, MaxLoad: 900, BaseLoad: 900}
	cfg.Space.Overload.Start = 1000 // a busy machine makes a load of late ticks
	w := started(t, cfg)
	ada, err := session.Dial(patient(t), player(cfg, w.LoginAddr(), "ada"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ada.Close() }()
	ctx, cancel := context.WithCancelCause(context.Background())
	c, enough := player(cfg, w.LoginAddr(), "bob"), errors.New("enough")
	c.Events.Waiting = func(int, int) { cancel(enough) }
	_, err = session.Dial(ctx, c)
	if !refusal(protocol.WorldFull)(err) || !errors.Is(err, enough) || !strings.Contains(err.Error(), "place 1 of 1") {
		t.Error(err)
	}
}

func is(target error) func(error) bool {
	return func(err error) bool { return errors.Is(err, target) }
}

func refusal(code protocol.Code) func(error) bool {
	return func(err error) bool {
		var r *protocol.Refused
		return errors.As(err, &r) && r.Code == code
	}
}

func otherSchema(t *testing.T) *property.Schema {
	t.Helper()
	s, err := property.NewSchema(&property.Definition{Name: "Other", HasCell: true, HasBase: true, HasClient: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Nobody listens at an address: the context ends the wait.
func TestDialNobody(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	_, err := session.Dial(ctx, player(world(t), netip.MustParseAddrPort("127.0.0.1:9"), "ada"))
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "the LoginApp has not answered") {
		t.Error(err)
	}
}

// A LoginApp that nobody hears of ends a session that does not retry, and not one that does.
func TestSilence(t *testing.T) {
	t.Parallel()
	c := player(world(t), netip.MustParseAddrPort("127.0.0.1:9"), "ada")
	c.Options = []host.Option{host.Mercury(mercury.Config{Inactivity: 200 * time.Millisecond, KeepAlive: 50 * time.Millisecond})}
	if _, err := session.Dial(patient(t), c); !errors.Is(err, mercury.ErrTimeout) {
		t.Error(err)
	}
	c.Retry = true
	s, err := session.Start(patient(t), c)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	triesAgain(t, s, is(mercury.ErrTimeout))
}

// triesAgain waits until a login has failed for a reason, and the session goes on.
func triesAgain(t *testing.T, s *session.Session, reason func(error) bool) {
	t.Helper()
	for all := patient(t); ; {
		ctx, cancel := context.WithTimeout(all, 50*time.Millisecond)
		err := s.Ready(ctx)
		cancel()
		if reason(err) && errors.Is(err, context.DeadlineExceeded) && s.Err() == nil {
			return
		}
		if all.Err() != nil || s.Err() != nil {
			t.Fatalf("%v, %v", err, s.Err())
		}
	}
}

// A world without a BaseApp is not ready: that is an error, or waited for.
func TestWorldNotReady(t *testing.T) {
	t.Parallel()
	ctx, cfg := context.Background(), world(t)
	managers, err := cluster.StartManagers(ctx, cfg)
	at := running(t, managers, err).ManagerAddr()
	login, err := cluster.StartLogin(ctx, cfg, at)
	running(t, login, err)
	c := player(cfg, login.LoginAddr(), "ada")
	if _, err := session.Dial(patient(t), c); !refusal(protocol.NotReady)(err) {
		t.Errorf("without Retry: %v", err)
	}

	c.Retry = true
	closed := make(chan error, 1)
	c.Events.Closed = func(err error) { closed <- err }
	s, err := session.Start(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	triesAgain(t, s, refusal(protocol.NotReady))
	base, err := cluster.StartBaseApp(ctx, cfg, at)
	running(t, base, err)
	cell, err := cluster.StartCellApp(ctx, cfg, at)
	running(t, cell, err)
	if err := s.Ready(patient(t)); err != nil {
		t.Error(err)
	}
	if len(closed) > 0 {
		t.Errorf("told of a try: %v", <-closed)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// A player whose entity has no cell part plays and is not in the world.
func TestWithoutCellPart(t *testing.T) {
	t.Parallel()
	cfg := world(t)
	w := started(t, cfg)
	c := player(cfg, w.LoginAddr(), "bodiless")
	loggedIn := make(chan struct{})
	c.Events.LoggedIn = func() { close(loggedIn) }
	s, err := session.Start(patient(t), c)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	<-loggedIn
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	if err := s.Ready(ctx); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "no cell part yet") {
		t.Error(err)
	}
}

// Sessions on one Host end alone; a session that its owner or a fault of an event ends says so.
func TestSharedHost(t *testing.T) {
	t.Parallel()
	cfg := world(t)
	w := started(t, cfg)
	h, err := host.New(host.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = h.Close() }()
	dial := func(user string, e client.Events) *session.Session {
		c := player(cfg, w.LoginAddr(), user)
		c.Host, c.Events = h, e
		s, err := session.Start(patient(t), c)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	ada := dial("ada", client.Events{})
	bob := dial("bob", client.Events{LoggedIn: func() { panic("bob") }})
	if err := bob.Ready(patient(t)); err == nil || !strings.Contains(err.Error(), "bob") {
		t.Errorf("a panic: %v", err)
	}
	<-bob.Done()
	if err := ada.Ready(patient(t)); err != nil {
		t.Error(err)
	}
	if err := ada.Do(func(c *client.Client) error { c.Close(); return nil }); err != nil {
		t.Error(err)
	}
	if !errors.Is(ada.Err(), client.ErrEnded) {
		t.Errorf("after the client's Close: %v", ada.Err())
	}
	eve := dial("eve", client.Events{})
	if err := eve.Ready(patient(t)); err != nil {
		t.Error(err)
	}
	_ = h.Close() // it tells of bob's panic again
	<-eve.Done()  // the end of its Host is its own
	if !errors.Is(eve.Err(), client.ErrEnded) {
		t.Errorf("after the Host's Close: %v", eve.Err())
	}
}

func TestFaultsOfConfig(t *testing.T) {
	h, err := host.New(host.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = h.Close() }()
	_, err = session.Dial(patient(t), session.Config{LoginApp: "nowhere", Tick: -1, Host: h})
	for _, want := range []string{"LoginApp is \"nowhere\"", "Schema is nil", "Tick"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in %v", want, err)
		}
	}
	if _, err = session.Dial(patient(t), player(world(t), netip.MustParseAddrPort("127.0.0.1:0"), "ada")); err == nil {
		t.Error("port 0 was dialled")
	}
}
