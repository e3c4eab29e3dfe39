package download

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/mercury"
	"github.com/google/go-cmp/cmp"
)

func TestDownload(t *testing.T) {
	for _, size := range []int{0, 1, DefaultUploadPiece, DefaultUploadPiece + 1, 1 << 20} {
		x := newTransfers(t, UploadConfig{}, DownloadConfig{})
		content := randomContent(1, size)
		x.offer(1, 5, content)
		x.run(3 * time.Second)
		x.wantEnds(nil, nil)
		want := Offer{ID: 5, Desc: "content", Size: int64(size), Digest: Digest(digestOf(content))}
		if d := cmp.Diff([]Offer{want}, x.offers); d != "" {
			t.Error(d)
		}
		if !bytes.Equal(x.sinks[5].Bytes(), content) {
			t.Fatalf("%d bytes: another content arrived", size)
		}
		if x.path.ends[0].most > DefaultUploadQueue {
			t.Errorf("%d bytes waited, at most %d should", x.path.ends[0].most, DefaultUploadQueue)
		}
		if size == 1<<20 {
			// A MiB at 1000 bytes/ms takes a second.
			if n := len(x.progress); n < 3 || n > 5 || !slices.IsSorted(x.progress) {
				t.Errorf("progress %v", x.progress)
			}
		}
		if up, down := x.up.Stats(), x.down.Stats(); up != (UploadStats{Offered: 1, Finished: 1, Bytes: uint64(size)}) ||
			down != (DownloadStats{Offered: 1, Finished: 1, Bytes: uint64(size)}) {
			t.Errorf("%d bytes: %+v, %+v", size, up, down)
		}
	}
}

func digestOf(content []byte) Digest {
	return sha256.Sum256(content)
}

// What waits in the channel is bounded, and what arrives after a cancel is no more than what was on its way.
func TestCancelAtTheSender(t *testing.T) {
	x := newTransfers(t, UploadConfig{Queue: 20000, Piece: 1000}, DownloadConfig{})
	x.offer(1, 5, randomContent(1, 1<<20))
	x.run(400 * time.Millisecond)
	if err := x.up.Cancel(1, 5); err != nil {
		t.Fatal(err)
	}
	if err := x.up.Cancel(1, 5); !errors.Is(err, ErrNoDownload) {
		t.Fatalf("second cancel: %v", err)
	}
	sent := x.path.ends[0].sent
	x.run(time.Second)
	if len(x.upEnds) != 0 || len(x.downEnds) != 1 || !errors.Is(x.downEnds[0].err, Cancelled) || x.path.ends[0].sent != sent {
		t.Fatalf("endings %+v, %+v; %d bytes sent after the cancel", x.upEnds, x.downEnds, x.path.ends[0].sent-sent)
	}
	var e *Error
	if !errors.As(x.downEnds[0].err, &e) || !e.Remote {
		t.Errorf("error %v", x.downEnds[0].err)
	}
	if part := x.downEnds[0].part; part.Received != int64(len(x.sinks[5].Bytes())) || part.Received == 0 {
		t.Errorf("part of %d bytes, %d stored", part.Received, len(x.sinks[5].Bytes()))
	}
}

func TestCancelAtTheReceiver(t *testing.T) {
	x := newTransfers(t, UploadConfig{Queue: 20000, Piece: 1000}, DownloadConfig{})
	x.offer(1, 5, randomContent(1, 1<<20))
	x.run(400 * time.Millisecond)
	part, err := x.down.Cancel(1, 5)
	stored := len(x.sinks[5].Bytes())
	if err != nil || part.Received != int64(stored) || stored == 0 {
		t.Fatalf("part of %d bytes, %d stored, %v", part.Received, stored, err)
	}
	x.run(time.Second)
	if len(x.downEnds) != 0 || len(x.upEnds) != 1 || !errors.Is(x.upEnds[0].err, Cancelled) {
		t.Fatalf("endings %+v, %+v", x.upEnds, x.downEnds)
	}
	if len(x.sinks[5].Bytes()) != stored {
		t.Error("the sink was used after Cancel")
	}
	// A round trip of 50 ms and a Pump at 1000 bytes/ms, and the queue.
	if late := x.down.Stats().Unknown; late == 0 || late > 100 {
		t.Errorf("%d messages after the cancel", late)
	}
}

