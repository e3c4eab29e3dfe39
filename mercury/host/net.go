package host

import (
	"errors"
	"fmt"
	"math/bits"
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/mercury"
)

// Net joins the carriers of one process to one mercury.Transport, which is Env.Transport. A channel
// belongs to one carrier for its life, and the low bits of its ID say to which:
//
//	           ┌─ carrier 0 ─ its channel 7       Net's channel 7<<bits | 0
//	app ── Net ┼─ carrier 1 ─ its channel 7       Net's channel 7<<bits | 1
//	           └─ carrier 2 ...                   bits: as many as number the carriers, none for one
//
// Self is the first carrier's. Dial takes the carrier that a Route names for the address, else the
// first.
//
// It belongs to the app's goroutine, as the carriers do.
type Net struct {
	carriers  []mercury.Carrier
	app       mercury.Handler // nil: before the app is made, and after it was told to stop
	routes    []route
	bits      int
	receiving bool     // a carrier is calling the app
	spent     []uint64 // of each carrier: channels refused since their numbers are used up
}

// route sends dials to a network's addresses over one carrier.
type route struct {
	to      netip.Prefix
	carrier int
}

var (
	_ mercury.Transport = (*Net)(nil)
	_ mercury.Surveyor  = (*Net)(nil)
)

// ErrNoCarrier is returned for the name of a network over which this process has no carrier.
var ErrNoCarrier = errors.New("host: no carrier of that network")

func newNet(carriers []mercury.Carrier, routes []route) *Net {
	return &Net{
		carriers: carriers, routes: routes, bits: bits.Len(uint(len(carriers) - 1)),
		spent: make([]uint64, len(carriers)),
	}
}

// outer is the ID of a carrier's channel; 0 when the ID is used up.
func (n *Net) outer(carrier int, ch mercury.ChannelID) mercury.ChannelID {
	id := ch<<n.bits | mercury.ChannelID(carrier)
	if ch == 0 || id>>n.bits != ch {
		return 0
	}
	return id
}

// Carrier is the carrier that a channel belongs to, by its place in Carriers, and the channel's ID
// there, for what only that carrier can do; false for an ID that is none of this Net.
func (n *Net) Carrier(ch mercury.ChannelID) (carrier int, there mercury.ChannelID, ok bool) {
	carrier, there = int(ch&(1<<n.bits-1)), ch>>n.bits
	return carrier, there, carrier < len(n.carriers) && there != 0
}

// Carriers lists the carriers: that of Start's own address first, then those of the option
// Carriers.
func (n *Net) Carriers() []mercury.Carrier { return n.carriers }

// at finds the carrier of a channel. An ID that is none of this Net is unknown to the first as
// well.
func (n *Net) at(ch mercury.ChannelID) (mercury.Carrier, mercury.ChannelID) {
	i, there, ok := n.Carrier(ch)
	if !ok {
		return n.carriers[0], 0
	}
	return n.carriers[i], there
}

// Self implements mercury.Transport.
func (n *Net) Self() mercury.Address { return n.carriers[0].Self() }

// Dial implements mercury.Transport.
func (n *Net) Dial(to mercury.Address) mercury.ChannelID {
	for _, r := range n.routes {
		if r.to.Contains(to.At.Addr().Unmap()) {
			return n.dial(r.carrier, to)
		}
	}
	return n.dial(0, to)
}

// DialOver is Dial over the first carrier of a network, whatever the routes say. The error is
// ErrNoCarrier.
func (n *Net) DialOver(network string, to mercury.Address) (mercury.ChannelID, error) {
	i := find(n.carriers, network)
	if i < 0 {
		return 0, fmt.Errorf("%w: %q", ErrNoCarrier, network)
	}
	return n.dial(i, to), nil
}

// dial dials over a carrier.
func (n *Net) dial(carrier int, to mercury.Address) mercury.ChannelID {
	return n.named(carrier, n.carriers[carrier].Dial(to))
}

// named is the ID of a channel that a carrier has dialled. A channel without one is given up at
// once.
func (n *Net) named(carrier int, ch mercury.ChannelID) mercury.ChannelID {
	id := n.outer(carrier, ch)
	if id == 0 && ch != 0 {
		n.refuse(carrier, ch)
	}
	return id
}

// refuse gives up a channel for which there is no ID.
func (n *Net) refuse(carrier int, ch mercury.ChannelID) {
	n.spent[carrier]++
	n.carriers[carrier].Abort(ch)
}

// find is the first carrier of a network, or -1.
func find(carriers []mercury.Carrier, network string) int {
	for i, c := range carriers {
		if c.Network() == network {
			return i
		}
	}
	return -1
}

// Send implements mercury.Transport.
func (n *Net) Send(ch mercury.ChannelID, msg []byte) error {
	c, there := n.at(ch)
	return c.Send(there, msg)
}

// Queued implements mercury.Transport.
func (n *Net) Queued(ch mercury.ChannelID) (bytes, limit int) {
	c, there := n.at(ch)
	return c.Queued(there)
}

// bulker is a carrier whose channels have a bulk stream.
type bulker interface {
	SendBulk(ch mercury.ChannelID, msg []byte) error
	Backlog(ch mercury.ChannelID) (unsent, bulkUnsent int)
}

