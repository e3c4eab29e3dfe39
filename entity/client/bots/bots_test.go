package bots_test

import (
	"context"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/client/bots"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/udp"
	"github.com/cellscape/cellscape/property"
)

// walkers starts n bots in a world of their own. They walk about, and those who do not stay leave
// and come back.
func walkers(t *testing.T, n int, leave bots.Leave, stays func(number int) bool) *bots.Swarm {
	t.Helper()
	w, schema, err := world()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Stop() })
	swarm, err := bots.Start(bots.Config{
		Bots: n, LoginApp: w.LoginAddr(), Schema: schema, PerSocket: 30,
		Behave: func(number int) bots.Behaviour {
			walk, leave := &bots.Walk{MinX: -20, MinZ: -20, MaxX: 20, MaxZ: 20, Speed: 5}, leave
			if stays(number) {
				return walk
			}
			return bots.All{walk, &leave}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return swarm
}

// Bots that share sockets are players of their own: all are in the world, see each other, leave and
// come back, and none of that is counted as an error.
func TestLeaveAndReturn(t *testing.T) {
	const n = 40
	swarm := walkers(t, n, bots.Leave{Every: 2 * time.Second, Away: 200 * time.Millisecond}, func(number int) bool { return number%2 == 0 })
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for logins := uint64(0); logins < 2*n; {
		st, err := swarm.Stats()
		if err != nil {
			t.Fatal(err)
		}
		if st.Lost+st.Refused > 0 || ctx.Err() != nil {
			t.Fatalf("%d logins, %+v", logins, st)
		}
		logins = st.Logins // asking takes as long as a turn of the bots
	}
	if err := swarm.Each(func(b *bots.Bot) {
		if b.Number == 0 && b.Client.Len() == 0 {
			t.Error("a bot that stayed sees nobody")
		}
	}); err != nil {
		t.Fatal(err)
	}
	if err := swarm.Stop(); err != nil {
		t.Fatal(err)
	}
}

// A world that is full is asked less and less often, why it refuses is counted, and who gives up asks no
// more.
func TestFullWorld(t *testing.T) {
	schema, err := property.NewSchema(&property.Definition{Name: "Avatar", HasBase: true, HasClient: true})
	if err != nil {
		t.Fatal(err)
	}
	const n = 20
	swarm, err := bots.Start(bots.Config{Bots: n, LoginApp: refuses(t, protocol.WorldFull), Schema: schema, PerSocket: 1, Logins: 1000})
	if err != nil {
		t.Fatal(err)
	}
	var st bots.Stats
	for end := time.Now().Add(20 * time.Second); len(st.Refusals) == 0 || st.Refusals[0].Logins < 2*n; {
		if st, err = swarm.Stats(); err != nil || time.Now().After(end) {
			t.Fatalf("%+v, %v", st, err)
		}
	}
	if r := st.Refusals; len(r) != 1 || r[0].Code != protocol.WorldFull || !strings.Contains(r[0].Reason, "the world is full") || st.Lost > 0 || st.Playing > 0 {
		t.Errorf("%+v", st)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := swarm.Ready(ctx); err == nil || !strings.Contains(err.Error(), "0 of 20") {
		t.Errorf("ready: %v", err)
	}
	if err := swarm.GiveUp(); err != nil {
		t.Fatal(err)
	}
	if st, err = swarm.Stats(); err != nil || st.Waiting > 0 || st.Sessions > 0 {
		t.Errorf("after giving up: %+v, %v", st, err)
	}
	if err := swarm.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := swarm.Each(func(*bots.Bot) {}); err == nil {
		t.Error("a swarm that was stopped still has bots")
	}
}

// refuses is where a LoginApp lets nobody in.
func refuses(t *testing.T, code protocol.Code) netip.AddrPort {
	t.Helper()
	fleet, err := udp.Config{}.Fleet(netip.MustParseAddr("127.0.0.1"), 1)
	if err != nil {
		t.Fatal(err)
	}
	e, err := mercury.NewEndpoint(mercury.Config{Salt: 7}, fleet.Addr(0), nil)
	if err != nil {
		t.Fatal(err)
	}
	e.SetHandler(&refuser{e, code})
	at, stop, ended := fleet.Addr(0), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		defer func() { _ = fleet.Close() }()
		for began := time.Now(); ; {
			now := time.Since(began)
			if err := fleet.Read(func(_ int, from netip.AddrPort, datagram []byte) { e.Receive(now, from, datagram) }); err != nil {
				t.Error(err)
				return
			}
			e.Advance(now)
			e.Flush(now, func(to netip.AddrPort, datagram []byte) { fleet.Write(0, to, datagram) })
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	t.Cleanup(func() { close(stop); <-ended })
	return at
}

// refuser answers every message with a refusal.
type refuser struct {
	e    *mercury.Endpoint
	code protocol.Code
}

func (r *refuser) Opened(time.Duration, mercury.ChannelID, mercury.Address) {}

func (r *refuser) Message(_ time.Duration, ch mercury.ChannelID, _ bool, _ []byte) {
	m := protocol.Refused{Code: r.code}
	_ = r.e.Send(ch, m.Append(nil)) // the channel is there: it has just brought a message
	r.e.Close(ch)
}

func (r *refuser) Closed(time.Duration, mercury.ChannelID, error) {}

// All faults are told at once, each with its remedy.
func TestConfig(t *testing.T) {
	_, err := bots.Start(bots.Config{PerSocket: 99, Logins: -1, Tick: -1, InTime: -1, ViewRadius: -1, Rounding: -1})
	for _, field := range []string{"Bots", "LoginApp", "Schema", "PerSocket", "Logins", "Tick", "InTime", "ViewRadius", "Rounding"} {
		if err == nil || !strings.Contains(err.Error(), "Config."+field) {
			t.Errorf("%s is not among the faults: %v", field, err)
		}
	}
}

// Whoever watches others knows them apart while they leave and come back, and keeps little of those
// who have left.
func TestWatchWhoLeaves(t *testing.T) {
	const n = 40
	swarm := walkers(t, n, bots.Leave{Every: time.Second, Away: 100 * time.Millisecond}, func(number int) bool { return number < n/4 })
	watch := func(on bool) {
		t.Helper()
		if err := swarm.Watch(on); err != nil {
			t.Fatal(err)
		}
	}
	watch(true)
	for end, logins := time.Now().Add(30*time.Second), uint64(0); logins < 6*n; {
		st, err := swarm.Stats()
		if err != nil || time.Now().After(end) {
			t.Fatalf("%d logins, %v", logins, err)
		}
		logins = st.Logins
		if err := swarm.Each(func(b *bots.Bot) {
			if err := b.CheckSeen(); err != nil {
				t.Error(err)
			}
			if b.Watched() > 2*n {
				t.Errorf("bot %d keeps something of %d others", b.Number, b.Watched())
			}
		}); err != nil || t.Failed() {
			t.Fatal(err)
		}
		if logins > 3*n && logins < 4*n {
			watch(false)
			watch(true)
		}
	}
	fresh, err := swarm.Freshness()
	if err != nil {
		t.Fatal(err)
	}
	if fresh.Places == 0 || fresh.Moves == 0 || fresh.Share() < 0.5 {
		t.Errorf("%d places, %.2f of %d moves in time", fresh.Places, fresh.Share(), fresh.Moves)
	}
	if err := swarm.Stop(); err != nil {
		t.Fatal(err)
	}
}
