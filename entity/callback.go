package entity

import "errors"

// MaxTimers bounds the timers of one part of an entity: a script that adds one in every callback
// is told, before it slows everyone down.
const MaxTimers = 256

// CallbackID names what a part of an entity has started and will call its script back: a timer or
// a controller. Ids rise, and none is given out twice in the life of the part.
type CallbackID uint32

// Callback is what a timer or a controller tells its script. The script names the method to call,
// a func (T) OnX(entity.Callback): names travel with the entity, closures do not.
type Callback struct {
	// ID is what AddTimer, AddController or MoveTo returned.
	ID CallbackID
	// User is what the script gave along.
	User int64
}

// Errors of timers, controllers and requests, on every part of an entity.
var (
	// ErrNoCallback is returned for a name that is no callback of the script.
	ErrNoCallback = errors.New("entity: the script has no such callback")
	// ErrTooMany is returned beyond a bound: MaxTimers, for example.
	ErrTooMany = errors.New("entity: too many")
	// ErrGone is returned by the methods of a part that has been destroyed or has moved on.
	ErrGone = errors.New("entity: this part of the entity is no longer here")
)
