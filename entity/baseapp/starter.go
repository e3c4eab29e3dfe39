package baseapp

import (
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
)

// Starter creates bases for game code: in Config.Start, and later from scripts of the same app, on
// the app's goroutine.
type Starter struct{ app *BaseApp }

// CreateBase creates a base of a type that has a script, here, each time that it is called; see Ensure for
// an entity of which there is to be one. init, if not nil, first sets properties of
// the base part; then the script's OnCreated is called. Errors are ErrNoScript, entity.ErrTooMany,
// ErrNotJoined, ErrScript and entity.ErrIDsExhausted.
func (s *Starter) CreateBase(typeName string, init func(*property.Values)) (entity.ID, error) {
	d := s.app.cfg.Schema.Type(typeName)
	if d == nil {
		return 0, fmt.Errorf("%w: there is no entity type %q", ErrNoScript, typeName)
	}
	b, err := s.app.create(d, init, nil)
	if err != nil {
		return 0, err
	}
	return b.id, nil
}

// Log is the app's log.
func (s *Starter) Log() *slog.Logger { return s.app.log }

// runStart calls the game's start hook. If the hook panics, what it made so far lives on.
func (a *BaseApp) runStart() {
	if a.cfg.Start == nil {
		return
	}
	defer func() {
		if r := recover(); r != nil {
			a.fault("the start hook panicked", "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
		}
	}()
	a.cfg.Start(&Starter{a})
}
