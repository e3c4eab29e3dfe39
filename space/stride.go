package space

import (
	"encoding/binary"
	"time"

	"github.com/cellscape/cellscape/internal/codec"
)

const (
	// MaxDebt is how far a client's moves may be ahead of the time in which they can be made.
	MaxDebt = maxJitter + clocksApart

	// maxJitter is for the network, which lets some moves come late and the next ones early: two ticks
	// of the client.
	maxJitter = 200 * time.Millisecond

	// clocksApart is by how much the next cell may be behind the last one in the time of the cluster:
	// that much the CellAppMgr leaves two CellApps apart (cellappmgr's timeApart).
	clocksApart = 100 * time.Millisecond

	// maxSilence is the longest time without a move for which the moves after it may make up: a
	// network that stalls for longer has mostly ended the session. It also bounds what a client
	// gains that only plays dead: it comes no farther than it could have walked.
	maxSilence = 5 * time.Second

	// burst is how long after a silence the moves that were made in it may still come: a stalled
	// network delivers them one upon the other, as fast as it can.
	burst = 500 * time.Millisecond

	// speedTolerance is how much faster than the top speed a client may be, since its clock is not the
	// server's, and places are rounded: a runner must not be stopped once an hour.
	speedTolerance = 1.01

	// longestWay is longer than any way that is allowed, and fits a time.Duration.
	longestWay = time.Hour
)

// stride is how the moves of a client are timed: the time that they take at top speed must have
// passed, but for a debt of at most MaxDebt. Time that a client does not use is lost while its moves
// come steadily. That of a silence pays for the moves that were made in it and come in a burst, or in
// several. So the sum of all ways is bounded by the time that has passed and the debt, however the
// network holds moves up. CellApps know the time of the cluster a little differently, so after a hop
// less than no time may have passed: if that counted as none, each crossing would give some away.
type stride struct {
	last  time.Duration // when the last move was taken, in the time of the cluster
	saved time.Duration // time not used by then; negative for a debt
	until time.Duration // saved time is lost then
}

// begin counts from now on. A debt remains, or each beginning would give it away again.
func (s *stride) begin(now time.Duration) {
	s.last, s.saved = now, min(s.saved, 0)
}

// take takes a move that needs a time at top speed, and reports false if it came too soon. One that
// needs none never does.
func (s *stride) take(now, need time.Duration) bool {
	passed := min(max(-clocksApart, now-s.last), maxSilence) // what a hop takes away, the one back gives
	saved := s.saved
	if passed <= maxJitter && now > s.until {
		saved = min(saved, 0)
	}
	left := saved + passed - need
	if left < -MaxDebt && need > 0 {
		return false
	}
	if passed > maxJitter {
		s.until = now + burst
	}
	s.saved, s.last = min(max(left, -MaxDebt), maxSilence), now
	return true
}

// append and read carry a stride to another cell. All cells share the time of the cluster.
func (s *stride) append(b []byte) []byte {
	b = binary.AppendVarint(b, int64(s.last))
	b = binary.AppendVarint(b, int64(s.saved))
	return binary.AppendVarint(b, int64(s.until-s.last))
}

func (s *stride) read(rd *codec.Reader) {
	s.last, s.saved = time.Duration(rd.Varint()), time.Duration(rd.Varint())
	ahead := time.Duration(rd.Varint())
	if s.last < 0 || s.saved < -MaxDebt || s.saved > maxSilence {
		rd.Fail(errSteering)
		return
	}
	s.until = s.last + min(ahead, burst)
}
