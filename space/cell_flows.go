package space

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/space/internal/hosting"
)

// MaxPeers bounds the entities that one real keeps flows with. Beyond it, calls to further entities
// are refused until an old flow has been idle for PeerLease, and is forgotten.
const MaxPeers = 1024

const _ = uint(flow.MaxGone - MaxPeers) // an end tells of each; see sayLast

// peer is both directions of a flow between a real and another part.
type peer struct {
	id   entity.ID
	side entity.Part
	out  flow.Sender
	in   flow.Receiver
	// at is the last known app of the other end, in the incarnation that was heard. Acks go there.
	at mercury.Address
	// home is the app of the other end's base, which always finds its cell part.
	home mercury.Address
	// life is the newest known incarnation of the other end.
	life uint32
	// cause and turn are those of the last handled call; see flow.ServerCall.
	cause uint64
	turn  uint32
	// upload is the place of the last handled call by the client of the other end among all that it said;
	// see flow.MethodCall.
	upload uint64
	// made and turns count the calls that the message being handled has caused; see flow.ServerCall.
	made  uint64
	turns uint32
	// unseen means that messages wait until the client sees the other end; see CallPatience.
	unseen bool
	// used is when the flow last moved. giveUpAt is when the other end is given up, if nobody here
	// knows by then where it is; 0 while somebody does. On the way to another cell they are how long
	// ago and how far off that is: who walks to and fro over a line must not wait for ever.
	used, giveUpAt time.Duration
	prospect       flow.Prospect
}

const (
	// FlowGiveUp is how long a real tries to reach a real without a base whose place nobody here
	// knows.
	FlowGiveUp = 15 * time.Second
)

func (r *Real) peer(id entity.ID, side entity.Part) (*peer, error) {
	r.stir(id, side)
	i, found := r.flowOf(id, side)
	if found {
		return &r.flows[i], nil
	}
	if len(r.flows) >= MaxPeers {
		return nil, fmt.Errorf("space: %s keeps flows with %d others already", r.e.ID, MaxPeers)
	}
	p := peer{id: id, side: side, used: r.cell.now}
	if side != entity.BasePart || id != r.e.ID {
		p.out = flow.NewSender(r.begins())
	}
	r.flows = slices.Insert(r.flows, i, p)
	return &r.flows[i], nil
}

// known returns the flow with another part; nil if there is none.
func (r *Real) known(id entity.ID, side entity.Part) *peer {
	r.stir(id, side)
	if i, found := r.flowOf(id, side); found {
		return &r.flows[i]
	}
	return nil
}

// own reports whether a flow is that with the entity's own base.
func (r *Real) own(p *peer) bool { return p.side == entity.BasePart && p.id == r.e.ID }

// stir has settleFlows look at the flows with others again, since the caller may change one.
func (r *Real) stir(id entity.ID, side entity.Part) {
	if side != entity.BasePart || id != r.e.ID {
		r.quietUntil = 0
	}
}

// flowOf finds the flow with another part, or where it belongs. A search of the library would copy
// a peer, of five lines of memory, for each look.
func (r *Real) flowOf(id entity.ID, side entity.Part) (int, bool) {
	from, to := 0, len(r.flows)
	for from < to {
		at := (from + to) / 2
		switch c := r.flows[at].compare(id, side); {
		case c == 0:
			return at, true
		case c < 0:
			from = at + 1
		default:
			to = at
		}
	}
	return from, false
}

func (p *peer) compare(id entity.ID, side entity.Part) int {
	return cmp.Or(cmp.Compare(p.id, id), cmp.Compare(p.side, side))
}

// base returns the flow with the entity's own base. It is asked for several times in each tick of
// each player, and so looked for where it was the last time.
func (r *Real) base() *peer {
	if r.baseAt < len(r.flows) && r.own(&r.flows[r.baseAt]) {
		return &r.flows[r.baseAt]
	}
	p, err := r.peer(r.e.ID, entity.BasePart)
	if err != nil {
		// The base's flow is made with the real and is never given up.
		panic(err)
	}
	r.baseAt, _ = r.flowOf(p.id, p.side)
	return p
}

