//go:build !race

package sim

// How many seeds TestSeeds runs without -seeds, how many of the kept ones
// TestKept, and that TestHandoff and TestSteps run every case.
const seedsByDefault, keptByDefault, everyHandoff, everyStep, everyBreak = 48, 1 << 10, 1, 1, 1

const racing = false
