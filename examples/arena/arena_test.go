package main

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"math"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/client/bots"
	"github.com/cellscape/cellscape/examples/arena/defs"
	"github.com/cellscape/cellscape/examples/arena/game"
	"github.com/cellscape/cellscape/mercury/secure"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space/cluster"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// TestArena runs a small arena from login to verdict, over real sockets.
func TestArena(t *testing.T) {
	if testing.Short() {
		t.Skip("takes several seconds")
	}
	f, err := parseFlags([]string{"-bots", "20", "-guards", "20", "-duration", "1s", "-http", "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	if err := run(context.Background(), f, slog.New(slog.NewTextHandler(io.Discard, nil))); err != nil {
		t.Error(err)
	}
}

// The same with a BaseApp that is killed: no session ends, no message is lost, nobody diverges.
func TestArenaLosesABaseApp(t *testing.T) {
	if testing.Short() {
		t.Skip("takes several seconds")
	}
	f, err := parseFlags([]string{"-bots", "20", "-guards", "20", "-kill", "baseapp:3s", "-duration", "6s", "-http", "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	if err := run(context.Background(), f, slog.New(slog.NewTextHandler(io.Discard, nil))); err != nil {
		t.Error(err)
	}
}

func TestFlagFaults(t *testing.T) {
	_, err := parseFlags([]string{"-bots", "-1", "-cellapps", "0", "-baseapps", "0", "-duration", "-1s", "-role", "bots", "-kill", "baseapp:1s", "more"})
	for _, want := range []string{"-bots", "-cellapps", "-baseapps", "-duration", "-kill", "more"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %s", err, want)
		}
	}
	f, err := parseFlags([]string{"-role", "wizard"})
	if err != nil {
		t.Fatal(err)
	}
	if err := run(context.Background(), f, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "wizard") {
		t.Errorf("an unknown role: %v", err)
	}
}

// The definitions and the scripts match, whatever the flags.
func TestWorldIsValid(t *testing.T) {
	schema, err := defs.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []flags{{cellApps: 4, baseApps: 2, bots: 300, guards: 200}, {cellApps: 1, baseApps: 1}} {
		if err := world(schema, &f, nil).Validate(); err != nil {
			t.Error(err)
		}
	}
}

// Every bot stays in the arena and never goes faster than the server allows.
func TestDance(t *testing.T) {
	for number := range 30 {
		d := newDance(number, 1)
		at := d.spot
		for now := time.Duration(0); now < 3*(spreadFor+gatherFor+raysFor); now += game.Tick {
			next, _ := bots.Towards(at, d.target(now), game.RunSpeed*float32(game.Tick.Seconds()))
			if far := property.Distance(at, next); far > game.TopSpeed*float32(game.Tick.Seconds()) {
				t.Fatalf("bot %d went %v m in a tick", number, far)
			}
			if at = next; math.Abs(float64(at.X)) > game.Side/2 || math.Abs(float64(at.Z)) > game.Side/2 {
				t.Fatalf("bot %d is at %v", number, at)
			}
		}
	}
}

// A loss of one bot is not made good by something that another got twice.
func TestLost(t *testing.T) {
	var st status.World
	var c sums
	st.Counters.BundlesSent, c.bundles = 9, 9
	c.tally.add(asked{said: 3, wore: 2, collected: 1, waved: 2}, answered{words: 3, worn: 2, collects: 1, points: 3, purse: 2, paid: 1, waves: 1})
	c.tally.add(asked{}, answered{unseen: 1})
	if n, why := lost(&st, &c); n != 0 || why != "" {
		t.Errorf("%d lost: %s", n, why)
	}
	c.tally.add(asked{said: 3}, answered{words: 2, points: 2})
	c.tally.add(asked{said: 3}, answered{words: 4, points: 5})
	c.tally.add(asked{waved: 1}, answered{})
	st.Counters.FlowLost, c.bundles = 7, 8
	n, why := lost(&st, &c)
	if c.resumed, c.missed = 1, 1; n != 12 || !strings.Contains(why, "words of bots: 2") || !strings.Contains(why, "waves of bots to others: 1") || !strings.Contains(why, "coins for points: 1") {
		t.Errorf("%d lost: %s", n, why)
	}
	// The counts of a BaseApp that has died tell nothing, but the numbers of bundles do.
	c.bundles = 3
	if n, why := lost(&st, &c); n != 12 || !strings.Contains(why, "bundles to clients: 1") {
		t.Errorf("%d lost after a death: %s", n, why)
	}
	// A collect that was not paid, and a coin too many.
	c = sums{}
	c.tally.add(asked{collected: 2}, answered{collects: 2, paid: 1})
	c.tally.add(asked{said: 1}, answered{words: 1, points: 1, purse: 2})
	if n, _ := lost(&status.World{}, &c); n != 2 {
		t.Errorf("%d coins lost", n)
	}
}

// This is what fails a run, and what does not.
func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		name  string
		v     verdict
		fails bool
	}{
		{"clean", verdict{outcome: &outcome{}}, false},
		{"diverged", verdict{outcome: &outcome{Diverged: 1}}, true},
		{"lost", verdict{outcome: &outcome{Lost: 1}}, true},
		{"error", verdict{outcome: &outcome{}, Errors: 1}, true},
	} {
		if err := c.v.print(false); (err != nil) != c.fails {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// Of a world that does not come to rest nothing is told that is not known.
func TestUndecided(t *testing.T) {
	v := verdict{Undecided: "the machine is busy"}
	if err := v.print(false); err == nil || !strings.Contains(err.Error(), "undecided: the machine is busy") {
		t.Errorf("%v", err)
	}
	b, err := json.Marshal(&v)
	if s := string(b); err != nil || strings.Contains(s, "lost_messages") || strings.Contains(s, "diverged_clients") || !strings.Contains(s, `"undecided":"the machine is busy"`) {
		t.Errorf("%s, %v", s, err)
	}
}

// TestMetrics: the page's server answers Prometheus, before the managers do and after.
func TestMetrics(t *testing.T) {
	schema, err := defs.Load()
	if err != nil {
		t.Fatal(err)
	}
	f := &flags{cellApps: 1, baseApps: 1}
	c, err := cluster.Start(t.Context(), world(schema, f, slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Stop() }()
	s := newShow(f, slog.New(slog.DiscardHandler), secure.PrivateKey{})
	if err := s.open(c.ManagerAddr()); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.close() }()
	scrape := func() string {
		w := httptest.NewRecorder()
		s.page().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
		return w.Body.String()
	}
	if got := scrape(); !strings.Contains(got, "\ncellscape_world_known{") {
		t.Errorf("before: %s", got)
	}
	defer func() { // the last status is none of a world that is gone
		_ = c.Stop()
		for end := time.Now().Add(patience); strings.Contains(scrape(), `cellscape_world_known{why=""} 1`); time.Sleep(50 * time.Millisecond) {
			if time.Now().After(end) {
				t.Error("the world has ended, and its figures are told on")
				return
			}
		}
	}()
	if _, err := s.observer.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := scrape()
	for _, want := range []string{`cellscape_world_known{why=""} 1`, "cellscape_cells 1", `cellscape_app_load{address="` + c.CellAppAddr(0).String()} {
		if !strings.Contains(got, want) {
			t.Errorf("after: %q is not in %s", want, got)
		}
	}
}
