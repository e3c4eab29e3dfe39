package download

import (
	"errors"
	"time"

	"github.com/cellscape/cellscape/mercury"
)

// maxPumpGap is the longest time between two calls of Pump of which all counts: sums stay within 63
// bits.
const maxPumpGap = time.Second

// tokens is a share of bytes a second. Each refill gives what has come together since the last one,
// and nothing is saved up: a share that was not used would come out as a burst, which the game
// feels. What is taken may leave a debt, so that pieces of any size pass at any rate and the long
// run is exact. It counts bytes times nanoseconds, in integers, so that no rounding adds up.
type tokens struct {
	rate    int64 // bytes/s; 0 is no limit
	credit  int64 // bytes × 1e9
	last    time.Duration
	started bool
}

// refill adds what has come together since the last call. A new share begins with nothing.
func (k *tokens) refill(now time.Duration) {
	if k.started && now > k.last {
		more := k.rate * int64(min(now-k.last, maxPumpGap))
		k.credit = min(k.credit, 0) + more
	}
	k.last, k.started = max(now, k.last), true
}

func (k *tokens) ok() bool { return k.rate == 0 || k.credit > 0 }

func (k *tokens) take(bytes int) {
	if k.rate > 0 {
		k.credit -= int64(bytes) * int64(time.Second)
	}
}

// Pump moves all downloads on: it fills up the channels' queues to UploadConfig.Queue, computes
// digests, and ends what was not answered in time. Call it each tick, before the Endpoint's Flush.
// It calls UploadEnded for what has ended.
func (u *Uploads) Pump(now time.Duration) {
	u.total.refill(now)
	for _, c := range u.channels {
		u.prepare(now, c)
	}
	u.computeDigests(now)
	u.sendPieces(now)
	u.forgetIdle()
	u.later.run()
}

// prepare does for one channel what is due before it is sent to.
func (u *Uploads) prepare(now time.Duration, c *uploadChannel) {
	c.rate.refill(now)
	if err := c.out.retry(u.link, c.ch); err != nil {
		u.endAll(now, c, err)
	}
	for i := 0; i < len(c.list); i++ {
		up := c.list[i]
		if (up.state == uploadOffered || up.state == uploadSent) && now-up.since >= u.cfg.AnswerWait {
			u.giveUp(now, c, up, &Error{Code: TimedOut})
			i--
		}
	}
	_, queued := u.link.Backlog(c.ch)
	c.room = u.cfg.Queue - queued
	if len(c.out.waiting) > 0 {
		c.room = 0 // nothing may overtake an offer or an end
	}
}

// computeDigests reads on in contents without a digest, HashPerPump bytes in all.
func (u *Uploads) computeDigests(now time.Duration) {
	left := u.cfg.HashPerPump
	for i := range u.channels {
		c := u.channels[(u.turn+i)%len(u.channels)]
		for j := 0; j < len(c.list); j++ {
			up := c.list[j]
			if up.state != uploadHashing {
				continue
			}
			if left <= 0 {
				return
			}
			var err error
			if left, err = u.computeDigest(now, c, up, left); err != nil {
				u.endHashing(now, c, up, err)
				j = -1 // the list has changed
			}
		}
	}
}

// computeDigest reads at most left bytes of one content, offers it when all are read, and returns
// what is left.
func (u *Uploads) computeDigest(now time.Duration, c *uploadChannel, up *upload, left int) (int, error) {
	for up.sent < up.Size {
		if left <= 0 {
			return 0, nil
		}
		piece := u.piece(min(int64(left), int64(MaxPiece), up.Size-up.sent))
		if err := readFull(up.Source, piece, up.sent); err != nil {
			return left, &Error{Code: SourceFailed, Cause: err}
		}
		_, _ = up.hash.Write(piece) // a hash never fails
		up.sent += int64(len(piece))
		left -= len(piece)
	}
	up.Digest = Digest(up.hash.Sum(nil))
	return left, u.offer(now, c, up)
}

// endHashing ends a content whose source failed, or all of a channel that is gone.
func (u *Uploads) endHashing(now time.Duration, c *uploadChannel, up *upload, err error) {
	var source *Error
	if errors.As(err, &source) {
		u.fail(now, c, up, err)
		return
	}
	u.endAll(now, c, err)
}

// sendPieces lets the channels take turns, one piece each, until none has room, content and rate.
func (u *Uploads) sendPieces(now time.Duration) {
	n := len(u.channels)
	if n == 0 {
		return
	}
	first := u.turn % n
	for again := true; again; {
		again = false
		for i := range n {
			at := (first + i) % n
			if !u.total.ok() {
				u.turn = at // was about to have its turn
				return
			}
			if u.sendPiece(now, u.channels[at]) {
				again = true
			}
		}
	}
	u.turn = (first + 1) % n // who computes digests first is to change
}

// sendPiece sends the next piece of a channel. It reports whether there may be more to do for it.
func (u *Uploads) sendPiece(now time.Duration, c *uploadChannel) bool {
	up := c.next()
	if up == nil || !c.rate.ok() {
		return false
	}
	piece := u.piece(min(int64(u.cfg.Piece), up.Size-up.sent))
	if len(piece)+maxDataOverhead > c.room {
		return false
	}
	if err := readFull(up.Source, piece, up.sent); err != nil {
		u.giveUp(now, c, up, &Error{Code: SourceFailed, Cause: err})
		return true
	}
	m := message{kind: kindData, number: up.number, data: piece}
	u.msg = m.append(u.msg[:0])
	err := u.link.SendBulk(c.ch, u.msg)
	switch {
	case errors.Is(err, mercury.ErrFull): // others use the queue too; the piece is read again
		c.room = 0
		return false
	case err != nil:
		u.endAll(now, c, err)
		return false
	}
	c.room -= len(u.msg)
	c.rate.take(len(u.msg))
	u.total.take(len(u.msg))
	c.turn++
	u.sentSome(now, up, len(piece))
	return true
}

// next is the download whose turn it is, among those that have something to send.
func (c *uploadChannel) next() *upload {
	for range c.list {
		if c.turn >= len(c.list) {
			c.turn = 0
		}
		if up := c.list[c.turn]; up.state == uploadSending {
			return up
		}
		c.turn++
	}
	return nil
}

// piece is a buffer of n bytes for one reading.
func (u *Uploads) piece(n int64) []byte {
	if int64(cap(u.buf)) < n {
		u.buf = make([]byte, n)
	}
	return u.buf[:n]
}

// forgetIdle drops channels on which nothing goes on.
func (u *Uploads) forgetIdle() {
	kept := u.channels[:0]
	for _, c := range u.channels {
		// A debt is kept: to end and offer anew is no way round MaxRate.
		if len(c.list) == 0 && len(c.out.waiting) == 0 && c.rate.credit >= 0 {
			delete(u.at, c.ch)
			continue
		}
		kept = append(kept, c)
	}
	clear(u.channels[len(kept):])
	u.channels = kept
}
