package download

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
)

// bulkEnd is one end of a fake path for bulk messages: a queue per channel that drains at a rate,
// then a delay.
type bulkEnd struct {
	path   *bulkPath
	queues map[mercury.ChannelID][][]byte
	limit  int // bytes that a queue takes
	most   int // bytes that a queue ever held
	gone   map[mercury.ChannelID]bool
	sent   uint64
	take   func(now time.Duration, ch mercury.ChannelID, msg []byte)
	chans  []mercury.ChannelID // in order of use
	credit map[mercury.ChannelID]int
}

// SendBulk implements Link.
func (e *bulkEnd) SendBulk(ch mercury.ChannelID, msg []byte) error {
	if e.gone[ch] {
		return mercury.ErrNoChannel
	}
	_, queued := e.Backlog(ch)
	if queued+len(msg) > e.limit {
		return mercury.ErrFull
	}
	if e.queues[ch] == nil {
		e.chans = append(e.chans, ch)
	}
	e.queues[ch] = append(e.queues[ch], bytes.Clone(msg))
	e.most = max(e.most, queued+len(msg))
	e.sent += uint64(len(msg))
	return nil
}

// Backlog implements Link.
func (e *bulkEnd) Backlog(ch mercury.ChannelID) (unsent, bulkUnsent int) {
	for _, msg := range e.queues[ch] {
		bulkUnsent += len(msg)
	}
	return bulkUnsent, bulkUnsent
}

// bulkPath joins two ends in virtual time.
type bulkPath struct {
	now    time.Duration
	ends   [2]*bulkEnd
	perMS  int // bytes a millisecond and channel
	delay  time.Duration
	flying []bulkFlight
}

type bulkFlight struct {
	at  time.Duration
	to  int
	ch  mercury.ChannelID
	msg []byte
}

func newBulkPath() *bulkPath {
	p := &bulkPath{perMS: 1000, delay: 25 * time.Millisecond}
	for i := range p.ends {
		p.ends[i] = &bulkEnd{path: p, queues: map[mercury.ChannelID][][]byte{}, credit: map[mercury.ChannelID]int{}, gone: map[mercury.ChannelID]bool{}, limit: 1 << 20}
	}
	return p
}

// step moves time on by one millisecond.
func (p *bulkPath) step() {
	p.now += time.Millisecond
	for i, e := range p.ends {
		for _, ch := range e.chans {
			e.credit[ch] = min(e.credit[ch], 0) + p.perMS
			for len(e.queues[ch]) > 0 && e.credit[ch] > 0 {
				msg := e.queues[ch][0]
				e.queues[ch] = e.queues[ch][1:]
				e.credit[ch] -= len(msg)
				p.flying = append(p.flying, bulkFlight{p.now + p.delay, 1 - i, ch, msg})
			}
		}
	}
	for len(p.flying) > 0 && p.flying[0].at <= p.now {
		f := p.flying[0]
		p.flying = p.flying[1:]
		if e := p.ends[f.to]; !e.gone[f.ch] {
			e.take(p.now, f.ch, f.msg)
		}
	}
}

// cut ends a channel at both ends, with all that is on its way.
func (p *bulkPath) cut(ch mercury.ChannelID) {
	for _, e := range p.ends {
		e.gone[ch] = true
		e.queues[ch] = nil
	}
}

// inFlight is the number of bytes on their way on a channel.
func (p *bulkPath) inFlight(ch mercury.ChannelID) (n int) {
	for _, f := range p.flying {
		if f.ch == ch {
			n += len(f.msg)
		}
	}
	return n
}

type ending struct {
	ch   mercury.ChannelID
	id   uint32
	err  error
	part Part
}

// transfers is Uploads and Downloads over a path, with handlers that keep what they hear.
type transfers struct {
	t         testing.TB
	path      *bulkPath
	up        *Uploads
	down      *Downloads
	upEnds    []ending
	downEnds  []ending
	offers    []Offer
	progress  []int64
	onOffer   func(now time.Duration, ch mercury.ChannelID, o Offer)
	onUpEnd   func(e ending)
	onDownEnd func(e ending)
	sinks     map[uint32]*Memory // by ID
}

