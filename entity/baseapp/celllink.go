package baseapp

import (
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/enum"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/property"
)

const (
	// locateRetry is how long a base waits before it asks the CellAppMgr again for a CellApp. A
	// space without a cell gets one within one or two rounds of balance. But one whose last cell has
	// just died gets another within a round trip: told that there is none, a base asks again after
	// locateFirst, and then waits twice as long each time.
	locateRetry = time.Second
	locateFirst = 50 * time.Millisecond

	// createTimeout is how long a CellApp may take to report that it made the real, before it is asked. One
	// that is only slow still makes it: a base that had another one made meanwhile would double the
	// work of a CellApp that has too much of it, and refuse each real when it comes at last.
	createTimeout = 3 * time.Second

	// offerGrace is how long a base waits after a loss before it restores its cell part. In that
	// time a CellApp may offer a frozen copy, or a real that was handed on may report where it is.
	// After a death the wait ends as soon as all CellApps have said what they know (mourn.go). A
	// script that panics after every restore is slowed down further (fault.go).
	offerGrace = 500 * time.Millisecond
)

// linkState is what a base knows of its cell part.
type linkState uint8

// The states of a cellLink.
const (
	linkNone     linkState = iota // there is no cell part
	linkLocating                  // the base asks the CellAppMgr for a CellApp
	linkCreating                  // a CellApp was told to make the real
	linkLive                      // the real has reported where it is
	linkLost                      // it died, or may have; the base waits for offers
	linkAdopting                  // the base was restored, and waits to hear where the real is
)

// String names the state.
func (s linkState) String() string {
	return enum.Name(s, "link", []string{
		linkNone:     "none",
		linkLocating: "locating",
		linkCreating: "creating",
		linkLive:     "live",
		linkLost:     "lost",
		linkAdopting: "adopting",
	})
}

// cellCopy is the state from which a cell part is made: its first state, a backup, or the frozen
// copy of a handoff.
type cellCopy struct {
	// Order is the real's order when the copy was taken. Saves counts the backups of one
	// incarnation. Of two copies, the one with the newer order is fresher; with equal orders it is
	// the one with more saves.
	Order entity.Order
	Saves uint64
	// Handled is the last message of the base's flow whose effect the copy contains.
	Handled  flow.Mark
	Space    entity.SpaceID
	Position property.Vector3
	// Restored is false for a first state.
	Restored bool
	Parts    []byte
}

func (c *cellCopy) fresher(d *cellCopy) bool {
	if o := c.Order.Compare(d.Order); o != 0 {
		return o > 0
	}
	return c.Saves > d.Saves
}

// cellLink is a base's end of the connection to its cell part: where the real is, both flows, and
// the freshest copy. It decides, and the app sends accordingly. The zero value is the link of a
// base without a cell part.
//
//	        Create                Located            Current
//	None ───────────▶ Locating ───────────▶ Creating ────────▶ Live ◀─┐ Current,
//	 ▲                  ▲  ▲ │each second     │ ▲ │createTimeout:│ └───┘ newer order
//	 │                  │  └─┘ask again       │ └─┘ask whether   │
//	 │       offerGrace │                     │    it is there   │
//	 │                  │ AppDead, Offer, Lost│                  │
//	 │                Lost ◀──────────────────┴──────────────────┤
//	 │                  └────────────────────────────────────────┤ Current of a newer
//	 └───────── GonePayload; Leave and a loss ───────────────────┘ order: back to Live
//	            Locating: NoSpace
//
// The link of a restored base with a cell part begins as Adopting: a Current makes it Live, a Lost
// or an Offer Lost, and after adoptGrace it is Locating, some incarnations on. If the real that it
// has adopted turns out not to be of the last incarnation that the client was shown, it is Lost.
//
// Every entry into Locating begins a new incarnation. An older one may still exist although nobody
// has heard of it, so everything that it does is refused.
//
// Invariants:
//
//   - Order never goes back, even across several cell parts of one base.
//   - At most one order is Live. A Current of an older order, or of one known to be lost, is
//     refused.
//   - Out keeps every message above the Handled of the copy, so a restored real gets all that the
//     copy does not contain.
//   - The stream of the flow from the cell part is its incarnation, that of the flow to it is the
//     life of the base. So whatever a restored one says is told from what the former one said.
type cellLink struct {
	state   linkState
	leaving bool // the cell part must be destroyed
	// life is the base's incarnation: 0, and a later one each time that it is restored.
	life  uint32
	order entity.Order
	at    time.Duration // when Step has something to do
	app   mercury.Address

	// In is the flow from the cell part; it starts again with each incarnation.
	in flow.Receiver
	// Out is the flow to the cell part; its numbers go on from one incarnation to the next.
	out flow.Sender

	was     flow.Receiver // the receiver of the last incarnation that said anything
	first   flow.Receiver // the receiver of the copy's incarnation, once was belongs to a newer one
	copy    cellCopy
	with    mercury.Address // while Lost: where the real was believed
	retry   time.Duration   // while Locating: the wait after the next answer that there is no cell
	rehomed int             // how often the copy was given another place since the real lived
	// closed is when the last cell part ended, or was to end, in this life of the base.
	closed time.Duration
	// unknown is how many incarnations a former life may have begun that this one has not heard of.
	unknown uint32
}

