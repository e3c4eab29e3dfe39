package cluster_test

import (
	"net"
	"testing"

	"github.com/cellscape/cellscape/space/cluster"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// What a process counts below its messages, and what it refuses, an operator reads in the status.
func TestCountsInTheStatus(t *testing.T) {
	cfg := world(t)
	cfg.Key = testKey(1)
	c := started(t, cfg)
	play(t, c, "ada")
	st, err := c.Status()
	if err != nil {
		t.Fatal(err)
	}
	mgr, _ := st.App(status.RoleCellAppMgr)
	throw(t, mgr.AddrPort().String())
	counts(t, c, status.RoleCellAppMgr, "seat.Led", "udp.Cut", "secure.Answered", "mercury.Opened", "mercury.BadSize")
	counts(t, c, status.RoleLoginApp, "loginapp.Joined", "call.Answered", "secure.Admitted")
	counts(t, c, status.RoleBaseAppMgr, "baseappmgr.Accounts")
}

// throw sends a place what is too long to be read, and what is too short for Mercury.
func throw(t *testing.T, place string) {
	t.Helper()
	stranger, err := net.Dial("udp", place)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{10000, 1} {
		if _, err := stranger.Write(make([]byte, size)); err != nil {
			t.Error(err)
		}
	}
	if err := stranger.Close(); err != nil {
		t.Error(err)
	}
}

// counts waits until an app has counted something under each name, by itself or at a carrier.
func counts(t *testing.T, c *cluster.Cluster, role string, names ...string) {
	t.Helper()
	for _, name := range names {
		eventually(t, role+" counts "+name, func() bool {
			st, err := c.Status()
			if err != nil {
				t.Fatal(err)
			}
			a, _ := st.App(role)
			n := a.Counts[name]
			for i := range a.Carriers {
				n += a.Carriers[i].Counts[name]
			}
			return n > 0
		})
	}
}
