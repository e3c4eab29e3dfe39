package entity

import (
	"errors"
	"fmt"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
)

const (
	// LocateRetry is how long a base waits before it asks the CellAppMgr again
	// for a CellApp: a space without a cell gets one within a balance or two.
	LocateRetry = time.Second

	// CreateTimeout is how long a CellApp may take to say that it made the real.
	// It is as long as silence may last before an app is declared dead, so a
	// creation is not repeated before the verdict would have come.
	CreateTimeout = 3 * time.Second

	// OfferGrace is how long a base waits after a loss, before it restores its
	// cell part: the time for a frozen copy to be offered, or for a real that went
	// on to say where it is. It also paces a script that panics after every restore.
	OfferGrace = 500 * time.Millisecond
)

// ErrHasPart is returned when a part is to be created that is there, or coming.
var ErrHasPart = errors.New("entity: the entity has that part already")

// LinkState is what a base knows of its cell part.
type LinkState uint8

// The states of a CellLink.
const (
	LinkNone     LinkState = iota // there is no cell part
	LinkLocating                  // the CellAppMgr is asked for a CellApp
	LinkCreating                  // a CellApp was told to make the real
	LinkLive                      // the real said where it is
	LinkLost                      // it died, or may have: offers are awaited
)

// String names the state.
func (s LinkState) String() string {
	switch s {
	case LinkNone:
		return "none"
	case LinkLocating:
		return "locating"
	case LinkCreating:
		return "creating"
	case LinkLive:
		return "live"
	case LinkLost:
		return "lost"
	}
	return fmt.Sprintf("link(%d)", uint8(s))
}

// CellCopy is the state from which a cell part is made: its first state, a
// backup, or the frozen copy of a handoff.
type CellCopy struct {
	// Order is that of the real when the copy was taken. Saves counts the backups
	// of one incarnation. Of two copies the one of newer order is fresher, and of
	// those the one of more saves.
	Order Order
	Saves uint64
	// Handled is the last message of the base's flow that the copy contains.
	Handled  uint64
	Space    SpaceID
	Position property.Vector3
	// Restored is false for a first state.
	Restored bool
	Parts    []byte
}

func (c *CellCopy) fresher(d *CellCopy) bool {
	if o := c.Order.Compare(d.Order); o != 0 {
		return o > 0
	}
	return c.Saves > d.Saves
}

// CellLink is a base's end of everything between it and its cell part: where the
// real is, both flows, and the freshest copy. It decides; the app that holds the
// base sends what it decided. Its zero value is the link of a base without cell part.
//
//	        Create                Located            Current
//	None ───────────▶ Locating ───────────▶ Creating ────────▶ Live ◀─┐ Current,
//	 ▲                  ▲  ▲ │each second      │  │             │ └───┘ newer order
//	 │                  │  └─┘ask again        │  │CreateTimeout│
//	 │       OfferGrace │◀────────────────────────┘             │
//	 │                  │    AppDead, Offer,   │                │
//	 │                Lost ◀───────────────────┴────────────────┤
//	 │                  └───────────────────────────────────────┤ Current of a newer
//	 └───────── GonePayload; Leave and a loss ──────────────────┘ order: back to Live
//	            Locating: NoSpace
//
// Every entry into Locating begins a new incarnation: whatever an older one still
// does is refused, because it may exist although no one heard of it.
//
// Invariants:
//
//   - Order never goes back, also not over the lives of several cell parts.
//   - At most one order is Live; a Current of an older one, or of an order that is
//     known to be lost, is refused.
//   - Out keeps every message above the Handled of the copy, so a restored real
//     gets all that the copy does not contain.
//   - Both flows name their stream by the incarnation of the cell part, so that
//     messages and acks of an older life are told apart.
type CellLink struct {
	// Out is the flow to the cell part; its numbers go on over incarnations.
	Out Out
	// In is the flow from the cell part; it starts again in each incarnation.
	In In

	was     In // what the last incarnation that said anything was heard of
	first   In // the same of the incarnation of the copy, once was is of a newer one
	state   LinkState
	order   Order
	app     mercury.Address
	copy    CellCopy
	at      time.Duration // when Step has something to do
	leaving bool          // the cell part is to be destroyed
}

