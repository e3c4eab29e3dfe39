package bots_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/client/bots"
)

// Bots that share sockets are players of their own: all are in the world, see each other, leave and
// come back, and none of that is counted as an error.
func TestLeaveAndReturn(t *testing.T) {
	w, schema, err := world()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Stop() }()
	const n = 40
	swarm, err := bots.Start(bots.Config{
		Bots: n, LoginApp: w.LoginAddr(), Schema: schema, PerSocket: 30,
		Behave: func(number int) bots.Behaviour {
			walk := &bots.Walk{MinX: -20, MinZ: -20, MaxX: 20, MaxZ: 20, Speed: 5}
			if number%2 == 0 {
				return walk
			}
			return bots.All{walk, &bots.Leave{Every: 2 * time.Second, Away: 200 * time.Millisecond}}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
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
		logins = st.Logins
		time.Sleep(50 * time.Millisecond)
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

// All faults are told at once, each with its remedy.
func TestConfig(t *testing.T) {
	_, err := bots.Start(bots.Config{PerSocket: 99, Logins: -1, Tick: -1, InTime: -1, ViewRadius: -1, Rounding: -1})
	for _, field := range []string{"Bots", "LoginApp", "Schema", "PerSocket", "Logins", "Tick", "InTime", "ViewRadius", "Rounding"} {
		if err == nil || !strings.Contains(err.Error(), "Config."+field) {
			t.Errorf("%s is not among the faults: %v", field, err)
		}
	}
}
