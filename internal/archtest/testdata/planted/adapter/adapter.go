// Package adapter is in the table of impure packages.
package adapter

import (
	"sync"
	"time"
)

var mu sync.Mutex

// Start may do all of it.
func Start(m map[int]int) {
	mu.Lock()
	for range m {
		go time.Now()
	}
}