func TestRefused(t *testing.T) {
	tests := []struct {
		name string
		cfg  DownloadConfig
		size int64
		want Code
	}{
		{"by the app", DownloadConfig{}, 10, Refused},
		{"too large", DownloadConfig{MaxSize: 1 << 20}, 1<<20 + 1, TooLarge},
		{"huge", DownloadConfig{}, MaxSize, TooLarge},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			x := newTransfers(t, UploadConfig{MaxSize: MaxSize}, test.cfg)
			x.onOffer = func(_ time.Duration, ch mercury.ChannelID, o Offer) {
				if _, err := x.down.Cancel(ch, o.ID); err != nil {
					t.Error(err)
				}
			}
			digest := Digest{1}
			if err := x.up.Offer(0, 1, Content{ID: 1, Source: failingSource{}, Size: test.size, Digest: digest}); err != nil {
				t.Fatal(err)
			}
			x.run(200 * time.Millisecond)
			if len(x.upEnds) != 1 || !errors.Is(x.upEnds[0].err, test.want) || len(x.downEnds) != 0 {
				t.Fatalf("endings %+v, %+v", x.upEnds, x.downEnds)
			}
			if asked := test.want == Refused; asked != (len(x.offers) == 1) {
				t.Errorf("the app was asked: %v", !asked)
			}
		})
	}
}

func TestTooMany(t *testing.T) {
	x := newTransfers(t, UploadConfig{MaxDownloads: 4}, DownloadConfig{MaxDownloads: 3})
	x.onOffer = func(time.Duration, mercury.ChannelID, Offer) {} // the player thinks it over
	for id := range uint32(4) {
		x.offer(1, id, []byte("content"))
	}
	source := bytes.NewReader(nil)
	if err := x.up.Offer(0, 1, Content{ID: 3, Source: source}); !errors.Is(err, ErrID) {
		t.Errorf("an ID in use: %v", err)
	}
	if err := x.up.Offer(0, 1, Content{ID: 4, Source: source}); !errors.Is(err, ErrTooMany) {
		t.Errorf("a fifth: %v", err)
	}
	if err := x.up.Offer(0, 1, Content{ID: 4, Source: source, Size: DefaultMaxSize + 1}); !errors.Is(err, codec.ErrLength) {
		t.Errorf("too large: %v", err)
	}
	if err := x.up.Offer(0, 1, Content{ID: 4, Desc: strings.Repeat("x", MaxDesc+1)}); !errors.Is(err, codec.ErrLength) {
		t.Errorf("too wordy: %v", err)
	}
	if err := x.up.Offer(0, 1, Content{ID: 4, Size: 1}); err == nil {
		t.Error("no source, no error")
	}
	x.run(200 * time.Millisecond)
	if len(x.upEnds) != 1 || x.upEnds[0].id != 3 || !errors.Is(x.upEnds[0].err, TooMany) {
		t.Fatalf("endings %+v", x.upEnds)
	}
	x.accept(1, x.offers[2], Part{})
	x.run(DefaultAnswerWait + time.Second)
	for i, e := range x.upEnds[1:] {
		if want := []error{nil, TimedOut, TimedOut}[i]; !errors.Is(e.err, want) {
			t.Errorf("ending %d: %v, want %v", i, e.err, want)
		}
	}
	if len(x.upEnds) != 4 || len(x.downEnds) != 3 || x.down.Len() != 0 {
		t.Errorf("%d and %d endings", len(x.upEnds), len(x.downEnds))
	}
}

