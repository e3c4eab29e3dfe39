package loginapp

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/space/cluster/watch"
)

// put sets a value as the CellAppMgr has it set, and returns the answer.
func (r *rig) put(path, text string) (a wire.Watched) {
	r.t.Helper()
	r.net.Take(r.manager)
	r.fromManager(r.manager, &wire.SetWatch{Number: 5, Role: wire.LoginApp, Path: path, Text: text})
	id, body, err := wire.Split(r.net.One(r.t, r.manager))
	if err != nil || id != wire.WatchedID || a.Parse(body) != nil || a.Number != 5 {
		r.t.Fatalf("answered %v %+v", id, a)
	}
	return a
}

// The bounds act on the next login, and what there is can be read.
func TestSetLogins(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Auth = AcceptAll{} })
	r.join()
	for path, text := range map[string]string{"logins/max_pending": "-1", "logins/queue": "10001"} {
		if a := r.put(path, text); a.Fault != watch.Refused || !strings.Contains(a.Reason, "take 0 to") {
			t.Errorf("%s: %+v", path, a)
		}
	}
	if a := r.put("logins/waiting", "1"); a.Fault != watch.ReadOnly {
		t.Errorf("%+v", a)
	}
	players := 0
	login := func() mercury.ChannelID {
		players++
		ch := r.connect()
		r.say(ch, r.login(fmt.Sprint("player ", players), ""))
		return ch
	}
	r.put("logins/max_pending", "1")
	login()
	r.wantRefused(login(), protocol.ServerBusy)
	r.put("logins/max_pending", "9")
	if login(); r.l.Counts().Pending != 2 {
		t.Errorf("%+v", r.l.Counts())
	}
	r.put("logins/queue", "1")
	r.fromManager(r.manager, &wire.Logins{Refused: true, Reason: "a crowd"})
	full := func() { // none of them is in already
		r.work()
		for _, c := range r.asked() {
			r.fromManager(r.base, &wire.ProxyMade{Request: c.Request, Code: uint8(protocol.WorldFull), Refusals: c.Refusals})
		}
	}
	full()
	r.tick(time.Second)
	if n := r.l.Counts().Waiting; n != 1 {
		t.Errorf("%d wait", n)
	}
	r.put("logins/queue", "2")
	login()
	full()
	if n := r.l.Counts().Waiting; n != 2 {
		t.Errorf("%d wait", n)
	}
	r.net.Take(r.manager)
	r.fromManager(r.manager, &wire.ReadWatch{Number: 6, Role: wire.LoginApp, Path: "logins", List: true})
	var a wire.Watched
	if _, body, err := wire.Split(r.net.One(t, r.manager)); err != nil || a.Parse(body) != nil || len(a.Values) != 8 || a.More {
		t.Errorf("%+v", a)
	}
	r.fromManager(r.base, &wire.SetWatch{Number: 7, Path: "logins/queue", Text: "5"})
	if r.l.cfg.Queue != 2 {
		t.Error("the BaseAppMgr has set a value")
	}
}
