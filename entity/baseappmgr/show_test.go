package baseappmgr

import (
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/space/cluster/watch"
)

// put sets a value as the CellAppMgr has it set, and returns the answer.
func (r *rig) put(path, text string) (a wire.Watched) {
	r.t.Helper()
	r.net.Take(r.manager)
	r.say(r.manager, &wire.SetWatch{Number: 5, Role: wire.BaseAppMgr, Path: path, Text: text})
	if id, body := r.got(r.manager); id != wire.WatchedID || a.Parse(body) != nil || a.Number != 5 {
		r.t.Fatalf("answered %v %+v", id, a)
	}
	return a
}

// A new bound for proxies is that of the next login.
func TestSetMaxProxies(t *testing.T) {
	g := newGate(t)
	g.base(3)
	g.want(g.login, "1", 0)
	g.want(g.login, "2", 0)
	g.want(g.login, "3", protocol.WorldFull)
	if a := g.put("players/max_proxies", "3"); a.Fault != 0 {
		t.Errorf("%+v", a)
	}
	g.want(g.login, "3", 0)
	g.want(g.login, "4", protocol.WorldFull)
	if a := g.put("players/max_proxies", "-3"); a.Fault != watch.Refused || !strings.Contains(a.Reason, "above zero") {
		t.Errorf("%+v", a)
	}
	if a := g.put("players/max_proxies", "0"); a.Fault != 0 {
		t.Errorf("%+v", a)
	}
	g.want(g.login, "4", 0)
}

// Bases move by the loads or not, and by how much, as was set last.
func TestSetShed(t *testing.T) {
	s := newSheds(t, &worker{bases: 3000}, &worker{})
	s.put("shed/on", "false")
	if n := s.play(time.Minute); n != 0 {
		t.Errorf("%d bases move", n)
	}
	s.put("shed/least", "5000")
	s.put("shed/on", "true")
	if n := s.play(time.Minute); n != 0 {
		t.Errorf("%d bases move", n)
	}
	s.put("shed/least", "200")
	s.put("shed/above", "5")
	if n := s.play(time.Minute); n != 0 {
		t.Errorf("%d bases move", n)
	}
	s.put("shed/above", "0.25")
	if n := s.play(time.Minute); n < 1000 {
		t.Errorf("%d bases move", n)
	}
	for path, text := range map[string]string{"shed/least": "-1", "shed/above": "-1", "shed/least_load": "-1", "shed/on": "perhaps"} {
		if a := s.put(path, text); a.Fault != watch.Refused {
			t.Errorf("%s = %s: %+v", path, text, a)
		}
	}
	w := newSheds(t, &worker{bases: 1000, cost: 0.8e-3}, &worker{bases: 1000, cost: 0.2e-3})
	w.put("shed/least_load", "3")
	if n := w.play(time.Minute); n != 0 {
		t.Errorf("%d bases move for their work", n)
	}
}
