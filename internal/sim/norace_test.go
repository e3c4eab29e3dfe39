//go:build !race

package sim

// These are how many seeds TestSeeds runs without -seeds, and how many kept ones TestKept runs;
// TestHandoff and TestSteps run every case.
const seedsByDefault, keptByDefault, everyHandoff, everyStep, everyBreak = 48, 1 << 10, 1, 1, 1

const racing = false
