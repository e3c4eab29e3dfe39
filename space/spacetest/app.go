package spacetest

import (
	"context"
	"encoding/binary"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"runtime/debug"
	"slices"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/host"
	"github.com/cellscape/cellscape/mercury/mercurytest"
	"github.com/cellscape/cellscape/space/cellappmgr"
	"github.com/cellscape/cellscape/space/cluster"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// managerPlace is the first of the places that processes have on the network.
const managerPlace = 1

// jobTime is how long what blocks takes in the world.
const jobTime = time.Millisecond

// process is an app as a state machine.
type process interface {
	mercury.Handler
	Tick(now time.Duration) (next time.Duration)
}

// App is one process of the world, or one player's program.
type App struct {
	w      *World
	name   string
	at     netip.AddrPort
	log    *slog.Logger
	make   func(a *App) (process, error)
	starts int

	app    process // nil when it has ended
	ep     *mercury.Endpoint
	chance *rand.Rand
	next   time.Duration
	due    []dueWord
	lines  []line
	paused bool
	wakeAt time.Duration // 0: when somebody says so
	past   *cellappmgr.Past
}

// dueWord is what an app is told when it is due: the result of a job, or of a look.
type dueWord struct {
	at  time.Duration
	say func(now time.Duration)
}

// add starts a process at a place of its own.
func (w *World) add(name string, make func(a *App) (process, error)) *App {
	a := &App{w: w, name: name, at: mercurytest.Place(managerPlace + len(w.apps)), log: w.log.With("process", name), make: make}
	w.apps = append(w.apps, a)
	a.start()
	return a
}

// start makes the app under a new salt. A world that cannot be made fails the test.
func (a *App) start() {
	a.w.t.Helper()
	a.starts++
	if a.past == nil {
		a.past = new(cellappmgr.Past)
	}
	a.chance = rand.New(rand.NewPCG(a.w.chance.Uint64(), uint64(a.starts)))
	var secret [16]byte
	binary.LittleEndian.PutUint64(secret[:], a.w.chance.Uint64())
	ep, err := mercury.NewEndpoint(mercury.Config{Salt: a.w.chance.Uint32() | 1, Secret: secret}, a.at, nil)
	if err != nil {
		a.w.t.Fatalf("spacetest: %s: %v", a.name, err)
	}
	a.ep, a.next, a.due, a.lines = ep, a.w.Now(), nil, nil
	if a.app, err = a.make(a); err != nil {
		a.w.t.Fatalf("spacetest: %s: %v", a.name, err)
	}
	ep.SetHandler(a.app)
	a.w.run.Add((*node)(a))
}

// env is what the app is made of.
func (a *App) env() *cluster.Env {
	return &cluster.Env{
		Transport: a.ep, Chance: a.chance, Secrets: a.secrets, Jobs: (*jobs)(a), Lookout: (*lookout)(a), Log: a.log,
		Meters: status.Meters{Clock: a.w.Now}, Past: a.past,
	}
}

func (a *App) secrets(b []byte) {
	for i := range b {
		b[i] = byte(a.chance.Uint32())
	}
}

// Name is what the logs call it.
func (a *App) Name() string { return a.name }

// Place is where it is on World.Net.
func (a *App) Place() netip.AddrPort { return a.at }

// Alive reports whether it runs, or is paused.
func (a *App) Alive() bool { return a.app != nil }

// Kill ends it at once, as a crash does: nobody hears from it any more, and what it has not sent is
// lost.
func (a *App) Kill() {
	if a.app == nil {
		return
	}
	a.app, a.paused, a.past = nil, false, nil
	a.w.run.Remove(a.at)
	a.w.endLines(a)
}

// Restart starts one that has ended anew, at the same place, as an operator does after a crash.
// Managers that start again find the world that lives, and go on with it.
func (a *App) Restart() {
	a.w.t.Helper()
	if a.app == nil {
		a.start()
	}
}

// Pause stops it for some virtual time, as a debugger or a starved machine does; 0 stops it until
// Resume. What is sent to it waits.
func (a *App) Pause(d time.Duration) {
	if a.app == nil {
		return
	}
	a.paused, a.wakeAt = true, 0
	a.w.run.Pause(a.at, true)
	if d > 0 {
		a.wakeAt = a.w.Now() + d
	}
}

// Resume ends a pause.
func (a *App) Resume() {
	if a.paused {
		a.paused = false
		a.w.run.Pause(a.at, false)
	}
}

// Retire has a CellApp or BaseApp leave in order: what it has goes to the others, and then it ends.
// It reports false for any other process. See cluster.RetireCellApp for what that takes.
func (a *App) Retire(reason string) bool {
	r, ok := a.app.(interface{ Retire(reason string) })
	if ok {
		r.Retire(reason)
	}
	return ok
}

// node is an App as the network's world runs it: its endpoint, and what the app does by itself.
type node App

func (n *node) Self() mercury.Address { return n.ep.Self() }

func (n *node) Receive(now time.Duration, from netip.AddrPort, datagram []byte) {
	n.ep.Receive(now, from, datagram)
}

// Flush sends nothing any more for one that was killed in the middle of a turn.
func (n *node) Flush(now time.Duration, emit func(to netip.AddrPort, datagram []byte)) {
	if n.app != nil {
		n.ep.Flush(now, emit)
	}
}

// NextDeadline is when the endpoint or the app has something to do.
func (n *node) NextDeadline() (time.Duration, bool) {
	at := (*App)(n).nextTick()
	if d, ok := n.ep.NextDeadline(); ok {
		at = min(at, d)
	}
	for i := range n.due {
		at = min(at, n.due[i].at)
	}
	return at, true
}

// Advance does what is due. An app that was declared dead starts anew, and one that has ended goes.
func (n *node) Advance(now time.Duration) {
	a := (*App)(n)
	a.ep.Advance(now)
	a.hear(now)
	if a.app != nil && now >= a.nextTick() {
		// A tick that is due at once would keep the time from passing.
		a.next = max(a.app.Tick(now), now+time.Millisecond)
	}
	if d, ok := a.app.(interface{ Dismissed() bool }); ok && d.Dismissed() {
		a.log.Warn("the app was declared dead and starts anew")
		past := a.past
		a.Kill()
		a.past = past
		a.start()
		return
	}
	if e, ok := a.app.(interface{ Ended() bool }); ok && e.Ended() {
		a.leave(now)
		return
	}
	if r, ok := a.app.(interface{ Retired() bool }); ok && r.Retired() {
		a.leave(now)
	}
}

// nextTick is when the app wants its next tick: what came may have ended its rest.
func (a *App) nextTick() time.Duration {
	if r, ok := a.app.(interface{ NextTick() time.Duration }); ok {
		return max(r.NextTick(), a.w.Now())
	}
	return a.next
}

// hear tells the app what is due.
func (a *App) hear(now time.Duration) {
	for i := 0; i < len(a.due) && a.app != nil; {
		w := a.due[i]
		if w.at > now {
			i++
			continue
		}
		a.due = slices.Delete(a.due, i, i+1)
		w.say(now)
		i = 0 // it may have asked again
	}
}

// leave ends an app that has nothing left to do: its channels are closed, and its peers are told.
func (a *App) leave(now time.Duration) {
	a.log.Info("the app has ended")
	a.ep.CloseAll()
	a.ep.Flush(now, func(to netip.AddrPort, datagram []byte) { a.w.Net.Send(now, a.at, to, datagram) })
	a.Kill()
}

// jobs performs what blocks, on the spot.
type jobs App

// Do is part of what apps are given.
func (j *jobs) Do(token uint64, run func(ctx context.Context) any) {
	a := (*App)(j)
	result := perform(run)
	a.due = append(a.due, dueWord{a.w.Now() + jobTime, func(now time.Duration) {
		a.app.(interface {
			JobDone(now time.Duration, token uint64, result any)
		}).JobDone(now, token, result)
	}})
}

// perform contains a panic, as the workers of a real process do.
func perform(run func(ctx context.Context) any) (result any) {
	defer func() {
		if v := recover(); v != nil {
			result = &host.PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	return run(context.Background())
}
