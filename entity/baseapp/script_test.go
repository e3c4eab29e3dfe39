package baseapp

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/entity/limits"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/property"
)

func TestPanicIsContained(t *testing.T) {
	r := joinedRig(t)
	r.do["hidden"] = func(*avatar) { panic("boom") }
	p, id, _ := r.playLive()
	_, other := r.spawn()
	hidden := flow.MethodCall{Method: 0}
	early := bundle(1, "after the panic")
	r.up(appX, id, 1, 2, early)
	r.events = nil
	r.up(appX, id, 1, 1, hidden.Append(nil, flow.CallBasePayload))
	p.wantRefused(protocol.Destroyed)
	if got := r.flow(appX); !slices.Equal(got, []string{fmt.Sprintf("1:%d", flow.EndPayload)}) {
		t.Errorf("the cell part was told %v, want its end", got)
	}
	if rep := r.a.Counters(); rep.Errors != 1 {
		t.Errorf("%d errors", rep.Errors)
	}
	if log := r.logs.String(); !strings.Contains(log, "boom") || !strings.Contains(log, "script_test.go") || !strings.Contains(log, "in=hidden") {
		t.Errorf("the log says %s", log)
	}
	// The script may be half changed: it is not called any more, not even at the end.
	r.up(appX, id, 1, 3, hidden.Append(nil, flow.CallBasePayload))
	r.up(appX, id, 1, 4, (&flow.Gone{}).Append(nil))
	r.wantEvents("hidden")
	if _, ok := r.view(id); ok {
		t.Error("still there")
	}
	if other.HasClient() || other.Cell().ID == 0 {
		t.Error("another base suffered")
	}
}

func TestPanicsInEveryHook(t *testing.T) {
	for _, hook := range []string{"created", "enabled", "got cell", "lost cell", "destroyed", "client death 17", "tock"} {
		t.Run(hook, func(t *testing.T) {
			r := joinedRig(t, endWithChannel)
			r.do[hook] = func(*avatar) { panic(hook) }
			r.say(r.bases, &wire.MakeProxy{Request: 9, Account: "ann"})
			made := one(t, told[wire.ProxyMade](r, baseAppMgr))
			if v, ok := r.a.Script(made.ID).(*avatar); ok {
				p := r.connect(1)
				p.attach(made.Token)
				_, _ = v.AddTimer(0, 0, "Tock", 0)
				if v.CreateCell(1, property.Vector3{}, property.Vector3{}, nil) == nil {
					r.tick()
					r.say(r.managers, &wire.Located{ID: made.ID, Space: 1, App: appX})
					r.current(appX, made.ID, 1, 0, 0)
					r.a.Closed(r.now, p.ch, nil)
					r.up(appX, made.ID, 1, 1, (&flow.Gone{}).Append(nil))
				}
			}
			r.pass(createTimeout + time.Second)
			if n, bases := r.a.Counters().Errors, slices.Collect(r.a.Bases()); n != 1 || len(bases) != 0 {
				t.Errorf("%d errors, bases %+v", n, bases)
			}
		})
	}
}

func TestPanicInStart(t *testing.T) {
	r := joinedRig(t, func(c *Config) { c.Start = func(s *Starter) { panic("start") } })
	if rep := r.a.Counters(); rep.Errors != 1 {
		t.Errorf("%d errors", rep.Errors)
	}
}

func TestStartRunsOnceAfterTheFirstWelcome(t *testing.T) {
	n := 0
	var at entity.ID
	r := newRig(t, func(c *Config) {
		c.Start = func(s *Starter) {
			n++
			at, _ = s.CreateBase("Avatar", func(v *property.Values) { _ = v.Set(v.Definition().Property("secret").Index, property.Int(77)) })
		}
	})
	r.a.Tick(0)
	r.managers = r.open(cellAppMgr)
	if n != 0 {
		t.Fatal("started before it joined")
	}
	r.say(r.managers, &wire.Welcome{Number: 1, Allocator: 5})
	r.say(r.managers, &wire.Welcome{Number: 1, Allocator: 5, BaseAppMgr: baseAppMgr})
	if n != 1 || at != 5<<32|1 {
		t.Errorf("started %d times, made %v", n, at)
	}
	if got := r.script(at).Secret.Get(); got != 77 {
		t.Errorf("the property is %d", got)
	}
}

