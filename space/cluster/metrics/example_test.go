package metrics_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cluster"
	"github.com/cellscape/cellscape/space/cluster/metrics"
)

// The process with the managers serves the metrics of the whole world.
func Example() {
	schema, err := property.NewSchema(&property.Definition{Name: "Avatar", HasCell: true, HasBase: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	world, err := cluster.Start(ctx, cluster.Config{CellScripts: space.NewScripts(schema), BaseScripts: baseapp.NewScripts(schema), CellApps: 1, BaseApps: 1, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer world.Stop()
	collector, err := metrics.New(metrics.Config{Status: world.Status})
	if err != nil {
		fmt.Println(err)
		return
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(collector)
	server := promhttp.HandlerFor(registry, promhttp.HandlerOpts{}) // http.Handle("GET /metrics", server)

	answer := httptest.NewRecorder()
	server.ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	for line := range strings.Lines(answer.Body.String()) {
		if strings.HasPrefix(line, "cellscape_world_known") || strings.HasPrefix(line, "cellscape_cells ") {
			fmt.Print(line)
		}
	}
	// Output:
	// cellscape_cells 1
	// cellscape_world_known{why=""} 1
}