// sendBase adds a payload to the flow to the base.
func (r *Real) sendBase(payload []byte) error {
	if r.e.Base.IsZero() {
		return entity.ErrNoPart
	}
	return r.send(r.base(), payload)
}

func (r *Real) send(p *peer, payload []byte) error {
	p.used = r.cell.now
	_, err := p.out.Add(r.cell.now, payload)
	if err != nil {
		return r.unsent(p, err)
	}
	r.cell.count.FlowSent++
	if room := roomNow; p.out.Waiting() == 1 { // otherwise it waits for its turn; see settleFlows
		p.out.Send(func(n uint64, payload []byte) bool { return r.transmit(p, n, payload, room) })
	}
	return nil
}

// unsent counts and logs a message that a flow does not take.
func (r *Real) unsent(p *peer, err error) error {
	r.cell.count.Errors++
	if unlogged, ok := r.cell.population.lines.Allow(r.cell.now, "flow message not sent"); ok {
		r.Log().Error("flow message not sent", "to", p.id.String(), "side", p.side.String(), "error", err, "unlogged", unlogged)
	}
	return err
}

// room is the level up to which a channel takes messages of flows. A flow keeps messages until they
// are settled, so nothing is lost while they wait. New messages whose turn it is go out until only
// half of the queue is free; waiting or repeated ones go only while the queue is less than a
// quarter full. All entities together so fill at most a quarter of the queue to an app with repeats
// in one tick.
type room mercury.Level

const (
	roomNow   = room(mercury.High)
	roomLater = room(mercury.Free)
)

func (c *Cell) has(room room, to mercury.Address) bool { return c.population.has(room, to) }

// transmit sends a message of a flow, and reports whether there was room.
func (r *Real) transmit(p *peer, number uint64, payload []byte, room room) bool {
	m := &r.cell.message
	*m = flow.Message{
		From: r.e.ID, FromPart: entity.CellPart, To: p.id, ToPart: p.side,
		Incarnation: r.e.Order.Incarnation, Low: p.out.Low(), Number: number, Reply: r.cell.self, Payload: payload,
		Born: p.out.Born(number, r.e.Order.Incarnation),
	}
	if r.own(p) {
		return r.cell.population.send(r.e.Base, m, room)
	}
	if p.unseen = p.unseen && !r.sees(p.id); p.unseen {
		return true // the timer tries again
	}
	return r.cell.population.route(m, p, room)
}

// runLoopback delivers flow messages between reals of this cell.
func (c *Cell) runLoopback() {
	queue := c.loopback
	c.loopback = nil
	c.watch.Enter(&c.work.rest)
	defer c.watch.Leave()
	for i := range queue {
		c.watch.Switch(c.scope(queue[i].To))
		c.population.HandleFlow(&queue[i], c.self)
	}
}

// goesOn is where to pass on the message at hand for a real that is a ghost here. It is nowhere if
// the ghost is no newer than the one that has sent the message here: it would go round in a circle,
// as fast as the network can. The sender's timer tries again instead.
func (c *Cell) goesOn(g *ghost.Ghost) hosting.Way {
	if !c.population.past.Before(g.Entity.Order) {
		return hosting.Way{}
	}
	return c.wayOf(g)
}

// wayOf is where the real of a ghost is.
func (c *Cell) wayOf(g *ghost.Ghost) hosting.Way {
	if g.Real == c.self || c.out.Dead(g.Real) {
		return hosting.Way{}
	}
	return hosting.Way{To: g.Real, Order: g.Entity.Order}
}

