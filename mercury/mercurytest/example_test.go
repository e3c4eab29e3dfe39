package mercurytest_test

import (
	"fmt"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
)

// Two endpoints over a network that loses every fifth datagram: what was sent
// arrives once and in order, and a minute of it takes no time.
func Example() {
	w := mercurytest.NewWorld(1)
	w.Net.SetLink(mercurytest.Link{Loss: 0.2, Delay: 20 * time.Millisecond})
	var heard mercurytest.Recorder
	endpoint := func(n int, h mercury.Handler) *mercury.Endpoint {
		e, err := mercury.NewEndpoint(mercury.Config{Salt: uint32(n)}, mercurytest.Place(n), h)
		if err != nil {
			panic(err)
		}
		w.Add(e)
		return e
	}
	a, b := endpoint(1, &mercurytest.Recorder{}), endpoint(2, &heard)
	ch := a.Dial(b.Self())
	for i := range 100 {
		if err := a.Send(ch, fmt.Append(nil, "message ", i)); err != nil {
			panic(err)
		}
	}
	w.Run(time.Minute)
	got := heard.Of(heard.Order[0]).Reliable
	fmt.Println(len(got), string(got[0]), string(got[99]))
	// Output: 100 message 0 message 99
}