// A big content and a small one that is offered later share the path: the small one does not wait
// for the big one.
func TestTwoAtOnce(t *testing.T) {
	x := newTransfers(t, UploadConfig{}, DownloadConfig{})
	big, small := randomContent(1, 2<<20), randomContent(2, 50000)
	x.offer(1, 1, big)
	x.run(500 * time.Millisecond)
	x.offer(1, 2, small)
	// At 1000 bytes/ms: the offer behind 128 KiB that wait already, the way back and forth, the
	// first piece behind as much, twice 50 kB in turns, the way.
	x.run((131 + 50 + 131 + 100 + 25 + 3*16) * time.Millisecond)
	if len(x.downEnds) != 1 || x.downEnds[0].id != 2 || x.downEnds[0].err != nil {
		t.Fatalf("endings %+v", x.downEnds)
	}
	x.run(3 * time.Second)
	if len(x.downEnds) != 2 || !bytes.Equal(x.sinks[1].Bytes(), big) || !bytes.Equal(x.sinks[2].Bytes(), small) {
		t.Fatal("contents differ")
	}
}

var errDisk = errors.New("disk is on fire")

type failingSource struct{}

func (failingSource) ReadAt([]byte, int64) (int, error) { return 0, errDisk }

// halfSource fails behind a point, or ends there.
type halfSource struct {
	content []byte
	end     int64
	err     error
}

func (s *halfSource) ReadAt(p []byte, at int64) (int, error) {
	if at+int64(len(p)) > s.end {
		return 0, s.err
	}
	return copy(p, s.content[at:]), nil
}

func TestSourceFails(t *testing.T) {
	content := randomContent(1, 200000)
	tests := []struct {
		name string
		fail error
		want error
	}{{"error", errDisk, errDisk}, {"shrunk", io.EOF, io.ErrUnexpectedEOF}}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			x := newTransfers(t, UploadConfig{}, DownloadConfig{})
			source := &halfSource{content, 100000, test.fail}
			err := x.up.Offer(0, 1, Content{ID: 1, Source: source, Size: int64(len(content)), Digest: digestOf(content)})
			if err != nil {
				t.Fatal(err)
			}
			x.run(time.Second)
			x.wantEnds(test.want, SourceFailed)
			if !errors.Is(x.upEnds[0].err, SourceFailed) {
				t.Error("the sender's error has no code")
			}
			if strings.Contains(x.downEnds[0].err.Error(), "fire") {
				t.Error("the receiver is told about the sender's disk")
			}
			if got := x.downEnds[0].part.Received; got == 0 || got > 100000 {
				t.Errorf("part of %d bytes", got)
			}
			// A source that fails while its digest is looked for was never offered.
			x.upEnds, x.downEnds, x.offers = nil, nil, nil
			if err := x.up.Offer(x.path.now, 1, Content{ID: 1, Source: source, Size: int64(len(content))}); err != nil {
				t.Fatal(err)
			}
			x.run(time.Second)
			if len(x.upEnds) != 1 || !errors.Is(x.upEnds[0].err, SourceFailed) || len(x.offers) != 0 || len(x.downEnds) != 0 {
				t.Errorf("endings %+v, %+v, offers %v", x.upEnds, x.downEnds, x.offers)
			}
		})
	}
}

type fullSink struct{ room int64 }

func (s fullSink) WriteAt(p []byte, at int64) (int, error) {
	if at+int64(len(p)) > s.room {
		return int(max(0, s.room-at)), errDisk
	}
	return len(p), nil
}

