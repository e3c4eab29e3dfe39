package sim

import (
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"slices"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/secure"
)

// App is a process as a state machine, as every runner drives it.
type App interface {
	mercury.Handler
	Tick(now time.Duration) (next time.Duration)
}

// Process is one app with its endpoint. A runner gives an app a socket, a clock and a goroutine;
// the simulator drives it by hand.
type Process struct {
	Name string
	at   netip.AddrPort
	port uint16 // short name of at in the trace
	salt uint32

	c     *Cluster
	make  func(p *Process) (App, error)
	app   App
	ep    *mercury.Endpoint
	next  time.Duration
	alive bool

	keys  *secure.Config // what it knows in a sealed cluster, if not what its role does
	guard *secure.Guard  // nil for a cluster in the clear

	pausedUntil time.Duration
	slowUntil   time.Duration // until then it has a tenth of its processor
	freeAt      time.Duration // until then that tenth is busy
	starved     starved       // see Options.Starved
	toil        time.Duration // the processor time that it tells, if it is a BaseApp
	overrun     int           // datagrams that found the socket's buffer full
	waiting     []datagram    // what arrived while paused, as in a socket's buffer
	jobs        []jobResult
	glances     []glance
	lines       []heldLine
	dark        bool          // its machine has crashed, too
	restartAt   time.Duration // when a crashed process comes back; 0 for never
	anew        bool          // it asks to be started anew
	dying       bool          // killed; see kill
	starts      int
}

type datagram struct {
	from netip.AddrPort
	data []byte
}

type jobResult struct {
	at     time.Duration
	token  uint64
	result any
}

// maxWaiting is the socket buffer of a paused process, in datagrams.
const maxWaiting = 4096

// start brings the process up under a new salt.
func (p *Process) start() error {
	p.starts++
	p.salt = p.c.chance.Uint32() | 1
	var secret [16]byte
	binary.LittleEndian.PutUint64(secret[:], p.c.chance.Uint64())
	cfg := p.c.opts.endpoint(p.salt, secret)
	if err := p.seal(&cfg); err != nil {
		return err
	}
	ep, err := mercury.NewEndpoint(cfg, p.at, nil)
	if err != nil {
		return err
	}
	p.ep, p.alive, p.next, p.pausedUntil, p.restartAt = ep, true, p.c.now, 0, 0
	p.slowUntil, p.freeAt = 0, 0
	p.waiting, p.jobs, p.glances, p.lines, p.dark = nil, nil, nil, nil, false
	app, err := p.make(p)
	if err != nil {
		return fmt.Errorf("%s: %w", p.Name, err)
	}
	p.app = app
	ep.SetHandler(&tap{p})
	p.c.trace.Event(p.c.now, "start", "%s salt %08x", p.Name, p.salt)
	return nil
}

// Address names this start of the process.
func (p *Process) Address() mercury.Address { return mercury.Address{At: p.at, Salt: p.salt} }

// kill ends the process in the middle of whatever it is doing: it handles nothing more, and what it
// has not sent yet is never sent. A Tamper may call kill for the process whose message it holds,
// where crash would pull the rug from under it.
func (p *Process) kill() { p.dying = p.alive }

// crash ends the process at once; what was in flight to it is lost.
func (p *Process) crash() {
	p.alive, p.dying = false, false
	p.c.losses++
	p.app, p.ep = nil, nil
	p.c.net.Drop(p.at)
	p.c.endLines(p)
	p.c.trace.Event(p.c.now, "crash", "%s", p.Name)
}

// pause stops the process for a while, as a debugger or a swapped-out machine would.
func (p *Process) pause(d time.Duration) {
	p.pausedUntil = p.c.now + d
	p.c.trace.Event(p.c.now, "pause", "%s for %v", p.Name, d)
}

func (p *Process) paused() bool { return p.pausedUntil > p.c.now }

// due is when the process next wants to run.
func (p *Process) due() time.Duration {
	if !p.alive {
		return never
	}
	d := p.nextTick()
	if t, ok := p.ep.NextDeadline(); ok {
		d = min(d, t)
	}
	for i := range p.jobs {
		d = min(d, p.jobs[i].at)
	}
	for i := range p.glances {
		d = min(d, p.glances[i].at)
	}
	if len(p.waiting) > 0 {
		d = min(d, p.pausedUntil)
	}
	if p.slow() || p.starves() {
		d = max(d, p.freeAt)
	}
	return max(d, p.pausedUntil)
}

// nextTick is when the app wants its next tick: what came may have ended its rest.
func (p *Process) nextTick() time.Duration {
	if r, ok := p.app.(interface{ NextTick() time.Duration }); ok {
		return max(r.NextTick(), p.c.now)
	}
	return p.next
}

// run does what is due now.
func (p *Process) run() {
	now := p.c.now
	n := p.batch()
	for _, d := range p.waiting[:n] {
		p.ep.Receive(now, d.from, d.data)
	}
	p.waiting = slices.Delete(p.waiting, 0, n)
	p.ep.Advance(now)
	for i := 0; i < len(p.jobs); {
		if j := p.jobs[i]; j.at <= now {
			p.jobs = append(p.jobs[:i], p.jobs[i+1:]...)
			if p.dying {
				return
			}
			p.app.(interface {
				JobDone(now time.Duration, token uint64, result any)
			}).JobDone(now, j.token, j.result)
			continue
		}
		i++
	}
	if p.glance(); p.dying {
		return
	}
	ticks := now >= p.nextTick() && !p.dying
	if ticks {
		p.next = p.app.Tick(now)
	}
	p.worked(n, ticks)
	p.starve()
	p.flush()
}

