package metrics

import (
	"cmp"
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/cellscape/cellscape/space/cluster/status"
)

// DefaultSpaces is the default of Config.Spaces: more than one looks at one by one, and few enough
// that rooms which come and go fill no database.
const DefaultSpaces = 16

// errNothingYet is of an observer that was told no status yet, and of which no trouble is known.
var errNothingYet = errors.New("metrics: the managers have told nothing yet")

// Config says what a Collector publishes.
type Config struct {
	// Status returns the state of the world, such as Cluster.Status. For an Observer:
	//
	//	func() (status.World, error) {
	//		w, _ := observer.Status()
	//		return w, observer.Trouble()
	//	}
	//
	// An error says why it is not known here. Required.
	Status func() (status.World, error)
	// Spaces is how many spaces are told one by one, those with the lowest ids. Default
	// DefaultSpaces; below 0 for none. More than status.MaxSpaces are not known.
	Spaces int
}

// Collector is a prometheus.Collector of one world.
type Collector struct {
	cfg    Config
	tables tables
}

// New returns a Collector to be registered.
func New(cfg Config) (*Collector, error) {
	if cfg.Status == nil {
		return nil, errors.New("metrics: Config.Status is missing: give that of a Cluster with managers, or of an Observer")
	}
	cfg.Spaces = max(0, cmp.Or(cfg.Spaces, DefaultSpaces))
	return &Collector{cfg: cfg, tables: newTables()}, nil
}

// Describe implements prometheus.Collector. It names nothing: which processes, types and messages
// there are is known only when there is a world, so that the registry checks what Collect gives.
func (c *Collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c *Collector) Collect(to chan<- prometheus.Metric) {
	w, err := c.cfg.Status()
	if err == nil && len(w.Apps) == 0 { // a world has its manager at least
		err = errNothingYet
	}
	out := output{to}
	if err != nil {
		out.put(c.tables.known, prometheus.GaugeValue, 0, err.Error())
		return
	}
	out.put(c.tables.known, prometheus.GaugeValue, 1, "")
	c.tables.putWorld(out, &w)
	for i := range w.Apps {
		c.tables.putApp(out, &w.Apps[i])
	}
	c.tables.putProcesses(out, w.Apps)
	for i := range w.Spaces[:min(len(w.Spaces), c.cfg.Spaces)] {
		c.tables.putSpace(out, &w.Spaces[i])
	}
}

// output is where a scrape goes.
type output struct{ to chan<- prometheus.Metric }

// put gives one figure. One that cannot be, such as of a type whose name is no text, makes the scrape
// say so.
func (o output) put(d *prometheus.Desc, kind prometheus.ValueType, v float64, labels ...string) {
	m, err := prometheus.NewConstMetric(d, kind, v, labels...)
	if err != nil {
		m = prometheus.NewInvalidMetric(d, err)
	}
	o.to <- m
}

// describe names a figure.
func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(prometheus.BuildFQName("cellscape", "", name), help, labels, nil)
}

// figure is one number of a T.
type figure[T any] struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	of   func(*T) float64
}

func gauge[T any](name, help string, of func(*T) float64, labels ...string) figure[T] {
	return figure[T]{describe(name, help, labels...), prometheus.GaugeValue, of}
}

func counter[T any](name, help string, of func(*T) float64, labels ...string) figure[T] {
	return figure[T]{describe(name, help, labels...), prometheus.CounterValue, of}
}

// putAll gives all figures of x.
func putAll[T any](out output, list []figure[T], x *T, labels ...string) {
	for _, f := range list {
		out.put(f.desc, f.kind, f.of(x), labels...)
	}
}
