package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/cellscape/cellscape/entity/client/bots"
)

// result is the JSON object.
type result struct {
	entrance
	CellApps int     `json:"cellapps"`
	BaseApps int     `json:"baseapps"`
	Sealed   bool    `json:"sealed"`
	Side     float64 `json:"side_m"`
	InView   float64 `json:"in_view"`

	CPU   float64            `json:"server_cpu_us_per_client_tick"`
	CPUBy map[string]float64 `json:"server_cpu_us_per_client_tick_by_role"`
	// Reference is the processor time of one sealed datagram on this machine, see reference. Ratio is
	// CPU as a multiple of it.
	Reference float64 `json:"reference_us"`
	Ratio     float64 `json:"server_cpu_in_references"`
	Cores     float64 `json:"server_cores"`
	Memory    float64 `json:"server_kb_per_client"`

	WireDown    float64 `json:"wire_bytes_down_per_client_tick"`
	WireUp      float64 `json:"wire_bytes_up_per_client_tick"`
	PacketsDown float64 `json:"datagrams_down_per_client_tick"`
	PayloadDown float64 `json:"payload_bytes_down_per_client_tick"`
	PayloadUp   float64 `json:"payload_bytes_up_per_client_tick"`
	Places      float64 `json:"places_per_client_tick"`
	PlaceBytes  float64 `json:"payload_bytes_per_place"`  // all that was sent, for each place that was of use
	PacketBytes float64 `json:"position_bytes_per_place"` // of packets of places alone

	Moves    uint64  `json:"moves_in_view"`
	Arrived  float64 `json:"arrived_in_time_percent"`
	AgeP50   int64   `json:"age_p50_ms"`
	AgeP99   int64   `json:"age_p99_ms"`
	AgeWorst []int64 `json:"age_worst_ms_by_distance"`
	P99By    []int64 `json:"age_p99_ms_by_distance"`
	// Of the nearest twenty whom each player knows.
	NearP95   int64 `json:"age_p95_ms_of_nearest_20"`
	NearP99   int64 `json:"age_p99_ms_of_nearest_20"`
	NearWorst int64 `json:"age_worst_ms_of_nearest_20"`

	// Greetings are reliable calls from one client to another.
	Greetings int     `json:"reliable_calls"`
	GreetP50  float64 `json:"reliable_call_p50_ms"`
	GreetP99  float64 `json:"reliable_call_p99_ms"`

	// A bot's memory is its share of the process, as the operating system counts it; its heap is what it
	// holds itself, with all that it has in view.
	BotCPU    float64 `json:"bot_cpu_us_per_tick"`
	BotMemory float64 `json:"bot_kb"`
	BotHeap   float64 `json:"bot_heap_kb"`

	Late       float64 `json:"late_ticks_percent"`
	SavingStep int     `json:"cellapp_saves_step"`
	Lost       uint64  `json:"lost_sessions"`
	Refused    uint64  `json:"refused"`
	// Corrected counts moves that were too fast, since the world began: no bot makes one.
	Corrected uint64 `json:"corrected_moves"`
}

// sum is what was measured between two samples.
func sum(f *flags, e *entrance, a, b *sample, fresh *bots.Freshness) *result {
	players, span := float64(e.In), b.at.Sub(a.at).Seconds()
	ticks := span / tick.Seconds() * players
	per := func(n uint64) float64 { return round(float64(n) / ticks) }
	kb := func(bytes int64) float64 { return round(float64(bytes) / 1024 / players) }
	down, places := b.bots.Client.BytesDown-a.bots.Client.BytesDown, fresh.Places
	res := &result{
		entrance: *e, CellApps: f.cellApps, BaseApps: f.baseApps, Sealed: f.seal, Side: round(f.side()),
		InView: round(float64(b.bots.InView) / players), CPUBy: map[string]float64{}, Memory: kb(b.memory),
		WireDown: per(b.bots.Wire.BytesIn - a.bots.Wire.BytesIn), WireUp: per(b.bots.Wire.BytesOut - a.bots.Wire.BytesOut),
		PacketsDown: per(b.bots.Wire.PacketsIn - a.bots.Wire.PacketsIn),
		PayloadDown: per(down), PayloadUp: per(b.bots.Client.BytesUp - a.bots.Client.BytesUp), Places: per(places),
		Moves: fresh.Moves, Arrived: round(100 * fresh.Share()),
		AgeP50: fresh.Age(0.5, 0, bots.Bands).Milliseconds(), AgeP99: fresh.Age(0.99, 0, bots.Bands).Milliseconds(),
		NearP95: fresh.AgeNear(0.95).Milliseconds(), NearP99: fresh.AgeNear(0.99).Milliseconds(), NearWorst: fresh.WorstNear.Milliseconds(),
		BotCPU: round((b.botsCPU - a.botsCPU).Seconds() * 1e6 / ticks), BotMemory: kb(b.botsMemory), BotHeap: kb(b.botsHeap),
		Lost: b.bots.Lost, Refused: b.bots.Refused, SavingStep: b.savingStep, Corrected: b.corrected,
	}
	if places > 0 {
		res.PlaceBytes = round(float64(down) / float64(places))
	}
	if n := b.bots.Client.Places - a.bots.Client.Places; n > 0 {
		res.PacketBytes = round(float64(b.bots.Client.PositionBytes-a.bots.Client.PositionBytes) / float64(n))
	}
	if n := b.ticks - a.ticks; n > 0 {
		res.Late = round(100 * float64(b.late-a.late) / float64(n))
	}
	var all time.Duration
	for i, role := range b.roles {
		used := b.cpu[i] - a.cpu[i]
		all += used
		res.CPUBy[role] += round(used.Seconds() * 1e6 / ticks)
	}
	res.CPU, res.Cores = round(all.Seconds()*1e6/ticks), round(all.Seconds()/span)
	for band := range bots.Bands {
		res.AgeWorst = append(res.AgeWorst, fresh.Worst[band].Milliseconds())
		res.P99By = append(res.P99By, fresh.Age(0.99, band, band+1).Milliseconds())
	}
	return res
}

