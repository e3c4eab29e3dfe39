package download

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
)

// downloadModel is one download as a naive bystander sees it.
type downloadModel struct {
	ch                   mercury.ChannelID
	id                   uint32
	content              []byte
	upOver, downOver     bool
	offered              bool
	upDone, downDone     bool
	upCancel, downCancel bool
}

type randomDownloads struct {
	*transfers
	seed uint64
	rng  *rand.Rand
	all  []*downloadModel
}

// of finds the last download with an ID; IDs are not used twice here.
func (r *randomDownloads) of(id uint32) *downloadModel { return r.all[id] }

// Random offers, cancels on both sides, cuts, foreign bulk messages and full queues. Each download
// ends once on each side that knows of it; a content that the sender takes for delivered has
// arrived; nothing is left over.
func TestDownloadsAgainstTwin(t *testing.T) {
	for seed := range uint64(30) {
		r := &randomDownloads{transfers: newTransfers(t, UploadConfig{Queue: 20000, Piece: 3000, MaxDownloads: 20, AnswerWait: 2 * time.Second}, DownloadConfig{MaxDownloads: 4}),
			seed: seed, rng: rand.New(rand.NewPCG(seed, 3))}
		r.path.perMS = 200 + r.rng.IntN(2000)
		r.path.ends[0].limit, r.path.ends[1].limit = 25000, 60
		r.watch()
		channels := []mercury.ChannelID{1, 2, 3}
		last := mercury.ChannelID(3)
		for range 400 {
			ch := channels[r.rng.IntN(len(channels))]
			switch n := r.rng.IntN(100); {
			case n < 15:
				r.offerOne(ch)
			case n < 20:
				r.cancelUp()
			case n < 25:
				r.cancelDown()
			case n < 27:
				_ = r.path.ends[0].SendBulk(ch, make([]byte, 24000)) // the app's own
			case n < 29:
				r.path.cut(ch)
				last++
				for i := range channels {
					if channels[i] == ch {
						channels[i] = last
					}
				}
				if r.rng.IntN(2) == 0 { // else they find out by themselves, or by silence
					r.up.AbortAll(r.path.now, ch, mercury.ErrPeerAborted)
				}
				r.down.AbortAll(r.path.now, ch, mercury.ErrPeerAborted)
			case n < 31:
				r.up.AbortAll(r.path.now, ch, errDisk)
			default:
				r.run(time.Duration(1+r.rng.IntN(40)) * time.Millisecond)
			}
		}
		r.run(8 * time.Second)
		r.check()
	}
}

// watch notes what the handlers hear.
func (r *randomDownloads) watch() {
	r.onOffer = func(now time.Duration, ch mercury.ChannelID, o Offer) {
		m := r.of(o.ID)
		if m.offered || m.ch != ch || o.Size != int64(len(m.content)) {
			r.t.Fatalf("seed %d: offered wrongly: %+v", r.seed, o)
		}
		m.offered = true
		switch r.rng.IntN(8) {
		case 0:
			_, err := r.down.Cancel(ch, o.ID)
			m.downOver, m.downCancel = true, true
			if err != nil {
				r.t.Fatal(err)
			}
		case 1: // not answered
		default:
			r.sinks[o.ID] = &Memory{}
			// The channel may be gone; then it has ended.
			if err := r.down.Accept(now, ch, o.ID, r.sinks[o.ID], Part{}); err != nil {
				m.downOver = true
			}
		}
	}
	r.onUpEnd = func(e ending) {
		m := r.of(e.id)
		if m.upOver {
			r.t.Fatalf("seed %d: ended twice at the sender: %+v", r.seed, e)
		}
		m.upOver, m.upDone = true, e.err == nil
	}
	r.onDownEnd = func(e ending) {
		m := r.of(e.id)
		if m.downOver || !m.offered {
			r.t.Fatalf("seed %d: ended twice at the receiver: %+v", r.seed, e)
		}
		m.downOver, m.downDone = true, e.err == nil
		if s := r.sinks[e.id]; s != nil && !bytes.Equal(s.Bytes(), m.content[:len(s.Bytes())]) {
			r.t.Fatalf("seed %d: stored something else", r.seed)
		}
		if e.err != nil && e.part.Received > 0 && e.part.Received != int64(len(r.sinks[e.id].Bytes())) {
			r.t.Fatalf("seed %d: part of %d, stored %d", r.seed, e.part.Received, len(r.sinks[e.id].Bytes()))
		}
	}
}

func (r *randomDownloads) offerOne(ch mercury.ChannelID) {
	m := &downloadModel{ch: ch, id: uint32(len(r.all)), content: randomContent(r.seed, r.rng.IntN(60000))}
	c := Content{ID: m.id, Source: bytes.NewReader(m.content), Size: int64(len(m.content))}
	if r.rng.IntN(2) == 0 {
		c.Digest = digestOf(m.content)
	}
	r.all = append(r.all, m)
	if err := r.up.Offer(r.path.now, ch, c); err != nil {
		if !errors.Is(err, ErrTooMany) {
			r.t.Fatalf("seed %d: %v", r.seed, err)
		}
		r.all = r.all[:len(r.all)-1]
	}
}

func (r *randomDownloads) cancelUp() {
	if len(r.all) == 0 {
		return
	}
	m := r.all[r.rng.IntN(len(r.all))]
	if err := r.up.Cancel(m.ch, m.id); (err == nil) == m.upOver {
		r.t.Fatalf("seed %d: cancel of %+v: %v", r.seed, m, err)
	}
	m.upCancel = m.upCancel || !m.upOver
	m.upOver = true
}

func (r *randomDownloads) cancelDown() {
	if len(r.all) == 0 {
		return
	}
	m := r.all[r.rng.IntN(len(r.all))]
	if _, err := r.down.Cancel(m.ch, m.id); (err == nil) != (m.offered && !m.downOver) {
		r.t.Fatalf("seed %d: cancel of %+v: %v", r.seed, m, err)
	}
	if m.offered && !m.downOver {
		m.downOver, m.downCancel = true, true
	}
}

func (r *randomDownloads) check() {
	r.t.Helper()
	if r.up.Len() != 0 || r.down.Len() != 0 || len(r.up.channels) != 0 || len(r.down.channels) != 0 {
		r.t.Errorf("seed %d: left over: %d uploads, %d downloads, %d and %d channels", r.seed, r.up.Len(), r.down.Len(), len(r.up.channels), len(r.down.channels))
	}
	done := 0
	for i, m := range r.all {
		if !m.upOver || m.offered && !m.downOver || m.upDone && !m.downDone {
			r.t.Errorf("seed %d: download %d: %+v", r.seed, i, *m)
		}
		if m.downDone {
			done++
			if !bytes.Equal(r.sinks[m.id].Bytes(), m.content) {
				r.t.Errorf("seed %d: download %d: another content", r.seed, i)
			}
		}
	}
	if up := r.up.Stats(); done == 0 || up.Malformed != 0 || up.Dropped != 0 || r.down.Stats().Malformed != 0 || r.path.ends[0].most > 25000 {
		r.t.Errorf("seed %d: %d finished, %+v, %+v", r.seed, done, up, r.down.Stats())
	}
}
