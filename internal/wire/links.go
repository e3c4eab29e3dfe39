package wire

import (
	"slices"

	"github.com/cellscape/cellscape/mercury"
)

// Links sends messages to apps by their address, over one channel in each
// direction, so that what one app sends to another arrives in the order sent.
// It refuses apps that were declared dead.
type Links struct {
	Transport mercury.Transport
	buf       []byte
	// dead is asked for each message; burials says which was buried first.
	dead    map[mercury.Address]struct{}
	burials []AppRef
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

// Room is how many bytes an unreliable message to an app may have now, its id included; 0 for a dead one.
func (l *Links) Room(to mercury.Address) int {
	if to.IsZero() || l.Dead(to) {
		return 0
	}
	return l.Transport.MaxUnreliable(l.Transport.Dial(to))
}

// Reply sends m back on the channel that something came from.
func (l *Links) Reply(ch mercury.ChannelID, m Message) error {
	l.buf = Encode(l.buf[:0], m)
	return l.Transport.Send(ch, l.buf)
}

// Bury remembers that a start of an app is dead and drops the channel to it.
// A start is never revived: a process that comes back has another salt.
func (l *Links) Bury(role Role, app mercury.Address) {
	if l.Dead(app) {
		return
	}
	l.Transport.Abort(l.Transport.Dial(app))
	if len(l.burials) == MaxGraves {
		delete(l.dead, l.burials[0].App)
		l.burials = slices.Delete(l.burials, 0, 1)
	}
	if l.dead == nil {
		l.dead = make(map[mercury.Address]struct{})
	}
	l.dead[app] = struct{}{}
	l.burials = append(l.burials, AppRef{Role: role, App: app})
}

// Dead reports whether a start of an app was declared dead.
func (l *Links) Dead(app mercury.Address) bool {
	_, dead := l.dead[app]
	return dead
}

// Graves are the starts of apps that were declared dead, as far as they are
// remembered, the oldest first.
func (l *Links) Graves() []AppRef { return slices.Clone(l.burials) }

// From is the address of the peer of a channel, if it is one to listen to.
func (l *Links) From(ch mercury.ChannelID) (mercury.Address, bool) {
	a, ok := l.Transport.Peer(ch)
	return a, ok && !l.Dead(a)
}