func TestCreateBaseFaults(t *testing.T) {
	r := newRig(t)
	s := &Starter{r.a}
	if _, err := s.CreateBase("Avatar", nil); !errors.Is(err, ErrNotJoined) {
		t.Errorf("before the welcome: %v", err)
	}
	r = joinedRig(t)
	for _, name := range []string{"Engine", "Nobody"} {
		if _, err := r.start.CreateBase(name, nil); !errors.Is(err, ErrNoScript) {
			t.Errorf("%s: %v", name, err)
		}
	}
	r.do["created"] = func(*avatar) { panic("boom") }
	if _, err := r.start.CreateBase("Avatar", nil); !errors.Is(err, ErrScript) {
		t.Errorf("a panic: %v", err)
	}
}

func TestTimers(t *testing.T) {
	r := joinedRig(t)
	_, v := r.spawn()
	r.events = nil
	add := func(after, every time.Duration) entity.CallbackID {
		id, err := v.AddTimer(after, every, "Tock", 0)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	add(250*time.Millisecond, 0)
	again := add(time.Second, 500*time.Millisecond)
	ticks := func(n int) (fired int) {
		for range n {
			r.tick()
		}
		fired = len(r.events)
		r.events = nil
		return fired
	}
	for i, want := range []struct{ ticks, fired int }{{2, 0}, {1, 1}, {6, 0}, {1, 1}, {4, 0}, {1, 1}, {5, 1}} {
		if got := ticks(want.ticks); got != want.fired {
			t.Errorf("step %d: fired %d times, want %d", i, got, want.fired)
		}
	}
	r.say(r.managers, &wire.Freeze{On: true})
	if got := ticks(50); got != 0 {
		t.Errorf("fired %d times in a frozen world", got)
	}
	r.say(r.managers, &wire.Freeze{On: false})
	if got := ticks(5); got != 1 {
		t.Errorf("fired %d times after the thaw", got)
	}
	// A long pause is one time late, not many.
	r.now += 10 * time.Second
	if got := ticks(1); got != 1 {
		t.Errorf("fired %d times after a pause", got)
	}
	if !v.Cancel(again) || v.Cancel(again) {
		t.Error("Cancel does not say whether there was one")
	}
	if got := ticks(50); got != 0 {
		t.Errorf("fired %d times after it was cancelled", got)
	}
}

// A callback is told which timer it is, and what the script gave along.
func TestCallbackOfATimer(t *testing.T) {
	r := joinedRig(t)
	_, v := r.spawn()
	r.events = nil
	for _, user := range []int64{5, -6} {
		if _, err := v.AddTimer(0, 0, "OnAlarm", user); err != nil {
			t.Fatal(err)
		}
	}
	r.tick()
	r.wantEvents("alarm 5 of 1", "alarm -6 of 2")
}

// "Never" is a duration, too: its sum with the time of the game must not run over.
func TestTimerNever(t *testing.T) {
	r := joinedRig(t)
	_, v := r.spawn()
	r.tick()
	r.events = nil
	for _, every := range []time.Duration{0, math.MaxInt64} {
		if _, err := v.AddTimer(math.MaxInt64, every, "Tock", 0); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := v.AddTimer(0, math.MaxInt64, "Tock", 0); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		r.tick()
	}
	r.wantEvents("tock")
}

func TestTimersMayChangeTimers(t *testing.T) {
	r := joinedRig(t)
	_, v := r.spawn()
	var ids []entity.CallbackID
	r.do["tock"] = func(v *avatar) {
		for _, id := range ids {
			v.Cancel(id)
		}
		_, _ = v.AddTimer(0, 0, "Tock", 0)
	}
	for range 3 {
		id, _ := v.AddTimer(0, time.Second, "Tock", 0)
		ids = append(ids, id)
	}
	r.events = nil
	r.tick()
	r.wantEvents("tock")
	r.tick()
	r.wantEvents("tock")
	r.do["tock"] = func(v *avatar) { v.Destroy() }
	_, _ = v.AddTimer(0, 0, "Tock", 0)
	r.tick()
	r.wantEvents("tock", "destroyed")
}

func TestTimerFaults(t *testing.T) {
	r := joinedRig(t)
	_, v := r.spawn()
	for _, name := range []string{"", "Buy", "Tick", "Destroy", "tock", "OnRoom", "OnCreated"} {
		if _, err := v.AddTimer(0, 0, name, 0); !errors.Is(err, entity.ErrNoCallback) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := v.AddTimer(-1, 0, "Tock", 0); err == nil {
		t.Error("a negative time is taken")
	}
	for range limits.Timers {
		_, _ = v.AddTimer(time.Hour, 0, "Tock", 0)
	}
	if _, err := v.AddTimer(time.Hour, 0, "Tock", 0); !errors.Is(err, entity.ErrTooMany) {
		t.Errorf("beyond the limit: %v", err)
	}
	v.Destroy()
	if _, err := v.AddTimer(0, 0, "Tock", 0); !errors.Is(err, entity.ErrGone) {
		t.Errorf("of a destroyed base: %v", err)
	}
}

type (
	noBase   struct{ Gold property.Int32 }
	badField struct {
		*entity.Base
		Health property.Int32
		Count  int
	}
	noMethods struct{ *entity.Base }
	clash     struct{ *entity.Base }
	number    int
)

func TestFaultsAreReportedAllAtOnce(t *testing.T) {
	schema, err := property.NewSchema(
		&property.Definition{Name: "Avatar", HasCell: true, HasBase: true, HasClient: true,
			Properties:  []*property.Property{{Name: "health", Type: property.Scalar(property.KindInt32), Flags: property.AllClients}},
			BaseMethods: []*property.Method{{Name: "buy"}}},
		&property.Definition{Name: "Clash", HasBase: true, BaseMethods: []*property.Method{{Name: "destroy"}}},
		&property.Definition{Name: "Door", HasCell: true},
		&property.Definition{Name: "Post", HasBase: true},
		&property.Definition{Name: "Wall", HasBase: true},
	)
	if err != nil {
		t.Fatal(err)
	}
	s := NewScripts(schema)
	Register[badField](s, "Avatar")
	Register[noMethods](s, "Avatar")
	Register[clash](s, "Clash")
	Register[noMethods](s, "Door")
	Register[noMethods](s, "Nobody")
	Register[noBase](s, "Post")
	Register[number](s, "Wall")
	_, err = New(Config{Schema: schema, Scripts: s, PlayerType: "Ghost", Tick: -1})
	if !errors.Is(err, ErrConfig) {
		t.Fatalf("got %v", err)
	}
	for _, want := range []string{
		"Transport is nil", "Manager is not an address", "Tick is -1ns", `PlayerType "Ghost" is not in the schema`, "Secrets is nil",
		"badField.Health", "badField.Count", `no Go method Buy`, "Avatar: ", `method "destroy" would hide the method Destroy of *entity.Base`,
		"Door: the definitions give it no base part; set hasBase", `no entity type "Nobody"`, "does not embed *entity.Base", "is not a struct",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("not reported: %s", want)
		}
	}
	if t.Failed() {
		t.Log(err)
	}
	if _, err := New(Config{}); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), "Schema is nil") {
		t.Errorf("nothing given: %v", err)
	}
}

func TestScriptsOfAnotherSchema(t *testing.T) {
	r := newRig(t)
	cfg := r.a.cfg
	cfg.Scripts = NewScripts(testSchema(t))
	if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), "Scripts are of another schema") {
		t.Errorf("got %v", err)
	}
	cfg.Scripts = NewScripts(cfg.Schema)
	if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), `PlayerType "Avatar" has no script`) {
		t.Errorf("got %v", err)
	}
}

func TestPlayerTypeNeedsAClient(t *testing.T) {
	r := newRig(t)
	cfg := r.a.cfg
	cfg.PlayerType = "Engine"
	if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), "no client") {
		t.Errorf("got %v", err)
	}
}