func TestSinkFails(t *testing.T) {
	x := newTransfers(t, UploadConfig{}, DownloadConfig{})
	x.onOffer = func(now time.Duration, ch mercury.ChannelID, o Offer) {
		if err := x.down.Accept(now, ch, o.ID, fullSink{100000}, Part{}); err != nil {
			t.Error(err)
		}
		if err := x.down.Accept(now, ch, o.ID, fullSink{}, Part{}); !errors.Is(err, ErrNoDownload) {
			t.Errorf("accepted twice: %v", err)
		}
	}
	x.offer(1, 1, randomContent(1, 300000))
	x.run(time.Second)
	x.wantEnds(SinkFailed, errDisk)
	if got := x.downEnds[0].part.Received; got != 100000/DefaultUploadPiece*DefaultUploadPiece {
		t.Errorf("part of %d bytes", got)
	}
}

func TestWrongDigest(t *testing.T) {
	x := newTransfers(t, UploadConfig{}, DownloadConfig{})
	content := randomContent(1, 30000)
	err := x.up.Offer(0, 1, Content{ID: 1, Source: bytes.NewReader(content), Size: 30000, Digest: Digest{1}})
	if err != nil {
		t.Fatal(err)
	}
	x.run(time.Second)
	x.wantEnds(WrongDigest, WrongDigest)
	if !x.downEnds[0].part.IsZero() {
		t.Error("a part of a wrong content was kept")
	}
}

// A client is given away while its channel lives: both ends are told, and downloads can begin anew
// inside the callbacks.
func TestAbortAll(t *testing.T) {
	x := newTransfers(t, UploadConfig{}, DownloadConfig{})
	reason := errors.New("given away")
	x.offer(1, 1, randomContent(1, 300000))
	x.offer(1, 2, randomContent(2, 300000))
	x.offer(2, 1, randomContent(3, 300000))
	x.run(100 * time.Millisecond)
	x.onUpEnd = func(e ending) {
		if e.id == 2 && e.err != nil {
			x.offer(1, 2, []byte("again"))
		}
	}
	x.up.AbortAll(x.path.now, 1, reason)
	if len(x.upEnds) != 2 || x.upEnds[0].err != reason || x.upEnds[1].err != reason {
		t.Fatalf("endings %+v", x.upEnds)
	}
	x.run(2 * time.Second)
	if got := fmt.Sprint(x.upEnds[2:], len(x.downEnds)); got != fmt.Sprint([]ending{{ch: 1, id: 2}, {ch: 2, id: 1}}, 4) {
		t.Errorf("endings %v", got)
	}
	x.downEnds = nil
	x.offer(1, 7, randomContent(1, 300000))
	x.run(200 * time.Millisecond)
	x.upEnds = nil
	x.down.AbortAll(x.path.now, 1, reason)
	x.run(time.Second)
	x.wantEnds(Cancelled, reason)
	x.offer(1, 8, nil)
	x.upEnds = nil
	x.up.AbortAll(x.path.now, 1, nil)
	if len(x.upEnds) != 1 || !errors.Is(x.upEnds[0].err, Cancelled) {
		t.Errorf("without a reason: %+v", x.upEnds)
	}
}

func TestMaxRate(t *testing.T) {
	x := newTransfers(t, UploadConfig{MaxRate: 50000}, DownloadConfig{})
	x.offer(1, 1, randomContent(1, 500000))
	x.offer(2, 1, randomContent(1, 500000))
	x.run(time.Second)
	before := x.path.ends[0].sent
	x.run(4 * time.Second)
	if got := x.path.ends[0].sent - before; got < 390000 || got > 410000 {
		t.Errorf("two channels of 50 kB/s sent %d bytes in 4 s", got)
	}
	// What was cancelled and offered anew has no fresh share.
	for range 100 {
		if err := x.up.Cancel(1, 1); err != nil {
			t.Fatal(err)
		}
		x.run(16 * time.Millisecond)
		x.offer(1, 1, randomContent(1, 20000))
		x.run(64 * time.Millisecond)
	}
	if got := x.path.ends[0].sent - before; got > 400000+8*100000+120000 {
		t.Errorf("%d bytes after offers anew", got)
	}
}

