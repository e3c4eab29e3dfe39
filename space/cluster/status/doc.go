// Package status has the types that describe the state of a world: its spaces and their cells, its
// processes, and their counters.
//
// # Purpose
//
//	space, baseapp ... -- Counters --> CellAppMgr -- World --> cluster.Cluster.Status, cluster.Observer
//
// Operators look at a [World], and pages and metrics are made from it. The processes count in
// [Counters] and [TickTimes], and the CellAppMgr adds them up. What only one kind of process or
// carrier counts is in [Counts], of each by itself.
//
// # Contract
//
//   - The names and the order of the JSON stay as they are, since pages read them.
//   - A World is a copy that no process keeps or changes.
//   - A counter never falls, except that the world's counters do when the CellAppMgr restarts.
//
// # Concurrency
//
// The types are plain values without locks.
package status
