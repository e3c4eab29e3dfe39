package client

// EnterWatcher is the hook of a script of Register that is told when its entity has come into view,
// before Events.Entered. It has its values and its place by then.
type EnterWatcher interface{ OnEntered() }

// LeaveWatcher is the hook of a script of Register that is told when its entity has gone out of
// view: before Events.Left, and also when all that was seen goes at once, before Events.Reset,
// CellGone, LeftSpace and EntitiesReset. Only the end of the session is not told. The script is not
// called any more after it.
type LeaveWatcher interface{ OnLeft() }

// MoveWatcher is the hook of a script of Register that is told when its entity has moved, before
// Events.Moved.
type MoveWatcher interface{ OnMoved() }

// RideWatcher is the hook of a script of Register or RegisterPlayer that is told what
// Events.RideChanged is told, before that.
type RideWatcher interface{ OnRideChanged() }

// ForcedWatcher is the hook of a player's script that is told what Events.Forced is told, before
// that.
type ForcedWatcher interface{ OnForced() }

func (r *Replica) tellEntered() {
	if s, ok := r.Script().(EnterWatcher); ok {
		s.OnEntered()
	}
}

func (r *Replica) tellLeft() {
	if s, ok := r.Script().(LeaveWatcher); ok {
		s.OnLeft()
	}
}

func (r *Replica) tellMoved() {
	if s, ok := r.Script().(MoveWatcher); ok {
		s.OnMoved()
	}
}

func (r *Replica) tellForced() {
	if s, ok := r.Script().(ForcedWatcher); ok {
		s.OnForced()
	}
}

func (r *Replica) tellRide() {
	if s, ok := r.Script().(RideWatcher); ok {
		s.OnRideChanged()
	}
}
