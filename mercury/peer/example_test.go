package peer_test

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/cellscape/cellscape/mercury/peer"
	"github.com/cellscape/cellscape/mercury/secure"
)

// A server that says everything back, and a client of it.
func Example() {
	key, err := secure.GenerateKey(rand.Reader)
	check(err)
	echo := func(c peer.Channel, _ bool, msg []byte) { check(c.Send(msg)) }
	server, err := peer.Listen(context.Background(), "127.0.0.1:0", key, peer.Config{Message: echo})
	check(err)
	heard := make(chan string)
	hear := func(_ peer.Channel, _ bool, msg []byte) { heard <- string(msg) }
	client, err := peer.Dial(context.Background(), server.Address().String(), key.Public(), peer.Config{Message: hear})
	check(err)
	check(client.Send([]byte("hello")))
	fmt.Println(<-heard)
	check(client.Close())
	check(server.Close())
	// Output: hello
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
