package dbapp

import "github.com/cellscape/cellscape/internal/wire"

// takeStop takes an order about the stop of the world. The store goes on until the process ends: what is
// under way here is what the BaseApps wait for.
func (d *DBApp) takeStop(_ sender, s *wire.Stop) error {
	if !d.manager.Heeds() {
		return errOutdated
	}
	if d.manager.TakeStop(s) {
		d.manager.SayStop(&wire.StopState{})
	}
	return nil
}

// stops reports whether the world is being stopped.
func (d *DBApp) stops() bool {
	step, _ := d.manager.Stopping()
	return step > wire.StopNone
}

// saved reports whether the world was stopped, and nothing of it is under way.
func (d *DBApp) saved() bool {
	step, _ := d.manager.Stopping()
	return step == wire.StopEnded && len(d.calls.jobs) == 0 && !d.spaces.working
}

// Ended reports whether the world was stopped and nothing is under way, so that the process can end.
func (d *DBApp) Ended() bool {
	return d.saved() && (d.lease.released || d.cfg.Unleased || d.leases() == 0 || d.over)
}