// State returns the state.
func (l *CellLink) State() LinkState { return l.state }

// Order returns the newest order that is known; the incarnation alone counts
// while Locating.
func (l *CellLink) Order() Order { return l.order }

// App returns where the real is, or is being made; zero in the other states.
func (l *CellLink) App() mercury.Address { return l.app }

// Live reports whether the real is known to be somewhere now.
func (l *CellLink) Live() bool { return l.state == LinkLive }

// Open reports whether there is, or will be, a cell part that takes messages.
func (l *CellLink) Open() bool { return l.state != LinkNone && !l.leaving }

// Copy returns the freshest copy of the cell part. Its Parts belong to the link.
func (l *CellLink) Copy() CellCopy { return l.copy }

// Heard is the last message that was handled of the real that the copy was taken of, also
// if it has been restored from that copy before.
func (l *CellLink) Heard() uint64 {
	for _, in := range []*In{&l.was, &l.first} {
		if in.Stream() == l.copy.Order.Incarnation {
			return in.Last()
		}
	}
	return 0
}

// Create begins the life of a cell part from its first state. The caller asks the
// CellAppMgr when Step says so. The link keeps c.Parts.
func (l *CellLink) Create(now time.Duration, c CellCopy) error {
	if l.state != LinkNone {
		return ErrHasPart
	}
	// Nothing that was said to a former cell part is meant for this one.
	l.Out.Settle(now, l.Out.Last())
	c.Order, c.Saves, c.Restored = Order{Incarnation: l.order.Incarnation + 1}, 0, false
	c.Handled = l.Out.Last()
	l.copy = c
	l.begin(now)
	return nil
}

// begin starts the next incarnation from the freshest copy.
func (l *CellLink) begin(now time.Duration) {
	l.order = Order{Incarnation: l.order.Incarnation + 1}
	l.app = mercury.Address{}
	if l.In.Last() > 0 {
		if l.was.Stream() == l.copy.Order.Incarnation {
			l.first = NewIn(l.was.Stream(), l.was.Last())
		}
		l.was = NewIn(l.In.Stream(), l.In.Last())
	}
	l.In = NewIn(l.order.Incarnation, 0)
	l.Out.Rewind(l.copy.Handled)
	l.state, l.at = LinkLocating, now
}

// Step does what is due at now. It reports whether the CellAppMgr is to be asked
// for a CellApp. Call it each tick.
func (l *CellLink) Step(now time.Duration) (ask bool) {
	if l.state == LinkNone || l.state == LinkLive || now < l.at {
		return false
	}
	if l.leaving {
		l.Gone(now)
		return false
	}
	if l.state != LinkLocating {
		l.begin(now)
	}
	l.at = now + LocateRetry
	return true
}

// Located says which CellApp the manager chose. True means that it is to be told
// to make the real of Order from Copy.
func (l *CellLink) Located(now time.Duration, app mercury.Address) (create bool) {
	if l.state != LinkLocating || app.IsZero() {
		return false
	}
	l.state, l.app, l.at = LinkCreating, app, now+CreateTimeout
	return true
}

// CurrentVerdict is what a real's word on where it is means.
type CurrentVerdict uint8

// What CellLink.Current says.
const (
	// CurrentKnown: it is there, as was known.
	CurrentKnown CurrentVerdict = iota
	// CurrentMoved: it is there now; what it has not received goes there.
	CurrentMoved
	// CurrentRefused: a real of that order may not be.
	CurrentRefused
)

