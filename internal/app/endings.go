package app

import (
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/wire"
)

const (
	// MaxEndings bounds the spaces whose end an app waits for. Thousands of rooms may be closed at
	// once while the manager is away for a moment.
	MaxEndings = 16384

	// askAgain is how long an app waits for the answer to a DestroySpace.
	askAgain = time.Second
)

// Endings holds the spaces that an app has asked its CellAppMgr to destroy, until it answers. The
// zero value is empty.
type Endings struct {
	asked []entity.SpaceID
	at    time.Duration // when to ask for all of them again
}

// Ask asks for the end of a space. It reports false if too many are waiting.
func (e *Endings) Ask(manager *Member, id entity.SpaceID) bool {
	if !slices.Contains(e.asked, id) {
		if len(e.asked) >= MaxEndings {
			return false
		}
		e.asked = append(e.asked, id)
	}
	manager.Send(&wire.DestroySpace{Space: id})
	return true
}

// Answered takes the manager's answer.
func (e *Endings) Answered(id entity.SpaceID) {
	e.asked = slices.DeleteFunc(e.asked, func(x entity.SpaceID) bool { return x == id })
}

// Tick repeats unanswered requests.
func (e *Endings) Tick(now time.Duration, manager *Member) {
	if now < e.at {
		return
	}
	e.at = now + askAgain
	for _, id := range e.asked {
		manager.Send(&wire.DestroySpace{Space: id})
	}
}
