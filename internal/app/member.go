package app

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// ErrRefused is the Trouble of an app that a manager refuses.
var ErrRefused = errors.New("refused")

// ErrStandsBy is the Trouble of an app that has found a manager which does not lead. If there is none that
// does, more than half of the managers must run, so that they elect one.
var ErrStandsBy = errors.New("it stands by: another leads, or none as long as too few of them run")

// RejoinAfter is how long a Member waits before it dials a manager again.
const RejoinAfter = time.Second

// Member keeps an app joined to one manager, whatever happens to the channel or the manager. The
// app passes Opened and Closed to it.
type Member struct {
	// At is where the manager listens.
	At   netip.AddrPort
	Join wire.Join

	links   *Links
	ch      mercury.ChannelID
	dialled bool
	open    bool
	retryAt time.Duration

	peer     mercury.Address // the start of the manager that the open channel leads to
	rejoins  bool            // it does not know this app, but an earlier start did
	welcomed bool            // by this start
	trouble  error           // the last known reason why it is not joined
	last     wire.Welcome    // the newest Welcome
	start    uint32          // salt of the start that sent last
	stop     wire.Stop       // the newest order about the stop of the world

	places []netip.AddrPort // where a manager may lead; none if that is At alone
	place  int              // the one of At, or of what At was before it moved
	dialAt time.Duration
	turned bool // the last channel led to one that stands by
}

// NewMember returns a member that joins on its first Tick. A zero at waits until Move says where
// the manager is.
func NewMember(links *Links, at netip.AddrPort, join wire.Join) Member {
	join.Speaks = wire.Spoken()
	return Member{At: at, Join: join, links: links}
}

// Move tells the member that the manager is at another address now.
func (m *Member) Move(at netip.AddrPort) {
	if at == m.At {
		return
	}
	if m.dialled {
		m.links.Close(m.ch)
	}
	m.At, m.dialled, m.open, m.welcomed, m.retryAt, m.trouble = at, false, false, false, 0, nil
}

// Tick dials when it is time to.
func (m *Member) Tick(now time.Duration) {
	m.impatient(now)
	if m.dialled || now < m.retryAt {
		return
	}
	if !m.At.IsValid() {
		m.lost(now, false)
		return
	}
	m.ch = m.links.Transport.Dial(mercury.Address{At: m.At})
	m.dialled, m.dialAt = true, now
}

// Opened joins if the channel is the member's, and reports whether it is. It must be told of the other
// channels, too: a manager that begins to lead dials those whom it knows.
func (m *Member) Opened(ch mercury.ChannelID) bool {
	if !m.dialled || ch != m.ch {
		m.called(ch)
		return false
	}
	m.peer, _ = m.links.Transport.Peer(ch)
	m.open, m.welcomed = true, false
	j := m.Join
	if m.peer.Salt != m.start {
		j.Term = m.last.Term
	}
	m.rejoins = j.Term > 0
	m.links.Reply(ch, &j)
	return true
}

// Rejoins reports whether the channel that has just opened leads to a start of the manager that
// does not know this app although an earlier one welcomed it. The app then sends a Rejoin.
func (m *Member) Rejoins() bool { return m.rejoins }

// Rejoin returns what the member knows of itself; the app adds the rest.
func (m *Member) Rejoin() wire.Rejoin {
	return wire.Rejoin{Number: m.last.Number, Allocator: m.last.Allocator, Graves: m.links.Graves(), Stopping: m.stop.Step, StopReason: m.stop.Reason}
}

// Welcomed takes a Welcome. It reports false if the manager is older than the one that the member
// knows. Such a manager was only stalled while another took its place, and its orders would undo
// the other's. The member leaves it, and dials again in the hope that the other answers.
func (m *Member) Welcomed(now time.Duration, w *wire.Welcome) bool {
	if w.Term < m.last.Term {
		m.Leave(now)
		return false
	}
	m.welcomed, m.rejoins, m.trouble = true, false, nil
	m.last, m.start = *w, m.peer.Salt
	return true
}

// Heeds reports whether to obey orders over the channel to the manager: only after its Welcome,
// which shows its term.
func (m *Member) Heeds() bool { return m.welcomed }

// Outdated reports whether a manager of a term is older than the one that the member knows.
func (m *Member) Outdated(term uint32) bool { return term < m.last.Term }

// Speaks reports whether a message is the manager's: on the member's own channel, or on another
// from the same start.
func (m *Member) Speaks(ch mercury.ChannelID, from mercury.Address) bool {
	return m.Is(ch) || m.open && from == m.peer
}

// Refused takes a refusal. An app that was once welcomed tries again, since another manager may
// soon answer. An app that was never welcomed stays and waits for its operator, who learns the
// reason from Trouble.
func (m *Member) Refused(now time.Duration, reason string) {
	m.trouble = fmt.Errorf("%w by the manager at %v: %s", ErrRefused, m.At, reason)
	if m.last.Term > 0 {
		m.Leave(now)
	}
}

// Leave gives up the channel to the manager, and plans another try.
func (m *Member) Leave(now time.Duration) {
	if m.dialled {
		m.Closed(now, m.ch, nil)
		m.links.Close(m.ch)
	}
}

// Trouble returns the last known reason why the app is not joined: a refusal, which wraps
// ErrRefused, or the end of a channel. It is nil while the app is a member, and before anything is
// known.
func (m *Member) Trouble() error { return m.trouble }

// Accepted notes that the manager has accepted an app that gets no Welcome.
func (m *Member) Accepted() { m.trouble = nil }

// Closed plans another try if the channel was the member's, and reports whether it was. reason is
// why the channel ended; nil if the member closed it.
func (m *Member) Closed(now time.Duration, ch mercury.ChannelID, reason error) bool {
	if !m.dialled || ch != m.ch {
		return false
	}
	wasMember := m.welcomed
	m.turned = m.open && !wasMember && len(m.places) > 1 && errors.Is(reason, mercury.ErrPeerClosed)
	switch {
	case reason == nil || errors.Is(m.trouble, ErrRefused):
	case m.turned:
		m.trouble = fmt.Errorf("no place with the manager at %v: %w", m.At, ErrStandsBy)
	default:
		m.trouble = fmt.Errorf("no channel to the manager at %v: %w", m.At, reason)
	}
	m.dialled, m.open, m.welcomed, m.rejoins = false, false, false, false
	m.lost(now, wasMember)
	return true
}

// Is reports whether ch is the channel to the manager.
func (m *Member) Is(ch mercury.ChannelID) bool { return m.dialled && ch == m.ch }

// Open reports whether the channel to the manager is open.
func (m *Member) Open() bool { return m.open }

// Channel is the one to the manager; it is of use only while Open.
func (m *Member) Channel() mercury.ChannelID { return m.ch }

// Whisper sends to the manager what may be lost.
func (m *Member) Whisper(msg wire.Message) {
	if m.open {
		m.links.Whisper(m.ch, msg)
	}
}

// Send sends to the manager. Without a manager the message is dropped, and its owner must repeat
// what must not be lost.
func (m *Member) Send(msg wire.Message) {
	if m.open {
		m.links.Reply(m.ch, msg)
	}
}
