package entity

// Bounds of what scripts may ask for. Beyond them they get ErrTooMany.
const (
	// MaxTimers bounds the timers of one part of an entity, so that a script that adds one in every
	// callback gets an error before it slows everyone down.
	MaxTimers = 256

	// MaxBaseName bounds the name of a base, in bytes, and MaxBaseNames the names of one base.
	MaxBaseName  = 256
	MaxBaseNames = 16

	// MaxStoreWaits bounds the Writes that one base's script waits for, as for Backups.
	MaxStoreWaits = 64
)
