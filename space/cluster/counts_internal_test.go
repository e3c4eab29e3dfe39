package cluster

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/entity/baseappmgr"
	"github.com/cellscape/cellscape/entity/dbapp"
	"github.com/cellscape/cellscape/entity/loginapp"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/call"
	"github.com/cellscape/cellscape/mercury/download"
	"github.com/cellscape/cellscape/mercury/host"
	"github.com/cellscape/cellscape/mercury/udp"
	"github.com/cellscape/cellscape/space/cellappmgr"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// byApps are what apps take into their reports, under the names of their packages.
func byApps() map[string]any {
	return map[string]any{
		"cellappmgr.Counts": &cellappmgr.Counts{}, "cellappmgr.SeatCounts": &cellappmgr.SeatCounts{},
		"loginapp.Counts": &loginapp.Counts{}, "loginapp.RefusedCounts": &loginapp.RefusedCounts{}, "dbapp.Counts": &dbapp.Counts{}, "baseappmgr.Counts": &baseappmgr.Counts{},
		"call.Stats": &call.Stats{}, "download.UploadStats": &download.UploadStats{},
	}
}

// elsewhere says of the other structs of counters where their figures are.
var elsewhere = map[string]string{
	"mercury.Stats":          "TestCarriersCountUnderNames",
	"mercury.SocketStats":    "TestCarriersCountUnderNames",
	"secure.Stats":           "TestCarriersCountUnderNames",
	"udp.Counters":           "TestSocketCountsUnderNames",
	"mercury.CarrierStats":   "status.Carrier",
	"host.CarrierStats":      "status.Carrier",
	"stream.Stats":           "status.Carrier, by Transport.CarrierStats",
	"mercury.ChannelStats":   "one channel's, whose sums are in mercury.Stats",
	"download.DownloadStats": "the client's, which is no process of the world",
}

// fill gives each field of a struct of figures a value.
func fill(figures any) reflect.Value {
	v := reflect.ValueOf(figures).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); {
		case f.CanUint():
			f.SetUint(1)
		case f.CanInt():
			f.SetInt(1)
		case f.Kind() == reflect.Bool:
			f.SetBool(true)
		}
	}
	return v
}

func fieldsOf(v reflect.Value) (names []string) {
	for f := range v.Fields() {
		names = append(names, f.Name)
	}
	return names
}

// What an app counts reaches the status under a name, field by field.
func TestAppsCountUnderNames(t *testing.T) {
	for of, figures := range byApps() {
		v := fill(figures)
		got := make(status.Counts)
		got.Take(of, v.Interface())
		for _, name := range fieldsOf(v) {
			if got[of+"."+name] != 1 || len(of+name) > wire.MaxCountName {
				t.Errorf("%s.%s does not reach the status, or has too long a name", of, name)
			}
		}
	}
}

// Whoever adds a struct of counters decides how operators see it.
func TestNoCountIsForgotten(t *testing.T) {
	shown := byApps()
	counts := regexp.MustCompile(`(Counts|Stats|Counters)$`)
	found := 0
	for _, dir := range []string{"space/cellapp", "space/cellappmgr", "entity/*app", "entity/*mgr", "internal/app", "mercury", "mercury/*"} {
		files, err := filepath.Glob(filepath.Join("../..", dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range exportedStructs(t, files) {
			if !counts.MatchString(name) || strings.HasPrefix(name, "mercurytest.") {
				continue
			}
			found++
			if _, ok := shown[name]; !ok && elsewhere[name] == "" {
				t.Errorf("%s is not in the status: let the app take it into its report (status.Counts)", name)
			}
		}
	}
	if want := len(shown) + len(elsewhere); found != want {
		t.Errorf("found %d structs of counters, and know %d", found, want)
	}
}

// exportedStructs are the structs that Go files declare for others, as "package.Name".
func exportedStructs(t *testing.T, files []string) (names []string) {
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.TypeSpec); ok && s.Name.IsExported() {
				if _, ok := s.Type.(*ast.StructType); ok {
					names = append(names, f.Name.Name+"."+s.Name.Name)
				}
			}
			return true
		})
	}
	return names
}

// What a carrier of datagrams counts is in its Counts, or a figure of status.Carrier; and a report
// takes all of them.
func TestCarriersCountUnderNames(t *testing.T) {
	var s host.CarrierStats
	parts := map[string]reflect.Value{"mercury": fill(&s.Endpoint), "udp": fill(&s.Socket), "unopened": fill(&s.Unopened), "secure": fill(&s.Seal)}
	got := counted(&s)
	figures := append(fieldsOf(reflect.ValueOf(status.Carrier{})), "UnreliableDropped") // Carrier.Dropped
	for of, v := range parts {
		for _, name := range fieldsOf(v) {
			if figure := of == "mercury" && slices.Contains(figures, name); got[of+"."+name] != 1 && !figure {
				t.Errorf("%s.%s does not reach the status", of, name)
			}
		}
	}
	if len(got) > wire.MaxCounts {
		t.Errorf("%d counts, and a report takes %d", len(got), wire.MaxCounts)
	}
}

// What a socket loses is in the figures of its carrier. The rest of what it counts is how the traffic
// went, which the Endpoint counts, too.
func TestSocketCountsUnderNames(t *testing.T) {
	traffic := strings.Fields("In Out BytesIn BytesOut ReadCalls WriteCalls GSO GRO ReadBuffer WriteBuffer")
	want := append(fieldsOf(reflect.ValueOf(mercury.SocketStats{})), traffic...)
	for _, name := range fieldsOf(reflect.ValueOf(udp.Counters{})) {
		if !slices.Contains(want, name) {
			t.Errorf("udp.Counters.%s is not in mercury.SocketStats", name)
		}
	}
}
