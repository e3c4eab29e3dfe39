//go:build !race

package sim

// How many seeds TestSeeds runs without -seeds, how many of the kept ones
// TestKept, and that TestHandoff runs every case.
const seedsByDefault, keptByDefault, everyHandoff = 24, 1 << 10, 1
