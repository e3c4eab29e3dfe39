// Package overload decides how much a CellApp saves when it has too much work, because a crowd is
// too dense to be divided. Its clients are sent less at a time, then details only from nearer
// entities, and at last its space runs slower.
//
// A Throttle sees only the load of the CellApp. BaseApps that do not keep up and ticks that end
// late count as load, too. But for late ticks alone, of a CellApp that has less work than its core
// carries, time is not slowed: others have the processor, and that gives none of it back. The
// throttle goes down a ladder step by step while the load is too high, and up again, more slowly,
// once there is room:
//
//	step        0    1    2 ..  7 |  8    9 .. 14 | 15   16 .. 22
//	budget   1000  800  640 .. 250|250  250   250 |250  250   250   what clients are sent at once
//	detail   1000 1000 1000   1000|900  810 .. 500|500  500   500   from how far they are sent details
//	rate     1000 1000 1000   1000|1000 1000  1000|800  640 .. 200  how fast the space is to run
//
//	   load too high for Dwell: down            load so low for Recovery that
//	   (from rest: for Patience)                a step up fits: up
//
// Logins are refused before: cellappmgr's bound is below Start, its tolerance below Patience. Budgets
// go before details, although less detail would save work as well: with a smaller budget the client
// is told everything, what is far away later, while a detail beyond the smaller distance is not told
// at all. Where budgets have room to spare, those steps save nothing and pass in Dwell each; a crowd
// that fills a CellApp is not such a place. The rate of time goes last, since everybody notices it.
// The status names the step and the shares (status.App.Saving).
//
// # Why it settles
//
// No step changes the load by more than its own ratio: half the budget leaves at least half the
// work, and half the distance at least a quarter, since that goes by area. So the throttle steps up
// only if the load, grown by that whole ratio, would stay below Start by a margin. Unless the crowd
// has grown, a step up never gives a reason to step down again. It takes several steps down at once
// only if together they save less than the excess, so that they do not go too far.
//
// The load is the mean since the last step took effect, so the effect of a step is seen before the
// next. A smoothed load has to agree, so that no single peak counts.
//
// # Concurrency
//
// A Throttle belongs to the goroutine of its CellApp.
package overload
