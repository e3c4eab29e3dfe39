package call

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/google/go-cmp/cmp"
)

// pipe is a Link whose messages the test carries by hand.
type pipe struct {
	sent   [][]byte
	closed map[mercury.ChannelID]bool
	full   bool
}

func (p *pipe) Send(ch mercury.ChannelID, msg []byte) error {
	switch {
	case p.closed[ch] || ch == 0:
		return mercury.ErrNoChannel
	case p.full:
		return mercury.ErrFull
	}
	p.sent = append(p.sent, bytes.Clone(msg))
	return nil
}

// pop returns the oldest message sent, nil when there is none.
func (p *pipe) pop() []byte {
	if len(p.sent) == 0 {
		return nil
	}
	msg := p.sent[0]
	p.sent = p.sent[1:]
	return msg
}

// callee keeps what it is asked.
type callee struct {
	from   []Caller
	bodies []string
}

func (c *callee) Requested(_ time.Duration, from Caller, body []byte) {
	c.from = append(c.from, from)
	c.bodies = append(c.bodies, string(body))
}

// replyLog records how calls ended.
type replyLog struct{ lines []string }

func (l *replyLog) Replied(now time.Duration, _ ID, token uint64, body []byte, err error) {
	l.lines = append(l.lines, fmt.Sprintf("%v call %d: %q, %v", now, token, body, err))
}

const testKind = 0xC5

