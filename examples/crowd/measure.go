package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/cellscape/cellscape/entity/client/bots"
	"github.com/cellscape/cellscape/mercury/secure"
	"github.com/cellscape/cellscape/space/cluster"
)

const (
	// patience is how long the world may take to be ready.
	patience = 30 * time.Second
	// logins is how many players log in each second.
	logins = 200
	// botsGC is how much the heap of this process may grow before it is looked through, in percent:
	// what bots hold lives long, but in a dense crowd some come and go in each tick. With 25, a
	// thousand bots with six hundred in view had theirs looked through for a third of the time, by
	// both cores.
	botsGC = 100
)

// measure starts a world, lets the bots walk in it, and tells what it cost.
func measure(ctx context.Context, f *flags) (err error) {
	one, err := reference()
	if err != nil {
		return err
	}
	debug.SetGCPercent(botsGC)
	r, err := startRun(f)
	defer func() { err = errors.Join(err, r.stop()) }()
	if err != nil {
		return err
	}
	if err := r.play(ctx); err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, r.entered.String())
	if err := r.entered.enough(f.least); err != nil {
		return errors.Join(err, f.encode(&r.entered))
	}
	fmt.Fprintf(os.Stderr, "all walk for %v, then it is measured for %v\n", f.warm, f.duration)
	if err := pause(ctx, f.warm); err != nil {
		return err
	}
	before, err := r.sample()
	if err != nil {
		return err
	}
	if err := pause(ctx, f.duration); err != nil {
		return err
	}
	after, err := r.sample()
	if err != nil {
		return err
	}
	fresh, err := r.swarm.Freshness()
	if err != nil {
		return err
	}
	res := sum(f, &r.entered, &before, &after, &fresh)
	res.greeted(&r.greetings)
	res.compare(one)
	res.print()
	return errors.Join(f.encode(res), res.faults(f))
}

// pause waits, unless ctx ends before.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// run is one measurement.
type run struct {
	f         *flags
	key       secure.PrivateKey
	processes []*process
	observer  *cluster.Observer
	swarm     *bots.Swarm
	entered   entrance
	watching  bool
	greetings greetings
	heap      int64        // of this process before there were bots
	profile   func() error // ends that of the bots; nil for none
}

// startRun starts the server processes and the observer.
func startRun(f *flags) (*run, error) {
	r := &run{f: f, greetings: greetings{epoch: time.Now()}}
	if f.profile != "" {
		if err := os.MkdirAll(f.profile, 0o755); err != nil {
			return r, err
		}
	}
	var digits string
	if f.seal {
		var err error
		if r.key, err = secure.GenerateKey(rand.Reader); err != nil {
			return r, err
		}
		digits = fmt.Sprintf("%x", r.key[:])
	}
	manager, err := freePort()
	if err != nil {
		return r, err
	}
	roles := []string{"managers", "login"}
	for range f.baseApps {
		roles = append(roles, "baseapp")
	}
	for range f.cellApps {
		roles = append(roles, "cellapp")
	}
	for _, role := range roles {
		p, err := f.start(role, manager, digits)
		if err != nil {
			return r, err
		}
		r.processes = append(r.processes, p)
	}
	at, err := cluster.ManagerAddr(manager)
	if err != nil {
		return r, err
	}
	cfg := cluster.ObserverConfig{Manager: at, Listen: at.Addr().String()}
	if f.seal {
		cfg.ServerKey, cfg.Access = r.key.Public(), r.key.ClusterKey().Observer()
	}
	r.observer, err = cluster.Observe(context.Background(), cfg)
	return r, err
}

// freePort is an address for the managers that nobody uses now.
func freePort() (string, error) {
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return c.LocalAddr().String(), c.Close()
}