// Current takes a real's word that it is at from, has an order, and has handled
// the base's flow up to handled.
func (l *CellLink) Current(now time.Duration, from mercury.Address, order Order, handled uint64) CurrentVerdict {
	c := order.Compare(l.order)
	switch {
	case l.state == LinkNone || l.state == LinkLocating || c < 0 || order.Incarnation != l.order.Incarnation:
		return CurrentRefused
	case c == 0 && (l.state == LinkLost || from != l.app):
		return CurrentRefused
	case c == 0 && l.state == LinkLive:
		l.Out.Received(now, handled)
		return CurrentKnown
	}
	l.state, l.order, l.app = LinkLive, order, from
	l.Out.Received(now, handled)
	return CurrentMoved
}

// AppDead says that an app was declared dead; true means that the real was there.
func (l *CellLink) AppDead(now time.Duration, app mercury.Address) bool {
	if !l.held() || l.app != app {
		return false
	}
	l.lose(now)
	return true
}

// Lost takes an app's word that the real of an order is gone without having been
// destroyed; true means that it was the current one, or a newer one that the base
// had not heard of.
func (l *CellLink) Lost(now time.Duration, order Order) bool {
	if !l.held() || order.Incarnation != l.order.Incarnation || order.Before(l.order) {
		return false
	}
	l.order = order
	l.lose(now)
	return true
}

func (l *CellLink) held() bool { return l.state == LinkCreating || l.state == LinkLive }

func (l *CellLink) lose(now time.Duration) {
	if l.leaving {
		l.Gone(now)
		return
	}
	l.state, l.app, l.at = LinkLost, mercury.Address{}, now+OfferGrace
}

// Backup keeps a backup of the current incarnation if it is fresher than the copy
// held, and forgets the messages that it contains. The caller has checked its
// stream. c.Parts is copied.
func (l *CellLink) Backup(now time.Duration, c CellCopy) bool {
	if l.state == LinkNone || c.Order.Incarnation != l.order.Incarnation {
		return false
	}
	return l.keep(now, c)
}

// Offer takes a frozen copy of a handoff whose destination died: c.Order is the
// order that the real would have had there. It is kept if it is fresher than the
// copy held; lost means that the current real is the one that was handed on, so
// that it has to be restored, unless a newer one says that it went on.
//
// A copy of an older incarnation comes too late once the next one was told to be
// made from an older copy: that one has been sent messages which the offered copy
// contains.
func (l *CellLink) Offer(now time.Duration, c CellCopy) (kept, lost bool) {
	same := c.Order.Incarnation == l.order.Incarnation
	if l.state == LinkNone || !same && (l.state != LinkLocating || l.order.Before(c.Order)) {
		return false, false
	}
	kept = l.keep(now, c)
	if same && l.held() && l.order.Before(c.Order) {
		l.lose(now)
		return kept, true
	}
	return kept, false
}

func (l *CellLink) keep(now time.Duration, c CellCopy) bool {
	if !c.fresher(&l.copy) {
		return false
	}
	c.Restored = true
	c.Parts = append(l.copy.Parts[:0:0], c.Parts...)
	l.copy = c
	l.Out.Settle(now, c.Handled)
	return true
}

// Leave ends the life of the cell part. If it is, or may be, somewhere, tell is
// true: the caller sends a DestroyPayload, and Gone follows; a loss meanwhile is
// the end, too. Otherwise the link is None at once.
func (l *CellLink) Leave(now time.Duration) (tell bool, err error) {
	switch {
	case !l.Open():
		return false, ErrNoPart
	case l.held():
		l.leaving = true
		return true, nil
	}
	l.Gone(now)
	return false, nil
}

// NoSpace says that there is no space to make the cell part in, and never will be;
// true means that this is its end. A real that lives somewhere speaks for itself.
func (l *CellLink) NoSpace(now time.Duration) bool {
	if l.state != LinkLocating {
		return false
	}
	l.Gone(now)
	return true
}

// Gone says that the cell part was destroyed. What it did not receive is forgotten.
func (l *CellLink) Gone(now time.Duration) {
	l.state, l.app, l.leaving = LinkNone, mercury.Address{}, false
	l.copy = CellCopy{}
	l.Out.Settle(now, l.Out.Last())
}
