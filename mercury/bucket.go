package mercury

import (
	"time"
)

// bucket bounds how many things may happen in a second.
type bucket struct {
	left, burst int
	perSecond   int
	from        time.Duration
}

// take reports whether one more may happen.
func (b *bucket) take(now time.Duration) bool {
	if since := now - b.from; since >= time.Second/time.Duration(b.perSecond) {
		b.left = min(b.burst, b.left+int(min(since, time.Second)*time.Duration(b.perSecond)/time.Second))
		b.from = now
	}
	if b.left == 0 {
		return false
	}
	b.left--
	return true
}