// State returns the state.
func (l *cellLink) State() linkState { return l.state }

// Order returns the newest known order. While Locating, only its incarnation counts.
func (l *cellLink) Order() entity.Order { return l.order }

// App returns where the real is, or is being made; zero in the other states.
func (l *cellLink) App() mercury.Address { return l.app }

// Live reports whether the real is known to be somewhere now.
func (l *cellLink) Live() bool { return l.state == linkLive }

// Open reports whether there is, or will be, a cell part that takes messages.
func (l *cellLink) Open() bool { return l.state != linkNone && !l.leaving }

// Copy returns the freshest copy of the cell part. Its Parts belong to the link.
func (l *cellLink) Copy() cellCopy { return l.copy }

// Heard is the number of the last message that the base handled from the real that the copy was
// taken from. That holds even if the entity was restored from this copy before.
func (l *cellLink) Heard() uint64 {
	for _, in := range []*flow.Receiver{&l.was, &l.first} {
		if in.Incarnation() == l.copy.Order.Incarnation {
			return in.Last()
		}
	}
	return 0
}

// Create begins the life of a cell part with its first state. The caller asks the CellAppMgr when
// Step says so. The link keeps c.Parts.
func (l *cellLink) Create(now time.Duration, c cellCopy) error {
	if l.state != linkNone {
		return entity.ErrHasPart
	}
	// Messages to a former cell part are not meant for this one.
	l.out.Settle(now, l.out.Last())
	c.Order, c.Saves, c.Restored = entity.Order{Incarnation: l.order.Incarnation + 1 + l.unknown}, 0, false
	c.Handled = flow.MarkOf(l.life, l.out.Last())
	l.copy = c
	l.begin(now)
	return nil
}

// begin starts the next incarnation from the freshest copy.
func (l *cellLink) begin(now time.Duration) {
	l.order = entity.Order{Incarnation: l.order.Incarnation + 1 + l.unknown}
	l.unknown = 0
	l.app = mercury.Address{}
	l.listen(l.order.Incarnation)
	l.out.Rewind(l.out.Known(l.copy.Handled, l.life))
	l.state, l.at, l.retry = linkLocating, now, locateFirst
}

// listen begins the flow from the next incarnation, and keeps what was heard of the former ones that may
// still be asked for. One that has said nothing leaves nothing. (A restored base that found a newer
// incarnation than its own forgot what it had heard of the one that its copy was taken from. That copy said
// it all again.)
func (l *cellLink) listen(incarnation uint32) {
	if l.in.Last() > 0 {
		if l.was.Incarnation() == l.copy.Order.Incarnation {
			l.first = flow.NewReceiver(l.was.Incarnation(), l.was.Last())
		}
		l.was = flow.NewReceiver(l.in.Incarnation(), l.in.Last())
	}
	l.in = flow.NewReceiver(incarnation, 0)
}

// Step does what is due at now, and reports whether to ask the CellAppMgr for a CellApp. Call it
// each tick.
func (l *cellLink) Step(now time.Duration) (ask bool) {
	if l.state == linkNone || l.state == linkLive || now < l.at {
		return false
	}
	if l.leaving {
		l.Gone(now)
		return false
	}
	if l.state == linkCreating {
		return false // Overdue
	}
	if l.state != linkLocating {
		l.begin(now)
	}
	l.at = now + locateRetry
	return true
}

