package entity

// Call names a call while a script handles it. When the death of a CellApp has a call
// made again, it has the same name, so that a script whose effects outlive the restore
// of its entity can tell that it had them already.
type Call struct {
	// Source is the entity whose client or cell part made the call, 0 for the base.
	Source ID
	// Number is that of the message from the source's base that caused the call, and
	// rises from message to message; two calls that one message causes have the same.
	// It is 0 for a call that has no such cause, as that of a timer's callback.
	Number uint64
}
