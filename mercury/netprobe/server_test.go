package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
)

// recorder is a carrier that keeps what is sent and takes it nowhere.
type recorder struct {
	carrier // nil: whatever else is called is a fault of the test
	sent    map[mercury.ChannelID][][]byte
}

func (r *recorder) Send(ch mercury.ChannelID, msg []byte) error {
	r.sent[ch] = append(r.sent[ch], append([]byte(nil), msg...))
	return nil
}

func (r *recorder) counters(mercury.ChannelID) counters { return counters{} }

// last is the kind and the text of the last message to a channel.
func (r *recorder) last(ch mercury.ChannelID) (kind, string) {
	if n := len(r.sent[ch]); n > 0 {
		return kind(r.sent[ch][n-1][0]), string(r.sent[ch][n-1][1:])
	}
	return 0, ""
}

func still() time.Duration { return 0 }

func recorded() (*server, *recorder) {
	r := &recorder{sent: map[mercury.ChannelID][][]byte{}}
	return &server{carrier: r, clock: still}, r
}

func short(s spec) *spec {
	s.Warmup, s.Duration = 0, time.Second
	return &s
}

// What a client may not ask for is refused with the reason, and changes nothing.
func TestServerRefuses(t *testing.T) {
	huge, many, idle := game(), fan(), game()
	huge.Down.Size = 1 << 20
	many.Conns = 1 << 20
	idle.Down, idle.Up = flow{}, flow{}
	for _, c := range []struct {
		text []byte
		want string
	}{
		{[]byte("{"), "one version"},
		{make([]byte, maxBegin+1), "at most"},
		{withJSON(0, huge)[1:], "1048576 bytes: take"},
		{withJSON(0, many)[1:], "1048576 connections: take"},
		{withJSON(0, idle)[1:], "nothing to send"},
	} {
		s, r := recorded()
		s.Message(0, 1, true, append([]byte{byte(kindBegin)}, c.text...))
		if k, text := r.last(1); k != kindRefused || !strings.Contains(text, c.want) {
			t.Errorf("%.40q: kind %d, %q, want %q", c.text, k, text, c.want)
		}
		if s.run != nil {
			t.Errorf("%.40q: a run has begun", c.text)
		}
	}
	s, r := recorded()
	for _, k := range []kind{kindJoin, kindFinish} {
		s.Message(0, 1, true, []byte{byte(k)})
		if got, text := r.last(1); got != kindRefused || !strings.Contains(text, "no run") {
			t.Errorf("kind %d without a run: %d, %q", k, got, text)
		}
	}
	s.Message(0, 1, true, withJSON(kindBegin, short(fan())))
	s.Message(0, 2, true, withJSON(kindBegin, short(fan())))
	if k, text := r.last(2); k != kindRefused || !strings.Contains(text, "a run is on") {
		t.Errorf("a second run: %d, %q", k, text)
	}
	s.Closed(0, 1, mercury.ErrTimeout)
	s.Message(0, 2, true, withJSON(kindBegin, short(fan())))
	if k, _ := r.last(2); k != kindBegun {
		t.Errorf("a run after another was dropped: %d", k)
	}
}

// One run from its begin to its report, by hand.
func TestServerRun(t *testing.T) {
	want := short(fan())
	want.Conns = 3
	s, r := recorded()
	s.Message(0, 1, true, withJSON(kindBegin, want))
	s.Message(0, 2, true, []byte{byte(kindJoin)})
	s.Message(0, 3, true, []byte{byte(kindJoin)})
	if k, _ := r.last(1); k != kindReady {
		t.Fatalf("after all have joined: %d", k)
	}
	s.Message(0, 1, true, []byte{byte(kindJoin)}) // says nothing new
	s.Message(0, 4, true, []byte{byte(kindJoin)})
	if k, _ := r.last(4); k != kindRefused {
		t.Errorf("one too many: %d", k)
	}
	now := time.Duration(0)
	for range 5 {
		now = s.Tick(now)
	}
	s.Closed(now, 2, mercury.ErrTimeout)
	for now < 2*time.Second {
		now = s.Tick(now)
	}
	s.Message(now, 1, true, []byte{byte(kindFinish)})
	k, text := r.last(1)
	var got side
	if err := json.Unmarshal([]byte(text), &got); err != nil || k != kindReport {
		t.Fatalf("report: %d, %v", k, err)
	}
	data := func(ch mercury.ChannelID) (n int) {
		for _, msg := range r.sent[ch] {
			if kind(msg[0]) == kindData {
				n++
			}
		}
		return n
	}
	if data(1) != 10 || data(3) != 10 || data(2) >= 10 || data(2) == 0 {
		t.Errorf("data on the channels: %d, %d, %d", data(1), data(2), data(3))
	}
	if sum := data(1) + data(2) + data(3); got.Sent.Measured != uint64(sum) || got.Closed != 1 || got.Conns != 3 || got.Elapsed < 1 {
		t.Errorf("%d sent, report %+v", sum, got)
	}
}

