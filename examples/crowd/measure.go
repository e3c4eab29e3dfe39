package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
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
	// wearEvery is how often a player changes what others see of it.
	wearEvery = 5 * time.Second
	// logins is how many players log in each second.
	logins = 200
)

// measure starts a world, lets the bots walk in it, and tells what it cost.
func measure(ctx context.Context, f *flags) (err error) {
	r, err := startRun(f)
	defer func() { err = errors.Join(err, r.stop()) }()
	if err != nil {
		return err
	}
	if err := r.play(ctx); err != nil {
		return err
	}
	before, err := r.sample()
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(f.duration):
	}
	after, err := r.sample()
	if err != nil {
		return err
	}
	return r.tell(before, after)
}

// run is one measurement.
type run struct {
	f         *flags
	key       secure.PrivateKey
	processes []*process
	observer  *cluster.Observer
	swarm     *bots.Swarm
	watching  bool
	profile   func() error // ends that of the bots; nil for none
}

// startRun starts the server processes and the observer.
func startRun(f *flags) (*run, error) {
	r := &run{f: f}
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
		p, err := start(role, manager, digits)
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

// play brings the bots into the world, and lets them walk for a while.
func (r *run) play(ctx context.Context) error {
	wait, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	doors, err := r.observer.Ready(wait)
	if err != nil {
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
	half := float32(r.f.side() / 2)
	cfg := bots.Config{
		Bots: r.f.n, LoginApp: login, Schema: schema, PerSocket: r.f.perSocket, Logins: logins, ViewRadius: float32(r.f.radius), Tick: tick,
		Behave: func(int) bots.Behaviour {
			return bots.All{
				&bots.Walk{MinX: -half, MinZ: -half, MaxX: half, MaxZ: half, Speed: float32(r.f.speed)},
				&bots.Chat{Method: "wear", Every: wearEvery, Args: func(b *bots.Bot) []any {
					return []any{uint8(b.Chance.Uint64N(256))}
				}},
			}
		},
	}
	if r.f.seal {
		cfg.ServerKey = r.key.Public()
	}
	if r.swarm, err = bots.Start(cfg); err != nil {
		return err
	}
	enter, cancelEnter := context.WithTimeout(ctx, patience+time.Duration(r.f.n)*time.Second/logins)
	defer cancelEnter()
	if err := r.swarm.Ready(enter); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(r.f.warm):
	}
	return nil
}

// sample is what has been counted at one moment.
type sample struct {
	at          time.Time
	cpu         []time.Duration // by process
	memory      int64           // of all BaseApps and CellApps
	bots        bots.Stats
	ticks, late uint64
}

// sample counts, and turns the measuring of freshness and the profiles on or off.
func (r *run) sample() (s sample, err error) {
	s.at = time.Now()
	r.watching = !r.watching
	err = r.swarm.Watch(r.watching)
	for _, p := range r.processes {
		if r.f.profile != "" && p.role != "managers" && p.role != "login" {
			err = errors.Join(err, p.cmd.Process.Signal(syscall.SIGUSR1))
		}
		cpu, memory, e := p.used()
		err = errors.Join(err, e)
		s.cpu = append(s.cpu, cpu)
		if p.role == "baseapp" || p.role == "cellapp" {
			s.memory += memory
		}
	}
	if r.f.profile != "" {
		err = errors.Join(err, r.profileBots())
	}
	bots, e := r.swarm.Stats()
	s.bots = bots
	if st, ok := r.observer.Status(); ok {
		s.ticks, s.late = st.Ticks, st.Late
	}
	return s, errors.Join(err, e)
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

// result is the JSON object.
type result struct {
	Players  int     `json:"players"`
	CellApps int     `json:"cellapps"`
	BaseApps int     `json:"baseapps"`
	Sealed   bool    `json:"sealed"`
	Side     float64 `json:"side_m"`
	InView   float64 `json:"in_view"`

	CPU    float64            `json:"server_cpu_us_per_client_tick"`
	CPUBy  map[string]float64 `json:"server_cpu_us_per_client_tick_by_role"`
	Cores  float64            `json:"server_cores"`
	Memory float64            `json:"server_kb_per_client"`

	WireDown    float64 `json:"wire_bytes_down_per_client_tick"`
	WireUp      float64 `json:"wire_bytes_up_per_client_tick"`
	PayloadDown float64 `json:"payload_bytes_down_per_client_tick"`
	PayloadUp   float64 `json:"payload_bytes_up_per_client_tick"`
	Places      float64 `json:"places_per_client_tick"`
	PlaceBytes  float64 `json:"payload_bytes_per_place"`

	Moves    uint64  `json:"moves_in_view"`
	Arrived  float64 `json:"arrived_in_time_percent"`
	AgeP50   int64   `json:"age_p50_ms"`
	AgeP99   int64   `json:"age_p99_ms"`
	AgeWorst []int64 `json:"age_worst_ms_by_distance"`
	P99By    []int64 `json:"age_p99_ms_by_distance"`

	Late    float64 `json:"late_ticks_percent"`
	Lost    uint64  `json:"lost_sessions"`
	Refused uint64  `json:"refused"`
}

// tell says what was measured between two samples.
func (r *run) tell(a, b sample) error {
	fresh, err := r.swarm.Freshness()
	if err != nil {
		return err
	}
	ticks := b.at.Sub(a.at).Seconds() / tick.Seconds() * float64(r.f.n)
	per := func(n uint64) float64 { return round(float64(n) / ticks) }
	down, places := b.bots.Client.BytesDown-a.bots.Client.BytesDown, fresh.Places
	res := result{
		Players: r.f.n, CellApps: r.f.cellApps, BaseApps: r.f.baseApps, Sealed: r.f.seal, Side: round(r.f.side()),
		InView: round(float64(b.bots.InView) / float64(r.f.n)), CPUBy: map[string]float64{},
		Memory:   round(float64(b.memory) / 1024 / float64(r.f.n)),
		WireDown: per(b.bots.Wire.BytesIn - a.bots.Wire.BytesIn), WireUp: per(b.bots.Wire.BytesOut - a.bots.Wire.BytesOut),
		PayloadDown: per(down), PayloadUp: per(b.bots.Client.BytesUp - a.bots.Client.BytesUp), Places: per(places),
		Moves: fresh.Moves, Arrived: round(100 * fresh.Share()),
		AgeP50: fresh.Age(0.5, 0, bots.Bands).Milliseconds(), AgeP99: fresh.Age(0.99, 0, bots.Bands).Milliseconds(),
		Lost: b.bots.Lost, Refused: b.bots.Refused,
	}
	if places > 0 {
		res.PlaceBytes = round(float64(down) / float64(places))
	}
	if n := b.ticks - a.ticks; n > 0 {
		res.Late = round(100 * float64(b.late-a.late) / float64(n))
	}
	var sum time.Duration
	for i, p := range r.processes {
		used := b.cpu[i] - a.cpu[i]
		sum += used
		res.CPUBy[p.role] += round(used.Seconds() * 1e6 / ticks)
	}
	res.CPU, res.Cores = round(sum.Seconds()*1e6/ticks), round(sum.Seconds()/b.at.Sub(a.at).Seconds())
	for band := range bots.Bands {
		res.AgeWorst = append(res.AgeWorst, fresh.Worst[band].Milliseconds())
		res.P99By = append(res.P99By, fresh.Age(0.99, band, band+1).Milliseconds())
	}
	return r.print(&res)
}

func (r *run) print(res *result) error {
	fmt.Fprintf(os.Stderr, "%d players, %.1f in view: %.1f µs of server CPU for a client and a tick (%v), %.2f cores\n",
		res.Players, res.InView, res.CPU, res.CPUBy, res.Cores)
	fmt.Fprintf(os.Stderr, "%.2f %% of %d moves in view within two ticks; ages p50 %d ms, p99 %d ms, worst by distance %v ms\n",
		res.Arrived, res.Moves, res.AgeP50, res.AgeP99, res.AgeWorst)
	fmt.Fprintf(os.Stderr, "%.0f bytes down and %.0f up for a client and a tick (payload %.0f and %.0f), %.1f bytes for a place that was of use; %.0f KB a client; %.2f %% of ticks late\n",
		res.WireDown, res.WireUp, res.PayloadDown, res.PayloadUp, res.PlaceBytes, res.Memory, res.Late)
	if r.f.json {
		out := json.NewEncoder(os.Stdout)
		out.SetIndent("", "  ")
		if err := out.Encode(res); err != nil {
			return err
		}
	}
	var faults []error
	if res.Lost > 0 || res.Refused > 0 {
		faults = append(faults, fmt.Errorf("%d sessions were lost, and %d things that bots wanted were refused", res.Lost, res.Refused))
	}
	if res.Arrived < r.f.arrive {
		faults = append(faults, fmt.Errorf("%.2f %% of the moves arrived in time, fewer than %v", res.Arrived, r.f.arrive))
	}
	return errors.Join(faults...)
}

func round(x float64) float64 { return float64(int64(x*100+0.5)) / 100 }
