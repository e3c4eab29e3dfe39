package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/client/bots"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// The test binary runs as a server process when a crowd under test starts it.
func TestMain(m *testing.M) {
	if _, ok := os.LookupEnv(keyVariable); ok {
		main()
		return
	}
	os.Exit(m.Run())
}

// All faults of the command line are told at once.
func TestFlagFaults(t *testing.T) {
	_, err := parseFlags([]string{"-n", "0", "-view", "0", "-cellapps", "0", "-baseapps", "99", "-radius", "1", "-speed", "-1", "-budget", "-1",
		"-duration", "-1s", "-arrive", "101", "-least", "-1", "-patience", "0", "-persocket", "31", "-ratio", "-1", "-side", "1", "-wear", "-1s", "-greet", "-1s", "more"})
	for _, want := range []string{"-n", "-view", "-cellapps", "-baseapps", "-radius", "-speed", "-budget", "-duration", "-arrive", "-least", "-patience", "-persocket", "-ratio", "-side", "-wear", "-greet", "more"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %s", err, want)
		}
	}
	f, err := parseFlags(nil)
	if err != nil || f.n != 2000 || f.view != 62 || f.least != 100 {
		t.Errorf("defaults are %+v, %v", f, err)
	}
}

// The definitions and the scripts match, whatever the flags.
func TestWorldIsValid(t *testing.T) {
	schema, err := loadSchema()
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{nil, {"-n", "1"}, {"-n", "300", "-cellapps", "4", "-baseapps", "2", "-budget", "250", "-radius", "300"}} {
		f, err := parseFlags(args)
		if err != nil {
			t.Fatal(err)
		}
		cfg := f.world(schema)
		if err := cfg.Validate(); err != nil {
			t.Error(err)
		}
	}
}

// The waiting ends: with all, with hardly anybody more for a while, or at last.
func TestFilling(t *testing.T) {
	const patience = 10 * time.Second
	for _, c := range []struct {
		name string
		in   func(second int) int
		ends int // second
	}{
		{"all", func(s int) int { return min(2000, 200*s) }, 10},
		{"full at 700", func(s int) int { return min(700, 200*s) }, 20},
		{"one now and then", func(s int) int { return min(700, 200*s) + s/20 }, 20},
		{"late but all", func(s int) int { return min(2000, 60*s) }, 34},
		{"nobody", func(int) int { return 0 }, 20},
		{"a trickle", func(s int) int { return 5 * s }, 70},
		{"some leave again", func(s int) int { return max(100, min(700, 200*s)-10*s) }, 20},
	} {
		fill := filling{asked: 2000, asking: 10 * time.Second, patience: patience}
		s := 0
		for ; s < 1000 && !fill.over(time.Duration(s)*time.Second, c.in(s)); s++ {
		}
		if s != c.ends {
			t.Errorf("%s: ends after %d s, want %d", c.name, s, c.ends)
		}
	}
}

// Who did not get in, and why, is said in the words of who refused.
func TestEntrance(t *testing.T) {
	var e entrance
	st := bots.Stats{Playing: 702, Refusals: []bots.Refusal{
		{Logins: 3, Reason: "client: logging in: mercury: peer is silent"}, {Code: protocol.WorldFull, Logins: 2596, Reason: "refused: the world is full, try again"},
	}}
	e.set(2000, &st, 31*time.Second)
	e.Full = full(&status.World{LoginsRefused: true, Apps: []status.App{{Role: status.RoleCellApp, Number: 1, Load: .94, SavingStep: 22}, {Role: status.RoleLoginApp, Number: 2}}})
	for _, want := range []string{"702 of 2000", "2596 logins refused: the world is full", "3 logins logging in: mercury: peer is silent", "CellApp 1 saves (step 22)", "load of 0.94"} {
		if !strings.Contains(e.String(), want) {
			t.Errorf("%q does not say %q", e.String(), want)
		}
	}
	if err := e.enough(100); err == nil || !strings.Contains(err.Error(), "-n 702") {
		t.Errorf("702 of 2000: %v", err)
	}
	if err := e.enough(35); err != nil {
		t.Error(err)
	}
	if err := new(entrance).enough(0); err == nil {
		t.Error("nobody is enough")
	}
}