// Overdue reports that a CellApp which was told to make the real has not said for long that it did.
// It is to be asked: a Create that was lost with a channel is answered by a Lost.
func (l *cellLink) Overdue(now time.Duration) bool { return l.state == linkCreating && now >= l.at }

// succeeds reports whether Step would begin the incarnation after one that was lost.
func (l *cellLink) succeeds(now time.Duration) bool {
	return l.state == linkLost && !l.leaving && now >= l.at
}

// Located takes the CellApp that the manager chose. True means that the caller must tell it to make
// the real of Order from Copy.
func (l *cellLink) Located(now time.Duration, app mercury.Address) (create bool) {
	if l.state != linkLocating {
		return false
	}
	if app.IsZero() {
		l.retry = max(l.retry, locateFirst) // a link that came from elsewhere has none
		l.at = min(l.at, now+l.retry)
		l.retry = min(2*l.retry, locateRetry)
		return false
	}
	l.state, l.app, l.at = linkCreating, app, now+createTimeout
	return true
}

// currentVerdict is what becomes of a real's report of where it is.
type currentVerdict uint8

// The verdicts of cellLink.Current.
const (
	// currentKnown: the base knew that it is there.
	currentKnown currentVerdict = iota
	// currentMoved: it is there now, and needs what it has not received.
	currentMoved
	// currentRefused: no real of that order may exist.
	currentRefused
)

// Current takes a real's report that it is on the app from, has the given order, and has handled
// the base's flow up to handled.
func (l *cellLink) Current(now time.Duration, from mercury.Address, order entity.Order, handled flow.Mark) currentVerdict {
	c := order.Compare(l.order)
	if l.state == linkAdopting && c >= 0 {
		l.follow(order)
		l.state, l.app = linkLive, from // which need not be the last that a former life began: unknown stays
		l.received(now, handled)
		return currentMoved
	}
	switch {
	case l.state == linkNone || l.state == linkLocating || c < 0 || order.Incarnation != l.order.Incarnation:
		return currentRefused
	case c == 0 && (l.state == linkLost || from != l.app):
		return currentRefused
	case c == 0 && l.state == linkLive:
		l.received(now, handled)
		return currentKnown
	}
	l.state, l.order, l.app, l.rehomed = linkLive, order, from, 0
	l.received(now, handled)
	return currentMoved
}

// received takes what a real has handled. What it had from a former life of the base has to come again, since
// the numbers of a stream come one after the other; the real knows it by when it was born.
func (l *cellLink) received(now time.Duration, handled flow.Mark) {
	if handled.Stream() == l.life {
		l.out.Received(now, handled.Number())
	}
}

// LostWith is called when an app has no reals any more, because it was declared dead or has left.
// True means that the base believed its real to be there.
func (l *cellLink) LostWith(now time.Duration, app mercury.Address) bool {
	if !l.held() || l.app != app {
		return false
	}
	l.lose(now)
	return true
}

// Lost takes an app's report that the real of an order is gone but was not destroyed. True means
// that it was the current one, or a newer one that the base had not heard of.
func (l *cellLink) Lost(now time.Duration, order entity.Order) bool {
	if !l.held() || !l.known(order) || order.Before(l.order) {
		return false
	}
	l.follow(order)
	l.lose(now)
	return true
}

// Delay has a cell part that is lost be restored later than otherwise.
func (l *cellLink) Delay(d time.Duration) {
	if l.state == linkLost {
		l.at += d
	}
}

// Shown takes in that the client was shown an incarnation: a former life began it, and ended all
// before. One of those that is alive must not go on: what it says would come after what the later
// one said. True means that the present real is lost by that.
func (l *cellLink) Shown(now time.Duration, incarnation uint32) bool {
	if l.state != linkLive && l.state != linkCreating {
		return false
	}
	if incarnation <= l.order.Incarnation || incarnation-l.order.Incarnation > l.unknown {
		return false
	}
	l.follow(entity.Order{Incarnation: incarnation})
	l.lose(now)
	return true
}

func (l *cellLink) held() bool {
	return l.state == linkCreating || l.state == linkLive || l.state == linkAdopting
}

// known reports whether an order is of the current incarnation, or of one that a former life of the base
// may have begun.
func (l *cellLink) known(order entity.Order) bool {
	return order.Incarnation == l.order.Incarnation || l.state == linkAdopting && l.order.Before(order)
}

