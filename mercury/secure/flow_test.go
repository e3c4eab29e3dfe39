package secure_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
)

// flow is two endpoints joined by function calls, with nothing costly between them.
type flow struct {
	ends [2]*mercury.Endpoint
	at   [2]mercurytest.Recorder
	ch   [2]mercury.ChannelID
	now  time.Duration
	mail [2][][]byte // to each, reused
	used [2]int
	msg  []byte
}

// deaf is a Handler that keeps nothing.
type deaf struct{ mercury.Handler }

func (deaf) Message(time.Duration, mercury.ChannelID, bool, []byte)   {}
func (deaf) Opened(time.Duration, mercury.ChannelID, mercury.Address) {}

func newFlow(tb testing.TB, guards [2]mercury.Guard) *flow {
	tb.Helper()
	f := &flow{msg: make([]byte, 100)}
	for i := range f.ends {
		e, err := mercury.NewEndpoint(mercury.Config{Salt: uint32(i + 1), Guard: guards[i]}, mercurytest.Place(i), &f.at[i])
		if err != nil {
			tb.Fatal(err)
		}
		f.ends[i] = e
	}
	f.ch[0] = f.ends[0].Dial(f.ends[1].Self())
	_ = f.ends[0].Send(f.ch[0], f.msg)
	for range 100 {
		f.step()
	}
	if len(f.at[1].Order) == 0 || f.at[0].Of(f.ch[0]).Opened == 0 {
		tb.Fatal("no channel")
	}
	f.ch[1] = f.at[1].Order[0]
	for i := range f.ends {
		f.ends[i].SetHandler(deaf{})
	}
	for range 2000 {
		f.tick(tb)
	}
	return f
}

// step flushes both ends and delivers what they emit.
func (f *flow) step() {
	f.now += 10 * time.Millisecond
	for i, e := range f.ends {
		e.Advance(f.now)
		e.Flush(f.now, func(_ netip.AddrPort, p []byte) { f.post(1-i, p) })
	}
	for i, e := range f.ends {
		for _, p := range f.mail[i][:f.used[i]] {
			e.Receive(f.now, mercurytest.Place(1-i), p)
		}
		f.used[i] = 0
	}
}

func (f *flow) post(to int, p []byte) {
	if f.used[to] == len(f.mail[to]) {
		f.mail[to] = append(f.mail[to], make([]byte, 0, 2048))
	}
	slot := &f.mail[to][f.used[to]]
	*slot = append((*slot)[:0], p...)
	f.used[to]++
}

// tick is a message of 100 bytes each way.
func (f *flow) tick(tb testing.TB) {
	for i, e := range f.ends {
		if err := e.Send(f.ch[i], f.msg); err != nil {
			tb.Fatal(err)
		}
	}
	f.step()
}

func TestGuardedEndpointsAllocateNothingPerPacket(t *testing.T) {
	f := newFlow(t, [2]mercury.Guard{both(t, 1), both(t, 2)})
	before := f.ends[0].Stats().PacketsOut
	if got := testing.AllocsPerRun(500, func() { f.tick(t) }); got != 0 {
		t.Errorf("%v allocations a tick of two packets", got)
	}
	if f.ends[0].Stats().PacketsOut-before < 400 {
		t.Error("hardly anything was sent")
	}
}

// BenchmarkEndpoints is a tick of two endpoints: a reliable message of 100 bytes each way, with
// acks.
func BenchmarkEndpoints(b *testing.B) {
	for _, c := range []struct {
		name   string
		guards [2]mercury.Guard
	}{
		{"plain", [2]mercury.Guard{}},
		{"guarded", [2]mercury.Guard{both(b, 1), both(b, 2)}},
	} {
		b.Run(c.name, func(b *testing.B) {
			f := newFlow(b, c.guards)
			b.ReportAllocs()
			for b.Loop() {
				f.tick(b)
			}
		})
	}
}