func TestMaxTotalRateIsShared(t *testing.T) {
	x := newTransfers(t, UploadConfig{MaxTotalRate: 300000}, DownloadConfig{})
	for ch := mercury.ChannelID(1); ch <= 10; ch++ {
		source := &countingSource{t: t, size: 500000}
		if err := x.up.Offer(0, ch, Content{ID: 1, Source: source, Size: source.size, Digest: Digest{1}}); err != nil {
			t.Fatal(err)
		}
	}
	x.run(8 * time.Second)
	total := int64(0)
	for ch := mercury.ChannelID(1); ch <= 10; ch++ {
		sent, _, _ := x.up.Progress(ch, 1)
		if sent < 230000 || sent > 250000 {
			t.Errorf("channel %d has sent %d bytes", ch, sent)
		}
		total += sent
	}
	if total < 2350000 || total > 2400000+DefaultUploadPiece {
		t.Errorf("300 kB/s sent %d bytes in 8 s", total)
	}
}

// The channel breaks again and again; the next one goes on where it did.
func TestResume(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 1))
		x := newTransfers(t, UploadConfig{Queue: 30000, Piece: 1 + rng.IntN(9000)}, DownloadConfig{})
		content := randomContent(seed, 1+rng.IntN(500000))
		digest := digestOf(content)
		x.sinks[1] = &Memory{}
		var part Part
		x.onOffer = func(now time.Duration, ch mercury.ChannelID, o Offer) {
			// The twin: what is in the sink is the beginning of the content.
			if !bytes.Equal(x.sinks[1].Bytes(), content[:part.Received]) {
				t.Fatalf("seed %d: %d bytes stored, part of %d", seed, len(x.sinks[1].Bytes()), part.Received)
			}
			x.accept(ch, o, part)
		}
		lost := 0
		var ch mercury.ChannelID
		for ch = 1; len(x.downEnds) == 0 || x.downEnds[len(x.downEnds)-1].err != nil; ch++ {
			if ch > 1000 {
				t.Fatalf("seed %d: no progress", seed)
			}
			err := x.up.Offer(x.path.now, ch, Content{ID: 1, Source: bytes.NewReader(content), Size: int64(len(content)), Digest: digest})
			if err != nil {
				t.Fatal(err)
			}
			x.run(time.Duration(1+rng.IntN(300)) * time.Millisecond)
			_, queued := x.path.ends[0].Backlog(ch)
			lost += queued + x.path.inFlight(ch)
			x.path.cut(ch)
			x.up.AbortAll(x.path.now, ch, mercury.ErrTimeout)
			x.down.AbortAll(x.path.now, ch, mercury.ErrTimeout)
			if len(x.downEnds) > 0 {
				part = x.downEnds[len(x.downEnds)-1].part
			}
		}
		if !bytes.Equal(x.sinks[1].Bytes(), content) || x.down.Stats().Bytes != uint64(len(content)) {
			t.Fatalf("seed %d: stored %d bytes of %d", seed, x.down.Stats().Bytes, len(content))
		}
		if over := int(x.up.Stats().Bytes) - len(content); over > lost {
			t.Errorf("seed %d: %d bytes sent again, %d were lost", seed, over, lost)
		}
	}
}