// follow goes on to a newer order.
func (l *cellLink) follow(order entity.Order) {
	if order.Incarnation != l.order.Incarnation {
		l.listen(order.Incarnation)
		l.in.Owe()
	}
	l.order = order
}

func (l *cellLink) lose(now time.Duration) {
	if l.leaving {
		l.Gone(now)
		return
	}
	l.with = l.app
	l.state, l.app, l.at = linkLost, mercury.Address{}, now+offerGrace
}

// Mourned is called when nothing more will come of the reals of a dead app. True means that the link
// waited only for that, and that Step has something to do.
func (l *cellLink) Mourned(now time.Duration, app mercury.Address) bool {
	if l.state != linkLost || l.with != app {
		return false
	}
	l.at = now
	return true
}

// Backup keeps a backup of the current incarnation if it is fresher than the copy at hand, and
// forgets the messages that it contains. The caller has checked its stream. c.Parts is copied.
func (l *cellLink) Backup(now time.Duration, c cellCopy) bool {
	if l.state == linkNone || c.Order.Incarnation != l.order.Incarnation {
		return false
	}
	return l.keep(now, c)
}

// Offer takes the frozen copy of a handoff whose destination died. c.Order is the order that the
// real would have had there. The copy is kept if it is fresher than the one at hand. lost means
// that the current real is the one that was handed on: it has to be restored, unless a newer real
// reports that it lives on.
//
// A copy of an older incarnation comes too late once a CellApp was told to make the next
// incarnation from an older copy. That incarnation has been sent messages that the offered copy
// already contains.
func (l *cellLink) Offer(now time.Duration, c cellCopy) (kept, lost bool) {
	same := l.known(c.Order)
	if l.state == linkNone || !same && (l.state != linkLocating || l.order.Before(c.Order)) {
		return false, false
	}
	kept = l.keep(now, c)
	if same && l.held() && l.order.Before(c.Order) {
		if l.order.Incarnation != c.Order.Incarnation {
			l.follow(entity.Order{Incarnation: c.Order.Incarnation})
		}
		l.lose(now)
		return kept, true
	}
	return kept, false
}

func (l *cellLink) keep(now time.Duration, c cellCopy) bool {
	if !c.fresher(&l.copy) {
		return false
	}
	c.Restored = true
	c.Parts = append(l.copy.Parts[:0:0], c.Parts...)
	l.copy = c
	l.out.Settle(now, l.out.Known(c.Handled, l.life))
	return true
}

// Leave ends the life of the cell part. If it is or may be somewhere, tell is true: the caller
// sends a DestroyPayload or an EndPayload, and Gone follows. If the part is lost in the meantime, that
// is the end, too. Otherwise the link is None at once.
func (l *cellLink) Leave(now time.Duration) (tell bool, err error) {
	switch {
	case !l.Open():
		return false, entity.ErrNoPart
	case l.held():
		l.leaving, l.closed = true, now
		return true, nil
	}
	l.Gone(now)
	return false, nil
}

// maxRehomed is how often a copy is given another place in a row: spaces that end one after the other
// must not keep a base busy for ever.
const maxRehomed = 8

// Rehome gives the copy another place, because its space has ended. It reports false if it must not.
func (l *cellLink) Rehome(now time.Duration, space entity.SpaceID, position, direction property.Vector3) bool {
	if l.state != linkLocating || l.rehomed >= maxRehomed {
		return false
	}
	parts, err := migrate.Placed(l.copy.Parts, position, direction)
	if err != nil {
		return false // the cell would say the same
	}
	l.rehomed++
	l.copy.Space, l.copy.Position, l.copy.Parts = space, position, parts
	l.at = now
	return true
}

// NoSpace is called when the space to make the cell part in has ended for good. True means that
// this is the cell part's end. It does not end a real that lives somewhere.
func (l *cellLink) NoSpace(now time.Duration) bool {
	if l.state != linkLocating {
		return false
	}
	l.Gone(now)
	return true
}

// Gone is called when the cell part was destroyed. Messages that it did not receive are forgotten.
func (l *cellLink) Gone(now time.Duration) {
	if !l.leaving {
		l.closed = now
	}
	l.state, l.app, l.leaving = linkNone, mercury.Address{}, false
	l.copy = cellCopy{}
	l.out.Settle(now, l.out.Last())
}