func newTransfers(t testing.TB, up UploadConfig, down DownloadConfig) *transfers {
	x := &transfers{t: t, path: newBulkPath(), sinks: map[uint32]*Memory{}}
	var err error
	if x.up, err = NewUploads(x.path.ends[0], x, up); err != nil {
		t.Fatal(err)
	}
	if x.down, err = NewDownloads(x.path.ends[1], x, down); err != nil {
		t.Fatal(err)
	}
	x.onOffer = func(now time.Duration, ch mercury.ChannelID, o Offer) { x.accept(ch, o, Part{}) }
	x.path.ends[0].take = func(now time.Duration, ch mercury.ChannelID, msg []byte) { x.up.Take(now, ch, msg) }
	x.path.ends[1].take = func(now time.Duration, ch mercury.ChannelID, msg []byte) { x.down.Take(now, ch, msg) }
	return x
}

func (x *transfers) accept(ch mercury.ChannelID, o Offer, part Part) {
	x.t.Helper()
	if x.sinks[o.ID] == nil || part.IsZero() {
		x.sinks[o.ID] = &Memory{}
	}
	if err := x.down.Accept(x.path.now, ch, o.ID, x.sinks[o.ID], part); err != nil {
		x.t.Fatalf("accept: %v", err)
	}
}

func (x *transfers) UploadEnded(_ time.Duration, ch mercury.ChannelID, id uint32, err error) {
	e := ending{ch: ch, id: id, err: err}
	x.upEnds = append(x.upEnds, e)
	if x.onUpEnd != nil {
		x.onUpEnd(e)
	}
}

func (x *transfers) DownloadOffered(now time.Duration, ch mercury.ChannelID, o Offer) {
	x.offers = append(x.offers, o)
	x.onOffer(now, ch, o)
}

func (x *transfers) DownloadProgress(_ time.Duration, _ mercury.ChannelID, _ uint32, received, _ int64) {
	x.progress = append(x.progress, received)
}

func (x *transfers) DownloadEnded(_ time.Duration, ch mercury.ChannelID, id uint32, part Part, err error) {
	e := ending{ch, id, err, part}
	x.downEnds = append(x.downEnds, e)
	if x.onDownEnd != nil {
		x.onDownEnd(e)
	}
}

// run moves on by d, with a Pump of both sides every 16 ms.
func (x *transfers) run(d time.Duration) {
	for end := x.path.now + d; x.path.now < end; {
		if x.path.now%(16*time.Millisecond) == 0 {
			x.up.Pump(x.path.now)
			x.down.Pump(x.path.now)
		}
		x.path.step()
	}
}

func (x *transfers) offer(ch mercury.ChannelID, id uint32, content []byte) {
	x.t.Helper()
	err := x.up.Offer(x.path.now, ch, Content{ID: id, Desc: "content", Source: bytes.NewReader(content), Size: int64(len(content))})
	if err != nil {
		x.t.Fatalf("offer: %v", err)
	}
}

// wantEnds checks that the only endings are one on each side, with these errors; nil is success.
func (x *transfers) wantEnds(up, down error) {
	x.t.Helper()
	if len(x.upEnds) != 1 || !errors.Is(x.upEnds[0].err, up) || len(x.downEnds) != 1 || !errors.Is(x.downEnds[0].err, down) {
		x.t.Fatalf("endings %+v and %+v, want %v and %v", x.upEnds, x.downEnds, up, down)
	}
	if x.up.Len() != 0 || x.down.Len() != 0 {
		x.t.Fatalf("%d uploads and %d downloads are left over", x.up.Len(), x.down.Len())
	}
}

func randomContent(seed uint64, size int) []byte {
	rng := rand.New(rand.NewPCG(seed, 7))
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}