// What is told follows from two samples.
func TestSum(t *testing.T) {
	f := &flags{n: 2000, view: 62, radius: 100, cellApps: 1, baseApps: 1, seal: true, arrive: 95}
	e := &entrance{Asked: 2000, In: 100}
	roles := []string{"managers", "login", "baseapp", "cellapp"}
	at := time.Unix(1000, 0)
	cpu := func(ms ...int) (all []time.Duration) {
		for _, x := range ms {
			all = append(all, time.Duration(x)*time.Millisecond)
		}
		return all
	}
	a := sample{at: at, roles: roles, cpu: cpu(10, 20, 30, 40), botsCPU: time.Second, ticks: 100, late: 1}
	b := sample{at: at.Add(20 * time.Second), roles: roles, cpu: cpu(11, 20, 130, 240), botsCPU: 1400 * time.Millisecond, botsMemory: 800 << 10, botsHeap: 600 << 10,
		memory: 5000 << 10, ticks: 300, late: 5}
	b.bots.InView, b.bots.Client.BytesDown, b.bots.Client.BytesUp = 6200, 2_000_000, 600_000
	b.bots.Wire.BytesIn, b.bots.Wire.BytesOut = 2_400_000, 1_000_000
	b.bots.Client.PositionBytes, b.bots.Client.Places = 1_600_000, 800_000
	fresh := bots.Freshness{Moves: 1_000_000, InTime: 990_000, Places: 800_000, Worst: [bots.Bands]time.Duration{time.Second, 2 * time.Second}, WorstNear: 3 * time.Second}
	r := sum(f, e, &a, &b, &fresh)
	for name, c := range map[string]struct{ got, want float64 }{
		"server CPU": {r.CPU, 15.05}, "of the CellApp": {r.CPUBy["cellapp"], 10}, "cores": {r.Cores, .02}, "in view": {r.InView, 62}, "a bot": {r.BotCPU, 20},
		"a bot's memory": {r.BotMemory, 8}, "of it heap": {r.BotHeap, 6}, "a client's memory": {r.Memory, 50}, "down": {r.WireDown, 120}, "payload down": {r.PayloadDown, 100},
		"up": {r.WireUp, 50}, "a place": {r.PlaceBytes, 2.5}, "in packets": {r.PacketBytes, 2}, "places": {r.Places, 40}, "late": {r.Late, 2}, "arrived": {r.Arrived, 99}, "worst": {float64(r.AgeWorst[1]), 2000},
		"worst of the nearest": {float64(r.NearWorst), 3000},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
	r.print()
	if err := r.faults(f); err != nil {
		t.Error(err)
	}
	r.Arrived, r.Lost = 94, 1
	if err := r.faults(f); err == nil || !strings.Contains(err.Error(), "94") || !strings.Contains(err.Error(), "1 sessions were lost") {
		t.Errorf("late moves and a lost session: %v", err)
	}
}

// A small crowd from the first process to the last figure, over real sockets and processes.
func TestCrowd(t *testing.T) {
	if testing.Short() || runtime.GOOS != "linux" {
		t.Skip("starts four processes for some seconds, and asks Linux what they cost")
	}
	folder := t.TempDir()
	profiles := filepath.Join(folder, "made")
	f, err := parseFlags([]string{"-n", "20", "-view", "10", "-warm", "500ms", "-duration", "1s", "-greet", "200ms", "-json", "-profile", profiles, "-seal=false"})
	if err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(filepath.Join(folder, "out"))
	if err != nil {
		t.Fatal(err)
	}
	stdout := os.Stdout
	os.Stdout = out
	err = measure(context.Background(), f)
	os.Stdout = stdout
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	var res result
	if err := json.Unmarshal(text, &res); err != nil {
		t.Fatal(err)
	}
	if res.In != 20 || res.Asked != 20 || res.InView == 0 || res.Moves == 0 || res.Places == 0 || res.CPU == 0 || res.BotMemory == 0 || res.BotHeap == 0 || res.Greetings == 0 || res.GreetP99 < res.GreetP50 || res.Lost > 0 {
		t.Errorf("%+v", res)
	}
	for _, role := range []string{"bots", "cellapp", "baseapp", "login", "managers"} {
		if all, _ := filepath.Glob(filepath.Join(profiles, role+"-*.pprof")); len(all) == 0 {
			t.Errorf("no profile of %s", role)
		}
	}
}
