package dbapp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/entity/stored"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
)

// rig is a DBApp whose cluster, and whose jobs, the test plays.
type rig struct {
	t       *testing.T
	net     *mercurytest.Stage
	d       *DBApp
	now     time.Duration
	manager mercury.ChannelID
	jobs    []func()
	hold    uint64 // the token of jobs that do not end
	held    []func()
	logs    bytes.Buffer
	number  uint64
}

var (
	manager = mercurytest.Host(1, 11)
	worlds  uint64 // how many were drawn
)

// Do implements Jobs.
func (r *rig) Do(token uint64, run func(context.Context) any) {
	work := func() { r.d.JobDone(r.now, token, run(context.Background())) }
	if token == r.hold {
		r.held = append(r.held, work)
		return
	}
	r.jobs = append(r.jobs, work)
}

// newRig is a DBApp that has joined, over what chests has.
func newRig(t *testing.T, c *chests, s store.Store, fresh bool) *rig {
	r := &rig{t: t, net: mercurytest.NewStage(mercurytest.Host(9, 1))}
	types, err := store.NewSchema(c.schema)
	if err != nil {
		t.Fatal(err)
	}
	r.d, err = New(Config{
		Transport: r.net, Manager: manager.At, Schema: c.schema, Store: s, Types: types, Fresh: fresh, Jobs: r,
		Secrets: func(b []byte) { worlds++; binary.LittleEndian.PutUint64(b, worlds) },
		Log:     slog.New(slog.NewTextHandler(&r.logs, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	r.d.Tick(0)
	r.manager = r.net.Last
	r.d.Opened(r.now, r.manager, manager)
	r.say(r.manager, &wire.Welcome{Number: 1, Term: 4, CellAppMgr: manager})
	r.pass(time.Second)
	return r
}

// newWorld is a world that has begun, a BaseApp of it, and the call by which that makes a chest.
func newWorld(t *testing.T, c *chests) (*rig, mercury.ChannelID, wire.CallStore) {
	r := newRig(t, c, c, true)
	x := r.baseApp(3)
	told, _ := r.call(x, wire.CallStore{Op: wire.StoreBegin})
	return r, x, wire.CallStore{Op: wire.StoreCreate, Type: "Chest", Row: 1, Version: 1, Entity: 3<<32 | 1, Start: told.Start, World: told.World, Data: c.gold}
}

func (r *rig) say(ch mercury.ChannelID, m wire.Message) {
	r.d.Message(r.now, ch, true, wire.Encode(nil, m))
	r.work()
}

func (r *rig) work() {
	if r.hold == 0 {
		r.jobs, r.held = append(r.jobs, r.held...), nil
	}
	for len(r.jobs) > 0 {
		job := r.jobs[0]
		r.jobs = r.jobs[1:]
		job()
	}
}

func (r *rig) pass(d time.Duration) {
	for end := r.now + d; r.now <= end; r.now += DefaultTick {
		r.d.Tick(r.now)
		r.work()
	}
}

// baseApp brings a BaseApp in.
func (r *rig) baseApp(n byte) mercury.ChannelID {
	at := mercurytest.Host(n, uint32(n))
	var m wire.Members
	m.Add(wire.AppRef{Role: wire.BaseApp, App: at}, uint32(n))
	r.say(r.manager, &m)
	ch := r.net.Accept(at)
	r.d.Opened(r.now, ch, at)
	r.say(ch, &wire.Join{Speaks: wire.Spoken(), Role: wire.BaseApp, Digest: r.d.cfg.Schema.Digest})
	r.net.Take(ch)
	return ch
}

// call makes a call of a BaseApp; false if it is not answered.
func (r *rig) call(ch mercury.ChannelID, m wire.CallStore) (a wire.StoreAnswer, answered bool) {
	r.t.Helper()
	r.number++
	m.Request, m.Number = r.number, r.number
	r.say(ch, &m)
	for _, msg := range r.net.Take(ch) {
		if id, body, err := wire.Split(msg); err == nil && id == wire.StoreAnswerID && a.Parse(body) == nil {
			answered = true
		}
	}
	return a, answered
}

// state is what the DBApp reports of the store.
func (r *rig) state() string {
	r.net.Take(r.manager)
	r.pass(time.Second)
	text := ""
	for _, msg := range r.net.Take(r.manager) {
		if id, body, err := wire.Split(msg); err == nil && id == wire.ReportID {
			var m wire.Report
			if m.Parse(body) == nil {
				text = m.Store
			}
		}
	}
	return text
}

// A DBApp that has taken the place of another goes on with the start of the world only in its store. In
// another one, or in an older copy, nothing is begun, read or written, and nobody loses anything.
func TestAnotherStore(t *testing.T) {
	right := newChests(t)
	first := newRig(t, right, right, true)
	x := first.baseApp(3)
	told, _ := first.call(x, wire.CallStore{Op: wire.StoreBegin})
	if told.Start == 0 || told.World == 0 || first.state() != "ok" {
		t.Fatalf("told %+v, the store is %q", told, first.state())
	}
	for what, wrong := range map[string]*chests{"empty": newChests(t), "of another world": newChests(t), "much used": newChests(t)} {
		switch what {
		case "of another world":
			newRig(t, wrong, wrong, true).pass(time.Second)
		case "much used":
			for range 9 {
				newRig(t, wrong, wrong, true).pass(time.Second)
			}
		}
		before, _ := wrong.Get(context.Background(), worldKey)
		r := newRig(t, wrong, wrong, false)
		x := r.baseApp(3)
		ask := wire.CallStore{Op: wire.StoreBegin, Start: told.Start, World: told.World}
		write := wire.CallStore{Op: wire.StoreCreate, Type: "Chest", Row: 1, Version: 1, Entity: 3<<32 | 1, Start: told.Start, World: told.World, Data: wrong.gold}
		for range 30 {
			if a, ok := r.call(x, ask); ok {
				t.Errorf("%s: answered %+v", what, a)
			}
			r.pass(time.Second)
		}
		if a, ok := r.call(x, write); !ok || a.Code != stored.Busy || !strings.Contains(a.Reason, "another world") {
			t.Errorf("%s: a write is answered %v, %+v", what, ok, a)
		}
		if after, _ := wrong.Get(context.Background(), worldKey); after.Version != before.Version || r.d.start != 0 {
			t.Errorf("%s: start %d has begun there", what, r.d.start)
		}
		if n := strings.Count(r.logs.String(), "another world"); n != 1 {
			t.Errorf("%s: the log says so %d times:\n%s", what, n, r.logs.String())
		}
		if s := r.state(); !strings.Contains(s, "another world") {
			t.Errorf("%s: the store is %q", what, s)
		}
	}
	again := newRig(t, right, right, false)
	x = again.baseApp(3)
	if a, ok := again.call(x, wire.CallStore{Op: wire.StoreBegin, Start: told.Start, World: told.World}); !ok || a.Start != told.Start || a.World != told.World {
		t.Errorf("the right store answers %v, %+v", ok, a)
	}
	if a, ok := again.call(x, wire.CallStore{Op: wire.StoreCreate, Type: "Chest", Row: 1, Version: 1, Entity: 3<<32 | 1, Start: told.Start, World: told.World, Data: right.gold}); !ok || a.Code != stored.Done {
		t.Errorf("a write there: %v, %+v", ok, a)
	}
}

// A start that has begun in a store, since nobody said any, is for those that ask it. BaseApps of another
// world that come later are refused all the same.
func TestStrangersComeLate(t *testing.T) {
	c := newChests(t)
	r := newRig(t, c, c, false)
	own := r.baseApp(3)
	r.pass(AdoptTime + time.Second)
	told, ok := r.call(own, wire.CallStore{Op: wire.StoreBegin})
	if !ok || told.Start == 0 {
		t.Fatalf("told %v, %+v", ok, told)
	}
	late := r.baseApp(5)
	m := wire.CallStore{Op: wire.StoreCreate, Type: "Chest", Row: 1, Version: 1, Entity: 3<<32 | 1, Start: told.Start, World: told.World + 9, Data: c.gold}
	if a, ok := r.call(late, m); !ok || a.Code != stored.Busy {
		t.Errorf("a stranger's write: %v, %+v", ok, a)
	}
	m.World = told.World
	if a, ok := r.call(own, m); !ok || a.Code != stored.Done {
		t.Errorf("its own write: %v, %+v", ok, a)
	}
	r.pass(2 * strangeTime)
	if s := r.state(); s != "ok" {
		t.Errorf("when the stranger has gone the store is %q", s)
	}
}

// All BaseApps may be out of reach when a DBApp takes the place of another, for as long as a switch takes to
// start anew. It used to begin a new start meanwhile; then the bases of a world that lived lost their rows,
// with all since the last write.
func TestBaseAppsComeLate(t *testing.T) {
	c := newChests(t)
	first := newRig(t, c, c, true)
	x := first.baseApp(3)
	told, _ := first.call(x, wire.CallStore{Op: wire.StoreBegin})
	m := wire.CallStore{Op: wire.StoreCreate, Type: "Chest", Row: 1, Version: 1, Entity: 3<<32 | 1, Start: told.Start, World: told.World, Data: c.gold}
	first.call(x, m)
	r := newRig(t, c, c, false)
	r.pass(10 * AdoptTime)
	x = r.baseApp(3)
	if a, ok := r.call(x, wire.CallStore{Op: wire.StoreBegin, Start: told.Start, World: told.World}); !ok || a.Start != told.Start {
		t.Fatalf("the start was %d, and a BaseApp that comes late is told %v, %+v", told.Start, ok, a)
	}
	m.Op, m.Version = wire.StoreWrite, 2
	if a, ok := r.call(x, m); !ok || a.Code != stored.Done {
		t.Errorf("its next write: %v, %+v", ok, a)
	}
}

// full is a store whose disk is full, for a while, or that makes no rows for another reason.
type full struct {
	*chests
	on      bool
	because error
}

func (f *full) Create(ctx context.Context, records []store.Record) error {
	if f.on {
		return fmt.Errorf("%w: no space left on the device", cmp.Or(f.because, store.ErrFull))
	}
	return f.chests.Create(ctx, records)
}

// The status says by name why a store fails, and the log once; and both when it works again.
func TestStoreHealth(t *testing.T) {
	c := newChests(t)
	f := &full{chests: c}
	r := newRig(t, c, f, true)
	x := r.baseApp(3)
	told, _ := r.call(x, wire.CallStore{Op: wire.StoreBegin})
	m := wire.CallStore{Op: wire.StoreCreate, Type: "Chest", Row: 1, Version: 1, Entity: 3<<32 | 1, Start: told.Start, World: told.World, Data: c.gold}
	f.on = true
	r.call(x, m)
	r.pass(8 * time.Second)
	if s := r.state(); !strings.Contains(s, "failing for") || !strings.Contains(s, "no space left") {
		t.Errorf("the store is %q", s)
	}
	r.call(x, wire.CallStore{Op: wire.StoreQuery, Type: "Chest", Entity: 3<<32 | 1, Start: told.Start, World: told.World, Data: (&wire.RowsWanted{Limit: 5}).Encode()})
	if s := r.state(); !strings.Contains(s, "failing for") {
		t.Errorf("after a read the store is %q", s)
	}
	f.on = false
	r.pass(5 * time.Second)
	if s := r.state(); s != "ok" {
		t.Errorf("at last the store is %q", s)
	}
	for _, says := range []string{"the store fails", "the store works again"} {
		if n := strings.Count(r.logs.String(), says); n != 1 {
			t.Errorf("the log says %d times %q:\n%s", n, says, r.logs.String())
		}
	}
}

// neverBegins is a store that can be read, and not written.
type neverBegins struct{ *chests }

func (n neverBegins) Begin(context.Context) (uint64, error) { return 0, store.ErrFull }

// A store that fails through a night does not fill the log, whatever is wanted of it.
func TestFailingForHours(t *testing.T) {
	c := newChests(t)
	r := newRig(t, c, neverBegins{c}, true)
	r.pass(time.Hour)
	if n := strings.Count(r.logs.String(), "\n"); n < 10 || n > 200 {
		t.Errorf("%d lines while no start can begin:\n%s", n, r.logs.String()[:min(r.logs.Len(), 2000)])
	}

	f := &full{chests: newChests(t)}
	r = newRig(t, f.chests, f, true)
	x := r.baseApp(3)
	told, _ := r.call(x, wire.CallStore{Op: wire.StoreBegin})
	r.logs.Reset()
	f.on = true
	for i := range 3600 {
		row := uint64(i%100 + 1)
		r.call(x, wire.CallStore{Op: wire.StoreCreate, Type: "Chest", Row: row, Version: 1, Entity: 3<<32 | entity.ID(row), Start: told.Start, World: told.World, Data: f.gold})
		r.pass(time.Second)
	}
	if n := strings.Count(r.logs.String(), "\n"); n < 10 || n > 200 || !strings.Contains(r.logs.String(), "unlogged=") {
		t.Errorf("%d lines while nothing can be written:\n%s", n, r.logs.String()[:min(r.logs.Len(), 2000)])
	}
}

// Two worlds were given one store. The first used to be reported well, although every call of it was
// refused from then on.
func TestTwoWorldsWithOneStore(t *testing.T) {
	c := newChests(t)
	first, x, m := newWorld(t, c)
	first.call(x, m)
	second := newRig(t, c, c, true) // by somebody who says that nobody lives here
	y := second.baseApp(4)
	second.call(y, wire.CallStore{Op: wire.StoreBegin})
	for m.Version = 2; m.Version < 4; m.Version++ {
		m.Op = wire.StoreWrite
		if a, ok := first.call(x, m); !ok || a.Code != stored.Superseded {
			t.Errorf("a write of the first: %v, %+v", ok, a)
		}
	}
	if s := first.state(); !strings.Contains(s, "another world has begun in this store") {
		t.Errorf("the store of the first is %q", s)
	}
	if n := strings.Count(first.logs.String(), "another world has begun in this store"); n != 1 {
		t.Errorf("the log says it %d times:\n%s", n, first.logs.String())
	}
	// A call of a start that is over does the second world no harm.
	second.call(y, m)
	if s := second.state(); s != "ok" {
		t.Errorf("the store of the second is %q", s)
	}
}

// Who wants to load what a dead BaseApp had is told to ask again, and gets it when heirs have had their time: of
// a row that somebody holds a player would hear that it plays already.
func TestLoadOfADeadApp(t *testing.T) {
	c := newChests(t)
	r, x, create := newWorld(t, c)
	if told, _ := r.call(x, create); told.Code != stored.Done {
		t.Fatal(told)
	}
	load := create
	load.Op, load.Data, load.Version, load.Entity = wire.StoreLoad, nil, 0, 4<<32|1
	y := r.baseApp(4)
	if told, _ := r.call(y, load); told.Code != stored.Held {
		t.Errorf("while it lives: %+v", told)
	}
	r.say(r.manager, &wire.AppDead{Role: wire.BaseApp, App: mercurytest.Host(3, 3), Allocator: 3})
	if told, _ := r.call(y, load); told.Code != stored.Busy {
		t.Errorf("after its death: %+v", told)
	}
	r.pass(FreeAfter + time.Second)
	if told, _ := r.call(y, load); told.Code != stored.Done {
		t.Errorf("in the end: %+v", told)
	}
}

// A file that cannot be written is the store's fault and no entity's: an operator mends it. Players
// who were new used to be thrown out meanwhile, those who left lost what was not written, and the
// status said that all was well whenever somebody had asked for a row that is not there.
func TestStoreThatMayNotWrite(t *testing.T) {
	c := newChests(t)
	f := &full{chests: c, because: store.ErrDenied}
	r := newRig(t, c, f, true)
	x := r.baseApp(3)
	told, _ := r.call(x, wire.CallStore{Op: wire.StoreBegin})
	m := wire.CallStore{Op: wire.StoreCreate, Type: "Chest", Row: 1, Version: 1, Entity: 3<<32 | 1, Start: told.Start, World: told.World, Data: c.gold}
	f.on = true
	if a, ok := r.call(x, m); ok {
		t.Errorf("it was answered at once: %+v", a)
	}
	for range 8 {
		r.pass(time.Second)
		r.call(x, wire.CallStore{Op: wire.StoreLoad, Type: "Chest", Row: 77, Entity: 3<<32 | 2, Start: told.Start, World: told.World})
	}
	if s := r.state(); !strings.Contains(s, "failing for") || !strings.Contains(s, store.ErrDenied.Error()) {
		t.Errorf("the store is %q", s)
	}
	f.on = false
	r.pass(5 * time.Second)
	if a, ok := r.call(x, m); !ok || a.Code != stored.Done {
		t.Errorf("when it can be written again: %v, %+v", ok, a)
	}
	if s := r.state(); s != "ok" {
		t.Errorf("at last the store is %q", s)
	}
}
