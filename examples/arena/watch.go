package main

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/cellscape/cellscape/space/cluster"
	"github.com/cellscape/cellscape/space/cluster/watch"
)

// watchTime is how long a request may take: longer than the managers wait for a process.
const watchTime = 6 * time.Second

// serveWatch lists what a process shows, or a part of it: GET /watch/cellapp2/witness.
func (s *show) serveWatch(w http.ResponseWriter, r *http.Request) {
	of, err := watch.ParseProcess(r.PathValue("process"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), watchTime)
	defer cancel()
	list, err := s.observer.Values(ctx, of, r.PathValue("path"))
	s.answerWatch(w, list, err)
}

// serveSet sets a value to the body: PUT /watch/cellapp2/witness/bytes_per_tick. It takes what
// freezing the world takes: in a sealed world its operator's key.
func (s *show) serveSet(w http.ResponseWriter, r *http.Request) {
	if !s.operates(r) {
		http.Error(w, "setting takes the operator's key of the world: Authorization: Bearer KEY", http.StatusForbidden)
		return
	}
	of, err := watch.ParseProcess(r.PathValue("process"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, watch.MaxText))
	if err != nil {
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), watchTime)
	defer cancel()
	v, err := s.observer.Set(ctx, of, r.PathValue("path"), strings.TrimSuffix(string(body), "\n"))
	s.answerWatch(w, v, err)
}

// operates reports whether a request has the operator's key, if the world is sealed.
func (s *show) operates(r *http.Request) bool {
	if s.access.IsZero() {
		return true
	}
	key, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return ok && subtle.ConstantTimeCompare([]byte(key), []byte(s.access.Hex())) == 1
}

// answerWatch answers with values, or says why there are none.
func (s *show) answerWatch(w http.ResponseWriter, values any, err error) {
	if err != nil {
		http.Error(w, err.Error(), statusOf(err))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if err := json.NewEncoder(w).Encode(values); err != nil {
		s.log.Debug("values not served", "error", err)
	}
}

// statusOf is the code of a fault.
func statusOf(err error) int {
	switch {
	case errors.Is(err, watch.NoProcess), errors.Is(err, watch.NoPath):
		return http.StatusNotFound
	case errors.Is(err, watch.ReadOnly):
		return http.StatusMethodNotAllowed
	case errors.Is(err, watch.Refused):
		return http.StatusUnprocessableEntity
	case errors.Is(err, cluster.ErrNotOperator):
		return http.StatusForbidden
	case errors.Is(err, watch.Busy):
		return http.StatusTooManyRequests
	}
	return http.StatusServiceUnavailable // nobody has answered in time
}
