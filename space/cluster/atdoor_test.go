package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/client/session"
	"github.com/cellscape/cellscape/space/cluster"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// atDoorEnv is how often TestKilledAtTheDoor kills a BaseApp.
const atDoorEnv = "CELLSCAPE_TEST_DOOR_KILLS"

// TestKilledAtTheDoor kills one of two BaseApps, which are processes of their own, with SIGKILL while players
// log in: in the milliseconds after one of them has been let in. No session that was let in ends, and no
// client that was told of a BaseApp is put out.
func TestKilledAtTheDoor(t *testing.T) {
	if testing.Short() {
		t.Skip("kills processes")
	}
	cfg, ctx, started := pilgrims(t), context.Background(), kept(t)
	managers := started(cluster.StartManagers(ctx, cfg))
	at := managers.ManagerAddr()
	started(cluster.StartCellApp(ctx, cfg, at))
	started(cluster.StartCellApp(ctx, cfg, at))
	login := started(cluster.StartLogin(ctx, cfg, at))
	bases := []*mortal{startRole(t, "baseapp", at), startRole(t, "baseapp", at)}
	whole := func() bool {
		st, err := managers.Status()
		n := 0
		for i := range st.Apps {
			if st.Apps[i].Role == status.RoleBaseApp {
				n++
			}
		}
		return err == nil && n == 2 && st.Unprotected == 0 && st.RulesPending == 0
	}
	kills, tried, late, began := numberIn(atDoorEnv, 3), 0, 0, 0
	for round := range kills {
		for end := time.Now().Add(patience); !whole() && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		}
		time.Sleep(1500 * time.Millisecond) // until both have agreed on who holds what
		in := make(chan struct{}, 64)
		type visit struct {
			s    *session.Session
			name string
		}
		var all []visit
		for i := range 6 {
			name := fmt.Sprintf("visitor %d.%d", round, i)
			s, err := login.Connect(name, "", client.Events{LoggedIn: func() { in <- struct{}{} }})
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, visit{s, name})
			time.Sleep(time.Duration(rand.IntN(4)) * time.Millisecond)
		}
		<-in
		time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond)
		victim := rand.IntN(2)
		bases[victim].kill()
		killed := time.Now()
		for _, v := range all {
			tried++
			within, cancel := context.WithTimeout(ctx, patience)
			err := v.s.Ready(within)
			cancel()
			var no *protocol.Refused
			switch {
			case errors.As(err, &no) && (no.Code == protocol.ServerBusy || no.Code == protocol.NotReady):
				late++ // the BaseApp that was to have it died before that
				continue
			case err != nil:
				t.Errorf("%s: %v", v.name, err)
				continue
			}
			for v.s.Err() == nil && time.Since(killed) < patience {
				calm := false
				_ = v.s.Do(func(c *client.Client) error { calm = c.Interrupted() == nil && c.InWorld(); return nil })
				if calm && time.Since(killed) > 4*time.Second {
					began++
					break
				}
				time.Sleep(20 * time.Millisecond)
			}
			if err := v.s.Err(); err != nil {
				t.Errorf("%s has lost its session: %v", v.name, err)
			}
		}
		for _, v := range all {
			_ = v.s.Do(func(c *client.Client) error { c.Logout(); return nil })
		}
		bases[victim] = startRole(t, "baseapp", at)
	}
	t.Logf("%d kills: of %d players %d play, %d were told that the world is busy", kills, tried, began, late)
	if began+late != tried {
		t.Errorf("%d of %d sessions were lost", tried-began-late, tried)
	}
}
