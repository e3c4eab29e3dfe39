package call_test

import (
	"fmt"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/call"
)

// Three questions on channels to two servers: one is answered, one server dies, and one never says
// anything.
func ExampleCalls() {
	var calls call.Calls[string]
	ask := func(ch mercury.ChannelID, what string) call.ID {
		id, err := calls.Begin(0, ch, 500*time.Millisecond, func(_ time.Duration, answer string, err error) {
			fmt.Printf("%s: %q %v\n", what, answer, err)
		})
		if err != nil {
			fmt.Println(err)
		}
		return id // the message that asks has it, and the one that answers
	}
	ada := ask(1, "Ada")
	ask(2, "Bob")
	ask(1, "Cyd")

	calls.Answer(20*time.Millisecond, 1, ada, "120 gold")
	calls.Closed(30*time.Millisecond, 2, mercury.ErrTimeout)
	calls.Advance(time.Second)
	// Output:
	// Ada: "120 gold" <nil>
	// Bob: "" mercury: peer is silent
	// Cyd: "" call: no answer in time
}