func newCalls(t testing.TB, link Link, h RequestHandler, limit int) *Calls {
	t.Helper()
	c, err := New(link, Config{Kind: testKind, MaxCalls: limit}, h)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// callPair is a caller and a callee, each with the other on channel 1.
type callPair struct {
	t        testing.TB
	out, in  pipe
	caller   *Calls
	answerer *Calls
	callee   callee
	log      replyLog
}

func newCallPair(t testing.TB) *callPair {
	p := &callPair{t: t}
	p.caller = newCalls(t, &p.out, nil, 0)
	p.answerer = newCalls(t, &p.in, &p.callee, 0)
	return p
}

func (p *callPair) request(now time.Duration, r Request) ID {
	p.t.Helper()
	r.Handler = &p.log
	id, err := p.caller.Request(now, 1, r)
	if err != nil {
		p.t.Fatal(err)
	}
	return id
}

// carry delivers everything in both directions.
func (p *callPair) carry(now time.Duration) {
	p.t.Helper()
	for _, way := range []struct {
		from *pipe
		to   *Calls
	}{{&p.out, p.answerer}, {&p.in, p.caller}} {
		for msg := way.from.pop(); msg != nil; msg = way.from.pop() {
			if taken, err := way.to.Take(now, 1, msg); !taken || err != nil {
				p.t.Fatalf("Take: %v, %v", taken, err)
			}
		}
	}
}

func (p *callPair) want(lines ...string) {
	p.t.Helper()
	if diff := cmp.Diff(lines, p.log.lines); diff != "" {
		p.t.Fatal(diff)
	}
}

func TestCallReply(t *testing.T) {
	p := newCallPair(t)
	p.request(0, Request{Body: []byte("how much"), Token: 1, Timeout: time.Second})
	p.request(0, Request{Token: 2})
	p.carry(0)
	if diff := cmp.Diff([]string{"how much", ""}, p.callee.bodies); diff != "" {
		t.Fatal(diff)
	}
	for _, from := range slices.Backward(p.callee.from) {
		if err := p.answerer.Reply(from, []byte("7")); err != nil {
			t.Fatal(err)
		}
	}
	p.carry(time.Millisecond)
	p.caller.Advance(time.Hour)
	p.want(`1ms call 2: "7", <nil>`, `1ms call 1: "7", <nil>`)
	if err := p.answerer.Reply(p.callee.from[0], []byte("again")); err != nil {
		t.Fatal(err)
	}
	p.carry(0)
	want := Stats{Requests: 2, Replies: 2, Late: 1}
	if diff := cmp.Diff(want, p.caller.Stats()); diff != "" || p.caller.Open() != 0 {
		t.Errorf("%d open; %s", p.caller.Open(), diff)
	}
}

func TestCallFailure(t *testing.T) {
	p := newCallPair(t)
	p.request(0, Request{Token: 1, Details: true})
	p.request(0, Request{Token: 2})
	p.request(0, Request{Token: 3, Details: true})
	p.carry(0)
	long := strings.Repeat("ä", MaxFailureText)
	for i, text := range []string{"no such entity", "secret", long} {
		if err := p.answerer.Fail(p.callee.from[i], 5, text); err != nil {
			t.Fatal(err)
		}
	}
	p.carry(0)
	p.want(
		`0s call 1: "", call: failed at the callee: code 5, "no such entity"`,
		`0s call 2: "", call: failed at the callee`,
		`0s call 3: "", call: failed at the callee: code 5, "`+strings.Repeat("ä", MaxFailureText/2)+`"`,
	)
}

func TestCallWithoutCallee(t *testing.T) {
	p := newCallPair(t)
	p.answerer = newCalls(t, &p.in, nil, 0)
	p.request(0, Request{Token: 1, Details: true})
	p.carry(0)
	p.want(`0s call 1: "", call: failed at the callee: code 0, "no requests are served here"`)
}

func TestCallTimeout(t *testing.T) {
	p := newCallPair(t)
	for i, timeout := range []time.Duration{3 * time.Second, time.Second, 0, time.Second, math.MaxInt64, -1} {
		p.request(time.Second, Request{Token: uint64(i), Timeout: timeout})
	}
	p.caller.Advance(time.Second)
	p.want(`1s call 5: "", call: no reply in time`)
	p.log.lines = nil
	deadline, ok := p.caller.NextDeadline()
	if !ok || deadline < 2*time.Second || deadline > 2*time.Second+time.Millisecond {
		t.Errorf("NextDeadline is %v, %v", deadline, ok)
	}
	p.caller.Advance(2*time.Second - 1)
	p.want()
	p.caller.Advance(2 * time.Second)
	p.caller.Advance(time.Hour)
	p.want(
		`2s call 1: "", call: no reply in time`,
		`2s call 3: "", call: no reply in time`,
		`1h0m0s call 0: "", call: no reply in time`,
	)
	if p.caller.Open() != 2 {
		t.Errorf("%d calls open, want the one without a time-out and the one at the end of time", p.caller.Open())
	}
}

func TestCallCancel(t *testing.T) {
	p := newCallPair(t)
	id := p.request(0, Request{Token: 1, Timeout: time.Second})
	if !p.caller.Cancel(id) || p.caller.Cancel(id) || p.caller.Cancel(0) {
		t.Error("Cancel does not tell whether there was a call")
	}
	again := p.request(0, Request{Token: 2}) // uses the same slot
	p.carry(0)
	if err := p.answerer.Reply(p.callee.from[0], nil); err != nil {
		t.Fatal(err)
	}
	p.carry(0)
	p.caller.Advance(time.Hour)
	if p.want(); again <= id || p.caller.Stats().Late != 1 {
		t.Errorf("calls %d and %d; stats %+v", id, again, p.caller.Stats())
	}
}

// TestCallForeignReply makes a peer answer what was asked of another.
func TestCallForeignReply(t *testing.T) {
	p := newCallPair(t)
	p.request(0, Request{Token: 1})
	p.carry(0)
	_ = p.answerer.Reply(p.callee.from[0], []byte("forged"))
	_, _ = p.caller.Take(0, 2, p.in.pop())
	if p.want(); p.caller.Open() != 1 || p.caller.Stats().Late != 1 {
		t.Error("a reply on another channel ended the call")
	}
}

func TestCallClosed(t *testing.T) {
	p := newCallPair(t)
	for i, ch := range []mercury.ChannelID{1, 2, 1, 1 + listCount, 1} {
		if _, err := p.caller.Request(0, ch, Request{Token: uint64(i), Handler: &p.log}); err != nil {
			t.Fatal(err)
		}
	}
	p.caller.Closed(0, 1, mercury.ErrPeerClosed)
	p.want(
		`0s call 0: "", mercury: peer closed the channel`,
		`0s call 2: "", mercury: peer closed the channel`,
		`0s call 4: "", mercury: peer closed the channel`,
	)
	if p.caller.Open() != 2 || p.caller.Stats().Lost != 3 {
		t.Errorf("%d calls open, %d lost", p.caller.Open(), p.caller.Stats().Lost)
	}
}

func TestCallRefused(t *testing.T) {
	p := newCallPair(t)
	p.caller = newCalls(t, &p.out, nil, 2)
	p.request(0, Request{})
	p.out.full = true
	if _, err := p.caller.Request(0, 1, Request{}); !errors.Is(err, mercury.ErrFull) || p.caller.Open() != 1 {
		t.Errorf("error %v, %d open", err, p.caller.Open())
	}
	p.out.full = false
	p.request(0, Request{})
	if _, err := p.caller.Request(0, 1, Request{}); !errors.Is(err, ErrTooMany) {
		t.Errorf("error %v, want ErrTooManyCalls", err)
	}
	for _, limit := range []int{-1, MaxMaxCalls + 1} {
		if _, err := New(&p.out, Config{MaxCalls: limit}, nil); err == nil {
			t.Errorf("MaxCalls of %d is taken", limit)
		}
	}
}

// TestCallWithinHandler issues, cancels and closes from inside callbacks.
func TestCallWithinHandler(t *testing.T) {
	p := newCallPair(t)
	var ids []ID
	var order []uint64
	var h ReplyFunc
	h = func(now time.Duration, _ ID, token uint64, _ []byte, err error) {
		order = append(order, token)
		switch token {
		case 0: // its time-out cancels the next and asks anew, on a channel that is then closed
			p.caller.Cancel(ids[1])
			_, _ = p.caller.Request(now, 3, Request{Token: 10, Handler: h})
			p.caller.Closed(now, 1, mercury.ErrNoChannel)
		case 2: // closed: asks again on the same channel; the same Closed must not end that call
			_, _ = p.caller.Request(now, 1, Request{Token: 11, Handler: h})
			p.caller.Cancel(ids[3])
			p.caller.Closed(now, 3, mercury.ErrNoChannel)
		}
	}
	for i := range uint64(5) {
		timeout := time.Second
		if i >= 2 {
			timeout = time.Minute // ends by Closed, not by the same Advance
		}
		id, err := p.caller.Request(0, 1, Request{Token: i, Timeout: timeout, Handler: h})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	p.caller.Advance(time.Second)
	if want := []uint64{0, 2, 10, 4}; !slices.Equal(order, want) {
		t.Errorf("ended %v, want %v", order, want)
	}
	if p.caller.Open() != 1 {
		t.Errorf("%d calls open, want the one made anew", p.caller.Open())
	}
}

// TestCallsTwin does random things, and keeps a table of what must become of each call: it ends
// once, as it should, and in time.
func TestCallsTwin(t *testing.T) {
	type entry struct {
		ch       mercury.ChannelID
		deadline time.Duration // 0 for none
		ended    bool
	}
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 7))
		var out pipe
		limit := 1 + rng.IntN(70)
		c := newCalls(t, &out, nil, limit)
		table := map[ID]*entry{}
		var ids []ID
		var want error // the error of the ends that happen now
		now := time.Duration(0)
		h := ReplyFunc(func(at time.Duration, id ID, token uint64, body []byte, err error) {
			e := table[id]
			if e == nil || e.ended || at != now || !errors.Is(err, want) || token != uint64(e.ch) {
				t.Fatalf("seed %d: call %d ends with %v instead of %v: %+v", seed, id, err, want, e)
			}
			e.ended = true
		})
		open := func() (n int) {
			for _, id := range ids {
				if !table[id].ended {
					n++
				}
			}
			return n
		}
		for range 600 {
			switch rng.IntN(6) {
			case 0, 1:
				ch := mercury.ChannelID(1 + rng.IntN(4)*listCount/2)
				timeout := time.Duration(rng.IntN(4)) * 10 * time.Millisecond
				id, err := c.Request(now, ch, Request{Timeout: timeout, Handler: h, Token: uint64(ch)})
				if (err != nil) != (open() == limit) {
					t.Fatalf("seed %d: Request: %v with %d of %d open", seed, err, open(), limit)
				}
				if err == nil {
					e := &entry{ch: ch}
					if timeout > 0 {
						e.deadline = now + timeout
					}
					table[id], ids = e, append(ids, id)
				}
			case 2:
				now += time.Duration(rng.IntN(int(8 * time.Millisecond)))
				want = ErrTimeout
				c.Advance(now)
				for _, id := range ids {
					if e := table[id]; e.deadline > 0 && e.deadline <= now && !e.ended {
						t.Fatalf("seed %d: call %d goes on at %v after its time-out %v", seed, id, now, e.deadline)
					}
				}
			case 3:
				if len(ids) == 0 {
					continue
				}
				id := ids[rng.IntN(len(ids))]
				e, late := table[id], c.Stats().Late
				want = nil
				wasOpen := !e.ended
				_, _ = c.Take(now, e.ch, appendHead(nil, testKind, opReply, id))
				if !e.ended || wasOpen == (c.Stats().Late > late) {
					t.Fatalf("seed %d: call %d was open: %v; after the reply it has ended: %v", seed, id, wasOpen, e.ended)
				}
			case 4:
				if len(ids) > 0 {
					id := ids[rng.IntN(len(ids))]
					if got := c.Cancel(id); got == table[id].ended {
						t.Fatalf("seed %d: Cancel of call %d says %v", seed, id, got)
					}
					table[id].ended = true
				}
			case 5:
				if rng.IntN(8) == 0 {
					want = mercury.ErrPeerAborted
					ch := mercury.ChannelID(1 + rng.IntN(4)*listCount/2)
					c.Closed(now, ch, mercury.ErrPeerAborted)
					for _, id := range ids {
						if e := table[id]; e.ch == ch && !e.ended {
							t.Fatalf("seed %d: call %d outlives its channel", seed, id)
						}
					}
				}
			}
			if c.Open() != open() {
				t.Fatalf("seed %d: %d open, want %d", seed, c.Open(), open())
			}
		}
	}
}

