package app

import (
	"slices"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// MaxLooks bounds the looks of one app that are under way: the manager asks for one at a time for each app
// that it suspects, and a whole machine of them may be silent at once. The oldest is given up first; the
// manager no longer waits for it.
const MaxLooks = 256

// Looks are the questions of the CellAppMgr whether others can be reached. A witness only says what
// it has seen; the manager judges.
type Looks struct {
	// Lookout looks. With nil the manager does without this opinion.
	Lookout mercury.Lookout

	waits []looking
	last  uint64 // token
}

// looking is a question that waits for a look.
type looking struct {
	token uint64
	wire.Look
}

// Take begins a look.
func (l *Looks) Take(m *wire.Look) {
	if l.Lookout == nil {
		return
	}
	if len(l.waits) == MaxLooks {
		l.waits = slices.Delete(l.waits, 0, 1)
	}
	l.last++
	l.waits = append(l.waits, looking{l.last, *m})
	l.Lookout.Probe(l.last, m.App.At)
}

// Reached returns the answer that a look has given; false if it was given up.
func (l *Looks) Reached(token uint64, found mercury.Reach) (wire.Seen, bool) {
	i := slices.IndexFunc(l.waits, func(w looking) bool { return w.token == token })
	if i < 0 {
		return wire.Seen{}, false
	}
	w := l.waits[i]
	l.waits = slices.Delete(l.waits, i, i+1)
	return wire.Seen{Inquiry: w.Inquiry, App: w.App, Reach: found}, true
}
