package cellappmgr_test

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space/cellappmgr"
)

// nowhere is a transport without peers.
type nowhere struct{}

func (nowhere) Self() mercury.Address {
	return mercury.Address{At: netip.MustParseAddrPort("127.0.0.1:20000"), Salt: 1}
}
func (nowhere) Dial(mercury.Address) mercury.ChannelID { return 0 }
func (nowhere) Send(mercury.ChannelID, []byte) error   { return mercury.ErrNoChannel }
func (nowhere) SendUnreliable(mercury.ChannelID, []byte) (int, error) {
	return 0, mercury.ErrNoChannel
}
func (nowhere) Pause(mercury.ChannelID)                     {}
func (nowhere) Resume(mercury.ChannelID)                    {}
func (nowhere) MaxUnreliable(mercury.ChannelID) int         { return 0 }
func (nowhere) Queued(mercury.ChannelID) (bytes, limit int) { return 0, mercury.DefaultMaxQueued }
func (nowhere) Close(mercury.ChannelID)                     {}
func (nowhere) Abort(mercury.ChannelID)                     {}
func (nowhere) Standing(mercury.ChannelID) mercury.Standing { return mercury.Trusted }

func (nowhere) Peer(mercury.ChannelID) (mercury.Address, bool) { return mercury.Address{}, false }

// A manager is a state machine: a runner passes on what arrives at its transport and calls Tick
// when it says so. Its space is made once a CellApp has joined.
func Example() {
	m, err := cellappmgr.New(cellappmgr.Config{
		Transport: nowhere{}, // a mercury.Endpoint in production
		Schema:    &property.Schema{},
		Spaces: []cellappmgr.SpaceConfig{{
			ID: 1, Bounds: bsp.Rect{MinX: -500, MinZ: -500, MaxX: 500, MaxZ: 500},
		}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Duration(0)
	for range 3 {
		now = m.Tick(now)
	}
	status := m.Status()
	fmt.Println(now, len(status.Spaces), "space,", status.Cells, "cells")
	// Output: 300ms 1 space, 0 cells
}