// play brings the bots into the world.
func (r *run) play(ctx context.Context) error {
	wait, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	doors, err := r.observer.Ready(wait)
	if err != nil {
		return err
	}
	if err := yield(); err != nil { // the servers have started
		return err
	}
	login, err := netip.ParseAddrPort(strings.TrimPrefix(doors[0], "udp://")) // the only one
	if err != nil {
		return fmt.Errorf("the LoginApp's doors are %v: %w", doors, err)
	}
	schema, err := loadSchema()
	if err != nil {
		return err
	}
	cfg := bots.Config{
		Bots: r.f.n, LoginApp: login, Schema: schema, PerSocket: r.f.perSocket, Logins: logins, ViewRadius: float32(r.f.radius), Tick: tick,
		Behave: func(int) bots.Behaviour { return r.behaviour() }, Events: r.greetings.events,
	}
	if r.f.seal {
		cfg.ServerKey = r.key.Public()
	}
	r.heap = heap()
	if r.swarm, err = bots.Start(cfg); err != nil {
		return err
	}
	return r.enter(ctx)
}

// behaviour is that of one player.
func (r *run) behaviour() bots.Behaviour {
	f := r.f
	half := float32(f.side() / 2)
	all := bots.All{&walk{Walk: bots.Walk{MinX: -half, MinZ: -half, MaxX: half, MaxZ: half, Speed: float32(f.speed)}}}
	if f.wear > 0 {
		all = append(all, &bots.Chat{Method: "wear", Every: f.wear, Args: func(b *bots.Bot) []any {
			return []any{uint8(b.Chance.Uint64N(256))}
		}})
	}
	if f.greet > 0 {
		all = append(all, greet{&r.greetings, f.greet})
	}
	return all
}

// sample is what has been counted at one moment.
type sample struct {
	at          time.Time
	roles       []string        // of the server's processes
	cpu         []time.Duration // of each of them
	memory      int64           // of all BaseApps and CellApps
	botsCPU     time.Duration   // of this process
	botsMemory  int64
	botsHeap    int64 // what is in use of it
	bots        bots.Stats
	ticks, late uint64
	savingStep  int // the most that a CellApp saves
	corrected   uint64
}

// sample counts, and turns the measuring of freshness and the profiles on or off.
func (r *run) sample() (s sample, err error) {
	s.at = time.Now()
	r.watching = !r.watching
	err = r.swarm.Watch(r.watching)
	r.greetings.measure(r.watching)
	for _, p := range r.processes {
		if r.f.profile != "" {
			err = errors.Join(err, p.cmd.Process.Signal(syscall.SIGUSR1))
		}
		cpu, memory, e := used(p.cmd.Process.Pid)
		err = errors.Join(err, e)
		s.roles, s.cpu = append(s.roles, p.role), append(s.cpu, cpu)
		if p.role == "baseapp" || p.role == "cellapp" {
			s.memory += memory
		}
	}
	if r.f.profile != "" {
		err = errors.Join(err, r.profileBots())
	}
	var e, e2 error
	s.botsCPU, s.botsMemory, e = used(os.Getpid())
	if !r.watching { // at the end: to look costs time
		s.botsHeap = heap() - r.heap
	}
	s.bots, e2 = r.swarm.Stats()
	if st, ok := r.observer.Status(); ok {
		s.ticks, s.late, s.corrected = st.Ticks, st.Late, st.Counters.Corrected
		for i := range st.Apps {
			s.savingStep = max(s.savingStep, st.Apps[i].SavingStep)
		}
	}
	return s, errors.Join(err, e, e2)
}

// heap is how many bytes of this process's heap are in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// profileBots begins or ends the profile of this process.
func (r *run) profileBots() (err error) {
	if r.profile != nil {
		return r.profile()
	}
	r.profile, err = startProfile(r.f.profile, "bots")
	return err
}

func (r *run) stop() error {
	var errs []error
	if r.swarm != nil {
		errs = append(errs, r.swarm.Stop())
	}
	if r.observer != nil {
		errs = append(errs, r.observer.Close())
	}
	return errors.Join(append(errs, stop(r.processes))...)
}
