package app

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// Roster holds the starts of apps that CellAppMgrs of any term have named. Anybody can reach the
// port of an app and send what only apps send. But mercury proves an address with the salt of its
// start, so nobody can take the place of a named app. The zero value is empty.
type Roster struct {
	roles  map[mercury.Address]wire.Role
	issues map[mercury.Address]uint32 // allocators, as far as known
	named  []mercury.Address          // oldest first
	homes  []home                     // by allocator
	// departures are the BaseApps that are gone, with those that have taken over their bases.
	departures migrate.Departures
	changes    uint64
}

// home is who issues, or has issued, the ids of an allocator.
type home struct {
	allocator uint32
	wire.AppRef
}

// MaxHomes bounds the issuers of ids that a Roster remembers, those that have died included: the
// entities of the lowest allocator are the oldest.
const MaxHomes = 4 * wire.MaxMembers

// Name adds the apps that a manager names, with the allocators of their ids.
func (r *Roster) Name(m *wire.Members) {
	r.Add(m.Apps)
	if r.issues == nil {
		r.issues = make(map[mercury.Address]uint32)
	}
	for i, a := range m.Apps {
		if _, known := r.roles[a.App]; known && i < len(m.Allocators) && m.Allocators[i] != 0 {
			r.issues[a.App] = m.Allocators[i]
			r.settle(home{m.Allocators[i], a})
		}
	}
}

// settle keeps who issues an allocator's ids.
func (r *Roster) settle(h home) {
	i, found := slices.BinarySearchFunc(r.homes, h.allocator, func(x home, n uint32) int { return cmp.Compare(x.allocator, n) })
	if found {
		r.homes[i] = h
		return
	}
	r.homes = slices.Insert(r.homes, i, h)
	if len(r.homes) > MaxHomes {
		r.homes = slices.Delete(r.homes, 0, 1)
	}
}

// Home is the app that an entity belongs to: the one with its base if that is a BaseApp. That is the
// issuer of the id or, if it has departed, who has taken the base over. If nobody has, it is the issuer,
// which is dead. It is zero if no manager has named the issuer. This is the one place that says where a
// base is.
func (r *Roster) Home(id entity.ID) wire.AppRef {
	n := uint32(uint64(id) >> idBits)
	i, found := slices.BinarySearchFunc(r.homes, n, func(x home, n uint32) int { return cmp.Compare(x.allocator, n) })
	if !found {
		return wire.AppRef{}
	}
	h := r.homes[i].AppRef
	if h.Role == wire.BaseApp && r.departures.Len() > 0 {
		if heir, ok := r.departures.Heir(h.App, id); ok {
			h.App = heir
		}
	}
	return h
}

// Departed says that a BaseApp is gone, or a part of its bases, and by which rule others have taken
// them over.
func (r *Roster) Departed(d migrate.Departure) {
	r.departures.Add(d)
	r.changes++
	if d.Allocator != 0 {
		r.settle(home{d.Allocator, wire.AppRef{Role: wire.BaseApp, App: d.App}})
	}
}

// Left tells how a base last left an app, if it did; see migrate.Step.
func (r *Roster) Left(app mercury.Address, id entity.ID) migrate.Step {
	n := uint32(uint64(id) >> idBits)
	i, found := slices.BinarySearchFunc(r.homes, n, func(x home, n uint32) int { return cmp.Compare(x.allocator, n) })
	if !found || r.departures.Len() == 0 {
		return migrate.Step{}
	}
	return r.departures.Left(r.homes[i].App, app, id)
}

// Away reports whether a base was on an app, and is elsewhere now.
func (r *Roster) Away(app mercury.Address, id entity.ID) bool {
	s := r.Left(app, id)
	return s.Gone != nil && s.Back == nil
}

// Departures are the BaseApps that are gone, and the parts of others' bases that have left them.
func (r *Roster) Departures() *migrate.Departures { return &r.departures }

// Changes rises with each app that comes or goes.
func (r *Roster) Changes() uint64 { return r.changes }

// RejoinRules calls f with what a manager that starts anew must know of the BaseApps that are gone.
func (r *Roster) RejoinRules(f func(*wire.RejoinRule)) {
	r.departures.Each(func(d *migrate.Departure) {
		f(&wire.RejoinRule{App: d.App, Departed: d.Number, Allocator: d.Allocator, Rule: d.Rule, Part: d.Part})
	})
}

