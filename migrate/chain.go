package migrate

import (
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/mercury"
)

// MaxDepartures bounds the departures that are remembered, as many as there are graves. The bases of an
// app that departed before so many others count as gone.
const MaxDepartures = 1024

// Departure says that an app is gone, and who has the copies of its bases.
type Departure struct {
	App mercury.Address
	// Number orders departures: the manager gives each a higher one than the one before, in all terms.
	Number uint64
	// Allocator is that of the ids that it issued, 0 if it is not known.
	Allocator uint32
	// Rule is the one that ruled then.
	Rule Rule
}

// Departures are those that an app knows of, and tell where a base is now. The package comment says
// how. The zero value is empty.
type Departures struct {
	byApp map[mercury.Address]*Departure
	order []mercury.Address // in which they were heard of
}

// Add keeps a departure, and takes the place of what was known of the same app.
func (d *Departures) Add(x Departure) {
	x.Rule = x.Rule.Clone()
	if old := d.byApp[x.App]; old != nil {
		*old = x
		return
	}
	if d.byApp == nil {
		d.byApp = make(map[mercury.Address]*Departure)
	}
	if len(d.order) == MaxDepartures {
		delete(d.byApp, d.order[0])
		d.order = slices.Delete(d.order, 0, 1)
	}
	d.byApp[x.App] = &x
	d.order = append(d.order, x.App)
}

// Of returns the departure of an app, nil if it is not known to have departed.
func (d *Departures) Of(app mercury.Address) *Departure {
	if d.byApp == nil {
		return nil
	}
	return d.byApp[app]
}

// Len is how many are known.
func (d *Departures) Len() int { return len(d.order) }

// Each calls f with each, in the order in which they were heard of.
func (d *Departures) Each(f func(*Departure)) {
	for _, app := range d.order {
		f(d.byApp[app])
	}
}

// Newest is the highest number of a departure, 0 if there is none.
func (d *Departures) Newest() uint64 {
	newest := uint64(0)
	// order does not show: it is the maximum
	for _, x := range d.byApp {
		newest = max(newest, x.Number)
	}
	return newest
}

// Heir returns where a base is now that was on an app: there, unless the app has departed. It reports
// false if nobody has taken the base over, so that it is gone.
func (d *Departures) Heir(app mercury.Address, id entity.ID) (heir mercury.Address, ok bool) {
	for range MaxChain {
		gone := d.Of(app)
		if gone == nil {
			return app, true
		}
		if app, _, ok = d.next(gone, id); !ok {
			return mercury.Address{}, false
		}
	}
	return mercury.Address{}, false
}

// Next returns the app that took over a base of an app that has departed, right after it, and how many
// holders were passed over because they have departed as well. It reports false if nobody did.
func (d *Departures) Next(app mercury.Address, id entity.ID) (heir mercury.Address, passed int, ok bool) {
	gone := d.Of(app)
	if gone == nil {
		return heir, 0, false
	}
	return d.next(gone, id)
}

// next is the app that has taken over a base of one that is gone: the first holder that lives or that
// had it covered before it went itself.
func (d *Departures) next(gone *Departure, id entity.ID) (heir mercury.Address, passed int, ok bool) {
	var buf [MaxReplicas]mercury.Address
	for i, h := range gone.Rule.Holders(buf[:0], gone.App, id) {
		if x := d.Of(h); x == nil || x.Number > gone.Number && x.Rule.Covers >= gone.Number {
			return h, i, true
		}
	}
	return mercury.Address{}, 0, false
}