// SendBulk is mercury.Endpoint.SendBulk over a carrier that has it. Over another the message goes
// reliably, and comes as such.
func (n *Net) SendBulk(ch mercury.ChannelID, msg []byte) error {
	c, there := n.at(ch)
	if b, ok := c.(bulker); ok {
		return b.SendBulk(there, msg)
	}
	return c.Send(there, msg)
}

// Backlog is mercury.Endpoint.Backlog. Without a bulk stream both are what waits of reliable
// messages.
func (n *Net) Backlog(ch mercury.ChannelID) (unsent, bulkUnsent int) {
	c, there := n.at(ch)
	if b, ok := c.(bulker); ok {
		return b.Backlog(there)
	}
	unsent, _ = c.Queued(there)
	return unsent, unsent
}

// Survey implements mercury.Surveyor for the carriers that do.
func (n *Net) Survey(ch mercury.ChannelID) (mercury.Survey, bool) {
	c, there := n.at(ch)
	if s, ok := c.(mercury.Surveyor); ok {
		return s.Survey(there)
	}
	return mercury.Survey{}, false
}

// SendUnreliable implements mercury.Transport.
func (n *Net) SendUnreliable(ch mercury.ChannelID, msg []byte) (dropped int, err error) {
	c, there := n.at(ch)
	return c.SendUnreliable(there, msg)
}

// MaxUnreliable implements mercury.Transport.
func (n *Net) MaxUnreliable(ch mercury.ChannelID) int {
	c, there := n.at(ch)
	return c.MaxUnreliable(there)
}

// Flush sends at once what was sent so far, over all carriers, for what must not wait for the end
// of a long tick: from inside Tick or Do. Inside a callback it does nothing, as what is sent there
// leaves right after it. An error says that a carrier is broken for good; the process then ends by
// itself.
func (n *Net) Flush() error {
	if n.receiving {
		return nil
	}
	for _, c := range n.carriers {
		if err := c.Flush(); err != nil {
			return fmt.Errorf("%s: %w", c.Network(), err)
		}
	}
	return nil
}

// Pause implements mercury.Transport.
func (n *Net) Pause(ch mercury.ChannelID) {
	c, there := n.at(ch)
	c.Pause(there)
}

// Resume implements mercury.Transport.
func (n *Net) Resume(ch mercury.ChannelID) {
	c, there := n.at(ch)
	c.Resume(there)
}

// Close implements mercury.Transport.
func (n *Net) Close(ch mercury.ChannelID) {
	c, there := n.at(ch)
	c.Close(there)
}

// Abort implements mercury.Transport.
func (n *Net) Abort(ch mercury.ChannelID) {
	c, there := n.at(ch)
	c.Abort(there)
}

// Peer implements mercury.Transport.
func (n *Net) Peer(ch mercury.ChannelID) (mercury.Address, bool) {
	c, there := n.at(ch)
	return c.Peer(there)
}

// Standing implements mercury.Transport.
func (n *Net) Standing(ch mercury.ChannelID) mercury.Standing {
	c, there := n.at(ch)
	return c.Standing(there)
}

// lane is the Handler of one carrier: it gives channels their IDs of the Net.
type lane struct {
	net     *Net
	carrier int
}

// app is who hears of a carrier's channel, and under which ID; false when nobody does.
func (l lane) app(ch mercury.ChannelID) (mercury.Handler, mercury.ChannelID, bool) {
	id := l.net.outer(l.carrier, ch)
	return l.net.app, id, id != 0 && l.net.app != nil
}

func (l lane) Opened(now time.Duration, ch mercury.ChannelID, peer mercury.Address) {
	app, id, ok := l.app(ch)
	switch {
	case ok:
		app.Opened(now, id, peer)
	case id == 0:
		l.net.refuse(l.carrier, ch)
	}
}

func (l lane) Message(now time.Duration, ch mercury.ChannelID, reliable bool, msg []byte) {
	if app, id, ok := l.app(ch); ok {
		app.Message(now, id, reliable, msg)
	}
}

func (l lane) Closed(now time.Duration, ch mercury.ChannelID, reason error) {
	if app, id, ok := l.app(ch); ok {
		app.Closed(now, id, reason)
	}
}

// Bulk implements mercury.BulkHandler for an app that does.
func (l lane) Bulk(now time.Duration, ch mercury.ChannelID, msg []byte) {
	if app, id, ok := l.app(ch); ok {
		if h, takes := app.(mercury.BulkHandler); takes {
			h.Bulk(now, id, msg)
		}
	}
}

// Room implements mercury.RoomHandler for an app that does.
func (l lane) Room(now time.Duration, ch mercury.ChannelID) {
	if app, id, ok := l.app(ch); ok {
		if h, takes := app.(mercury.RoomHandler); takes {
			h.Room(now, id)
		}
	}
}

// Moved implements mercury.MoveHandler for an app that does.
func (l lane) Moved(now time.Duration, ch mercury.ChannelID, peer mercury.Address) {
	if app, id, ok := l.app(ch); ok {
		if h, takes := app.(mercury.MoveHandler); takes {
			h.Moved(now, id, peer)
		}
	}
}
