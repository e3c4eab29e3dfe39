//go:build race

package sim

// The race detector makes a run ten times slower: with it, a twelfth of the seeds, a fourth of the
// handoffs and an eighth of the steps are run.
const seedsByDefault, keptByDefault, everyHandoff, everyStep, everyBreak = 4, 4, 4, 8, 6

const racing = true
