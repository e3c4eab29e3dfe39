package metrics_test

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/cellscape/cellscape/space/cluster"
	"github.com/cellscape/cellscape/space/cluster/metrics"
	"github.com/cellscape/cellscape/space/cluster/status"
)

var update = flag.Bool("update", false, "write what is in testdata anew")

// registered is a registry with a Collector of a world.
func registered(t testing.TB, cfg metrics.Config) *prometheus.Registry {
	t.Helper()
	c, err := metrics.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	r := prometheus.NewPedanticRegistry()
	if err := r.Register(c); err != nil {
		t.Fatal(err)
	}
	return r
}

// scrape is what Prometheus gets.
func scrape(t testing.TB, cfg metrics.Config) string {
	t.Helper()
	w := httptest.NewRecorder()
	promhttp.HandlerFor(registered(t, cfg), promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != 200 {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

func known(w *status.World) metrics.Config {
	return metrics.Config{Status: func() (status.World, error) { return *w, nil }}
}

// small is a world of one process for each role, with one space of two cells.
func small() *status.World {
	w := &status.World{
		GameTime: 12.5, SpaceCount: 1, Cells: 2, Reals: 30, Ghosts: 4, Clients: 20, Ticks: 900, Late: 3,
		Counters: status.Counters{ClientCallsSent: 70, Errors: 1},
		Told:     status.Told{Places: 5000, Waited: 250, Clients: [status.Shares]uint64{18, 1, 1, 0}},
		Unsent:   []status.Unsent{{Reason: "full", Message: "GhostUpdate", Count: 2}, {Reason: "full", Message: "GhostUpdate", Count: 1, Fault: true}},
		Received: map[string]uint64{"Join": 5, "AppDead": 1},
		Spaces: []status.Space{{ID: 1, Rate: 1, Cells: []status.Cell{
			{Cell: "0", App: 1, Load: 0.25, Reals: 10, Ghosts: 4},
			{Cell: "1", App: 2, Load: 0.5, Reals: 20, Overloaded: true},
		}}},
		Apps: []status.App{
			{Role: status.RoleCellApp, Number: 1, Address: "10.0.0.5:2001#abcd", Load: 0.25, CPU: 9, PID: 77, ProcessCPU: 10.5,
				Types:   []status.TypeLoad{{Type: "Avatar", Reals: 10, Load: 0.2}},
				Traffic: []status.PropertyTraffic{{Type: "Avatar", Way: "moves", Changes: 8, Bytes: 64}, {Type: "Avatar", Property: "hat", Way: "to other clients", Changes: 2, Bytes: 9}},
				Counts:  status.Counts{"cellapp.Malformed": 3},
				Carriers: []status.Carrier{
					{Network: "udp", Address: "10.0.0.5:2001#abcd", Channels: 3, RTT: 1.5, BytesIn: 11, BytesOut: 12, Counts: status.Counts{"udp.Refused": 2}},
					{Network: "udp", Outer: true, Address: "192.0.2.7:2002#abcd"},
				}},
			{Role: status.RoleBaseApp, Number: 4, Address: "10.0.0.5:2009#abcd", PID: 77, ProcessCPU: 10.5}, // in the same OS process
			{Role: status.RoleDBApp, Number: 3, Address: "10.0.0.6:2001#beef", Store: "the disk is full"},
		},
	}
	for _, took := range []time.Duration{time.Millisecond, 30 * time.Millisecond, 90 * time.Millisecond, time.Minute} {
		w.TickTimes.Count(took)
	}
	return w
}

// The names and texts are kept: rules and boards read them.
func TestText(t *testing.T) {
	got := scrape(t, known(small()))
	const file = "testdata/world.prom"
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n"))) {
		t.Errorf("what a scrape gets has changed; if it is to be so: go test ./space/cluster/metrics -update, and read the difference\n%s", got)
	}
}

// Names follow the rules of Prometheus.
func TestLint(t *testing.T) {
	problems, err := testutil.GatherAndLint(registered(t, known(small())))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// Where the status is not known, there is nothing but why: an error, or an observer that was told nothing yet.
func TestNotKnown(t *testing.T) {
	for why, st := range map[string]func() (status.World, error){
		cluster.ErrStandsBy.Error():                   func() (status.World, error) { return *small(), cluster.ErrStandsBy },
		"metrics: the managers have told nothing yet": func() (status.World, error) { return status.World{}, nil },
	} {
		var figures []string
		for line := range strings.Lines(scrape(t, metrics.Config{Status: st})) {
			if !strings.HasPrefix(line, "#") {
				figures = append(figures, strings.TrimSpace(line))
			}
		}
		if len(figures) != 1 || figures[0] != fmt.Sprintf("cellscape_world_known{why=%q} 0", why) {
			t.Errorf("%q", figures)
		}
	}
}

// Only so many spaces are told one by one.
func TestSpacesAreBounded(t *testing.T) {
	w := &status.World{SpaceCount: 40, Apps: []status.App{{Role: status.RoleCellAppMgr}}}
	for id := range uint32(40) {
		w.Spaces = append(w.Spaces, status.Space{ID: id + 1, Cells: []status.Cell{{Cell: "0"}}})
	}
	for spaces, want := range map[int]int{0: metrics.DefaultSpaces, 3: 3, -1: 0, 100: 40} {
		cfg := known(w)
		cfg.Spaces = spaces
		if got := strings.Count(scrape(t, cfg), "\ncellscape_cell_load{"); got != want {
			t.Errorf("Spaces %d: %d are told, want %d", spaces, got, want)
		}
	}
}

// A name that is no text makes the scrape fail, with its reason, and nothing worse.
func TestNameThatIsNoText(t *testing.T) {
	w := small()
	w.Apps[0].Types[0].Type = "\xff"
	if _, err := registered(t, known(w)).Gather(); err == nil || !strings.Contains(err.Error(), "UTF-8") {
		t.Error(err)
	}
}

func TestConfig(t *testing.T) {
	if _, err := metrics.New(metrics.Config{}); err == nil || !strings.Contains(err.Error(), "Config.Status") {
		t.Error(err)
	}
}

// leftOut are the fields that are not published: pictures of a space, and what others say as well.
var leftOut = map[string]string{
	"World.Ticks": "the count of tick_seconds", "World.TickTimes": "tick_seconds, tested by its text", "World.ReportsSinceFreeze": "for tests",
	"Space.Version": "an order", "Space.GameTime": "the world's, less what the rate took",
	"Cell.Rect": "a picture", "Cell.Crowd": "a picture", "Cell.Loaded": "a picture", "Cell.Created": "of a moment", "Cell.Loading": "of a moment", "Cell.Retiring": "World.Retiring",
	"Line": "a picture", "Saving": "App.SavingStep",
	"App.Backlog": "an address that comes and goes",
}

// labels are numbers that name others.
var labels = map[string]bool{"Space.ID": true, "Cell.App": true, "App.Number": true, "App.PID": true}

// TestAllIsPublished: whoever adds a figure to the status publishes it, or says above why not.
func TestAllIsPublished(t *testing.T) {
	f := filler{values: make(map[string]float64), next: 1000}
	w := new(status.World)
	f.fill(reflect.ValueOf(w).Elem())
	got := scrape(t, known(w))
	if len(f.values) < 90 {
		t.Errorf("only %d fields were filled", len(f.values))
	}
	for _, field := range f.order {
		v := f.values[field]
		if !strings.Contains(got, fmt.Sprintf(" %v\n", v)) && !strings.Contains(got, fmt.Sprintf(" %v\n", v/1000)) {
			t.Errorf("%s is not published", field)
		}
	}
}

// filler gives each number of a status a value of its own.
type filler struct {
	values map[string]float64
	order  []string
	next   float64
}

func (f *filler) fill(v reflect.Value) {
	for i := range v.NumField() {
		name := v.Type().Name() + "." + v.Type().Field(i).Name
		if cmp.Or(leftOut[name], leftOut[v.Type().Name()]) == "" {
			f.field(name, v.Field(i))
		}
	}
}

func (f *filler) field(name string, v reflect.Value) {
	number := func() float64 {
		if f.next++; labels[name] {
			return f.next
		}
		f.values[name] = f.next
		f.order = append(f.order, name)
		return f.next
	}
	switch v.Kind() {
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(number()))
	case reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(number()))
	case reflect.Float64:
		v.SetFloat(number())
	case reflect.Bool:
		v.SetBool(true) // a label, or a 1 among others
	case reflect.String:
		v.SetString("name of " + strings.ReplaceAll(name, ".", " "))
	case reflect.Struct:
		f.fill(v)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		f.field(name, v.Index(0))
	case reflect.Array:
		for i := range v.Len() {
			f.field(fmt.Sprint(name, i), v.Index(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.field(name, v.Elem())
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("of.Field"+name), reflect.ValueOf(uint64(number())))
	default:
		panic(errors.New(name))
	}
}

func BenchmarkScrape(b *testing.B) {
	w := small()
	for len(w.Apps) < 20 {
		w.Apps = append(w.Apps, w.Apps[0])
		w.Apps[len(w.Apps)-1].Number = uint32(len(w.Apps)) + 10
	}
	r := registered(b, known(w))
	for b.Loop() {
		if _, err := r.Gather(); err != nil {
			b.Fatal(err)
		}
	}
}
