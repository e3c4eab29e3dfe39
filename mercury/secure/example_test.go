package secure_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/secure"
)

// A client opens a channel in one round trip, is given a ticket on it, and opens the next one
// without a round trip. The example writes out what an Endpoint does with a Guard; an app gives the
// Guard to its Endpoint as Config.Guard and is done.
func Example() {
	random := rand.NewChaCha8([32]byte{1}) // crypto/rand.Reader outside of examples
	key, err := secure.GenerateKey(random)
	if err != nil {
		fmt.Println(err)
		return
	}
	server, err := secure.New(secure.Config{Random: random, Key: key})
	if err != nil {
		fmt.Println(err)
		return
	}
	client, err := secure.New(secure.Config{Random: random, ServerKey: key.Public()})
	if err != nil {
		fmt.Println(err)
		return
	}

	now := time.Second
	to := mercury.Address{At: netip.MustParseAddrPort("192.0.2.1:20013")}
	from := netip.MustParseAddrPort("198.51.100.9:40000")
	bind := []byte("what the open says in the clear")

	d, _ := client.Dial(now, to, bind)
	reply, _ := server.Answer(nil, now, from, bind, d.Hello())
	pass, near, err := d.Finish(now, reply)
	fmt.Println("one round trip:", err)

	packet := append(make([]byte, 0, 100), "head: hello, server"...)
	packet = near.Seal(packet, 6, 0)
	far, err := server.Admit(now, from, bind, pass)
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := far.Open(packet, 6, 0)
	fmt.Printf("server reads %q, %v\n", text, err)

	client.Keep(now, to, server.Ticket(nil, now, from))
	d, _ = client.Dial(now, to, bind)
	pass, _, ok := d.Early()
	_, err = server.Admit(now, from, bind, pass)
	fmt.Println("no round trip:", ok, err)
	_, err = server.Admit(now, from, bind, pass)
	fmt.Println("the same again:", errors.Is(err, mercury.ErrPass))
	// Output:
	// one round trip: <nil>
	// server reads "hello, server", <nil>
	// no round trip: true <nil>
	// the same again: true
}
