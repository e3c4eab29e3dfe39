package wire

import (
	"math"
	"net/netip"
	"slices"
	"time"

	"github.com/cellscape/cellscape/mercury"
)

// maxDead bounds the dead starts that an app remembers: more than a cluster
// loses within the time that a late packet can live.
const maxDead = 1024

// Links sends messages to apps by their address, over one channel in each
// direction, so that what one app sends to another arrives in the order sent.
// It refuses apps that were declared dead.
type Links struct {
	Transport mercury.Transport
	buf       []byte
	// dead is asked for each message; burials says which was buried first.
	dead    map[mercury.Address]struct{}
	burials []mercury.Address
}

// Send sends m reliably. Messages to a zero or dead address are dropped: the
// verdict has told, or will tell, everyone concerned.
func (l *Links) Send(to mercury.Address, m Message) error {
	if to.IsZero() || l.Dead(to) {
		return nil
	}
	l.buf = Encode(l.buf[:0], m)
	return l.Transport.Send(l.Transport.Dial(to), l.buf)
}

// SendUnreliable sends m; it may be lost.
func (l *Links) SendUnreliable(to mercury.Address, m Message) error {
	if to.IsZero() || l.Dead(to) {
		return nil
	}
	l.buf = Encode(l.buf[:0], m)
	return l.Transport.SendUnreliable(l.Transport.Dial(to), l.buf)
}

// Reply sends m back on the channel that something came from.
func (l *Links) Reply(ch mercury.ChannelID, m Message) error {
	l.buf = Encode(l.buf[:0], m)
	return l.Transport.Send(ch, l.buf)
}

// Bury remembers that a start of an app is dead and drops the channel to it.
// A start is never revived: a process that comes back has another salt.
func (l *Links) Bury(app mercury.Address) {
	if l.Dead(app) {
		return
	}
	l.Transport.Abort(l.Transport.Dial(app))
	if len(l.burials) == maxDead {
		delete(l.dead, l.burials[0])
		l.burials = slices.Delete(l.burials, 0, 1)
	}
	if l.dead == nil {
		l.dead = make(map[mercury.Address]struct{})
	}
	l.dead[app] = struct{}{}
	l.burials = append(l.burials, app)
}

// Dead reports whether a start of an app was declared dead.
func (l *Links) Dead(app mercury.Address) bool {
	_, dead := l.dead[app]
	return dead
}

// From is the address of the peer of a channel, if it is one to listen to.
func (l *Links) From(ch mercury.ChannelID) (mercury.Address, bool) {
	a, ok := l.Transport.Peer(ch)
	return a, ok && !l.Dead(a)
}

// rejoinAfter is how long a Member waits before it dials a manager again.
const rejoinAfter = time.Second

// Member keeps an app joined to one manager, whatever becomes of the channel or
// the manager. It belongs to the app, which passes Opened and Closed on.
type Member struct {
	// At is where the manager listens.
	At   netip.AddrPort
	Join Join

	links   *Links
	ch      mercury.ChannelID
	dialled bool
	open    bool
	retryAt time.Duration

	only     uint32 // the salt of the start to stay with; 0 for any
	replaced bool
}

// NewMember returns a member that joins on its first Tick. A zero at waits until
// Move says where the manager is.
func NewMember(links *Links, at netip.AddrPort, join Join) Member {
	return Member{At: at, Join: join, links: links}
}

// Move says that the manager is at another place now.
func (m *Member) Move(at netip.AddrPort) {
	if at == m.At {
		return
	}
	if m.dialled {
		m.links.Transport.Close(m.ch)
	}
	m.At, m.dialled, m.open, m.retryAt = at, false, false, 0
}

// Tick dials when it is time to.
func (m *Member) Tick(now time.Duration) {
	if m.dialled || !m.At.IsValid() || now < m.retryAt {
		return
	}
	m.ch = m.links.Transport.Dial(mercury.Address{At: m.At})
	m.dialled = true
}

// Opened joins if the channel is the member's; it reports whether it was.
func (m *Member) Opened(ch mercury.ChannelID) bool {
	if !m.dialled || ch != m.ch {
		return false
	}
	if at, _ := m.links.Transport.Peer(ch); m.only != 0 && at.Salt != m.only {
		m.links.Transport.Close(ch)
		m.dialled, m.replaced, m.retryAt = false, true, math.MaxInt64
		return true
	}
	m.open = true
	// A failure closes the channel, and Closed tries again.
	_ = m.links.Reply(ch, &m.Join)
	return true
}

// Stay keeps the member with this start of the manager: an app that holds cells or
// entity ids must not take orders from one that knows nothing of them, and would
// give the same ids again.
func (m *Member) Stay() {
	at, _ := m.links.Transport.Peer(m.ch)
	m.only = at.Salt
}

// Replaced reports whether the manager that the member stays with is gone and
// another start of it answers. The member does not try again then.
func (m *Member) Replaced() bool { return m.replaced }

// Closed plans another try if the channel was the member's; it reports whether
// it was.
func (m *Member) Closed(now time.Duration, ch mercury.ChannelID) bool {
	if !m.dialled || ch != m.ch {
		return false
	}
	m.dialled, m.open = false, false
	m.retryAt = now + rejoinAfter
	return true
}

// Is reports whether ch is the channel to the manager.
func (m *Member) Is(ch mercury.ChannelID) bool { return m.dialled && ch == m.ch }

// Open reports whether the channel to the manager is open.
func (m *Member) Open() bool { return m.open }

// Send sends to the manager; without a manager the message is dropped, and what
// must not be lost is sent again by its owner.
func (m *Member) Send(msg Message) {
	if m.open {
		_ = m.links.Reply(m.ch, msg)
	}
}
