package main

import (
	"context"
	"errors"
	"net"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/cellscape/cellscape/space/cluster"
	"github.com/cellscape/cellscape/space/cluster/metrics"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// serve answers whoever supervises the process: /ready, and from managers /metrics of the whole world.
// shut ends it.
func serve(ctx context.Context, f *flags, cfg cluster.Config, c *cluster.Cluster) (shut func(), err error) {
	if f.http == "" {
		return func() {}, nil
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /ready", func(w http.ResponseWriter, _ *http.Request) {
		if err := errors.Join(c.Err(), c.Trouble()); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		}
	})
	watch := func() error { return nil }
	if f.role == "managers" {
		o, err := cluster.Observe(ctx, observer(cfg))
		if err != nil {
			return nil, err
		}
		watch = o.Close
		collector, err := metrics.New(metrics.Config{Status: func() (status.World, error) {
			w, _ := o.Status()
			return w, o.Trouble()
		}})
		if err != nil {
			return nil, errors.Join(err, watch())
		}
		registry := prometheus.NewRegistry()
		registry.MustRegister(collector)
		mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	}
	l, err := net.Listen("tcp", f.http)
	if err != nil {
		return nil, errors.Join(err, watch())
	}
	server := &http.Server{Handler: mux}
	go func() { _ = server.Serve(l) }() // Close ends it
	return func() {
		_ = errors.Join(server.Close(), watch())
	}, nil
}
