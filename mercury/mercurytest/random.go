package mercurytest

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
)

// direction is what was sent one way on a channel, in order.
type direction struct {
	sent [][]byte
}

// modelChannel is a channel as a naive bystander sees it: end 0 dialled, end 1 accepted. Its first
// message is its number, so that the two ends can be matched from outside.
type modelChannel struct {
	ends    [2]mercury.ChannelID
	by      int // which transport dialled: 0 for A
	ways    [2]direction
	ended   [2]bool // closed or aborted by that side
	aborted bool
}

// RandomRun drives the rig by steps random operations drawn from seed and compares with a naive
// model: on every channel each side has received a beginning of what the other sent, each message
// once and in order; after a quiet time the whole of it, if no one aborted and the receiver did not
// close first. The faults of the Link vary during the run.
func RandomRun(t testing.TB, rig *Rig, seed uint64, steps int) {
	r := &randomRun{t: t, rig: rig, rng: rand.New(rand.NewPCG(seed, 2))}
	t.Logf("seed %d", seed)
	for i := range r.recorders {
		rec := &r.recorders[i]
		rec.OnMessage = func(ch mercury.ChannelID, reliable bool, msg []byte) { r.match(i, ch, reliable, msg) }
	}
	rig.SetHandlers(&r.recorders[0], &r.recorders[1])
	for range steps {
		r.step()
	}
	if rig.SetLink != nil {
		rig.SetLink(Link{})
	}
	for _, c := range r.channels {
		for end, ch := range c.ends {
			r.transport(c.side(end)).Resume(ch)
		}
	}
	rig.RunUntil(patience, r.settled)
	r.check(true)
}

type randomRun struct {
	t         testing.TB
	rig       *Rig
	rng       *rand.Rand
	recorders [2]Recorder
	channels  []*modelChannel
	unsure    int // unreliable messages seen, to prove that there were some
}

func (r *randomRun) transport(side int) mercury.Transport {
	if side == 0 {
		return r.rig.A
	}
	return r.rig.B
}

// match learns which accepted channel belongs to which dial, by the first message.
func (r *randomRun) match(side int, ch mercury.ChannelID, reliable bool, msg []byte) {
	if !reliable {
		r.unsure++
		return
	}
	if len(r.recorders[side].Of(ch).Reliable) != 1 || len(msg) < 4 {
		return
	}
	n := binary.LittleEndian.Uint32(msg)
	if n < uint32(len(r.channels)) && r.channels[n].by != side && r.channels[n].ends[1] == 0 {
		r.channels[n].ends[1] = ch
	}
}

func (r *randomRun) step() {
	switch n := r.rng.IntN(100); {
	case n < 6 || len(r.channels) == 0:
		r.dial()
	case n < 60:
		r.send()
	case n < 63:
		r.close(false)
	case n < 65:
		r.close(true)
	case n < 68:
		r.pause()
	case n < 72 && r.rig.SetLink != nil:
		r.rig.SetLink(Link{
			Loss: 0.2 * r.rng.Float64(), Duplicate: 0.2 * r.rng.Float64(), Reorder: 0.3 * r.rng.Float64(),
			Delay: time.Duration(r.rng.IntN(100)) * time.Millisecond, Jitter: time.Duration(r.rng.IntN(50)) * time.Millisecond,
		})
	default:
		r.rig.RunUntil(time.Duration(r.rng.IntN(60))*time.Millisecond, func() bool { return false })
	}
	r.check(false)
}

// dial opens a channel and names it in its first message.
func (r *randomRun) dial() {
	by := r.rng.IntN(2)
	from, to := r.transport(by), r.transport(1-by)
	id := from.Dial(to.Self())
	for _, c := range r.channels {
		if c.by == by && c.ends[0] == id {
			return // it lives already
		}
	}
	c := &modelChannel{by: by, ends: [2]mercury.ChannelID{id, 0}}
	r.channels = append(r.channels, c)
	r.sendOn(c, 0, binary.LittleEndian.AppendUint32(nil, uint32(len(r.channels)-1)))
}

// side maps an end of a channel (0 the dialler's) to a transport.
func (c *modelChannel) side(end int) int { return c.by ^ end }

