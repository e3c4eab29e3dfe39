package main

import (
	_ "embed"
	"encoding/json"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/cellscape/cellscape/examples/arena/game"
	"github.com/cellscape/cellscape/space/cluster/metrics"
	"github.com/cellscape/cellscape/space/cluster/status"
)

//go:embed page/index.html
var indexHTML []byte

// feed is what the page polls.
type feed struct {
	Side          float64       `json:"side"`
	GhostDistance float64       `json:"ghost_distance"`
	AoIRadius     float64       `json:"aoi_radius"`
	Status        *status.World `json:"status"` // nil before the first
	TickP50       float64       `json:"tick_p50_ms"`
	TickP99       float64       `json:"tick_p99_ms"`
	CanKill       bool          `json:"can_kill"` // CellApps run in this OS process
	Alarm         string        `json:"alarm"`    // space data, as the bots know it
	// Dots are [id, kind, x, z, hat]: kind 0 is a bot, 1 a guard. They are known only where the
	// bots are.
	Dots [][5]float32 `json:"dots"`
}

// page serves the live page and what it polls.
func (s *show) page() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(indexHTML)
	})
	mux.HandleFunc("GET /status", s.serveStatus)
	mux.Handle("GET /metrics", s.metrics())
	mux.HandleFunc("POST /kill", s.serveKill)
	mux.HandleFunc("GET /watch/{process}", s.serveWatch)
	mux.HandleFunc("GET /watch/{process}/{path...}", s.serveWatch)
	mux.HandleFunc("PUT /watch/{process}/{path...}", s.serveSet)
	// Another site that is open in the browser cannot kill anything.
	return http.NewCrossOriginProtection().Handler(mux)
}

// metrics answers Prometheus.
func (s *show) metrics() http.Handler {
	collector, err := metrics.New(metrics.Config{Status: func() (status.World, error) {
		w, _ := s.observer.Status()
		return w, s.observer.Trouble()
	}})
	if err != nil {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		})
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(collector)
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
}

// serveKill kills the CellApp of a number, and starts another in its place after the world has had
// time to notice.
func (s *show) serveKill(w http.ResponseWriter, r *http.Request) {
	number, err := strconv.ParseUint(r.URL.Query().Get("app"), 10, 32)
	st, known := s.observer.Status()
	if err != nil || !known || s.world == nil {
		http.Error(w, "no such CellApp here", http.StatusNotFound)
		return
	}
	for i := range s.world.CellApps() {
		if at := s.world.CellAppAddr(i); appNumber(&st, at) == uint32(number) {
			if err := s.world.KillCellApp(i); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			time.AfterFunc(replaceAfter, func() {
				if err := s.world.AddCellApp(); err != nil {
					s.log.Warn("no CellApp in place of the killed one", "error", err)
				}
			})
			w.WriteHeader(http.StatusNoContent)
			return
		}
	}
	http.Error(w, "no such CellApp here", http.StatusNotFound)
}

// replaceAfter is more than the three seconds of silence after which an app is declared dead.
const replaceAfter = 8 * time.Second

// appNumber is the number of the CellApp that listens at an address, 0 if none does.
func appNumber(st *status.World, at netip.AddrPort) uint32 {
	for i := range st.Apps {
		if a := &st.Apps[i]; a.Role == status.RoleCellApp && a.AddrPort() == at {
			return a.Number
		}
	}
	return 0
}

func (s *show) serveStatus(w http.ResponseWriter, _ *http.Request) {
	out := feed{Side: game.Side, GhostDistance: game.GhostDistance, AoIRadius: game.AoIRadius, CanKill: s.world != nil}
	if st, ok := s.observer.Status(); ok {
		out.Status = &st
		out.TickP50 = float64(st.TickTimes.Quantile(0.50).Microseconds()) / 1000
		out.TickP99 = float64(st.TickTimes.Quantile(0.99).Microseconds()) / 1000
	}
	if c := s.bots(); c != nil {
		dots, alarm := c.dots()
		out.Alarm = alarm
		for _, d := range dots {
			// Ids have 53 bits; the low 24 tell the dots apart well enough.
			out.Dots = append(out.Dots, [5]float32{float32(d.id & (1<<24 - 1)), float32(count(d.guard)), d.x, d.z, float32(d.hat)})
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if err := json.NewEncoder(w).Encode(&out); err != nil {
		s.log.Debug("status not served", "error", err)
	}
}
