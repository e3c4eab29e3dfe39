//go:build race

package sim

// The race detector makes a run ten times slower: it gets a sixth of the seeds
// and a fourth of the handoffs.
const seedsByDefault, keptByDefault, everyHandoff = 4, 4, 4
