// Package metrics publishes the status of a world to Prometheus.
//
// # Purpose
//
//	managers ── status.World, each second ──> Cluster.Status, Observer ──> Collector <── a scrape
//
// The managers know of every process, so one target tells all of a world: its size, its load, how
// long its ticks take, what it tells clients, what was lost or refused. Register a Collector where
// the program serves its own metrics: in the process of the managers, or in one with a
// cluster.Observer. What the Go runtime does in the other processes is theirs to tell, by the
// collectors of the Prometheus library.
//
// # Contract
//
//   - All names begin with "cellscape_", and stay as they are, since rules and boards read them.
//     Times are in seconds, shares from 0 to 1. The text of each says what it is; package status has
//     the whole story.
//   - cellscape_world_known is 1 where the status is, and 0, with a reason, where it is not: with
//     managers at several places only those that lead have it. Then there is nothing else. So the sum
//     over all places is 1 in a sound world, and an alarm asks for less.
//   - Counters run since the start of their process, or of the managers that lead, and begin anew
//     with them, as Prometheus expects.
//   - The size is bounded. Spaces are told one by one up to Config.Spaces, with their cells; the world's
//     sums are of all. The arena, ten processes in one space of four cells, has some 600 figures.
//
// # Concurrency
//
// A Collector may be registered in several registries, and read from any goroutine.
package metrics