func TestCallsDoNotAllocate(t *testing.T) {
	tr := &echo{}
	c := newCalls(t, tr, tr, 0)
	tr.calls = c
	h := &replyCount{}
	body := make([]byte, 50)
	now := time.Duration(0)
	round := func() {
		for range 20 {
			if _, err := c.Request(now, 1, Request{Body: body, Timeout: time.Second, Handler: h}); err != nil {
				t.Fatal(err)
			}
		}
		id, _ := c.Request(now, 2, Request{Body: body, Timeout: time.Second, Handler: h})
		_, _ = c.Request(now, 3, Request{Body: body, Timeout: time.Millisecond, Handler: h})
		_, _ = c.Request(now, 4, Request{Body: body, Handler: h})
		tr.deliver(now)
		c.Cancel(id)
		now += 10 * time.Millisecond
		c.Advance(now)
		c.Closed(now, 4, mercury.ErrPeerClosed)
	}
	for range 10 {
		round()
	}
	if n := testing.AllocsPerRun(100, round); n > 0 || c.Open() > 0 {
		t.Errorf("%v allocations a round, %d calls open", n, c.Open())
	}
}

// echo is a transport to itself, whose app answers what comes on channel 1.
type echo struct {
	calls   *Calls
	queue   [][]byte
	buffers [][]byte
}