func (r *randomRun) send() {
	c := r.channels[r.rng.IntN(len(r.channels))]
	end := r.rng.IntN(2)
	if c.ends[end] == 0 {
		return
	}
	if r.rng.IntN(5) == 0 {
		_, err := r.transport(c.side(end)).SendUnreliable(c.ends[end], []byte("maybe"))
		if gone := r.gone(c, end); err != nil && !(gone && errors.Is(err, mercury.ErrNoChannel)) {
			r.t.Fatalf("SendUnreliable on a channel (gone: %v): %v", gone, err)
		}
		return
	}
	for range 1 + r.rng.IntN(10) {
		size := r.rng.IntN(200)
		if r.rng.IntN(15) == 0 {
			size = r.rng.IntN(min(30000, r.rig.MaxMessage))
		}
		msg := make([]byte, 4+size)
		for i := range msg {
			msg[i] = byte(r.rng.Uint32())
		}
		r.sendOn(c, end, msg)
	}
}

// gone reports whether an end of a channel knows that it has ended.
func (r *randomRun) gone(c *modelChannel, end int) bool {
	return c.ended[end] || len(r.recorders[c.side(end)].Of(c.ends[end]).Closed) > 0
}

func (r *randomRun) sendOn(c *modelChannel, end int, msg []byte) {
	err := r.transport(c.side(end)).Send(c.ends[end], msg)
	gone := r.gone(c, end)
	switch {
	case err == nil && !gone:
		c.ways[end].sent = append(c.ways[end].sent, msg)
	case gone && errors.Is(err, mercury.ErrNoChannel):
	default:
		r.t.Fatalf("Send on a channel (gone: %v): %v", gone, err)
	}
}

// pause pauses an end or resumes it.
func (r *randomRun) pause() {
	c := r.channels[r.rng.IntN(len(r.channels))]
	end := r.rng.IntN(2)
	if c.ends[end] == 0 {
		return
	}
	if x := r.transport(c.side(end)); r.rng.IntN(3) == 0 {
		x.Pause(c.ends[end])
	} else {
		x.Resume(c.ends[end])
	}
}

func (r *randomRun) close(abort bool) {
	c := r.channels[r.rng.IntN(len(r.channels))]
	end := r.rng.IntN(2)
	if c.ends[end] == 0 || c.ended[end] || len(r.recorders[c.side(end)].Of(c.ends[end]).Closed) > 0 {
		return
	}
	if abort {
		c.aborted = true
		r.transport(c.side(end)).Abort(c.ends[end])
	} else {
		r.transport(c.side(end)).Close(c.ends[end])
	}
	c.ended[end] = true
}

// received is what an end was given.
func (r *randomRun) received(c *modelChannel, end int) *Seen {
	if c.ends[end] == 0 {
		return &Seen{}
	}
	return r.recorders[c.side(end)].Of(c.ends[end])
}

// owed reports whether all that the other end sent must come to end in the long run.
func (r *randomRun) owed(c *modelChannel, end int) bool {
	return !c.aborted && !c.ended[end]
}

func (r *randomRun) settled() bool {
	for _, c := range r.channels {
		for end := range 2 {
			if r.owed(c, end) && len(r.received(c, end).Reliable) < len(c.ways[1-end].sent) {
				return false
			}
		}
	}
	return true
}

func (r *randomRun) check(final bool) {
	r.t.Helper()
	for n, c := range r.channels {
		for end := range 2 {
			got, sent := r.received(c, end), c.ways[1-end].sent
			if got.Late > 0 || len(got.Closed) > 1 || got.Opened > 1 || c.ended[end] && len(got.Closed) > 0 && !c.aborted {
				r.t.Fatalf("channel %d end %d: callbacks out of order: %+v", n, end, got.Closed)
			}
			if len(got.Reliable) > len(sent) {
				r.t.Fatalf("channel %d end %d: %d messages of %d sent", n, end, len(got.Reliable), len(sent))
			}
			if final && r.owed(c, end) && len(got.Reliable) < len(sent) {
				r.t.Fatalf("channel %d end %d: only %d messages of %d, closed %v", n, end, len(got.Reliable), len(sent), got.Closed)
			}
			first := 0
			if !final {
				first = max(0, len(got.Reliable)-20) // the rest was compared before
			}
			for i := first; i < len(got.Reliable); i++ {
				if string(got.Reliable[i]) != string(sent[i]) {
					r.t.Fatalf("channel %d end %d: message %d differs", n, end, i)
				}
			}
		}
	}
}
