package app

import (
	"log/slog"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/wire"
)

// askAgain is how long an errand waits for an answer before it is asked again.
const askAgain = time.Second

// MaxEndings bounds the spaces that an app waits to hear the end of: thousands of rooms may be
// closed at once, while the manager is away for a moment.
const MaxEndings = 16384

// Errands are questions to a manager that are asked until it answers: again each second, and of
// each manager that there will be. So a question must mean the same a second time.
type Errands struct {
	links   *Links
	manager *Member
	max     int
	open    []*errand // in the order in which they began
}

// errand is one question.
type errand struct {
	ask          func() error
	asked, ended bool
	ends         entity.SpaceID // the space that it is to end, or 0
}

// NewErrands returns errands of a member to its manager, at most max at a time.
func NewErrands(m *Member, max int) Errands { return Errands{m.links, m, max, nil} }

// Insist asks a question until it is answered, and then calls done. It reports false if too many
// wait.
func Insist[A wire.Call](e *Errands, question wire.Call, done func(answer A)) bool {
	if len(e.open) >= e.max {
		return false
	}
	x := &errand{}
	x.ask = func() error {
		_, err := Ask(e.links, e.manager.ch, askAgain, question, func(_ time.Duration, answer A, err error) {
			if x.asked = false; err == nil && !x.ended {
				x.ended = true
				done(answer)
			}
		})
		return err
	}
	e.open = append(e.open, x)
	e.try(x)
	return true
}

// DestroySpace has the manager end a space; a refusal is logged. It reports false if too many wait.
func (e *Errands) DestroySpace(id entity.SpaceID, log *slog.Logger) bool {
	if slices.ContainsFunc(e.open, func(x *errand) bool { return x.ends == id && !x.ended }) {
		return true
	}
	ok := Insist(e, &wire.DestroySpace{Space: id}, func(m *wire.SpaceDestroyed) {
		if m.Reason != "" {
			log.Warn("space not destroyed", "space", id, "reason", m.Reason)
		}
	})
	if ok {
		e.open[len(e.open)-1].ends = id
	}
	return ok
}

// Tick asks what was not answered in time, or by nobody who is still there.
func (e *Errands) Tick() {
	e.open = slices.DeleteFunc(e.open, func(x *errand) bool { return x.ended })
	for _, x := range e.open {
		e.try(x)
	}
}

func (e *Errands) try(x *errand) {
	if e.manager.open && !x.asked {
		x.asked = x.ask() == nil // what could not be sent was counted, and is tried again
	}
}

// Open is how many there are.
func (e *Errands) Open() int { return len(e.open) }

// Asking is how many of them wait for an answer now.
func (e *Errands) Asking() (n int) {
	for _, x := range e.open {
		if x.asked {
			n++
		}
	}
	return n
}

// Drop forgets all of them.
func (e *Errands) Drop() {
	for _, x := range e.open {
		x.ended = true
	}
	e.open = nil
}