func (p *Process) receive(from netip.AddrPort, data []byte) {
	if !p.alive {
		return
	}
	if p.paused() || p.slow() || p.starves() || len(p.waiting) > 0 {
		if len(p.waiting) < maxWaiting {
			p.waiting = append(p.waiting, datagram{from, append([]byte(nil), data...)})
		} else {
			p.overrun++
		}
		return
	}
	p.ep.Receive(p.c.now, from, data)
	p.flush()
}

func (p *Process) flush() {
	if p.dying {
		return
	}
	p.ep.Flush(p.c.now, func(to netip.AddrPort, data []byte) {
		p.c.trace.datagram(p.c.now, p.port, p.c.portOf(to), data)
		p.c.noise.overhear(p.c, p.at, to, data)
		p.c.net.Send(p.c.now, p.at, to, data)
	})
}

// Do performs a job: at once, with its result after a moment.
func (p *Process) Do(token uint64, run func(ctx context.Context) any) {
	delay := p.c.slowJobs + time.Duration(1+p.c.chance.IntN(20))*time.Millisecond
	p.jobs = append(p.jobs, jobResult{p.c.now + delay, token, run(context.Background())})
}

// secrets fills b from the run's chance.
func (p *Process) secrets(b []byte) {
	for i := range b {
		b[i] = byte(p.c.chance.Uint32())
	}
}

func (p *Process) random() *rand.Rand {
	return rand.New(rand.NewPCG(p.c.chance.Uint64(), p.c.chance.Uint64()))
}

func (p *Process) log() *slog.Logger {
	h := slog.Handler(slog.DiscardHandler)
	if p.c.opts.Log != nil {
		h = timed{p.c.opts.Log.Handler(), p.c}
	}
	if w := p.c.opts.Wild; w.Brittle > 0 || w.Cracks {
		h = panicCounter{h, p.c}
	}
	return slog.New(h).With("process", p.Name)
}

// timed makes log lines carry simulated time.
type timed struct {
	slog.Handler
	c *Cluster
}

// Handle implements slog.Handler.
func (h timed) Handle(ctx context.Context, r slog.Record) error {
	r.Time = time.Unix(0, 0).UTC().Add(h.c.now)
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h timed) WithAttrs(attrs []slog.Attr) slog.Handler {
	return timed{h.Handler.WithAttrs(attrs), h.c}
}

// WithGroup implements slog.Handler.
func (h timed) WithGroup(name string) slog.Handler { return timed{h.Handler.WithGroup(name), h.c} }

// panicCounter counts the panics that the world wants, as their processes log them.
type panicCounter struct {
	slog.Handler
	c *Cluster
}

// Enabled implements slog.Handler.
func (h panicCounter) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelError || h.Handler.Enabled(ctx, l)
}

// Handle implements slog.Handler.
func (h panicCounter) Handle(ctx context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "panic" && a.Value.String() == wantedPanic {
			h.c.panics++
		}
		return a.Key != "panic"
	})
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h panicCounter) WithAttrs(attrs []slog.Attr) slog.Handler {
	return panicCounter{h.Handler.WithAttrs(attrs), h.c}
}

// WithGroup implements slog.Handler.
func (h panicCounter) WithGroup(name string) slog.Handler {
	return panicCounter{h.Handler.WithGroup(name), h.c}
}

// tap stands between an endpoint and its app, where a test may plant a bug.
type tap struct{ p *Process }

// Opened implements mercury.Handler.
func (t *tap) Opened(now time.Duration, ch mercury.ChannelID, peer mercury.Address) {
	if t.p.dying {
		return
	}
	t.p.app.Opened(now, ch, peer)
}

// Closed implements mercury.Handler.
func (t *tap) Closed(now time.Duration, ch mercury.ChannelID, reason error) {
	if t.p.dying {
		return
	}
	t.p.app.Closed(now, ch, reason)
}

// Bulk implements mercury.BulkHandler for an app that does.
func (t *tap) Bulk(now time.Duration, ch mercury.ChannelID, msg []byte) {
	if h, ok := t.p.app.(mercury.BulkHandler); ok && !t.p.dying {
		h.Bulk(now, ch, msg)
	}
}

// Message implements mercury.Handler.
func (t *tap) Message(now time.Duration, ch mercury.ChannelID, reliable bool, msg []byte) {
	if t.p.dying {
		return
	}
	if tamper := t.p.c.opts.Tamper; tamper != nil {
		if msg = tamper(t.p, ch, reliable, msg); msg == nil || t.p.dying {
			return
		}
	}
	if t.p.c.strike(t.p, ch, msg) || t.p.dying || t.p.c.hold(t.p, ch, reliable, msg) {
		return
	}
	t.p.c.orders.hear(t.p, ch, msg)
	t.p.app.Message(now, ch, reliable, msg)
}
