package migrate

import (
	"cmp"
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/mercury"
)

const (
	// MaxDepartures bounds the departures of whole apps that are remembered, as many as there are graves. The
	// bases of an app that departed before so many others count as gone.
	MaxDepartures = 1024

	// MaxMoves bounds the departures of parts that are remembered: those of a hundred apps that retire, or of
	// years of shedding. The manager allows no more, so an app that retires then leaves as a whole.
	MaxMoves = 8192
)

// Departure says that an app is gone, or that a part of its bases has left it, and who has their copies.
type Departure struct {
	App mercury.Address
	// Number orders departures: the manager gives each a higher one than the one before, in all terms.
	Number uint64
	// Allocator is that of the ids that it issued, 0 if it is not known.
	Allocator uint32
	// Rule is the one that ruled then.
	Rule Rule
	// Part says which bases have left; zero for all, and the app with them.
	Part Part
}

// Leave names a departure.
type Leave struct {
	App  mercury.Address
	Turn uint64
}

// Leave names the departure: of two that name the same, the manager's word counts.
func (d *Departure) Leave() Leave { return Leave{d.App, d.Part.Turn} }

// Takes reports whether a base that was on the app left it with this departure.
func (d *Departure) Takes(id entity.ID) bool {
	p := &d.Part
	return p.Turn == 0 || p.Slices>>SliceOf(id)&1 != 0 && p.takes(d, id)
}

// Departures are those that an app knows of, and tell where a base is now. The package comment says
// how. The zero value is empty.
type Departures struct {
	byApp map[mercury.Address]*departed
	order []mercury.Address // in which they were heard of
	moves int
}

// departed is what has departed of one app.
type departed struct {
	whole *Departure
	parts []*Departure // in order of their turns
}

// Add keeps a departure, and takes the place of what was known of the same one.
func (d *Departures) Add(x Departure) {
	x.Rule = x.Rule.Clone()
	of := d.byApp[x.App]
	if of == nil {
		of = d.enter(x.App)
	}
	if x.Part.Turn == 0 {
		of.whole = &x
		return
	}
	i, found := of.find(x.Part.Turn)
	if found {
		of.parts[i] = &x
		return
	}
	of.parts = slices.Insert(of.parts, i, &x)
	d.moves++
}

// enter makes room for what departs of an app.
func (d *Departures) enter(app mercury.Address) *departed {
	if d.byApp == nil {
		d.byApp = make(map[mercury.Address]*departed)
	}
	if len(d.order) == MaxDepartures {
		d.moves -= len(d.byApp[d.order[0]].parts)
		delete(d.byApp, d.order[0])
		d.order = slices.Delete(d.order, 0, 1)
	}
	of := new(departed)
	d.byApp[app] = of
	d.order = append(d.order, app)
	return of
}

func (x *departed) find(turn uint64) (int, bool) {
	return slices.BinarySearchFunc(x.parts, turn, func(x *Departure, turn uint64) int { return cmp.Compare(x.Part.Turn, turn) })
}

// Of returns the departure of a whole app, nil if it is not known to have departed.
func (d *Departures) Of(app mercury.Address) *Departure { return d.Find(Leave{App: app}) }

// Find returns a departure by its name, nil if it is not known.
func (d *Departures) Find(l Leave) *Departure {
	of := d.of(l.App)
	switch {
	case of == nil:
		return nil
	case l.Turn == 0:
		return of.whole
	}
	if i, found := of.find(l.Turn); found {
		return of.parts[i]
	}
	return nil
}

func (d *Departures) of(app mercury.Address) *departed {
	if d.byApp == nil {
		return nil
	}
	return d.byApp[app]
}

// Any reports whether anything of an app is known to have departed.
func (d *Departures) Any(app mercury.Address) bool { return d.of(app) != nil }

// Turn is the newest turn of an app of which a part has departed, 0 for none.
func (d *Departures) Turn(app mercury.Address) uint64 {
	if of := d.of(app); of != nil && len(of.parts) > 0 {
		return of.parts[len(of.parts)-1].Part.Turn
	}
	return 0
}