func TestPartMustFit(t *testing.T) {
	content := randomContent(1, 10000)
	partOf := func(received int) Part {
		h := sha256.New()
		h.Write(content[:received])
		return newPart(digestOf(content), 10000, int64(received), h)
	}
	good := partOf(4000)
	x := newTransfers(t, UploadConfig{}, DownloadConfig{})
	x.onOffer = func(now time.Duration, ch mercury.ChannelID, o Offer) {
		sink := &Memory{content: bytes.Clone(content[:4000])}
		for _, spoil := range []func(p *Part){
			func(p *Part) { p.Digest[0]++ },
			func(p *Part) { p.Size++ },
			func(p *Part) { p.Received = 10001 },
			func(p *Part) { p.Received = -1 },
			func(p *Part) { p.state = p.state[:10] },
		} {
			bad := good
			spoil(&bad)
			if err := x.down.Accept(now, ch, o.ID, sink, bad); !errors.Is(err, ErrPart) {
				t.Errorf("part %+v: %v", bad, err)
			}
		}
		x.sinks[o.ID] = sink
		x.accept(ch, o, good)
	}
	x.offer(1, 1, content)
	x.run(200 * time.Millisecond)
	x.wantEnds(nil, nil)
	if x.up.Stats().Bytes != 6000 || !bytes.Equal(x.sinks[1].Bytes(), content) {
		t.Errorf("%d bytes sent", x.up.Stats().Bytes)
	}
	// All of it is there already.
	whole := partOf(10000)
	good, x.upEnds, x.downEnds = whole, nil, nil
	x.onOffer = func(now time.Duration, ch mercury.ChannelID, o Offer) { x.accept(ch, o, whole) }
	x.offer(1, 1, content)
	x.run(200 * time.Millisecond)
	x.wantEnds(nil, nil)
	if x.up.Stats().Bytes != 6000 {
		t.Error("bytes were sent that were there")
	}
}

// A sender that lies cannot have more written than was announced, and nothing before it was accepted.
func TestLyingSender(t *testing.T) {
	offer := message{kind: kindOffer, number: 9, id: 1, size: 10}
	data := func(n int) message { return message{kind: kindData, number: 9, data: make([]byte, n)} }
	tests := []struct {
		name   string
		accept bool
		msgs   []message
		stored int
	}{
		{"too much", true, []message{offer, data(6), data(5)}, 6},
		{"unasked", false, []message{offer, data(6)}, 0},
		{"not offered", true, []message{data(6)}, 0},
		{"behind the end", true, []message{offer, data(10), data(1)}, 10},
		{"offered twice", true, []message{offer, data(6), offer, data(5)}, 6},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			x := newTransfers(t, UploadConfig{}, DownloadConfig{})
			if !test.accept {
				x.onOffer = func(time.Duration, mercury.ChannelID, Offer) {}
			}
			for _, m := range test.msgs {
				if !x.down.Take(0, 1, m.append(nil)) {
					t.Fatal("not taken")
				}
			}
			s := x.down.Stats()
			if s.Malformed+s.Unknown == 0 && len(x.downEnds) == 0 || int(s.Bytes) != test.stored || x.down.Len() != 0 {
				t.Errorf("%+v, endings %+v", s, x.downEnds)
			}
		})
	}
	// Floods of offers hold no more than the limits say, whether or not answers find room.
	x := newTransfers(t, UploadConfig{}, DownloadConfig{})
	x.onOffer = func(time.Duration, mercury.ChannelID, Offer) {}
	x.path.ends[1].limit = 100
	for i := range uint64(10000) {
		m := message{kind: kindOffer, number: i, id: uint32(i), size: 10}
		x.down.Take(0, 1, m.append(nil))
	}
	if n := len(x.down.at[1].out.waiting); x.down.Len() != DefaultMaxDownloads || n > maxBulkWaiting || x.down.Stats().Dropped == 0 {
		t.Errorf("%d downloads, %d answers wait", x.down.Len(), n)
	}
}

// countingSource records what is read of it.
type countingSource struct {
	t    *testing.T
	size int64
	read int64
}

func (s *countingSource) ReadAt(p []byte, at int64) (int, error) {
	if at < 0 || at+int64(len(p)) > s.size {
		s.t.Errorf("read of %d bytes at %d of %d", len(p), at, s.size)
	}
	s.read += int64(len(p))
	return len(p), nil
}