// A flood stops at its backlog and goes on by credit; the receiver gives back all but its last share.
func TestFloodIsBounded(t *testing.T) {
	r := &recorder{sent: map[mercury.ChannelID][][]byte{}}
	s := bulk()
	s.Backlog = 1000
	f := newSender(r, []mercury.ChannelID{1}, s.Up, &s, phases{over: time.Second}, still)
	c := creditor{share: 1000 / creditShare}
	f.tick(0)
	if n := len(r.sent[1]); n != 10 {
		t.Fatalf("%d messages of 100 bytes for a backlog of 1000", n)
	}
	for range 20 {
		for range len(r.sent[1]) {
			c.take(r, 2, 100)
		}
		back := 0
		for _, msg := range r.sent[2] {
			n, ok := readNumber(msg)
			if !ok {
				t.Fatal("not a credit")
			}
			back += n
		}
		r.sent[1], r.sent[2] = nil, nil
		f.credit(0, back)
		if n := len(r.sent[1]); n < 8 || n > 10 {
			t.Fatalf("%d messages", n)
		}
	}
	f.credit(2*time.Second, 1<<20)
	if n := len(r.sent[1]); n > 10 {
		t.Errorf("%d messages after the end", n)
	}
}

// A metronome that was woken late sends every beat, stamped by when it was due.
func TestMetronomeCatchesUp(t *testing.T) {
	r := &recorder{sent: map[mercury.ChannelID][][]byte{}}
	clock := time.Duration(0)
	m := newSender(r, []mercury.ChannelID{1}, flow{Size: 20, Every: 10 * time.Millisecond}, &spec{Slice: 1}, phases{over: time.Second},
		func() time.Duration { return clock })
	for _, now := range []time.Duration{0, 12, 45, 50} {
		clock = now * time.Millisecond
		m.tick(clock)
	}
	want := []time.Duration{0, 12, 20, 30, 45, 50} // milliseconds: 40 was less than a beat late
	for i, msg := range r.sent[1] {
		_, number, stamp, _ := readData(msg)
		if i >= len(want) || number != uint32(i) || stamp != want[i]*time.Millisecond {
			t.Errorf("message %d: number %d, stamp %v", i, number, stamp)
		}
	}
	if len(r.sent[1]) != len(want) {
		t.Errorf("%d messages, want %d", len(r.sent[1]), len(want))
	}
}

// No message makes a server panic, answer with more than it must, or begin what it may not.
func FuzzServer(f *testing.F) {
	for _, s := range []spec{game(), bulk(), blob(), fan()} {
		f.Add(withJSON(kindBegin, s), withNumber(kindCredit, 100))
	}
	f.Add([]byte{byte(kindPing)}, withNumber(kindRequest, 100000))
	f.Add([]byte{byte(kindJoin)}, []byte{byte(kindData), 1})
	f.Fuzz(func(t *testing.T, a, b []byte) {
		s, r := recorded()
		now := time.Duration(0)
		for _, msg := range [][]byte{a, {byte(kindJoin)}, b, {byte(kindFinish)}, a} {
			s.Message(now, 1, true, msg)
			now = min(s.Tick(now), now+idleTick)
		}
		if s.run != nil && s.run.spec.validate() != nil {
			t.Errorf("runs %+v", s.run.spec)
		}
		bytes := 0
		for _, msg := range r.sent[1] {
			bytes += len(msg)
		}
		if bytes > 4*maxBlob {
			t.Errorf("%d bytes sent", bytes)
		}
	})
}

// A beat of many goes out slice by slice, with the loop in between.
func TestMetronomeSlices(t *testing.T) {
	r := &recorder{sent: map[mercury.ChannelID][][]byte{}}
	m := newSender(r, []mercury.ChannelID{1, 2, 3, 4, 5}, flow{Size: 20, Every: 10}, &spec{Slice: 2}, phases{over: 20}, still)
	m.leave(4)
	for i, c := range []struct {
		now, next time.Duration
		sent      int
	}{{0, 0, 2}, {1, 1, 3}, {2, 2, 4}, {3, 10, 4}, {10, 10, 6}, {10, 10, 7}, {10, 10, 8}, {11, 11 + time.Hour, 8}} {
		if next := m.tick(c.now); next != c.next || int(m.sent().All) != c.sent {
			t.Errorf("call %d at %d: next %d, sent %d; want %d, %d", i, c.now, next, m.sent().All, c.next, c.sent)
		}
	}
	if f := m.sent(); f.Beats != 2 || f.BeatTime != 4 || f.BeatMax != 3 {
		t.Errorf("beats: %+v", f)
	}
}