// handleFlow takes a flow message for an entity here.
func (c *Cell) handleFlow(rec *record, m *flow.Message, from mercury.Address) {
	may := c.mayCall(rec, m, from) // if not, the sender sends it again
	if rec.real == nil {
		c.watch.Claim(&c.work.rest)
		if !may {
			c.count.Unproved++
		} else {
			c.population.passOn(c.goesOn(rec.ghost), m, roomNow)
		}
		return
	}
	r := rec.real
	c.watch.Claim(&r.meter)
	if r.gone != staying {
		return
	}
	c.population.past = entity.Order{} // what answers it goes its own way
	p := c.sender(r, m, may)
	if p == nil {
		return
	}
	p.at, p.used, p.giveUpAt, p.prospect.Nothing = m.Reply, c.now, 0, false
	if !r.own(p) { // the own base says what it has when it hears where its cell part is
		p.out.Lives(m.Incarnation, &p.life)
	}
	if r.answersAhead(m) {
		c.count.EarlyAnswers++ // the sender sends it again
		return
	}
	// Accept may call the script, which may add peers, so p must not be used afterwards.
	moved := p.in
	moved.AcceptBorn(m.Incarnation, m.Born, m.Low, m.Number, m.Payload, func(payload []byte) {
		c.count.FlowHandled++
		r.note(m, len(payload))
		if err := r.handle(m, moved.Delivering(), payload); err != nil {
			// No level above Debug, or clients could fill the log.
			c.count.Refused++
			c.log.Debug("flow message refused", "entity", r.e.ID, "from", m.From, "error", err)
		}
		if r.gone != staying {
			moved.Shut()
		}
	})
	if lost := moved.TakeLost(); m.FromPart == entity.BasePart && m.From == r.e.ID {
		c.count.FlowLost += lost
	}
	if p, err := r.peer(m.From, m.FromPart); err == nil {
		p.in = moved
	}
}

// sender is the peer that a message to a real comes from, nil if the message is refused, which is
// counted. may says that the sender proved who it is.
func (c *Cell) sender(r *Real, m *flow.Message, may bool) *peer {
	// A client has no flow, and what a cell part says to itself needs none.
	if m.FromPart == entity.ClientPart || m.From == r.e.ID && m.FromPart == entity.CellPart {
		c.count.Refused++
		return nil
	}
	if !may {
		c.count.Unproved++
		return nil
	}
	p, err := r.peer(m.From, m.FromPart)
	if err != nil {
		c.count.Refused++
		return nil
	}
	if m.Incarnation < p.in.Incarnation() {
		c.count.Refused++
		c.outlived(r, m, p.in.Incarnation())
		return nil
	}
	if r.doubts(p, m) {
		return nil // the sender sends it again
	}
	return p
}

// outlived tells the sender of a message that a newer incarnation of it is known here. Acks of what was
// handled must not go to its old place, but one that was destroyed would send the message for ever.
func (c *Cell) outlived(r *Real, m *flow.Message, newer uint32) {
	a := flow.Ack{To: m.From, ToPart: m.FromPart, From: r.e.ID, FromPart: entity.CellPart, Life: r.e.Order.Incarnation, Incarnation: newer}
	if m.Reply == c.self {
		c.population.HandleAck(&a, c.self)
		return
	}
	c.out.Send(m.Reply, &a)
}

// sayLast acks what a real has handled that ends, and leaves for those who miss that how far it was: with
// its base, or here if it has none.
func (r *Real) sayLast() {
	p := r.cell.population
	gone := flow.Gone{Ending: r.ending}
	for i := range r.flows {
		end := &r.flows[i]
		if r.own(end) {
			continue // it hears of the end itself
		}
		r.ack(end)
		x := end.in.LastWord(end.id, end.side)
		x.Cause, x.Turn, x.Upload = end.cause, end.turn, end.upload
		switch recent := r.cell.now-end.used < flow.LastWordsLease; {
		case !recent || x.Number == 0:
		case r.e.Base.IsZero():
			p.lastWords.Keep(r.cell.now, r.e.ID, entity.CellPart, x)
		default:
			gone.Heard = append(gone.Heard, x)
		}
	}
	if !r.e.Base.IsZero() {
		_ = r.sendBase(gone.Append(nil))
	}
}

