// Package overload says how sparing a CellApp has to be that has more to do than it can, because a
// crowd is too dense to be divided: its clients are sent less at once, then details from less far
// away, and at last its space runs slower.
//
// A Throttle goes by the load of the CellApp alone, as which counts also that a BaseApp does not
// keep up, and that ticks end late. It is a ladder that is gone down step by step while the load
// is too high, and up again, more slowly, once there is room:
//
//	step        0    1    2 ..  7 |  8    9 .. 14 | 15   16 .. 22
//	budget   1000  800  640 .. 250|250  250   250 |250  250   250   what clients are sent at once
//	detail   1000 1000 1000   1000|900  810 .. 500|500  500   500   from how far they are sent details
//	rate     1000 1000 1000   1000|1000 1000  1000|800  640 .. 200  how fast the space is to run
//
//	   load too high for Dwell: down            load so low for Recovery that
//	   (from rest: for Patience)                a step up fits: up
//
// # Why it settles
//
// No step changes the load by more than its own ratio: half the budget leaves at
// least half the work (half the distance a quarter, since it goes by area). So
// a step up is taken only if the load, grown by that whole ratio, stays below Start by
// a margin: after a step up there is never a reason for one down, unless the crowd
// has grown. Several steps down at once are taken only if they save less than what
// is too much, so that they do not go too far.
//
// The load is the mean since the last step took effect, so that what a step did is
// seen before the next; a smoothed load has to agree, so that no single peak counts.
//
// # Concurrency
//
// A Throttle belongs to the goroutine of its CellApp.
package overload
