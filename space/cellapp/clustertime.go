package cellapp

import "time"

// clusterTime is the time of the cluster, which the CellAppMgr keeps, as far as the CellApp knows
// it. Each CellsReport carries it, and the manager welcomes a CellApp that is behind once more.
func (a *CellApp) clusterTime(now time.Duration) time.Duration { return now + a.shift }

// hearTime takes the time from a further Welcome. What a Welcome says is late by its time under
// way, so the latest of several times is the best; the time never goes back. (Once only the first
// Welcome counted. It came late over a bad link, and the game time of the cells here stayed seconds
// behind the others' for good.)
func (a *CellApp) hearTime(now, told time.Duration) { a.shift = max(a.shift, told-now) }
