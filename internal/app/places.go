package app

import (
	"net/netip"
	"slices"
	"time"

	"github.com/cellscape/cellscape/mercury"
)

// A manager may lead at one of several places, while the others stand by. A Member that knows them all
// goes from one to the next until it is welcomed:
//
//	            the channel opens           Welcome
//	dialling ─────────────────────▶ joining ───────▶ member
//	   ▲  │ DialPatience                │               │ the channel ended
//	   │  ▼                             │ it ended      ▼
//	   └─ next place, after NextAfter ◀─┘       the same place once more
//
//	in any state: a manager at one of the places has dialled this app: it leads now ─▶ dialling it
//
// A manager that stands by ends each channel on which somebody joins. One that begins to lead dials
// all whom the one before knew, so that nobody has to wait until a dead channel is found to be so.
// A place is a name, and the address that it stands for may change, as where a supervisor starts
// containers: then whoever looks names up says where the places are now (Rehoused). A channel that is
// open stays as long as it lives, whatever a name stands for by now. A place of which no address is
// known is passed over.
//
// Nothing here decides who leads: a Welcome of a lower term than the known one is refused, wherever it
// comes from.

const (
	// DialPatience is how long a dial may take where there are other places to try: several round trips
	// with losses.
	DialPatience = time.Second

	// NextAfter is how long a Member with several places waits before it tries the next one.
	NextAfter = 200 * time.Millisecond
)

// Among tells the member of all places where a manager may lead. The first that has an address is
// tried first.
func (m *Member) Among(places ...netip.AddrPort) {
	m.places = slices.Clone(places)
	if len(places) > 0 {
		m.place = max(0, slices.IndexFunc(places, netip.AddrPort.IsValid))
		m.At = places[m.place]
	}
}

// Rehoused tells the member where the places are now, in the order of Among.
func (m *Member) Rehoused(places []netip.AddrPort) {
	if len(places) != len(m.places) || len(places) == 0 {
		return // it belongs to one address, which is no name's
	}
	m.places = slices.Clone(places)
	if !m.open {
		m.Move(places[m.place])
	}
}

// TurnedAway reports whether the channel that ended last led to a manager that stands by.
func (m *Member) TurnedAway() bool { return m.turned }

// lost plans the next try after the end of a channel.
func (m *Member) lost(now time.Duration, wasMember bool) {
	if m.retryAt = now + RejoinAfter; len(m.places) == 0 {
		return
	}
	if len(m.places) > 1 {
		m.retryAt = now + NextAfter
		if !wasMember {
			m.place = (m.place + 1) % len(m.places)
		}
	}
	m.At = m.places[m.place]
}

// impatient gives up a dial that takes too long, if there are other places.
func (m *Member) impatient(now time.Duration) {
	if m.dialled && !m.open && len(m.places) > 1 && now-m.dialAt >= DialPatience {
		m.Leave(now)
	}
}

// Calls reports whether a channel comes from a process of the cluster at a place where a manager may
// lead: one that leads now has dialled this app, and ends the channel once it is open.
func (m *Member) Calls(ch mercury.ChannelID) bool {
	peer, ok := m.links.Transport.Peer(ch)
	return ok && slices.Contains(m.places, peer.At) && m.links.Member(ch)
}

// called goes to a manager that has dialled this app.
func (m *Member) called(ch mercury.ChannelID) {
	if !m.Calls(ch) {
		return
	}
	peer, _ := m.links.Transport.Peer(ch)
	switch {
	case m.At != peer.At:
		m.place = slices.Index(m.places, peer.At)
		m.Move(peer.At)
	case m.open && m.peer != peer: // the open channel leads to an earlier start
		m.links.Close(m.ch)
		m.dialled, m.open, m.welcomed, m.rejoins = false, false, false, false
	}
	m.retryAt = 0
}
