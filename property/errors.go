package property

import "errors"

// Errors that callers tell apart with errors.Is.
var (
	// ErrTruncated: the bytes end before the value does.
	ErrTruncated = errors.New("property: stream is truncated")
	// ErrTrailing: bytes remain after the last value of something that must be exact.
	ErrTrailing = errors.New("property: bytes after the end")
	// ErrLength: a length or count is above its limit, or is not written in its shortest form.
	ErrLength = errors.New("property: bad length")
	// ErrValue: a value does not fit its type.
	ErrValue = errors.New("property: value does not fit its type")
	// ErrSide: this side of the entity does not hold the property or the stream.
	ErrSide = errors.New("property: not held by this side")
	// ErrIndex: the type has no property of that index.
	ErrIndex = errors.New("property: no such property")
	// ErrArgs: the number of arguments is not that of the method.
	ErrArgs = errors.New("property: wrong number of arguments")
	// ErrEventGap: an event number does not follow the last one, so something between was lost or is late.
	ErrEventGap = errors.New("property: gap in event numbers")
	// ErrHistory: a history stream contradicts itself.
	ErrHistory = errors.New("property: bad history")
)