func TestLyingReceiver(t *testing.T) {
	accept := func(n int64) message { return message{kind: kindAccept, number: 1, offset: n} }
	done := message{kind: kindDone, number: 1}
	tests := []struct {
		name string
		msgs []message
		read int64 // at most
	}{
		{"offset beyond the end", []message{accept(100001)}, 0},
		{"largest offset", []message{accept(MaxSize)}, 0},
		{"accept again", []message{accept(0), accept(0), accept(0)}, 100000},
		{"done at once", []message{done}, 0},
		{"done too early", []message{accept(0), done}, 100000},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			x := newTransfers(t, UploadConfig{}, DownloadConfig{})
			source := &countingSource{t: t, size: 100000}
			x.path.ends[1].take = func(time.Duration, mercury.ChannelID, []byte) {}
			if err := x.up.Offer(0, 1, Content{ID: 1, Source: source, Size: source.size, Digest: Digest{1}}); err != nil {
				t.Fatal(err)
			}
			for _, m := range test.msgs {
				x.up.Take(x.path.now, 1, m.append(nil))
				if m.kind == kindAccept && len(test.msgs) == 3 {
					x.run(10 * time.Millisecond)
				}
			}
			x.run(100 * time.Millisecond)
			if len(x.upEnds) != 1 || !errors.Is(x.upEnds[0].err, BrokenProtocol) || x.up.Stats().Malformed != 1 || source.read > test.read {
				t.Errorf("endings %+v, %+v, %d bytes read", x.upEnds, x.up.Stats(), source.read)
			}
		})
	}
}

// Kinds that are not theirs are left to others, and each side leaves the other's.
func TestTakeLeavesOthers(t *testing.T) {
	x := newTransfers(t, UploadConfig{}, DownloadConfig{})
	for kind := range 256 {
		msg := []byte{byte(kind), 1, 1}
		up, down := x.up.Take(0, 1, msg), x.down.Take(0, 1, msg)
		if up && down || (up || down) && (kind < MinKind || kind > MaxKind) {
			t.Errorf("kind %#x taken: %v, %v", kind, up, down)
		}
	}
	if x.up.Take(0, 1, nil) || x.down.Take(0, 1, nil) {
		t.Error("an empty message was taken")
	}
}

func TestDownloadConfigs(t *testing.T) {
	if err := (UploadConfig{}).Validate(); err != nil {
		t.Error(err)
	}
	err := UploadConfig{MaxDownloads: -1, MaxSize: -1, Queue: 100, Piece: 100, HashPerPump: -1, MaxRate: -1, MaxTotalRate: 1 << 40, AnswerWait: -1}.Validate()
	if n := strings.Count(fmt.Sprint(err), "\n") + 1; n != 7 {
		t.Errorf("%d faults of 7: %v", n, err)
	}
	err = DownloadConfig{MaxDownloads: -1, MaxSize: MaxSize + 1, ProgressEvery: -1}.Validate()
	if n := strings.Count(fmt.Sprint(err), "\n") + 1; n != 3 {
		t.Errorf("%d faults of 3: %v", n, err)
	}
	for code := Code(1); code <= TimedOut+1; code++ {
		if code.Error() == "" || strings.Contains(code.Error(), "code") != (code > TimedOut) {
			t.Errorf("code %d is %q", code, code.Error())
		}
	}
}

// Pieces cost no allocation at the sender; the receiver's cost is its sink's.
func TestPumpAllocates(t *testing.T) {
	link := &nullLink{}
	handler := newTransfers(t, UploadConfig{}, DownloadConfig{})
	up, err := NewUploads(link, handler, UploadConfig{})
	if err != nil {
		t.Fatal(err)
	}
	source := &countingSource{t: t, size: DefaultMaxSize}
	if err := up.Offer(0, 1, Content{Source: source, Size: source.size, Digest: Digest{1}}); err != nil {
		t.Fatal(err)
	}
	m := message{kind: kindAccept, number: 1}
	up.Take(0, 1, m.append(nil))
	up.Pump(0)
	if n := testing.AllocsPerRun(100, func() { up.Pump(0) }); n > 0 {
		t.Errorf("%v allocations a Pump", n)
	}
	down, err := NewDownloads(link, handler, DownloadConfig{})
	if err != nil {
		t.Fatal(err)
	}
	handler.onOffer = func(now time.Duration, ch mercury.ChannelID, o Offer) {
		if err := down.Accept(now, ch, o.ID, fullSink{1 << 30}, Part{}); err != nil {
			t.Error(err)
		}
	}
	m = message{kind: kindOffer, number: 1, size: DefaultMaxSize}
	down.Take(0, 1, m.append(nil))
	m = message{kind: kindData, number: 1, data: make([]byte, DefaultUploadPiece)}
	msg := m.append(nil)
	if n := testing.AllocsPerRun(100, func() { down.Take(0, 1, msg) }); n > 0 {
		t.Errorf("%v allocations a piece", n)
	}
}

