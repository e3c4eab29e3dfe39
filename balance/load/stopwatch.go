package load

import "time"

// MaxNesting limits how many scopes a Stopwatch remembers. A script that calls itself deeper is still measured: what
// lies deeper counts for the scope at the limit.
const MaxNesting = 64

// Stopwatch gives the time of one goroutine to one meter at a time: the innermost scope that is entered. Make it with
// NewStopwatch.
type Stopwatch struct {
	clock func() time.Duration
	since time.Duration
	stack []*Meter
	over  int // scopes entered beyond MaxNesting
}

// NewStopwatch returns a stopwatch over a clock that gives the time since some fixed start. A simulation hands in a
// model of cost.
func NewStopwatch(clock func() time.Duration) *Stopwatch {
	return &Stopwatch{clock: clock, stack: make([]*Meter, 0, MaxNesting)}
}

// Enter starts a scope: from now on time counts for m. A nil meter is a scope whose time counts for nobody.
func (s *Stopwatch) Enter(m *Meter) {
	if len(s.stack) == MaxNesting {
		s.over++
		return
	}
	s.charge()
	s.stack = append(s.stack, m)
}

// Leave ends the scope that was entered last; time counts for the one around it again. Without a scope it does
// nothing.
func (s *Stopwatch) Leave() {
	switch {
	case s.over > 0:
		s.over--
	case len(s.stack) > 0:
		s.charge()
		s.stack = s.stack[:len(s.stack)-1]
	}
}

// charge books the time since the last switch.
func (s *Stopwatch) charge() {
	now := s.clock()
	if n := len(s.stack); n > 0 && s.stack[n-1] != nil {
		s.stack[n-1].Add(now - s.since)
	}
	s.since = now
}
