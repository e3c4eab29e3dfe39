package mercurytest

import (
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/cellscape/cellscape/internal/enum"
	"github.com/cellscape/cellscape/mercury"
)

// PacketWay tells the records of a PacketLog apart.
type PacketWay uint8

// What can happen to a packet.
const (
	PacketIn PacketWay = iota
	PacketOut
	PacketLost
)

func (w PacketWay) String() string {
	return enum.Name(w, "way", []string{
		PacketIn:   "in",
		PacketOut:  "out",
		PacketLost: "lost",
	})
}

// PacketRecord is one record of a PacketLog.
type PacketRecord struct {
	At  time.Duration
	Way PacketWay
	mercury.PacketInfo
}

// String is the record as a line of a dump.
func (r PacketRecord) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%14v %-4v %-21v %-9v", r.At, r.Way, r.Peer, r.Kind)
	if r.Channel != 0 {
		fmt.Fprintf(&b, " channel %d #%d", r.Channel, r.Number)
	}
	fmt.Fprintf(&b, " %d bytes", r.Size)
	if r.Dropped != "" {
		fmt.Fprintf(&b, ", dropped: %s", r.Dropped)
	}
	return b.String()
}

// MaxPacketLog is the most that a PacketLog keeps: a million records are 100 MB.
const MaxPacketLog = 1 << 20

// PacketLog is a mercury.Monitor that keeps the last packets, for the dump of a test that fails. It
// allocates nothing once it is full. It belongs to the goroutine of its Endpoint.
type PacketLog struct {
	records []PacketRecord // record n is at n mod limit
	limit   int
	total   uint64
}

var _ mercury.Monitor = (*PacketLog)(nil)

// NewPacketLog makes a PacketLog of the last n packets, at least 1, at most MaxPacketLog.
func NewPacketLog(n int) *PacketLog { return &PacketLog{limit: min(max(n, 1), MaxPacketLog)} }

// PacketIn implements mercury.Monitor.
func (l *PacketLog) PacketIn(now time.Duration, p mercury.PacketInfo) {
	l.add(PacketRecord{now, PacketIn, p})
}

// PacketOut implements mercury.Monitor.
func (l *PacketLog) PacketOut(now time.Duration, p mercury.PacketInfo) {
	l.add(PacketRecord{now, PacketOut, p})
}

// PacketLost implements mercury.Monitor.
func (l *PacketLog) PacketLost(now time.Duration, p mercury.PacketInfo) {
	l.add(PacketRecord{now, PacketLost, p})
}

func (l *PacketLog) add(r PacketRecord) {
	if len(l.records) < l.limit {
		l.records = append(l.records, r)
	} else {
		l.records[l.total%uint64(l.limit)] = r
	}
	l.total++
}

// Total is the number of records ever made; those above the log's size are forgotten.
func (l *PacketLog) Total() uint64 { return l.total }

// All iterates over what is kept, the oldest first.
func (l *PacketLog) All() iter.Seq[PacketRecord] {
	return func(yield func(PacketRecord) bool) {
		for n := l.total - uint64(len(l.records)); n < l.total; n++ {
			if !yield(l.records[n%uint64(l.limit)]) {
				return
			}
		}
	}
}

// String is a dump: a line for each packet that is kept, the oldest first.
func (l *PacketLog) String() string {
	var b strings.Builder
	if forgotten := l.total - uint64(len(l.records)); forgotten > 0 {
		fmt.Fprintf(&b, "%d earlier packets forgotten\n", forgotten)
	}
	for r := range l.All() {
		b.WriteString(r.String())
		b.WriteByte('\n')
	}
	return b.String()
}