// settleFlows sends owed acks, and as much of the flows as there is room for. It starts at another
// real in each tick, so that all get their share of scarce room.
func (c *Cell) settleFlows() {
	for i, first := 0, c.fairStart(); i < len(c.reals); i++ {
		c.reals[(first+i)%len(c.reals)].real.settleFlows()
	}
	c.tellRefused()
}

// fairStep is a large prime, so that ticks begin all over the list.
const fairStep = 7919

// settleFlows looks at the flow with the base in each tick, and at those with others when one of
// them was looked for since, has something to tell, or may be idle: a player who has called ten
// others within PeerLease has fifty lines of memory of flows.
func (r *Real) settleFlows() {
	if r.cell.now < r.quietUntil {
		if !r.e.Base.IsZero() {
			r.settleFlow(r.base())
		}
		return
	}
	r.tail = tail{}
	r.quietUntil = stillQuiet
	idle, quiet := false, r.cell.now+r.lease()
	for i := range r.flows {
		p := &r.flows[i]
		idle = idle || r.idle(p)
		switch {
		case !r.settleFlow(p) || !r.own(p) && (p.out.Kept() > 0 || p.in.Owed()):
			quiet = 0
		case r.atRest(p):
			quiet = min(quiet, r.askToForget(p))
		}
	}
	if idle {
		r.flows = slices.DeleteFunc(r.flows, func(p peer) bool {
			if !r.idle(&p) {
				return false
			}
			r.forget(&p)
			return true
		})
	}
	if r.quietUntil != 0 {
		r.quietUntil = quiet
	}
}

// stillQuiet says that no flow was looked for while settleFlows went through them.
const stillQuiet time.Duration = -1

// settleFlow does it with one. It reports false if the other end was given up: the script may have
// been told, and have changed the flows.
func (r *Real) settleFlow(p *peer) bool {
	c := r.cell
	r.ack(p)
	switch {
	case p.out.Kept() == 0:
	case c.population.giveUp(r, p, r.e.ID, r.e.Order.Incarnation):
		return false
	default:
		c.population.resend(p, func(n uint64, payload []byte) bool { return r.transmit(p, n, payload, roomLater) })
		r.addTail(p)
	}
	return true
}

// outlivedBy reports whether what was heard of the other end is of an older incarnation than the one that is
// known here. The older one may have been destroyed: what it has left behind is then sent from where it was,
// and acks must go there. The newer one has no use for them.
func (p *peer) outlivedBy(rec *record) bool {
	heard := p.in.Incarnation()
	return heard > 0 && heard < rec.e.Order.Incarnation
}

// ack sends an owed ack. Without room it stays owed, and a later one says more.
func (r *Real) ack(p *peer) {
	c := r.cell
	if !p.in.Owed() {
		return
	}
	to := p.at
	rec := c.population.find(p.id)
	if rec != nil && p.outlivedBy(rec) && !to.IsZero() && !c.out.Dead(to) {
		rec = nil
	}
	switch {
	case r.own(p):
		to = r.e.Base
	case p.side == entity.BasePart: // it is where its messages come from; a restored real has heard none
		if to.IsZero() {
			to = c.population.homeOfBase(p.id)
		}
	case rec != nil && rec.real != nil:
		to = c.self
	case rec != nil && c.now-p.used >= flow.ResendAfter: // it may have moved since it said where it is
		to = rec.ghost.Real
	case to.IsZero():
		to = c.population.homeOfBase(p.id) // which passes it on
	}
	if to != c.self && !c.has(roomNow, to) {
		return
	}
	p.in.TakeOwed()
	a := flow.Ack{
		To: p.id, ToPart: p.side, From: r.e.ID, FromPart: entity.CellPart, Life: r.e.Order.Incarnation,
		Incarnation: p.in.Incarnation(), Number: p.in.Last(), Settled: r.settled(p),
	}
	switch {
	case to.IsZero(): // the sender asks if it misses the ack
	case to != c.self:
		c.out.Send(to, &a)
	default:
		c.population.HandleAck(&a, to)
	}
}
