package shared

import "errors"

const (
	// MaxKey bounds a key, in bytes: a path of some words.
	MaxKey = 255
	// MaxValue bounds a value, in bytes of MessagePack.
	MaxValue = 16 << 10
	// MaxKeys and MaxBytes bound all keys and values together: each app has a copy, and one that
	// joins is told all in one message.
	MaxKeys  = 4096
	MaxBytes = 512 << 10
	// MaxUpdates bounds the calls of Data.Update that wait on an app: some seconds of them.
	MaxUpdates = 256
)

var (
	// ErrKey is returned for a key that is empty or longer than MaxKey.
	ErrKey = errors.New("shared: a key has 1 to 255 bytes")
	// ErrTooLong is returned for a value that is longer than MaxValue.
	ErrTooLong = errors.New("shared: the value takes more than 16 KiB")
)
