package baseapp

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/space/cluster/watch"
)

// put sets a value as the CellAppMgr has it set, and returns the answer.
func (r *rig) put(path, text string) wire.Watched {
	r.t.Helper()
	r.net.sent = nil
	r.say(r.managers, &wire.SetWatch{Number: 5, Role: wire.BaseApp, App: 7, Path: path, Text: text})
	return one(r.t, told[wire.Watched](r, cellAppMgr))
}

func (r *rig) mustPut(path, text string) {
	r.t.Helper()
	if a := r.put(path, text); a.Number != 5 || a.Fault != 0 || a.Values[0].Text != text {
		r.t.Fatalf("%s = %s: %+v", path, text, a)
	}
}

func (r *rig) refusesPut(path, text, say string) {
	r.t.Helper()
	if a := r.put(path, text); a.Fault != watch.Refused || !strings.Contains(a.Reason, say) {
		r.t.Errorf("%s = %s: %+v, want it refused: %s", path, text, a, say)
	}
}

// What there is can be listed, and only the CellAppMgr asks.
func TestShow(t *testing.T) {
	r := joinedRig(t, func(c *Config) {
		c.Watch = func(t *watch.Tree) { watch.Show(t, "guests", "of the game", func() int { return 3 }) }
	})
	r.spawn()
	r.net.sent = nil
	r.say(r.managers, &wire.ReadWatch{Number: 4, Role: wire.BaseApp, App: 7, Path: "bases", List: true})
	got := one(t, told[wire.Watched](r, cellAppMgr))
	if got.Number != 4 || len(got.Values) < 5 || got.Values[0].Path != "bases/archive_period" {
		t.Errorf("listed %+v", got)
	}
	for path, want := range map[string]string{"bases/count": "1", "app/number": "7", "game/guests": "3", "log/level": "default", "trace/entities": ""} {
		r.say(r.managers, &wire.ReadWatch{Number: 4, Role: wire.BaseApp, App: 7, Path: path})
		if got := one(t, told[wire.Watched](r, cellAppMgr)); got.Fault != 0 || got.Values[0].Text != want {
			t.Errorf("%s: %+v, want %q", path, got, want)
		}
	}
	refused := r.a.report.Counters.Refused
	r.tell(appX, &wire.SetWatch{Path: "upload/bytes", Text: "5000"})
	if r.a.cfg.Upload.Bytes != DefaultUploadBytes || r.a.report.Counters.Refused == refused {
		t.Error("a CellApp has set a value")
	}
}

// A new bound for what clients send is that of those who are there.
func TestSetUpload(t *testing.T) {
	r, p, other := two(t)
	other.heard()
	r.refusesPut("upload/messages", "10", "give 50 to")
	r.mustPut("upload/messages", "60")
	call := (&protocol.BaseCall{Method: 0}).Append(nil)
	for range 59 {
		p.say(call)
	}
	p.wantHeard()
	p.say(call)
	p.wantRefused(protocol.Flooding)
	r.mustPut("upload/messages", "1000")
	for range 900 {
		other.say(call)
	}
	other.wantHeard()
	r.refusesPut("upload/bytes", "1", "give 4096 to")
	r.mustPut("upload/bytes", "5000")
	other.say(slices.Repeat(call, 5001/len(call)))
	other.wantRefused(protocol.Flooding)
}

// A new period is that of the next round of copies. Whether there are any is not for an operator to
// say.
func TestSetBackupPeriod(t *testing.T) {
	c := newCopier(t)
	c.pass(time.Second)
	c.makeMany(2)
	copies := func() int {
		c.take()
		c.pass(4 * time.Second)
		return len(c.take())
	}
	if n := copies(); n < 7 || n > 9 {
		t.Fatalf("%d copies of two bases in four seconds", n)
	}
	c.mustPut("bases/backup_period", "4s")
	if n := copies(); n > 4 {
		t.Errorf("%d copies", n)
	}
	c.mustPut("bases/backup_period", "200ms")
	if n := copies(); n < 30 {
		t.Errorf("%d copies", n)
	}
	c.refusesPut("bases/backup_period", "1ms", "at least a tick")
	c.refusesPut("bases/backup_period", "-1s", "at least a tick")
	joinedRig(t).refusesPut("bases/backup_period", "1s", "start the BaseApps with another")
}

// A new batch is that of the next part that goes.
func TestSetMoveBatch(t *testing.T) {
	c := crowd(t, 60)
	c.refusesPut("bases/move_batch", "-1", "a number of bases")
	c.mustPut("bases/move_batch", "1000")
	c.a.Retire("test")
	if parts := c.moves(time.Second); len(parts) > 1 {
		t.Errorf("60 bases go in %d parts of up to a thousand", len(parts))
	}
}

// A new period is that of the archive from then on.
func TestSetArchivePeriod(t *testing.T) {
	k := newKeeper(t, func(c *Config) { c.ArchivePeriod = time.Hour })
	k.kept()
	writes := func() (n int) {
		for until := k.now + 10*time.Second; k.now < until; {
			k.tick()
			for _, m := range k.calls() {
				n++
				k.answer(&m, wire.StoreAnswer{})
			}
		}
		return n
	}
	if n := writes(); n != 0 {
		t.Fatalf("written %d times", n)
	}
	k.mustPut("bases/archive_period", "2s")
	if n := writes(); n < 4 {
		t.Errorf("written %d times in five periods", n)
	}
	k.mustPut("bases/archive_period", "-1s")
	if n := writes(); n > 1 {
		t.Errorf("written %d times, and never was wanted", n)
	}
	k.refusesPut("bases/archive_period", "1ms", "at least a tick")
}

// The steps of a base that is traced, and of no other, are logged in their order.
func TestTraceOfABase(t *testing.T) {
	r := joinedRig(t)
	r.spawn()
	id, _ := r.live()
	r.logs.Reset()
	r.mustPut("trace/entities", id.String())
	r.mustPut("log/level", "INFO")
	r.current(appY, id, 1, 1, 0)
	r.say(r.managers, &wire.AppDead{Role: wire.CellApp, App: appY})
	r.spawn() // of which nothing is told
	r.a.byID[id].Destroy()
	r.pass(time.Second)
	var steps []string
	for line := range strings.Lines(r.logs.String()) {
		if _, rest, ok := strings.Cut(line, `msg="entity trace" step=`); ok {
			step, rest, _ := strings.Cut(rest, " entity=")
			steps = append(steps, strings.Trim(step, `"`))
			if !strings.HasPrefix(rest, id.String()+" type=Avatar order=1.1 at=") {
				t.Errorf("said %s", rest)
			}
		}
	}
	if got := strings.Join(steps, ", "); !strings.HasPrefix(got, "cell moved, cell lost") || !strings.HasSuffix(got, "base destroyed") {
		t.Errorf("steps: %s", got)
	}
	r.mustPut("log/level", "ERROR")
	r.logs.Reset()
	r.say(r.managers, &wire.AppDead{Role: wire.CellApp, App: appX})
	if r.logs.Len() > 0 {
		t.Errorf("logged %s", &r.logs)
	}
}