// A sender that was not told finds out about a channel that is gone by its next word, and lets go of it.
func TestChannelGone(t *testing.T) {
	x := newTransfers(t, UploadConfig{}, DownloadConfig{})
	x.offer(1, 1, randomContent(1, 300000))
	x.offer(1, 2, randomContent(2, 300000))
	x.run(150 * time.Millisecond)
	sent, size, ok := x.up.Progress(1, 1)
	received, _, okDown := x.down.Progress(1, 1)
	if !ok || !okDown || size != 300000 || received == 0 || sent <= received {
		t.Errorf("progress: %d sent, %d received of %d", sent, received, size)
	}
	x.path.cut(1)
	x.run(50 * time.Millisecond)
	if len(x.upEnds) != 2 || !errors.Is(x.upEnds[0].err, mercury.ErrNoChannel) || !errors.Is(x.upEnds[1].err, mercury.ErrNoChannel) || len(x.up.channels) != 0 {
		t.Fatalf("endings %+v, %d channels", x.upEnds, len(x.up.channels))
	}
	err := x.up.Offer(x.path.now, 1, Content{ID: 3, Source: bytes.NewReader(nil), Digest: Digest{1}})
	if !errors.Is(err, mercury.ErrNoChannel) || len(x.upEnds) != 2 {
		t.Errorf("offer on a channel that is gone: %v", err)
	}
	if _, _, ok := x.up.Progress(1, 1); ok {
		t.Error("progress of what has ended")
	}
	// Words that wait for room when the channel goes.
	x.path.ends[0].limit = 1000
	if err := x.path.ends[0].SendBulk(2, make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	x.upEnds = nil
	err = x.up.Offer(x.path.now, 2, Content{ID: 3, Source: bytes.NewReader(nil), Digest: Digest{1}})
	if err != nil || len(x.up.at[2].out.waiting) != 1 {
		t.Fatalf("an offer should wait for room: %v", err)
	}
	x.path.cut(2)
	x.up.Pump(x.path.now)
	if len(x.upEnds) != 1 || !errors.Is(x.upEnds[0].err, mercury.ErrNoChannel) || len(x.up.channels) != 0 {
		t.Fatalf("endings %+v, %d channels", x.upEnds, len(x.up.channels))
	}
}

func TestDownloadsNeedTheirApp(t *testing.T) {
	x := newTransfers(t, UploadConfig{}, DownloadConfig{})
	if _, err := NewUploads(nil, x, UploadConfig{}); err == nil {
		t.Error("Uploads without a link")
	}
	if _, err := NewUploads(&nullLink{}, x, UploadConfig{Piece: -1}); err == nil {
		t.Error("Uploads of negative pieces")
	}
	if _, err := NewDownloads(&nullLink{}, nil, DownloadConfig{}); err == nil {
		t.Error("Downloads without a handler")
	}
	if _, err := NewDownloads(&nullLink{}, x, DownloadConfig{MaxSize: -1}); err == nil {
		t.Error("Downloads of negative size")
	}
	var sink Memory
	if _, err := sink.WriteAt([]byte("x"), 1); err == nil {
		t.Error("memory with a gap")
	}
}
