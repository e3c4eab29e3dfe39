// Package status says how a world is: its spaces and their cells, its processes, what they count.
//
// # Purpose
//
//	space, baseapp ... -- Counters --> CellAppMgr -- World --> cluster.Cluster.Status, cluster.Observer
//
// A [World] is what operators look at, and what pages and metrics are made from. The processes count
// in [Counters] and [TickTimes], and the CellAppMgr adds them up.
//
// # Contract
//
//   - The names and the order of the JSON stay as they are: pages read them.
//   - A World is a copy, which no process keeps or changes.
//   - A counter never falls, but for the world's when the CellAppMgr starts anew.
//
// # Concurrency
//
// The types are plain values: whoever holds one guards it.
package status
