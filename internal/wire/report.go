package wire

import (
	"encoding/binary"
	"time"

	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
)

// TickBuckets is the number of buckets of a Report's tick times. Bucket i counts
// ticks that took less than 2^(i/4) × 50 µs; the last one the rest (over 3.4 s).
const TickBuckets = 65

// ReportPeriod is the time between the Reports of an app. Managers judge silence by
// it, and observers wait for two of them before they believe what is pending.
const ReportPeriod = time.Second

// Report is what any app says of itself to its manager each ReportPeriod.
// Counters count from the start of the app.
type Report struct {
	// CPU is the processor time that the app's thread has used.
	CPU time.Duration
	// PID is the OS process that the app runs in, 0 if unknown, and ProcessCPU what the
	// system says that it has used of the processors, user and system, on all threads.
	// All apps of one process tell the same.
	PID        uint32
	ProcessCPU time.Duration
	// Ticks were run, Late of them ended after the next one was due.
	Ticks, Late uint64
	// TickTimes is a histogram; see TickBuckets.
	TickTimes [TickBuckets]uint64
	// Clients and Bases are held by a BaseApp.
	Clients, Bases uint32
	// Pending counts what is still to be told: entities in witness queues with
	// something unsent, and flow messages unacknowledged.
	Pending uint64
	// Backlog is the fullest way from here to another app, if any is High; for a
	// BaseApp clients have none, since who does not keep up is told less, and then closed.
	Backlog Backlog
	// Unsent are the messages that were not sent.
	Unsent SendErrors
	Counters
}

// Counters are the end-to-end counts of an app: in a world at rest the sums of
// sent and handled over all apps and clients are equal, as long as nothing has died.
// After a death they tell of activity alone: what the dead app had counted since its
// last report is gone, and what it had not backed up is handled again.
type Counters struct {
	// Calls of clients: handed on by proxies, handled by bases and cells.
	ClientCallsSent, ClientCallsHandled uint64
	// Flow messages between bases and cells.
	FlowSent, FlowHandled uint64
	// FlowLost counts those that were never handled and never will be, by the gaps in
	// their numbers: it is exact, and stays zero, whatever dies.
	FlowLost uint64
	// Repeats counts calls that a restored caller made again, and were not handled again.
	Repeats uint64
	// Reliable bundles towards clients, of those that a cell numbers: one a tick at most.
	BundlesSent uint64
	// BytesDown and BytesUp count bytes of protocol messages to and from clients.
	BytesDown, BytesUp uint64
	// Migrations counts offloads taken over.
	Migrations uint64
	// Refused counts calls and messages refused: not exposed, malformed, flooding.
	Refused uint64
	// GhostsDiffer counts ghosts that an audit found unequal to their real.
	GhostsDiffer uint64
	// Errors counts what should not happen: panics of scripts, lost flows.
	Errors uint64
	// PacketsUnsent counts packets of places that no channel took: made by a cell, or on
	// their way through a proxy. The cell says what it could not send again.
	PacketsUnsent uint64
}

func (c *Counters) fields() []*uint64 {
	return []*uint64{&c.ClientCallsSent, &c.ClientCallsHandled, &c.FlowSent, &c.FlowHandled, &c.BundlesSent,
		&c.BytesDown, &c.BytesUp, &c.Migrations, &c.Refused, &c.GhostsDiffer, &c.Errors, &c.PacketsUnsent, &c.FlowLost, &c.Repeats}
}

// Add adds d to c.
func (c *Counters) Add(d *Counters) {
	df := d.fields()
	for i, f := range c.fields() {
		*f += *df[i]
	}
}

// AskProcess fills in the OS process, if there is someone to ask.
func (m *Report) AskProcess(usage func() (pid int, used time.Duration)) {
	if usage != nil {
		pid, used := usage()
		m.PID, m.ProcessCPU = uint32(pid), used
	}
}

// Append encodes m.
func (m *Report) Append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(m.CPU))
	b = binary.AppendUvarint(b, uint64(m.PID))
	b = binary.AppendUvarint(b, uint64(m.ProcessCPU))
	b = binary.AppendUvarint(b, m.Ticks)
	b = binary.AppendUvarint(b, m.Late)
	for _, n := range m.TickTimes {
		b = binary.AppendUvarint(b, n)
	}
	b = binary.AppendUvarint(b, uint64(m.Clients))
	b = binary.AppendUvarint(b, uint64(m.Bases))
	b = binary.AppendUvarint(b, m.Pending)
	b = m.Backlog.append(b)
	b = m.Unsent.append(b)
	for _, f := range m.fields() {
		b = binary.AppendUvarint(b, *f)
	}
	return b
}

// Parse decodes a body.
func (m *Report) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.CPU = readDuration(&r)
	m.PID, m.ProcessCPU = fields.ReadUint32(&r), readDuration(&r)
	m.Ticks, m.Late = r.Uvarint(), r.Uvarint()
	for i := range m.TickTimes {
		m.TickTimes[i] = r.Uvarint()
	}
	m.Clients, m.Bases = fields.ReadUint32(&r), fields.ReadUint32(&r)
	m.Pending = r.Uvarint()
	m.Backlog.read(&r)
	m.Unsent = readSendErrors(&r)
	for _, f := range m.fields() {
		*f = r.Uvarint()
	}
	return done(&r, "report")
}

// TickBucket is the bucket of a tick that took d.
func TickBucket(d time.Duration) int {
	for i := range TickBuckets - 1 {
		if d < TickBound(i) {
			return i
		}
	}
	return TickBuckets - 1
}

// TickBound is the upper bound of bucket i.
func TickBound(i int) time.Duration {
	// Quarter powers of two in 1/1024, so that no floating point is needed.
	quarters := [4]time.Duration{1024, 1218, 1448, 1722}
	return 50 * time.Microsecond * quarters[i%4] / 1024 << (i / 4)
}