func (e *echo) Send(ch mercury.ChannelID, msg []byte) error {
	if ch != 1 {
		return nil
	}
	var b []byte
	if last := len(e.buffers) - 1; last >= 0 {
		b, e.buffers = e.buffers[last], e.buffers[:last]
	}
	e.queue = append(e.queue, append(b[:0], msg...))
	return nil
}

func (e *echo) Requested(_ time.Duration, from Caller, body []byte) { _ = e.calls.Reply(from, body) }

func (e *echo) deliver(now time.Duration) {
	for i := 0; i < len(e.queue); i++ { // handling a message may add an answer
		_, _ = e.calls.Take(now, 1, e.queue[i])
		e.buffers = append(e.buffers, e.queue[i])
	}
	e.queue = e.queue[:0]
}

type replyCount struct{ n int }

func (r *replyCount) Replied(time.Duration, ID, uint64, []byte, error) { r.n++ }

// BenchmarkCall is a request of 50 bytes and its reply, with both ends in one Calls and 1000 other
// calls open.
func BenchmarkCall(b *testing.B) {
	tr := &echo{}
	c := newCalls(b, tr, tr, 0)
	tr.calls = c
	h := &replyCount{}
	body := make([]byte, 50)
	for range 1000 {
		_, _ = c.Request(0, 2, Request{Body: body, Timeout: time.Hour, Handler: h})
	}
	b.ReportAllocs()
	for b.Loop() {
		_, _ = c.Request(0, 1, Request{Body: body, Timeout: time.Second, Handler: h})
		tr.deliver(0)
	}
}

