package metrics

import (
	"net"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/cellscape/cellscape/space/cluster/status"
)

// appTables are the figures of a process and its networks.
type appTables struct {
	app      []figure[status.App]
	process  *prometheus.Desc
	store    *prometheus.Desc
	types    []figure[status.TypeLoad]
	traffic  []figure[status.PropertyTraffic]
	carrier  []figure[status.Carrier]
	messages *prometheus.Desc
	bytes    *prometheus.Desc
	counts   *prometheus.Desc
}

func newAppTables() appTables {
	network := []string{"role", "app", "network", "address", "door"}
	return appTables{
		app:      appFigures("role", "app", "address"),
		process:  describe("process_cpu_seconds_total", "Processor time of an OS process, in which several roles may be.", "host", "pid"),
		store:    describe("store_ok", "1 if the store does well; if not, why.", "why"),
		types:    typeFigures("app", "type"),
		traffic:  trafficFigures("role", "app", "type", "property", "way"),
		carrier:  carrierFigures(network...),
		messages: describe("network_messages_total", "Messages of a network.", append(network, "direction")...),
		bytes:    describe("network_bytes_total", "Bytes of a network.", append(network, "direction")...),
		counts:   describe("count", "What else a process or one of its networks counts, by package and field.", "role", "app", "network", "address", "of", "field"),
	}
}

func appFigures(labels ...string) []figure[status.App] {
	type app = status.App
	return []figure[app]{
		gauge("app_load", "Load as balance sees it, as a share of a core.", func(a *app) float64 { return a.Load }, labels...),
		counter("app_cpu_seconds_total", "Processor time of the process's own thread.", func(a *app) float64 { return a.CPU }, labels...),
		gauge("app_saving_step", "Steps that a CellApp has taken to save work.", func(a *app) float64 { return float64(a.SavingStep) }, labels...),
		gauge("app_backlog", "The used share of the queue to the process that is furthest behind.", func(a *app) float64 { return a.Full }, labels...),
	}
}

func typeFigures(labels ...string) []figure[status.TypeLoad] {
	type load = status.TypeLoad
	return []figure[load]{
		gauge("type_reals", "Entities of the types that cost a CellApp most.", func(t *load) float64 { return float64(t.Reals) }, labels...),
		gauge("type_load", "Load of the types that cost a CellApp most, as a share of a core.", func(t *load) float64 { return t.Load }, labels...),
	}
}

func trafficFigures(labels ...string) []figure[status.PropertyTraffic] {
	type traffic = status.PropertyTraffic
	return []figure[traffic]{
		counter("property_changes_total", "Changes of the properties that take most bytes; places have no property.", func(p *traffic) float64 { return float64(p.Changes) }, labels...),
		counter("property_bytes_total", "Bytes of the properties that take most; places have no property.", func(p *traffic) float64 { return float64(p.Bytes) }, labels...),
	}
}

func carrierFigures(labels ...string) []figure[status.Carrier] {
	type carrier = status.Carrier
	return []figure[carrier]{
		gauge("network_channels", "Channels of a network.", func(c *carrier) float64 { return float64(c.Channels) }, labels...),
		gauge("network_queued_bytes", "Reliable messages that wait to be sent.", func(c *carrier) float64 { return float64(c.Queued) }, labels...),
		gauge("network_rtt_seconds", "Mean round-trip time of the channels.", func(c *carrier) float64 { return c.RTT / 1000 }, labels...),
		gauge("network_loss_ratio", "Share of packets lost.", func(c *carrier) float64 { return c.Loss }, labels...),
		counter("network_resends_total", "Packets sent again.", func(c *carrier) float64 { return float64(c.Resends) }, labels...),
		counter("network_lost_total", "Packets lost.", func(c *carrier) float64 { return float64(c.Lost) }, labels...),
		counter("network_refused_total", "Channels and hellos that were refused.", func(c *carrier) float64 { return float64(c.Refused) }, labels...),
		counter("network_dropped_total", "Unreliable messages without room.", func(c *carrier) float64 { return float64(c.Dropped) }, labels...),
		counter("network_full_total", "Reliable messages without room.", func(c *carrier) float64 { return float64(c.Full) }, labels...),
	}
}

// putApp gives what is of one process.
func (t *appTables) putApp(out output, a *status.App) {
	number := strconv.FormatUint(uint64(a.Number), 10)
	putAll(out, t.app, a, a.Role, number, place(a.Address))
	if a.Role == status.RoleDBApp {
		ok, why := a.Store == "ok", a.Store
		if ok {
			why = ""
		}
		out.put(t.store, prometheus.GaugeValue, truth(ok), why)
	}
	for i := range a.Types {
		putAll(out, t.types, &a.Types[i], number, a.Types[i].Type)
	}
	for i := range a.Traffic {
		p := &a.Traffic[i]
		putAll(out, t.traffic, p, a.Role, number, p.Type, p.Property, p.Way)
	}
	t.putCounts(out, a.Counts, a.Role, number, "", "")
	for i := range a.Carriers {
		t.putCarrier(out, &a.Carriers[i], a.Role, number)
	}
}

// putProcesses gives what is of OS processes, each once, whatever roles are in it.
func (t *appTables) putProcesses(out output, apps []status.App) {
	type process struct {
		host string
		pid  uint32
	}
	seen := make(map[process]bool)
	for i := range apps {
		a := &apps[i]
		host, _, _ := net.SplitHostPort(place(a.Address)) // empty if that is no address
		p := process{host, a.PID}
		if a.PID == 0 || seen[p] {
			continue
		}
		seen[p] = true
		out.put(t.process, prometheus.CounterValue, a.ProcessCPU, host, strconv.FormatUint(uint64(a.PID), 10))
	}
}

func (t *appTables) putCarrier(out output, c *status.Carrier, role, number string) {
	labels := []string{role, number, c.Network, place(c.Address), strconv.FormatBool(c.Outer)}
	putAll(out, t.carrier, c, labels...)
	out.put(t.messages, prometheus.CounterValue, float64(c.MessagesIn), append(labels, "in")...)
	out.put(t.messages, prometheus.CounterValue, float64(c.MessagesOut), append(labels, "out")...)
	out.put(t.bytes, prometheus.CounterValue, float64(c.BytesIn), append(labels, "in")...)
	out.put(t.bytes, prometheus.CounterValue, float64(c.BytesOut), append(labels, "out")...)
	t.putCounts(out, c.Counts, labels[:4]...)
}

// putCounts gives figures of which some count and some are of now.
func (t *appTables) putCounts(out output, c status.Counts, labels ...string) {
	for _, name := range sorted(c) {
		of, field, _ := strings.Cut(name, ".")
		out.put(t.counts, prometheus.UntypedValue, float64(c[name]), append(labels[:len(labels):len(labels)], of, field)...)
	}
}

// place is an address without its salt, which is another one after each start.
func place(address string) string {
	at, _, _ := strings.Cut(address, "#")
	return at
}
