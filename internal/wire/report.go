package wire

import (
	"encoding/binary"
	"time"

	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// ReportPeriod is the time between the Reports of an app. Managers judge silence by it, and
// observers wait for two Reports before they believe Pending.
const ReportPeriod = time.Second

// AlivePeriod is the time between the words of a CellApp or a BaseApp to the CellAppMgr: the
// reports of cells, and Alive.
const AlivePeriod = 250 * time.Millisecond

// Alive says that a BaseApp is there, every AlivePeriod between its Reports, unreliably: a lost one
// has the manager look once. (BaseApps said nothing for a second. The manager then opened two or
// three connections a second to the port of each, to see whether it was still there: two fifths of
// the processor time of an idle manager.)
type Alive struct{}

// Append and Parse are of an empty body.
func (m *Alive) Append(b []byte) []byte { return b }
func (m *Alive) Parse(body []byte) error {
	r := codec.NewReader(body)
	return done(&r, "alive")
}

// Report is what each app reports of itself to its manager every ReportPeriod. Counters count from
// the start of the app.
type Report struct {
	// CPU is the processor time that the app's thread has used.
	CPU time.Duration
	// PID is the OS process that the app runs in, 0 if unknown. ProcessCPU is the user and system
	// time of all its threads, as the operating system counts it. All apps of one process report
	// the same.
	PID        uint32
	ProcessCPU time.Duration
	// Ticks is how many ticks have run, and Late how many of them ended after the next one was due.
	Ticks, Late uint64
	TickTimes   status.TickTimes
	// Clients and Bases are how many a BaseApp has.
	Clients, Bases uint32
	// Proxies are the accounts that have a proxy on a BaseApp, with a client or without.
	Proxies uint32
	// NoRoom says that no player is placed on a BaseApp, since it is to leave; at the BaseAppMgr, that none
	// of the BaseApps has room for a further proxy.
	NoRoom bool
	// Unprotected are the bases of a BaseApp of which no other holds a copy now, and Copies are those
	// that it holds for others.
	Unprotected, Copies uint32
	// Pending counts what still has to be told: entities in witness queues with something unsent,
	// and unacknowledged flow messages.
	Pending uint64
	// Backlog describes the fullest channel from here to another app, if any is High. A BaseApp's
	// channels to clients do not count, since slow clients are told less and then closed.
	Backlog Backlog
	// Unsent counts the messages that were not sent.
	Unsent SendErrors
	// Carriers are the app's carriers, at most MaxCarriers.
	Carriers []status.Carrier
	// Types are the entity types whose reals cost a CellApp most, at most MaxTypeLoads, the dearest first.
	Types []TypeLoad
	// Traffic is where most bytes of property changes and moves go, at most MaxTraffic rows, the
	// largest first.
	Traffic []status.PropertyTraffic
	// Store says how the store of a DBApp does, in at most MaxStoreState bytes.
	Store string
	// Counts are what else the app counts, at most MaxCounts names.
	Counts status.Counts
	// Received counts the messages that were handled.
	Received Tally
	// Told is what a CellApp tells its clients.
	Told status.Told
	status.Counters
}

// MaxStoreState bounds what a DBApp tells of its store: a sentence, and an error of the database.
const MaxStoreState = 256

// Measure fills in what the app's meters tell, but for the clock.
func (m *Report) Measure(by *status.Meters) {
	if by.CPU != nil {
		m.CPU = by.CPU()
	}
	if by.ProcessCPU != nil {
		pid, used := by.ProcessCPU()
		m.PID, m.ProcessCPU = uint32(pid), used
	}
	if by.Carriers != nil {
		m.Carriers = by.Carriers()
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
	b = binary.AppendUvarint(b, uint64(m.Proxies))
	b = codec.AppendBool(b, m.NoRoom)
	b = binary.AppendUvarint(b, uint64(m.Unprotected))
	b = binary.AppendUvarint(b, uint64(m.Copies))
	b = binary.AppendUvarint(b, m.Pending)
	b = m.Backlog.append(b)
	b = m.Unsent.append(b)
	b = appendCarriers(b, m.Carriers)
	b = appendTypeLoads(b, m.Types)
	b = appendTraffic(b, m.Traffic)
	b = codec.AppendString(b, m.Store)
	b = appendCounts(b, m.Counts)
	b = m.Received.append(b)
	for _, n := range m.Told.Numbers() {
		b = binary.AppendUvarint(b, *n)
	}
	for _, f := range m.Counters.All() {
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
	m.Proxies, m.NoRoom = fields.ReadUint32(&r), r.Bool()
	m.Unprotected, m.Copies = fields.ReadUint32(&r), fields.ReadUint32(&r)
	m.Pending = r.Uvarint()
	m.Backlog.read(&r)
	m.Unsent = readSendErrors(&r)
	m.Carriers = readCarriers(&r)
	m.Types = readTypeLoads(&r)
	m.Traffic = readTraffic(&r)
	m.Store = r.String(MaxStoreState)
	m.Counts = readCounts(&r)
	m.Received.read(&r)
	for _, n := range m.Told.Numbers() {
		*n = r.Uvarint()
	}
	for _, f := range m.Counters.All() {
		*f = r.Uvarint()
	}
	return done(&r, "report")
}

// Tally counts messages by their id.
type Tally [1 << 8]uint64

// Add adds the counts of x.
func (c *Tally) Add(x *Tally) {
	for id, n := range x {
		c[id] += n
	}
}

func (c *Tally) append(b []byte) []byte {
	for id, n := range c {
		if n > 0 {
			b = binary.AppendUvarint(append(b, byte(id)), n)
		}
	}
	return append(b, 0) // no message has id 0
}

func (c *Tally) read(r *codec.Reader) {
	*c = Tally{}
	last := uint8(0)
	for id := r.U8(); id != 0 && r.Err() == nil; id = r.U8() {
		if c[id] = r.Uvarint(); id <= last || c[id] == 0 {
			r.Fail(codec.ErrValue)
		}
		last = id
	}
}
