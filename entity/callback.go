package entity

import (
	"errors"
)

// CallbackID names a timer or controller that a part of an entity has started. Ids rise, and none
// is used twice in the life of the part.
type CallbackID uint32

// Callback is the argument of a timer's or controller's callback. The script gives the name of the
// method to call, a func (T) OnX(entity.Callback), because names travel with the entity and
// closures do not.
type Callback struct {
	// ID is what AddTimer, AddController or MoveTo returned.
	ID CallbackID
	// User is the number that the script gave with it.
	User int64
	// Err is of a Backup, and says why there is none: limits.ErrTooLarge, or that no other BaseApp has
	// room for it. Then the death of a process may undo what was done before. It is of a MoveToEntity
	// as well, of which the other is not there any more, and of controllers that say why they have ended
	// (space.Controller).
	Err error
}

// Errors of timers, controllers and requests, on every part of an entity.
var (
	// ErrNoCallback is returned for a name that is not a callback of the script.
	ErrNoCallback = errors.New("entity: the script has no such callback")
	// ErrTooMany is returned beyond a bound, such as limits.Timers.
	ErrTooMany = errors.New("entity: too many")
	// ErrGone is returned by methods of a part that has been destroyed or has moved to another app.
	ErrGone = errors.New("entity: this part of the entity is no longer here")
)
