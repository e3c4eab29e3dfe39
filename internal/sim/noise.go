package sim

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/cellscape/cellscape/mercury/mercurytest"
)

// portStranger is a place that belongs to nobody in the cluster.
const portStranger = 9

// noise is what the open network sends to every port: rubbish, and overheard datagrams, whole, cut
// short or altered, from a stranger's place or under the name of their sender. It knows no secret,
// so it does not make new ones.
type noise struct {
	on      bool
	heard   []overheard // a ring
	next    int
	nth     int
	at      time.Duration
	said    map[netip.AddrPort]int // bytes that the stranger sent to each place
	answers map[netip.AddrPort]int // bytes that came back
}

type overheard struct {
	from, to netip.AddrPort
	data     []byte
}

// maxOverheard is how many datagrams the noise remembers, some from long ago.
const maxOverheard = 512

// overhear takes a sample of what is sent, and makes noise when it is time.
func (n *noise) overhear(c *Cluster, from, to netip.AddrPort, data []byte) {
	if !c.opts.Noise {
		return
	}
	if to == mercurytest.Place(portStranger) {
		n.answers[from] += len(data)
		if n.answers[from] > n.said[from] {
			c.fail(fmt.Errorf("promise 7: %s answered a stranger's %d bytes with %d", c.byPlace[from].Name, n.said[from], n.answers[from]))
		}
		return
	}
	if n.nth++; n.nth%7 == 0 {
		if len(n.heard) < maxOverheard {
			n.heard = append(n.heard, overheard{})
		}
		n.heard[n.next%len(n.heard)] = overheard{from, to, slices.Clone(data)}
		n.next = (n.next + 1) % maxOverheard
	}
	if n.on && c.now >= n.at {
		n.at = c.now + time.Duration(1+c.chance.IntN(40))*time.Millisecond
		n.make(c)
	}
}

// make sends one datagram of noise.
func (n *noise) make(c *Cluster) {
	if n.said == nil {
		n.said, n.answers = map[netip.AddrPort]int{}, map[netip.AddrPort]int{}
	}
	stranger := mercurytest.Place(portStranger)
	from, to := stranger, c.procs[c.chance.IntN(len(c.procs))].at
	var data []byte
	if len(n.heard) == 0 || c.chance.IntN(4) == 0 {
		data = make([]byte, c.chance.IntN(1500))
		for i := range data {
			data[i] = byte(c.chance.Uint32())
		}
	} else {
		h := n.heard[c.chance.IntN(len(n.heard))]
		data = slices.Clone(h.data)
		if c.chance.IntN(2) == 0 {
			from, to = h.from, h.to
		}
		switch c.chance.IntN(3) {
		case 0:
			data = data[:c.chance.IntN(len(data)+1)]
		case 1:
			for range 1 + c.chance.IntN(3) {
				data[c.chance.IntN(len(data))] ^= 1 << c.chance.IntN(8)
			}
		}
	}
	if from == stranger {
		n.said[to] += len(data)
	}
	c.net.Send(c.now, from, to, data)
}