// FuzzCallsTake gives both roles arbitrary messages. Whatever is accepted without an error is
// counted as something, and only a reply to an open call on its channel ends that call.
func FuzzCallsTake(f *testing.F) {
	open := ID(1 << 12)
	f.Add(uint32(1), appendHead(nil, testKind, opReply, open))
	f.Add(uint32(2), appendHead(nil, testKind, opReply, open))
	f.Add(uint32(1), append(appendHead(nil, testKind, opRequest, 77), "body"...))
	f.Add(uint32(1), appendHead(nil, testKind, opDetailed, 0))
	f.Add(uint32(1), appendFailure(appendHead(nil, testKind, opFailure, open), 9, "text"))
	f.Add(uint32(1), append(appendFailure(appendHead(nil, testKind, opFailure, open), 9, "text"), 0))
	f.Add(uint32(1), []byte{testKind})
	f.Add(uint32(1), []byte{testKind, 0x80})
	f.Add(uint32(1), []byte{})
	f.Fuzz(func(t *testing.T, ch uint32, msg []byte) {
		var out pipe
		ends := 0
		var serve callee
		c := newCalls(t, &out, &serve, 0)
		id, err := c.Request(0, 1, Request{Handler: ReplyFunc(func(_ time.Duration, _ ID, _ uint64, _ []byte, err error) {
			ends++
			var failure *Failure
			if err != nil && (!errors.As(err, &failure) || len(failure.Text) > MaxFailureText) {
				t.Fatalf("ends with %v", err)
			}
		})})
		if err != nil || id != open {
			t.Fatalf("call %d, %v; the seeds name %d", id, err, open)
		}
		kept := bytes.Clone(msg)
		taken, err := c.Take(0, mercury.ChannelID(ch), msg)
		s := c.Stats()
		if !bytes.Equal(msg, kept) {
			t.Fatal("the message was written to")
		}
		if sum := s.Replies + s.Failures + s.Late + s.RequestsIn + s.Malformed; taken != (sum == 1) || sum > 1 {
			t.Fatalf("taken %v, counted %+v", taken, s)
		}
		if (err != nil) != (s.Malformed == 1) || err != nil && len(out.sent) > 1 {
			t.Fatalf("error %v, %+v", err, s)
		}
		if ends != 1-c.Open() || ends == 1 && ch != 1 {
			t.Fatalf("ended %d times by channel %d", ends, ch)
		}
		for i, from := range serve.from { // what came as a request can be sent on as one
			again := append(appendHead(nil, testKind, opRequest+operation(b2i(from.Details)), from.Call), serve.bodies[i]...)
			if !bytes.Equal(again, msg) {
				t.Fatalf("%x reads as %+v, which is %x", msg, from, again)
			}
		}
	})
}

func b2i(v bool) int {
	if v {
		return 1
	}
	return 0
}
