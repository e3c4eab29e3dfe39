package gametime

import "time"

// NormalRate is the rate, in thousandths, at which game time keeps pace with the time of the
// cluster.
const NormalRate = 1000

// Clock says how the game time of a space follows the time of the cluster, which is the
// CellAppMgr's. A space that has more to do than its CellApps can do is slowed down: the CellAppMgr
// gives all its cells a new Clock. Lost game time is never made up for, so two spaces need not have
// the same.
//
//	game time
//	  |                            .·'  Rate 1000 again
//	  |                         .·'
//	  |                _..--··''
//	  |         _..-''     Rate 400
//	  |      .·'|         |
//	  |   .·'   | Game    |
//	  +---------+---------+-------------- cluster time
//	           At
//
// A Clock with a number is one function of cluster time. So all cells that hold it have the same
// game time, as nearly as they know the time of the cluster, whenever they heard of it. It is
// handed out some time before At, so that all cells hold it by then.
type Clock struct {
	// Number rises with every change; it is 0 before the first. A cell ignores a Clock whose number
	// is not above that of its own.
	Number uint64
	// At is the cluster time from which the Clock counts; Game is the game time at that moment.
	At, Game time.Duration
	// Rate is by how many thousandths of a millisecond game time advances in a millisecond, 1 to
	// NormalRate; 0 counts as NormalRate.
	Rate uint16
}

// GameAt is the game time at a cluster time. Before At it is what it would have been at the same
// rate.
func (k Clock) GameAt(cluster time.Duration) time.Duration {
	return k.Game + AtRate(cluster-k.At, k.Runs())
}

// Runs is the effective rate, in thousandths.
func (k Clock) Runs() uint16 {
	if k.Rate == 0 {
		return NormalRate
	}
	return k.Rate
}

// AtRate is d at a rate in thousandths. It divides first: a product would overflow after a hundred
// days at one rate.
func AtRate(d time.Duration, rate uint16) time.Duration {
	return d/NormalRate*time.Duration(rate) + d%NormalRate*time.Duration(rate)/NormalRate
}
