package invariant_test

import (
	"fmt"

	"github.com/cellscape/cellscape/internal/invariant"
)

// counter never goes back.
type counter struct{ n, seen int }

func (c *counter) set(n int) {
	c.n = n
	if invariant.On {
		c.assert()
	}
}

func (c *counter) assert() {
	if c.n < c.seen {
		invariant.Broken("a counter goes back from %d to %d", c.seen, c.n)
	}
	c.seen = c.n
}

func Example() {
	var c counter
	c.set(2)
	defer func() {
		if f, caught := recover().(invariant.Fault); caught != invariant.On {
			fmt.Println("caught:", caught, f)
		}
	}()
	c.set(1)
	// Output:
}
