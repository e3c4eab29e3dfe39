package main

import (
	_ "embed"
	"encoding/json"
	"net/http"

	"github.com/cellscape/cellscape/space/cluster"
)

//go:embed page/index.html
var indexHTML []byte

// feed is what the page polls.
type feed struct {
	Side          float64         `json:"side"`
	GhostDistance float64         `json:"ghost_distance"`
	AoIRadius     float64         `json:"aoi_radius"`
	Status        *cluster.Status `json:"status"` // nil before the first
	TickP50       float64         `json:"tick_p50_ms"`
	TickP99       float64         `json:"tick_p99_ms"`
	Alarm         string          `json:"alarm"` // space data, as the bots know it
	// Dots are [id, kind, x, z, hat]: kind 0 is a bot, 1 a guard. Only where the
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
	return mux
}

func (s *show) serveStatus(w http.ResponseWriter, _ *http.Request) {
	out := feed{Side: side, GhostDistance: ghostDistance, AoIRadius: aoiRadius}
	if st, ok := s.observer.Status(); ok {
		out.Status = &st
		out.TickP50 = float64(st.TickQuantile(0.50).Microseconds()) / 1000
		out.TickP99 = float64(st.TickQuantile(0.99).Microseconds()) / 1000
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
