package metrics

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/cellscape/cellscape/space/cluster/status"
)

// tables are all figures by what they are of.
type tables struct {
	known    *prometheus.Desc
	world    []figure[status.World]
	told     []figure[status.Told]
	counters []*prometheus.Desc // in the order of Counters.All
	ticks    *prometheus.Desc
	toldKind *prometheus.Desc
	shares   *prometheus.Desc
	unsent   *prometheus.Desc
	handled  *prometheus.Desc

	appTables
	spaceTables
}

func newTables() tables {
	t := tables{
		known:       describe("world_known", "Whether the status of the world is known here; if not, why.", "why"),
		world:       worldFigures(),
		told:        toldFigures(),
		ticks:       describe("tick_seconds", "How long the ticks of all processes took."),
		toldKind:    describe("told_bytes_total", "What the CellApps made for clients, by kind of message.", "kind"),
		shares:      describe("clients_by_share", "Clients by the share of their budget that their path carries.", "share"),
		unsent:      describe("unsent_total", "Messages that were not sent; those of which fault is true are lost.", "message", "reason", "fault"),
		handled:     describe("messages_handled_total", "Messages that the processes have handled, by type.", "message"),
		appTables:   newAppTables(),
		spaceTables: newSpaceTables(),
	}
	for name := range new(status.Counters).All() {
		t.counters = append(t.counters, describe(snake(name)+"_total", "The counter "+name+" of package status, of all processes."))
	}
	return t
}

func worldFigures() []figure[status.World] {
	type world = status.World
	return []figure[world]{
		gauge("game_time_seconds", "Game time of a space that never ran slower.", func(w *world) float64 { return w.GameTime }),
		gauge("spaces", "Spaces.", func(w *world) float64 { return float64(w.SpaceCount) }),
		gauge("cells", "Cells.", func(w *world) float64 { return float64(w.Cells) }),
		gauge("cells_retiring", "Cells whose area is being taken away.", func(w *world) float64 { return float64(w.Retiring) }),
		gauge("cells_removing", "Cells that are out of their spaces and that their CellApps have not dropped yet.", func(w *world) float64 { return float64(w.Removing) }),
		counter("cells_added_total", "Cells added since the managers lead.", func(w *world) float64 { return float64(w.CellsAdded) }),
		counter("cells_removed_total", "Cells retired since the managers lead.", func(w *world) float64 { return float64(w.CellsRemoved) }),
		counter("lines_moved_total", "Moves of lines between cells.", func(w *world) float64 { return float64(w.LinesMoved) }),
		gauge("reals", "Entities, each counted where it is real.", func(w *world) float64 { return float64(w.Reals) }),
		gauge("ghosts", "Ghosts.", func(w *world) float64 { return float64(w.Ghosts) }),
		gauge("clients", "Clients in the world.", func(w *world) float64 { return float64(w.Clients) }),
		gauge("bases_unprotected", "Bases of which no other BaseApp holds a copy.", func(w *world) float64 { return float64(w.Unprotected) }),
		gauge("backup_rules_pending", "BaseApps whose copies are not yet where they are to be.", func(w *world) float64 { return float64(w.RulesPending) }),
		counter("deaths_total", "Processes that were declared dead.", func(w *world) float64 { return float64(w.Deaths) }),
		gauge("logins_refused", "1 while the world is full.", func(w *world) float64 { return truth(w.LoginsRefused) }),
		counter("ticks_late_total", "Ticks that ended after the next one was due.", func(w *world) float64 { return float64(w.Late) }),
		counter("cpu_seconds_total", "Processor time of the threads of all processes.", func(w *world) float64 { return w.CPU }),
		gauge("pending", "What still has to be told to clients and between processes.", func(w *world) float64 { return float64(w.Pending) }),
	}
}

func toldFigures() []figure[status.Told] {
	type told = status.Told
	return []figure[told]{
		counter("places_sent_total", "Places of others that were sent to clients.", func(t *told) float64 { return float64(t.PlacesSent) }),
		counter("places_skipped_total", "Places that were due and found no room in an update.", func(t *told) float64 { return float64(t.PlacesSkipped) }),
		counter("updates_total", "Updates of clients.", func(t *told) float64 { return float64(t.Updates) }),
		counter("updates_crowded_total", "Updates that had no room for all that was due.", func(t *told) float64 { return float64(t.Crowded) }),
		gauge("told_waited_seconds", "The longest wait for a turn in the last second.", func(t *told) float64 { return float64(t.Waited) / 1000 }),
	}
}

// putWorld gives what is of the world as a whole.
func (t *tables) putWorld(out output, w *status.World) {
	putAll(out, t.world, w)
	putAll(out, t.told, &w.Told)
	i := 0
	for _, n := range w.Counters.All() {
		out.put(t.counters[i], prometheus.CounterValue, float64(*n))
		i++
	}
	t.putTicks(out, w)
	for _, k := range [...]struct {
		kind  string
		bytes uint64
	}{
		{"places", w.Told.Places}, {"properties", w.Told.Properties}, {"calls", w.Told.Calls},
		{"enters", w.Told.Enters}, {"own", w.Told.Own}, {"direct", w.Told.Direct},
	} {
		out.put(t.toldKind, prometheus.CounterValue, float64(k.bytes), k.kind)
	}
	for i, share := range [status.Shares]string{"whole", "half", "quarter", "less"} {
		out.put(t.shares, prometheus.GaugeValue, float64(w.Told.Clients[i]), share)
	}
	for _, u := range w.Unsent {
		out.put(t.unsent, prometheus.CounterValue, float64(u.Count), u.Message, u.Reason, strconv.FormatBool(u.Fault))
	}
	for _, name := range sorted(w.Received) {
		out.put(t.handled, prometheus.CounterValue, float64(w.Received[name]), name)
	}
}

// tickBound is how many elements of TickTimes make one bucket: a doubling.
const tickBound = 4

// putTicks gives the histogram of ticks. The sum is that of the buckets' middles: the processes keep
// no exact one, and it is as exact as a quantile.
func (t *tables) putTicks(out output, w *status.World) {
	buckets := make(map[float64]uint64)
	var count uint64
	var sum float64
	last := len(w.TickTimes) - 1
	for i, n := range w.TickTimes {
		count += n
		bound := tickLimit(i)
		sum += float64(n) * bound * math.Pow(2, -1.0/(2*tickBound))
		if i%tickBound == 0 && i < last {
			buckets[bound] = count
		}
	}
	m, err := prometheus.NewConstHistogram(t.ticks, count, sum, buckets)
	if err != nil {
		m = prometheus.NewInvalidMetric(t.ticks, err)
	}
	out.to <- m
}

// tickLimit is the time in seconds below which ticks are that an element of TickTimes counts.
func tickLimit(i int) float64 {
	return math.Pow(2, float64(i)/4) * (50 * time.Microsecond).Seconds()
}

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// sorted are the names in order.
func sorted(m map[string]uint64) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// snake turns a field's name, such as ClientCallsSent, into one of Prometheus: client_calls_sent.
func snake(field string) string {
	var b []byte
	for i, r := range []byte(field) {
		if 'A' <= r && r <= 'Z' {
			if i > 0 {
				b = append(b, '_')
			}
			r += 'a' - 'A'
		}
		b = append(b, r)
	}
	return string(b)
}
