package cellapp

import "time"

// clusterTime is the time of the cluster, the CellAppMgr's, as far as the CellApp
// knows it: each CellsReport says what it is here, and a CellApp that is behind is
// welcomed again.
func (a *CellApp) clusterTime(now time.Duration) time.Duration { return now + a.shift }

// hearTime takes the time from a Welcome after the first. It is older than it was by as
// long as the Welcome was under way, so that the newest of several is the best; and the
// time goes on, never back. (Only the first was taken. It came late over a bad link, and
// the cells here had a game time seconds behind that of the others, for good.)
func (a *CellApp) hearTime(now, told time.Duration) { a.shift = max(a.shift, told-now) }