// Len is of how many apps something has departed.
func (d *Departures) Len() int { return len(d.order) }

// Moves is how many parts have departed, of all apps.
func (d *Departures) Moves() int { return d.moves }

// Each calls f with each, app by app in the order in which they were heard of, the parts of each first.
func (d *Departures) Each(f func(*Departure)) {
	for _, app := range d.order {
		of := d.byApp[app]
		for _, x := range of.parts {
			f(x)
		}
		if of.whole != nil {
			f(of.whole)
		}
	}
}

// Newest is the highest number of a departure of others than an app, 0 if there is none. What has left the
// app itself it need not cover.
func (d *Departures) Newest(but mercury.Address) uint64 {
	newest := uint64(0)
	// order does not show: it is the maximum
	for app, of := range d.byApp {
		if app == but {
			continue
		}
		if of.whole != nil {
			newest = max(newest, of.whole.Number)
		}
		if n := len(of.parts); n > 0 {
			newest = max(newest, of.parts[n-1].Number)
		}
	}
	return newest
}

// Heir returns where a base is now that was on an app from the start: there, unless it has departed from
// there. It reports false if nobody has taken the base over, so that it is gone.
func (d *Departures) Heir(app mercury.Address, id entity.ID) (heir mercury.Address, ok bool) {
	return d.follow(app, 0, id, nil)
}

// HeirOf is Heir for a base that went with a departure.
func (d *Departures) HeirOf(gone *Departure, id entity.ID) (heir mercury.Address, ok bool) {
	if !gone.Takes(id) {
		return mercury.Address{}, false
	}
	heir, _, ok = d.next(gone, id)
	if !ok {
		return mercury.Address{}, false
	}
	return d.follow(heir, gone.Number, id, nil)
}

// Step is how a base left an app: with which departure, to whom, and how many holders were passed
// over for that because they have departed as well. Gone is nil if it has not left. Back is the
// departure with which it came back, nil if it has not.
type Step struct {
	Gone   *Departure
	Heir   mercury.Address
	Passed int
	Back   *Departure
}

// Left returns how a base that was first on one app last left another. An app that keeps the last
// copy of what left it, and takes it back, is its own heir.
func (d *Departures) Left(first, app mercury.Address, id entity.ID) (last Step) {
	d.follow(first, 0, id, func(s Step) {
		if s.Gone.App == app {
			last = s
		}
		if s.Heir == app && last.Gone != nil {
			last.Back = s.Gone
		}
	})
	return last
}

// follow finds a base that came to an app with a departure of a number.
func (d *Departures) follow(app mercury.Address, since uint64, id entity.ID, step func(Step)) (heir mercury.Address, ok bool) {
	for range MaxChain {
		gone := d.after(app, since, id)
		if gone == nil {
			return app, true
		}
		heir, passed, ok := d.next(gone, id)
		if !ok {
			return mercury.Address{}, false
		}
		if step != nil {
			step(Step{Gone: gone, Heir: heir, Passed: passed})
		}
		app, since = heir, gone.Number
	}
	return mercury.Address{}, false
}

// after returns the departure with which a base left an app to which it came with a departure of a number.
func (d *Departures) after(app mercury.Address, since uint64, id entity.ID) *Departure {
	of := d.of(app)
	if of == nil {
		return nil
	}
	bit := uint64(1) << SliceOf(id)
	for _, x := range of.parts {
		if x.Part.Slices&bit != 0 && x.Number > since && x.Part.takes(x, id) {
			return x
		}
	}
	return of.whole
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
// had it covered before it went itself. An app that lives has kept the last copies of what has left it.
func (d *Departures) next(gone *Departure, id entity.ID) (heir mercury.Address, passed int, ok bool) {
	var buf [MaxReplicas + 1]mercury.Address
	list := gone.Rule.Holders(buf[:0], gone.App, id)
	if gone.Part.Turn > 0 {
		list = append(list, gone.App)
	}
	for i, h := range list {
		if x := d.Of(h); x == nil || x.Number > gone.Number && x.Rule.Covers >= gone.Number {
			return h, i, true
		}
	}
	return mercury.Address{}, 0, false
}
