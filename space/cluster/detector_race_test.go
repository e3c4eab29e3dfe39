//go:build race

package cluster_test

// detector is how many times as much memory a test may take as the program would: the race detector
// makes buffers anew that are else used again, up to three times as many as were measured.
const detector = 4
