package flow_test

import (
	"fmt"
	"time"

	"github.com/cellscape/cellscape/entity/flow"
)

// A flow keeps order and delivers nothing twice, whatever the network does. The sender keeps what
// is not settled and sends it again.
func Example() {
	var out flow.Sender
	var in flow.Receiver
	deliver := func(p []byte) { fmt.Printf("%s ", p) }

	now := time.Duration(0)
	for _, word := range []string{"one", "two", "three"} {
		n, err := out.Add(now, []byte(word))
		if err != nil {
			fmt.Println(err)
			return
		}
		if n == 1 {
			continue // lost on the way
		}
		in.Accept(1, out.Low(), n, []byte(word), deliver) // waits for the first
	}
	now += flow.ResendAfter
	if out.Due(now) {
		out.Each(now, func(n uint64, p []byte) { in.Accept(1, out.Low(), n, p, deliver) })
	}
	out.Settle(now, in.Last())
	fmt.Println("kept:", out.Kept())
	// Output: one two three kept: 0
}
