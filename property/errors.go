package property

import (
	"errors"

	"github.com/cellscape/cellscape/property/internal/mpack"
)

// Errors that callers tell apart with errors.Is.
var (
	// ErrTruncated: the bytes end before the value does.
	ErrTruncated = mpack.ErrTruncated
	// ErrTrailing: bytes remain after the last value of something that must be exact.
	ErrTrailing = mpack.ErrTrailing
	// ErrLength: a length or count is above its limit, or is not written in its shortest form.
	ErrLength = mpack.ErrLength
	// ErrValue: a value does not fit its type.
	ErrValue = mpack.ErrValue
	// ErrSide: this side of the entity does not hold the property or the stream.
	ErrSide = errors.New("property: not held by this side")
	// ErrReadOnly: the values are a ghost's or a client's copy; only the real or the base changes
	// them.
	ErrReadOnly = errors.New("property: a copy is read-only")
	// ErrOversize: a property's value would be too large to travel whole.
	ErrOversize = errors.New("property: value is too large")
	// ErrPath: a path leads to no part of the value, or to one that cannot be changed by itself.
	ErrPath = errors.New("property: no such part of the value")
	// ErrIndex: the type has no property of that index.
	ErrIndex = errors.New("property: no such property")
	// ErrArgs: the number of arguments is not that of the method.
	ErrArgs = errors.New("property: wrong number of arguments")
	// ErrEventGap: an event number does not follow the last one, so something between was lost or
	// is late.
	ErrEventGap = errors.New("property: gap in event numbers")
	// ErrHistory: a history stream contradicts itself.
	ErrHistory = errors.New("property: bad history")
)
