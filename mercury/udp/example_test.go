package udp_test

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/mercury/udp"
)

// A socket writes what was queued at Flush, and reads what has come in batches.
func Example() {
	s, err := udp.Listen("127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	s.Queue(s.Addr(), []byte("to myself"))
	if err := s.Flush(); err != nil {
		fmt.Println(err)
	}
	if err := s.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
		fmt.Println(err)
	}
	err = s.ReadBatch(func(from netip.AddrPort, datagram []byte) {
		fmt.Println(from == s.Addr(), string(datagram))
	})
	fmt.Println(err)
	// Output:
	// true to myself
	// <nil>
}
