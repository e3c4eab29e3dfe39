// Package load measures how much work something causes, and where in a space that work lies.
//
// # Purpose
//
// A [Meter] belongs to whatever load is asked of: an entity, an entity type, a cell, a CellApp. A
// [Stopwatch] gives the time of one goroutine to the meters in turn. A [Profile] tells, for each
// axis, up to which coordinate a given share of a cell's load lies; [Edges] tell, for each edge of
// a cell, how deep slices of a few given loads reach. A cell reports both, so that lines can be
// placed although nobody else knows where its entities are.
//
// # Contract
//
//   - Load is an int64: nanoseconds of work per second, so that 1e9 is one core. Sums of loads do
//     not depend on their order. A load is never negative and at most [Max].
//   - Time that is spent in nested scopes counts once, for the innermost; within a scope for nobody
//     it counts for nobody.
//   - The clock is read once when time begins to count for another meter, and never otherwise.
//   - A Profile's positions are finite and never decrease. No line of a Profile or of Edges lies
//     between two entities that are nearer to each other than [Clump].
//
// # Concurrency
//
// Nothing here has a lock; each value belongs to one goroutine.
//
// # Caller's duties
//
// The clock is handed in, and must not run backwards (a step back counts as no time). Work that
// migration causes (making ghosts, handing over entities) should run in a scope for nobody:
// otherwise a moved line raises the very load that it was meant to lower.
//
// Smoothing by a twentieth a tick and the five levels of Edges come from seed S0; a Profile says
// the same of the whole cell, and more finely.
package load