// Allocator is that of the ids of an app, 0 if it is not known.
func (r *Roster) Allocator(app mercury.Address) uint32 { return r.issues[app] }

// Issued reports whether an app is known to have issued an id, or to have taken over the base.
func (r *Roster) Issued(app mercury.Address, id entity.ID) bool {
	n, known := r.issues[app]
	return !known || uint64(id)>>idBits == uint64(n) || r.inherited(app, id)
}

// inherited reports whether an app has taken over a base.
func (r *Roster) inherited(app mercury.Address, id entity.ID) bool {
	return r.departures.Len() > 0 && r.Home(id).App == app
}

// IssuedBy reports whether a known app of a role has issued an id.
func (r *Roster) IssuedBy(role wire.Role, id entity.ID) bool {
	_, ok := r.Issuer(role, id)
	return ok
}

// Issuer returns the app of a role that has issued an id, or has taken over the base, as far as it is
// known.
func (r *Roster) Issuer(role wire.Role, id entity.ID) (app mercury.Address, ok bool) {
	if r.departures.Len() > 0 {
		if h := r.Home(id); h.Role == role && r.roles[h.App] == role {
			return h.App, true
		}
	}
	for _, app := range r.named {
		if n, known := r.issues[app]; known && r.roles[app] == role && uint64(id)>>idBits == uint64(n) {
			return app, true
		}
	}
	return mercury.Address{}, false
}

// Add adds named apps. Beyond MaxMembers it forgets the oldest: apps that have retired and so were
// never declared dead.
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
		r.changes++
	}
}

// Remove forgets an app that was declared dead.
func (r *Roster) Remove(app mercury.Address) {
	if _, known := r.roles[app]; known {
		delete(r.roles, app)
		delete(r.issues, app)
		r.changes++
		r.named = slices.DeleteFunc(r.named, func(x mercury.Address) bool { return x == app })
	}
}

// Role returns the role of an app; false if nobody has named it.
func (r *Roster) Role(app mercury.Address) (wire.Role, bool) {
	role, ok := r.roles[app]
	return role, ok
}

// Of yields the apps of a role, in the order in which they were named.
func (r *Roster) Of(role wire.Role) iter.Seq[mercury.Address] {
	return func(yield func(mercury.Address) bool) {
		for _, app := range r.named {
			if r.roles[app] == role && !yield(app) {
				return
			}
		}
	}
}

// Len is how many apps are named.
func (r *Roster) Len() int { return len(r.named) }

const (
	// NamingTime is how long the messages of an app wait for a manager to name it. The manager's
	// message comes over another channel and may come later. The time is as long as a silent
	// channel of the manager lives.
	NamingTime = 10 * time.Second

	// MaxDoorChannel bounds what waits on one channel, in bytes: the largest message, and more.
	MaxDoorChannel = 2 << 20

	// MaxDoor bounds what waits on all channels, in bytes, and MaxDoorChannels their number. An app
	// of the cluster that is turned away beyond them finds its channel broken, and says again what
	// was lost.
	MaxDoor         = 16 << 20
	MaxDoorChannels = 256
)

// Door holds the reliable messages of senders that send what only apps send and that no manager has
// named yet. The zero value is empty.
type Door struct {
	waiting []doorChannel // in order of arrival
	bytes   int
}

type doorChannel struct {
	ch    mercury.ChannelID
	from  mercury.Address
	until time.Duration
	bytes int
	msgs  [][]byte
}

// Hold keeps a message behind those of its channel. If there is no room it reports false, and the
// caller must end the channel.
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
	const each = 64 // bytes for an empty message
	if n := len(msg) + each; w.bytes+n > MaxDoorChannel || d.bytes+n > MaxDoor {
		d.Closed(ch)
		return false
	}
	w.bytes += len(msg) + each
	d.bytes += len(msg) + each
	w.msgs = append(w.msgs, slices.Clone(msg))
	return true
}

// Admit calls f with the waiting messages of an app that has been named, in order of arrival.
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

// Expire removes channels that have waited too long, and calls f with each and its number of
// messages. f must end the channel.
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

// Waiting is how many channels wait.
func (d *Door) Waiting() int { return len(d.waiting) }

// Waits reports whether messages of a channel wait, so that the next must wait behind them.
func (d *Door) Waits(ch mercury.ChannelID) bool {
	return slices.ContainsFunc(d.waiting, func(w doorChannel) bool { return w.ch == ch })
}
