package logs_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/logs"
)

const ms = time.Millisecond

func TestLimit(t *testing.T) {
	var l logs.Limit
	for _, step := range []struct {
		now      time.Duration
		cause    string
		unlogged int
		ok       bool
	}{{0, "a", 0, true}, {0, "a", 0, false}, {0, "b", 0, true}, {999 * ms, "a", 0, false}, {time.Second, "a", 2, true}, {time.Second, "b", 0, true}, {3 * time.Second, "a", 0, true}} {
		if n, ok := l.Allow(step.now, step.cause); n != step.unlogged || ok != step.ok {
			t.Errorf("%v %s: %d %v", step.now, step.cause, n, ok)
		}
	}
}

// A thousand messages are refused within one second, and one more a second later.
func Example() {
	var lines logs.Limit
	for i := range 1001 {
		if unlogged, ok := lines.Allow(time.Duration(i)*time.Millisecond, "refused"); ok {
			fmt.Println("message refused, unlogged:", unlogged)
		}
	}
	// Output:
	// message refused, unlogged: 0
	// message refused, unlogged: 999
}
