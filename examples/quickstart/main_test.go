package main

import "testing"

// The program ends by itself; a fault ends it with log.Fatal or a panic.
func TestMainEnds(t *testing.T) {
	if testing.Short() {
		t.Skip("takes four seconds")
	}
	main()
}
