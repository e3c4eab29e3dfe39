//go:build !race

package cluster_test

// detector is how many times as much memory a test may take as the program would.
const detector = 1
