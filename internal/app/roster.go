package app

import (
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// Roster is which starts of apps a CellAppMgr has named, of any term. Anybody can reach
// the port of an app and say what only apps say; but an address, with the salt of its
// start, is proved by mercury, so that nobody can be in the place of one that is named.
// The zero value has none.
type Roster struct {
	roles  map[mercury.Address]wire.Role
	issues map[mercury.Address]uint32 // allocators, of those whose is known
	named  []mercury.Address          // the oldest first
}

// Name takes in who a manager names, and by which allocators they issue ids.
func (r *Roster) Name(m *wire.Members) {
	r.Add(m.Apps)
	if r.issues == nil {
		r.issues = make(map[mercury.Address]uint32)
	}
	for i, a := range m.Apps {
		if _, known := r.roles[a.App]; known && i < len(m.Allocators) && m.Allocators[i] != 0 {
			r.issues[a.App] = m.Allocators[i]
		}
	}
}

// Issued reports whether an id is one of those that an app issues, as far as is known.
func (r *Roster) Issued(app mercury.Address, id entity.ID) bool {
	n, known := r.issues[app]
	return !known || uint64(id)>>idBits == uint64(n)
}

// Add takes in who is named. Above MaxMembers the oldest are forgotten: apps that have
// retired, and were therefore never declared dead.
func (r *Roster) Add(apps []wire.AppRef) {
	if r.roles == nil {
		r.roles = make(map[mercury.Address]wire.Role)
	}
	for _, a := range apps {
		if _, known := r.roles[a.App]; known || a.App.IsZero() {
			continue
		}
		if len(r.named) == wire.MaxMembers {
			delete(r.roles, r.named[0])
			delete(r.issues, r.named[0])
			r.named = slices.Delete(r.named, 0, 1)
		}
		r.roles[a.App] = a.Role
		r.named = append(r.named, a.App)
	}
}

// Remove forgets an app that was declared dead.
func (r *Roster) Remove(app mercury.Address) {
	if _, known := r.roles[app]; known {
		delete(r.roles, app)
		delete(r.issues, app)
		r.named = slices.DeleteFunc(r.named, func(x mercury.Address) bool { return x == app })
	}
}

// Role is what an app is; false if nobody has named it.
func (r *Roster) Role(app mercury.Address) (wire.Role, bool) {
	role, ok := r.roles[app]
	return role, ok
}

// Len is how many are named.
func (r *Roster) Len() int { return len(r.named) }

const (
	// NamingTime is how long the messages of an app wait that no manager has named: the
	// manager's word comes over another channel, and may come later than what the new app
	// says. It is as long as a channel of the manager lives without a sign.
	NamingTime = 10 * time.Second

	// MaxDoorChannel bounds what waits of one channel: the largest message, and more.
	MaxDoorChannel = 2 << 20

	// MaxDoor bounds what waits of all channels; MaxDoorChannels their number. Who is
	// turned away above them, and belongs here, finds its channel broken, and says again
	// what was lost with it.
	MaxDoor         = 16 << 20
	MaxDoorChannels = 256
)

// Door is where the reliable messages wait of those who say what only apps say and whom no
// manager has named yet. The zero value has none.
type Door struct {
	waiting []doorChannel // in the order of coming
	bytes   int
}

type doorChannel struct {
	ch    mercury.ChannelID
	from  mercury.Address
	until time.Duration
	bytes int
	msgs  [][]byte
}

// Hold keeps a message, in order behind those of its channel. It reports false if there is
// no room: the channel is to be ended.
func (d *Door) Hold(now time.Duration, ch mercury.ChannelID, from mercury.Address, msg []byte) bool {
	i := slices.IndexFunc(d.waiting, func(w doorChannel) bool { return w.ch == ch })
	if i < 0 {
		if len(d.waiting) == MaxDoorChannels {
			return false
		}
		i = len(d.waiting)
		d.waiting = append(d.waiting, doorChannel{ch: ch, from: from, until: now + NamingTime})
	}
	w := &d.waiting[i]
	const each = 64 // of an empty message
	if n := len(msg) + each; w.bytes+n > MaxDoorChannel || d.bytes+n > MaxDoor {
		d.Closed(ch)
		return false
	}
	w.bytes += len(msg) + each
	d.bytes += len(msg) + each
	w.msgs = append(w.msgs, slices.Clone(msg))
	return true
}

// Admit calls f with what waits of an app that has been named, in the order in which it
// came.
func (d *Door) Admit(app mercury.Address, f func(ch mercury.ChannelID, msg []byte)) {
	var named []doorChannel
	d.waiting = slices.DeleteFunc(d.waiting, func(w doorChannel) bool {
		if w.from == app {
			named = append(named, w)
			d.bytes -= w.bytes
		}
		return w.from == app
	})
	for _, w := range named {
		for _, msg := range w.msgs {
			f(w.ch, msg)
		}
	}
}

// Expire takes away those that have waited too long, and calls f with each and with how
// many messages it had: the channel is to be ended.
func (d *Door) Expire(now time.Duration, f func(ch mercury.ChannelID, from mercury.Address, messages int)) {
	for len(d.waiting) > 0 && d.waiting[0].until <= now {
		w := d.waiting[0]
		d.Closed(w.ch)
		f(w.ch, w.from, len(w.msgs))
	}
}

// Closed forgets a channel that has ended.
func (d *Door) Closed(ch mercury.ChannelID) {
	d.waiting = slices.DeleteFunc(d.waiting, func(w doorChannel) bool {
		if w.ch == ch {
			d.bytes -= w.bytes
		}
		return w.ch == ch
	})
}

// Waits reports whether messages of a channel wait: what comes next waits behind them.
func (d *Door) Waits(ch mercury.ChannelID) bool {
	return slices.ContainsFunc(d.waiting, func(w doorChannel) bool { return w.ch == ch })
}
