package entity

// Call describes a call while a script handles it. If the death of a CellApp causes a call to be
// made again, its Call is the same. So a script whose effects outlive the restore of its entity can
// tell that it has handled the call already.
type Call struct {
	// Source is the entity whose client or cell part made the call, 0 for the base.
	Source ID
	// Number is the number of the message from the source's base that caused the call. It rises
	// from message to message; two calls caused by one message have the same. It is 0 for a call
	// without such a cause, for example from a timer's callback. In a call by the client of another
	// entity it counts what that client said; it rises there, too.
	Number uint64
}
