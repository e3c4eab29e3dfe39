package load

import "time"

// MaxNesting limits how many scopes a Stopwatch remembers. A script that calls itself deeper is
// still measured: deeper scopes count for the scope at the limit.
const MaxNesting = 64

// Stopwatch gives the time of one goroutine to one meter at a time: that of the innermost scope
// entered. Make it with NewStopwatch. Everything that one goroutine measures must share one
// Stopwatch; otherwise time that is spent for one cell inside a scope of another would count twice.
// A nil Stopwatch measures nothing.
//
// The clock is read when time begins to count for another meter, and only then: entering the scope
// that one is in, or switching to it, costs no reading.
type Stopwatch struct {
	clock   func() time.Duration
	since   time.Duration
	current *Meter // of the innermost scope; nil counts for nobody
	stack   []scope
	over    int // scopes entered beyond MaxNesting
}

type scope struct {
	meter *Meter // nil counts for nobody
	open  bool   // may be claimed
}

// NewStopwatch returns a stopwatch over a clock that gives the time since some fixed start. A
// simulation hands in a model of cost.
func NewStopwatch(clock func() time.Duration) *Stopwatch {
	return &Stopwatch{clock: clock, stack: make([]scope, 0, MaxNesting)}
}

// Enter starts a scope: from now on time counts for m. A nil meter is a scope whose time counts for
// nobody, and so does everything entered within it: what a game does because an entity is handed
// over is part of the handover.
func (s *Stopwatch) Enter(m *Meter) { s.push(scope{meter: m}) }

// Open is Enter for work whose meter is not known yet: the first Claim gives the scope's time, from
// its beginning, to another meter.
func (s *Stopwatch) Open(m *Meter) { s.push(scope{meter: m, open: true}) }

// Claim gives the innermost scope to m, or to nobody if m is nil, provided that Open began the
// scope and nothing has claimed it yet; anywhere else it does nothing. It does not read the clock.
// Time that was spent in scopes within stays where it is, and what came before those goes to the
// meter of Open: claim before entering others.
func (s *Stopwatch) Claim(m *Meter) {
	if s == nil || s.over > 0 || len(s.stack) == 0 {
		return
	}
	top := &s.stack[len(s.stack)-1]
	if !top.open {
		return
	}
	top.open = false
	if s.nobody(len(s.stack) - 1) {
		return
	}
	top.meter, s.current = m, m
}

// Switch ends the scope that was entered last and starts one for m in its place, with one reading
// of the clock: it is for walks over entities, where one follows the other. It does nothing without
// a scope, or where time already counts for m.
func (s *Stopwatch) Switch(m *Meter) {
	// This is short enough for the compiler to inline: most steps of a walk are for entities with
	// nothing to do.
	if s != nil && s.current != m {
		s.replace(m)
	}
}

func (s *Stopwatch) replace(m *Meter) {
	if s.over > 0 || len(s.stack) == 0 {
		return
	}
	top := len(s.stack) - 1
	if s.nobody(top) {
		m = nil
	}
	s.stack[top] = scope{meter: m}
	s.count(m)
}

// Leave ends the scope that was entered last; time counts for the one around it again. Without a
// scope it does nothing.
func (s *Stopwatch) Leave() {
	switch {
	case s == nil:
	case s.over > 0:
		s.over--
	case len(s.stack) > 0:
		s.stack = s.stack[:len(s.stack)-1]
		var outer *Meter
		if n := len(s.stack); n > 0 {
			outer = s.stack[n-1].meter
		}
		s.count(outer)
	}
}

func (s *Stopwatch) push(x scope) {
	if s == nil {
		return
	}
	if len(s.stack) == MaxNesting {
		s.over++
		return
	}
	if s.nobody(len(s.stack)) {
		x.meter = nil
	}
	s.stack = append(s.stack, x)
	s.count(x.meter)
}

// nobody reports whether the scope at that depth lies within one that counts for nobody.
func (s *Stopwatch) nobody(depth int) bool { return depth > 0 && s.stack[depth-1].meter == nil }

// count books the time since the last switch, and goes on for m.
func (s *Stopwatch) count(m *Meter) {
	if m == s.current {
		return
	}
	now := s.clock()
	if s.current != nil {
		s.current.Add(now - s.since)
	}
	s.since, s.current = now, m
}
