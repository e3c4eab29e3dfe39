package main

import (
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/examples/arena/defs"
	"github.com/cellscape/cellscape/mercury/secure"
	"github.com/cellscape/cellscape/space/cluster"
)

// An operator reads and sets values over the page's address, and who has no key sets none.
func TestWatchPage(t *testing.T) {
	schema, err := defs.Load()
	if err != nil {
		t.Fatal(err)
	}
	key, err := secure.GenerateKey(strings.NewReader(strings.Repeat("key", 32)))
	if err != nil {
		t.Fatal(err)
	}
	f := &flags{cellApps: 1, baseApps: 1}
	cfg := world(schema, f, slog.New(slog.DiscardHandler))
	cfg.Key = key
	c, err := cluster.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Stop() }()
	s := newShow(f, slog.New(slog.DiscardHandler), key)
	if err := s.open(c.ManagerAddr()); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.close() }()
	if _, err := s.observer.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	operator := "Bearer " + key.ClusterKey().Operator().Hex()
	for _, x := range []struct {
		method, path, body, key string
		code                    int
		say                     string
	}{
		{"GET", "/watch/cellapp1", "", "", 200, `"path":"cells/reals"`},
		{"GET", "/watch/cellapp1/witness", "", "", 200, `"text":"5000"`},
		{"GET", "/watch/cellappmgr/balance/lines", "", "", 200, `"writable":true`},
		{"GET", "/watch/cellapp7", "", "", 404, "no such process"},
		{"GET", "/watch/anything", "", "", 404, "cellapp2"},
		{"GET", "/watch/cellapp1/what", "", "", 404, "there are app, cells"},
		{"PUT", "/watch/cellapp1/witness/bytes_per_tick", "4000", "", 403, "operator's key"},
		{"PUT", "/watch/cellapp1/witness/bytes_per_tick", "4000", "Bearer " + key.ClusterKey().Observer().Hex(), 403, "operator's key"},
		{"PUT", "/watch/cellapp1/witness/bytes_per_tick", "4000\n", operator, 200, `"text":"4000"`},
		{"GET", "/watch/cellapp1/witness/bytes_per_tick", "", "", 200, `"text":"4000"`},
		{"PUT", "/watch/cellapp1/witness/bytes_per_tick", "lots", operator, 422, "a whole number"},
		{"PUT", "/watch/cellapp1/cells/reals", "7", operator, 405, "only be read"},
		{"PUT", "/watch/cellapp1/log/level", strings.Repeat("a", 5000), operator, 413, ""},
	} {
		w, r := httptest.NewRecorder(), httptest.NewRequest(x.method, x.path, strings.NewReader(x.body))
		if x.key != "" {
			r.Header.Set("Authorization", x.key)
		}
		if s.page().ServeHTTP(w, r); w.Code != x.code || !strings.Contains(w.Body.String(), x.say) {
			t.Errorf("%s %s %.9q: %d %.300s, want %d %s", x.method, x.path, x.body, w.Code, w.Body, x.code, x.say)
		}
	}
}
