package download

import (
	"bytes"
	"io"
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/mercury"
)

// nullLink takes all and keeps nothing.
type nullLink struct{ sent int }

func (l *nullLink) SendBulk(_ mercury.ChannelID, msg []byte) error { l.sent += len(msg); return nil }
func (l *nullLink) Backlog(mercury.ChannelID) (int, int)           { return 0, 0 }

// wireMessages has one message of each kind.
func wireMessages() []message {
	return []message{
		{kind: kindOffer, number: 1, id: 7, size: 300, digest: Digest{1, 2}, desc: []byte("map of the north")},
		{kind: kindData, number: 1, data: []byte("content")},
		{kind: kindAbort, number: 1, code: SourceFailed},
		{kind: kindAccept, number: 1, offset: 200},
		{kind: kindRefuse, number: 1, code: TooLarge},
		{kind: kindDone, number: 1},
	}
}

// FuzzDownloadMessage checks that what can be decoded has one encoding, and that limits hold.
func FuzzDownloadMessage(f *testing.F) {
	for _, m := range wireMessages() {
		f.Add(m.append(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var m message
		if m.decode(b) != nil {
			return
		}
		if again := m.append(nil); !bytes.Equal(again, b) {
			t.Fatalf("%x was decoded and encoded as %x", b, again)
		}
		if len(m.desc) > MaxDesc || len(m.data) > MaxPiece || m.size > MaxSize || m.offset > MaxSize {
			t.Fatalf("limits do not hold: %+v", m)
		}
	})
}

// hostile is both sides' app under fuzzing: it counts, and takes what it is offered.
type hostile struct {
	t      *testing.T
	down   *Downloads
	open   int // endings that are due
	offers int
}

func (h *hostile) UploadEnded(time.Duration, mercury.ChannelID, uint32, error) { h.open-- }

func (h *hostile) DownloadOffered(now time.Duration, ch mercury.ChannelID, o Offer) {
	h.offers++
	if o.Size > 1000 || len(o.Desc) > MaxDesc {
		h.t.Fatalf("offered %+v", o)
	}
	if o.ID%4 != 3 {
		if err := h.down.Accept(now, ch, o.ID, &limitedSink{t: h.t, size: o.Size}, Part{}); err != nil {
			h.t.Fatal(err)
		}
	}
}

func (h *hostile) DownloadProgress(time.Duration, mercury.ChannelID, uint32, int64, int64) {}
func (h *hostile) DownloadEnded(time.Duration, mercury.ChannelID, uint32, Part, error) {
	h.offers--
}

// limitedSink fails a test that writes outside of what was announced.
type limitedSink struct {
	t        *testing.T
	at, size int64
}

func (s *limitedSink) WriteAt(p []byte, at int64) (int, error) {
	if at != s.at || at+int64(len(p)) > s.size {
		s.t.Fatalf("write of %d bytes at %d, %d of %d stored", len(p), at, s.at, s.size)
	}
	s.at += int64(len(p))
	return len(p), nil
}

// FuzzDownloads plays an arbitrary peer to both sides: each length byte of the input is followed by
// a message. Nothing is read outside of the source, nor twice; nothing is stored beyond what was
// announced; each ends once.
func FuzzDownloads(f *testing.F) {
	var all []byte
	for _, order := range [][]int{{0, 1, 2, 3, 4, 5}, {3, 5, 0, 1, 1, 1}, {5, 4, 3, 2, 1, 0}} {
		var script []byte
		for _, i := range order {
			m := wireMessages()[i]
			script = codec.AppendBytes(script, m.append(nil))
		}
		f.Add(script)
		all = append(all, script...)
	}
	f.Add(all)
	f.Fuzz(func(t *testing.T, script []byte) {
		app := &hostile{t: t}
		link := &nullLink{}
		up, err := NewUploads(link, app, UploadConfig{Piece: 64, Queue: 200})
		if err != nil {
			t.Fatal(err)
		}
		if app.down, err = NewDownloads(link, app, DownloadConfig{MaxSize: 1000}); err != nil {
			t.Fatal(err)
		}
		sources := make([]*onceSource, 3)
		for i := range sources {
			sources[i] = &onceSource{t: t, size: 300}
			c := Content{ID: uint32(i), Source: sources[i], Size: 300, Digest: Digest{9}}
			if err := up.Offer(0, 1, c); err != nil {
				t.Fatal(err)
			}
			app.open++
		}
		r := codec.NewReader(script)
		for now := time.Duration(0); r.Len() > 0 && now < 300*time.Second; now += time.Second {
			msg := r.Bytes(200)
			if up.Take(now, 1, msg) && app.down.Take(now, 1, msg) {
				t.Fatal("a message taken twice")
			}
			up.Pump(now)
			app.down.Pump(now)
		}
		if up.Len() != app.open || app.down.Len() != app.offers {
			t.Fatalf("%d uploads and %d downloads in progress, told of %d and %d", up.Len(), app.down.Len(), app.open, app.offers)
		}
		up.AbortAll(0, 1, io.EOF)
		app.down.AbortAll(0, 1, io.EOF)
		if app.open != 0 || app.offers != 0 || up.Len() != 0 || app.down.Len() != 0 {
			t.Fatalf("endings missing: %d and %d", app.open, app.offers)
		}
	})
}

// onceSource fails a test that reads outside of it, or twice.
type onceSource struct {
	t        *testing.T
	at, size int64
}

func (s *onceSource) ReadAt(p []byte, at int64) (int, error) {
	if at < s.at || at+int64(len(p)) > s.size {
		s.t.Fatalf("read of %d bytes at %d of %d, read up to %d", len(p), at, s.size, s.at)
	}
	s.at = at + int64(len(p))
	return len(p), nil
}

// A MiB from source to sink, over a link that costs nothing: what the codec, the copies and the digest cost.
func BenchmarkDownloadMiB(b *testing.B) {
	x := newTransfers(b, UploadConfig{}, DownloadConfig{})
	content := randomContent(1, 1<<20)
	digest := digestOf(content)
	b.SetBytes(1 << 20)
	b.ReportAllocs()
	x.onOffer = func(now time.Duration, ch mercury.ChannelID, o Offer) {
		if err := x.down.Accept(now, ch, o.ID, fullSink{1 << 30}, Part{}); err != nil {
			b.Fatal(err)
		}
	}
	up, err := NewUploads(directLink{func(msg []byte) { x.down.Take(0, 1, msg) }}, x, UploadConfig{})
	if err != nil {
		b.Fatal(err)
	}
	var answers [][]byte
	if x.down, err = NewDownloads(directLink{func(msg []byte) { answers = append(answers, msg) }}, x, DownloadConfig{}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := up.Offer(0, 1, Content{Source: bytes.NewReader(content), Size: 1 << 20, Digest: digest}); err != nil {
			b.Fatal(err)
		}
		for up.Len() > 0 {
			for _, msg := range answers {
				up.Take(0, 1, msg)
			}
			answers = answers[:0]
			up.Pump(0)
		}
	}
	if s := x.down.Stats(); s.Failed > 0 || s.Finished == 0 {
		b.Fatalf("%+v", s)
	}
}

// directLink delivers inside of SendBulk.
type directLink struct{ deliver func(msg []byte) }

func (l directLink) SendBulk(_ mercury.ChannelID, msg []byte) error { l.deliver(msg); return nil }
func (l directLink) Backlog(mercury.ChannelID) (int, int)           { return 0, 0 }
