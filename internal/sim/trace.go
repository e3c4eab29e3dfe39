package sim

import (
	"fmt"
	"hash"
	"hash/fnv"
	"io"
	"time"
)

// Trace is the run as typed events in simulated time: one line each, hashed, and written out if
// asked for.
type Trace struct {
	sum   hash.Hash64
	out   io.Writer // nil when nobody reads it
	lines int
	buf   []byte
}

func newTrace(out io.Writer) *Trace { return &Trace{sum: fnv.New64a(), out: out} }

// Event adds a line.
func (t *Trace) Event(now time.Duration, kind, format string, args ...any) {
	t.buf = fmt.Appendf(t.buf[:0], "%.6f %s ", now.Seconds(), kind)
	t.buf = fmt.Appendf(t.buf, format, args...)
	t.buf = append(t.buf, '\n')
	t.add()
}

// datagram adds a line for a datagram, without fmt, since there are many.
func (t *Trace) datagram(now time.Duration, from, to uint16, d []byte) {
	h := fnv.New32a()
	_, _ = h.Write(d)
	s := h.Sum32()
	t.buf = append(t.buf[:0], byte(now), byte(now>>8), byte(now>>16), byte(now>>24), byte(now>>32), byte(now>>40),
		byte(from), byte(from>>8), byte(to), byte(to>>8), byte(len(d)), byte(len(d)>>8), byte(s), byte(s>>8), byte(s>>16), byte(s>>24))
	if t.out != nil {
		t.buf = fmt.Appendf(t.buf[:0], "%.6f datagram %d -> %d: %d bytes %08x\n", now.Seconds(), from, to, len(d), s)
	}
	t.add()
}

func (t *Trace) add() {
	t.lines++
	_, _ = t.sum.Write(t.buf)
	if t.out != nil {
		_, _ = t.out.Write(t.buf)
	}
}

// Sum is the hash of the run so far.
func (t *Trace) Sum() uint64 { return t.sum.Sum64() }

// Lines is the number of events so far.
func (t *Trace) Lines() int { return t.lines }