// greeted tells how long calls took.
func (r *result) greeted(g *greetings) {
	ms := func(q float64) float64 {
		took, n := g.below(q)
		r.Greetings = n
		return round(took.Seconds() * 1e3)
	}
	r.GreetP50, r.GreetP99 = ms(0.5), ms(0.99)
}

// compare tells the cost as a multiple of a reference.
func (r *result) compare(one time.Duration) {
	if r.Reference = round(one.Seconds() * 1e6); one > 0 {
		r.Ratio = round(r.CPU / (one.Seconds() * 1e6))
	}
}

// print says it in words.
func (r *result) print() {
	fmt.Fprintf(os.Stderr, "%d players, %.1f in view: %.1f µs of server CPU for a client and a tick (%v), %.2f cores; %.1f times the %.2f µs of one sealed datagram\n",
		r.In, r.InView, r.CPU, r.CPUBy, r.Cores, r.Ratio, r.Reference)
	fmt.Fprintf(os.Stderr, "%.2f %% of %d moves in view within two ticks; ages p50 %d ms, p99 %d ms, worst by distance %v ms; of the nearest %d p95 %d ms, p99 %d ms\n",
		r.Arrived, r.Moves, r.AgeP50, r.AgeP99, r.AgeWorst, bots.Nearest, r.NearP95, r.NearP99)
	fmt.Fprintf(os.Stderr, "%.0f bytes down in %.1f datagrams, and %.0f up, for a client and a tick (payload %.0f and %.0f), %.1f bytes for a place that was of use, %.1f of them in packets of places; %.0f KB a client; %.2f %% of ticks late\n",
		r.WireDown, r.PacketsDown, r.WireUp, r.PayloadDown, r.PayloadUp, r.PlaceBytes, r.PacketBytes, r.Memory, r.Late)
	fmt.Fprintf(os.Stderr, "a bot costs %.1f µs a tick, and holds %.1f KB of heap; its process takes %.0f KB for each\n", r.BotCPU, r.BotHeap, r.BotMemory)
	if r.Greetings > 0 {
		fmt.Fprintf(os.Stderr, "%d reliable calls from one client to another took p50 %.0f ms, p99 %.0f ms\n", r.Greetings, r.GreetP50, r.GreetP99)
	}
	if r.SavingStep > 0 {
		fmt.Fprintf(os.Stderr, "a CellApp saves (step %d): clients are told less than they would be\n", r.SavingStep)
	}
}

// encode writes the JSON object, if it is asked for.
func (f *flags) encode(v any) error {
	if !f.json {
		return nil
	}
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", "  ")
	return out.Encode(v)
}

// faults is why the run has failed, nil if it has not.
func (r *result) faults(f *flags) error {
	var faults []error
	if r.Lost > 0 || r.Refused > 0 {
		faults = append(faults, fmt.Errorf("%d sessions were lost, and %d things that bots wanted were refused", r.Lost, r.Refused))
	}
	if r.Arrived < f.arrive {
		faults = append(faults, fmt.Errorf("%.2f %% of the moves arrived in time, fewer than %v", r.Arrived, f.arrive))
	}
	if f.ratio > 0 && r.Ratio > f.ratio {
		faults = append(faults, fmt.Errorf("a client-tick costs %.1f times a sealed datagram, more than %v", r.Ratio, f.ratio))
	}
	return errors.Join(faults...)
}

func round(x float64) float64 { return float64(int64(x*100+0.5)) / 100 }
