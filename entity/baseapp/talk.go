package baseapp

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

const (
	// MaxPeers bounds the parts that one base keeps flows with. It is large because a base may be a
	// guild or a matchmaker that everyone talks to, and costs little: a flow at rest is looked at
	// once in a PeerLease.
	MaxPeers = 1 << 16

	// PeerLease is how long a settled flow is kept without use before its sender is asked whether
	// anything of it can still come.
	PeerLease = time.Minute

	// FlowGiveUp is how long a base tries to reach a cell part without a base, which answers nothing.
	FlowGiveUp = 15 * time.Second

	// MaxDeparted bounds the flows that bases which are gone still have something to send on.
	MaxDeparted = 1 << 16

	// idlePerTick is how many flows a tick looks at because their lease may be over.
	idlePerTick = 256
)

// talk is both directions of a flow between a base and another part than its own cell part.
//
//	quiet  --- send, a message, an ack ---> active: looked at in each tick
//	quiet  <--- all settled, no ack owed -- active
//	quiet  --- PeerLease, and the other end has nothing more (forget.go) ---> forgotten
//
// Invariants: a talk that keeps messages or owes an ack is active. A talk is in the talks of its base,
// or its base is gone and it is among the departed.
type talk struct {
	of   *base
	id   entity.ID
	part entity.Part
	out  flow.Sender
	in   flow.Receiver
	// at is where the messages of a cell part come from, and where acks go to.
	at mercury.Address
	// home is the app of the other end's base, or the app that made a cell part without one.
	home  wire.AppRef
	life  uint32 // newest known incarnation of the other end
	cause uint64 // of the last handled call; see flow.ServerCall
	turn  uint32
	// used is when it last moved; answered is when the other end last said anything, or something
	// began to wait for it.
	used, answered time.Duration
	active, aging  bool
	// unused is for how long it had not moved before used, if that says when it was looked at.
	unused   time.Duration
	prospect flow.Prospect
}

// talking is what a BaseApp has of all talks.
type talking struct {
	active   []*talk
	aging    []*talk // quiet ones in the order of their leases
	departed map[talkKey]*talk
	// local are messages between bases of this app. They are handled after what is being handled.
	local []flow.Message
	spare []flow.Message
	// lastWords are of bases and their cell parts.
	lastWords flow.LastWords
	// gone are the answers to those, and to messages for cell parts whose bases are here, that nobody
	// will handle.
	gone []flow.Ack
}

// talkKey names a flow of a base that is gone.
type talkKey struct {
	of, with entity.ID
	part     entity.Part
}

func (t *talk) compare(id entity.ID, part entity.Part) int {
	return cmp.Or(cmp.Compare(t.id, id), cmp.Compare(t.part, part))
}

func (b *base) findTalk(id entity.ID, part entity.Part) (int, bool) {
	return slices.BinarySearchFunc(b.talks, id, func(t *talk, id entity.ID) int { return t.compare(id, part) })
}

// talk returns the flow with a part, and begins it if there is none.
func (b *base) talk(id entity.ID, part entity.Part) (*talk, error) {
	i, found := b.findTalk(id, part)
	if found {
		return b.talks[i], nil
	}
	if len(b.talks) >= MaxPeers {
		return nil, fmt.Errorf("%w: it keeps flows with %d others already", entity.ErrFull, MaxPeers)
	}
	t := &talk{of: b, id: id, part: part, out: flow.NewSender(b.begins()), used: b.app.now, home: b.app.homeOf(id)}
	b.talks = slices.Insert(b.talks, i, t)
	b.app.age(t)
	return t, nil
}

// homeOf is the app that an entity belongs to.
func (a *BaseApp) homeOf(id entity.ID) wire.AppRef {
	if a.ids != nil && a.ids.Issues(id) && !a.roster.Departures().Any(a.net.Self()) {
		return wire.AppRef{Role: wire.BaseApp, App: a.net.Self()}
	}
	return a.roster.Home(id)
}

// wake makes the next ticks look at a flow.
func (a *BaseApp) wake(t *talk) {
	t.used, t.unused = a.now, 0
	if !t.active {
		t.active = true
		a.talking.active = append(a.talking.active, t)
	}
}

// age puts a flow among those whose lease may end.
func (a *BaseApp) age(t *talk) {
	if !t.aging {
		t.aging = true
		a.talking.aging = append(a.talking.aging, t)
	}
}

// say keeps a message until it is settled, and sends it if it is its turn.
func (t *talk) say(payload []byte) error {
	a := t.of.app
	if t.out.Unreceived() == 0 {
		t.answered = a.now
	}
	if _, err := t.out.Add(a.now, payload); err != nil {
		return fmt.Errorf("%w: %w", entity.ErrFull, err)
	}
	a.report.FlowSent++
	a.wake(t)
	if t.out.Waiting() == 1 {
		t.out.Send(t.transmitNow)
	}
	return nil
}

func (t *talk) transmitNow(n uint64, payload []byte) bool {
	return t.transmit(n, payload, mercury.High)
}

func (t *talk) transmitLater(n uint64, payload []byte) bool {
	return t.transmit(n, payload, mercury.Free)
}

// transmit sends a message to where the other end is, or to its base, which passes it on. It reports
// whether there was room, up to a level.
func (t *talk) transmit(n uint64, payload []byte, room mercury.Level) bool {
	a := t.of.app
	m := &a.passed
	*m = flow.Message{From: t.of.id, FromPart: entity.BasePart, To: t.id, ToPart: t.part,
		Incarnation: t.of.life(), Born: t.out.Born(n, t.of.life()), Low: t.out.Low(), Number: n, Reply: a.net.Self(), Payload: payload}
	to := t.where()
	switch {
	case to.IsZero():
		return true // the timer tries again
	case to != a.net.Self():
		if a.links.Level(to) > room {
			return false
		}
		a.send(to, m)
		return true
	case t.part == entity.CellPart:
		a.passFlow(m)
		return true
	}
	x := *m
	x.Payload = slices.Clone(payload)
	a.talking.local = append(a.talking.local, x)
	return true
}

// where is where messages go.
func (t *talk) where() mercury.Address {
	if t.home.App.IsZero() {
		t.home = t.of.app.homeOf(t.id)
	}
	if t.home.Role == wire.CellApp && !t.at.IsZero() {
		return t.at
	}
	return t.home.App
}

// hearLocal handles the messages between bases of this app, as far as they were sent before.
func (a *BaseApp) hearLocal() {
	if list := a.talking.local; len(list) > 0 {
		a.talking.local = a.talking.spare[:0]
		for i := range list {
			a.takeTalk(a.net.Self(), &list[i])
		}
		clear(list)
		a.talking.spare = list[:0]
	}
	for i := range a.talking.gone {
		a.takeTalkAck(sender{app: a.net.Self(), role: wire.BaseApp}, &a.talking.gone[i])
	}
	a.talking.gone = a.talking.gone[:0]
	a.tellFailed()
	a.reviveBroken()
}

// tickTalks does what is due for the flows in which something happens, and forgets idle ones.
func (a *BaseApp) tickTalks() {
	a.hearLocal()
	list := a.talking.active
	first := 0
	if n := uint64(len(list)); n > 0 {
		first = int(a.ticks.Number * fairStep % n)
	}
	for i := range list {
		list[(first+i)%len(list)].tick()
	}
	kept := a.talking.active[:0] // callbacks come later, so nothing was added
	for _, t := range a.talking.active {
		switch {
		case t.out.Kept() > 0 || t.in.Owed() && !t.of.removed:
			kept = append(kept, t)
			continue
		case t.of.removed:
			// A base that ends in a call has begun another flow for the answer (reach). (That one was taken
			// out here, so nobody found it by the acks, and it was sent for ever.)
			if key := (talkKey{t.of.id, t.id, t.part}); a.talking.departed[key] == t {
				delete(a.talking.departed, key)
			}
		default:
			a.age(t)
		}
		t.active = false
	}
	clear(a.talking.active[len(kept):])
	a.talking.active = kept
	a.talking.lastWords.Expire(a.now)
	a.forgetIdle()
	a.tellFailed()
}

func (t *talk) tick() {
	a := t.of.app
	if !t.of.removed {
		t.ack()
	}
	if t.out.Kept() == 0 {
		return
	}
	switch {
	case !t.home.App.IsZero() && t.home.Role == wire.BaseApp && a.links.Dead(t.home.App):
		t.abandon(errBaseDead)
		return
	case t.home.Role != wire.BaseApp && t.out.Unreceived() > 0 && a.now-t.answered >= FlowGiveUp:
		t.abandon(errNowhere)
		return
	}
	t.out.Resume(a.now, t.transmitLater)
	t.out.Probe(a.now, probeAfter, func(n uint64, payload []byte) { t.transmitLater(n, payload) })
}

// probeAfter is how long nothing may be settled before a cell part is asked: longer than the default
// time between two backups.
const probeAfter = 15 * time.Second

// ack says what was handled, and what of it is in a copy of the base that other apps hold.
func (t *talk) ack() {
	a := t.of.app
	to := t.at
	if t.part == entity.BasePart {
		to = t.where()
	}
	if !t.in.Owed() || to.IsZero() || to != a.net.Self() && a.links.Level(to) == mercury.Packed {
		return // without room it stays owed; a sender that is not known asks again
	}
	t.in.TakeOwed()
	a.ack = flow.Ack{To: t.id, ToPart: t.part, From: t.of.id, FromPart: entity.BasePart, Life: t.of.life(),
		Incarnation: t.in.Incarnation(), Number: t.in.Last(), Settled: t.of.settled(&t.in)}
	if to == a.net.Self() {
		a.takeTalkAck(sender{app: to, role: wire.BaseApp}, &a.ack)
		return
	}
	a.send(to, &a.ack)
}

// sayLast acks what a base has handled that ends, and leaves for those who miss that how far it was.
func (b *base) sayLast() {
	a := b.app
	for _, t := range b.talks {
		t.ack()
		if a.now-(t.used-t.unused) < flow.LastWordsLease {
			a.talking.lastWords.Keep(a.now, b.id, entity.BasePart, t.in.LastWord(t.id, t.part))
		}
	}
	if b.formerHeard() {
		for _, x := range b.former.Heard {
			a.talking.lastWords.Keep(a.now, b.id, entity.CellPart, x)
		}
	}
}

// formerHeard reports whether it matters what the last cell part had handled that was destroyed. Who
// called it has asked since then whether it has ended (flow.Sender.Probe).
func (b *base) formerHeard() bool {
	if b.app.now-b.formerAt >= flow.LastWordsLease {
		b.former.Heard = nil
	}
	return len(b.former.Heard) > 0
}

// lastWord adds to the word that a part of the base has ended what it had handled.
func (b *base) lastWord(gone *flow.Ack) {
	if gone.FromPart == entity.BasePart { // it waits for its last write
		if i, found := b.findTalk(gone.To, gone.ToPart); found {
			x := b.talks[i].in.LastWord(gone.To, gone.ToPart)
			x.Complete(gone)
		}
		return
	}
	if i := slices.IndexFunc(b.former.Heard, func(x flow.LastWord) bool { return x.From == gone.To && x.FromPart == gone.ToPart }); i >= 0 {
		b.former.Heard[i].Complete(gone)
	}
}

// partTalks leaves behind what a base that goes has sent and nobody has settled.
func (b *base) partTalks() {
	a := b.app
	for _, t := range b.talks {
		switch {
		case t.out.Kept() == 0:
		case len(a.talking.departed) >= MaxDeparted:
			a.report.FlowLost += uint64(t.out.Unreceived())
			a.fault("too many flows of bases that are gone", "most", MaxDeparted, "entity", b.id)
			t.out.Settle(a.now, t.out.Last())
		default:
			if a.talking.departed == nil {
				a.talking.departed = make(map[talkKey]*talk)
			}
			a.talking.departed[talkKey{b.id, t.id, t.part}] = t
			a.wake(t)
		}
	}
	b.talks = nil
}

// speaksFor reports whether an app may send the messages of a part: of a base, the app that it is on;
// of a cell part, any CellApp. A message to a cell part may come from another CellApp than the part is
// on, since it may have moved.
func (a *BaseApp) speaksFor(by sender, m *flow.Message) bool {
	if m.FromPart == entity.BasePart {
		return by.role == wire.BaseApp && a.homeOf(m.From).App == by.app
	}
	return by.role == wire.CellApp
}

// takeTalk takes a message from a part of another entity, or from the base itself.
func (a *BaseApp) takeTalk(from mercury.Address, m *flow.Message) {
	b := a.byID[m.To]
	if b == nil || b.ended() {
		if !a.mine(m.To) {
			a.tooEarly("a flow", m.To, from)
			return
		}
		a.sayGone(from, m)
		return
	}
	t, err := b.talk(m.From, m.FromPart)
	if err != nil || m.Incarnation < t.in.Incarnation() {
		a.refused("a flow of an older incarnation, or too many flows", "to", m.To, "from", m.From, "error", err)
		if err == nil { // one that was destroyed would send it for ever
			a.send(m.Reply, &flow.Ack{To: m.From, ToPart: m.FromPart, From: m.To, FromPart: entity.BasePart, Incarnation: t.in.Incarnation()})
		}
		return
	}
	if t.doubts(m) {
		return // the sender sends it again
	}
	t.at, t.prospect.Nothing = m.Reply, false
	t.out.Lives(m.Incarnation, &t.life)
	t.in.AcceptBorn(m.Incarnation, m.Born, m.Low, m.Number, m.Payload, t.deliver)
	a.wake(t)
}

// sayGone tells the sender of a message that nobody will handle it, as soon as that is certain; or that
// it was the last to be handled, if the sender has missed the ack.
func (a *BaseApp) sayGone(to mercury.Address, m *flow.Message) {
	gone := flow.Ack{To: m.From, ToPart: m.FromPart, From: m.To, FromPart: m.ToPart, Incarnation: m.Incarnation, Gone: true}
	if b := a.byID[m.To]; b != nil {
		b.lastWord(&gone)
	} else {
		a.talking.lastWords.Complete(&gone)
	}
	if !a.callAfterEnd(to, &gone) {
		a.answerGone(to, &gone)
	}
}

func (a *BaseApp) answerGone(to mercury.Address, gone *flow.Ack) {
	if to == a.net.Self() {
		a.talking.gone = append(a.talking.gone, *gone) // the sender is in the middle of sending it
		return
	}
	a.send(to, gone)
}

// deliver handles one message, in its order.
func (t *talk) deliver(payload []byte) {
	b := t.of
	defer func() {
		if b.ended() {
			t.in.Shut()
		}
	}()
	b.app.report.FlowHandled++
	b.note(len(payload))
	b.startHandling(t.id, t.part, t.in.Delivering())
	defer b.endHandling()
	p, body, err := flow.SplitPayload(payload)
	switch {
	case err != nil:
	case p == flow.ServerCallPayload:
		err = b.takeCall(t.part, t.id, false, body)
	case p == flow.AnswerPayload:
		err = b.takeAnswer(t.id, body)
	case t.part != entity.BasePart:
		err = fmt.Errorf("payload %d is not of a cell part", p)
	case p == flow.GivePayload:
		err = b.takeGive(t.id, body)
	case p == flow.TakenPayload:
		err = b.takeTaken(t.id, body)
	default:
		err = fmt.Errorf("payload %d is not of another entity", p)
	}
	if err != nil {
		b.app.refused("a message of another entity", "entity", b.id, "from", t.id, "error", err)
	}
}

// takeTalkAck takes an ack of such a flow.
func (a *BaseApp) takeTalkAck(by sender, m *flow.Ack) {
	if a.shared.Owes(m.From) && a.homeOf(m.From).App == by.app {
		a.shared.Heard(m.From)
	}
	var t *talk
	if b := a.byID[m.To]; b != nil {
		if i, found := b.findTalk(m.From, m.FromPart); found {
			t = b.talks[i]
		}
	}
	if t == nil {
		t = a.talking.departed[talkKey{m.To, m.From, m.FromPart}]
	}
	if t == nil {
		return
	}
	home := a.homeOf(m.From)
	switch fromHome := by.app == home.App; {
	case m.Gone && !fromHome && (home.Role == wire.BaseApp || by.app != t.at),
		m.FromPart == entity.BasePart && !fromHome,
		m.FromPart == entity.CellPart && !m.Gone && by.role != wire.CellApp:
		a.refused("an ack of an app that may not give it", "from", m.From, "app", by.app)
	case m.Gone && m.Incarnation == t.of.life():
		t.out.End(a.now, m, t.of.life()) // what it has answered comes from where it was
		t.abandon(errEnded)
	case m.Gone:
	default:
		t.answered = a.now
		if m.FromPart == entity.CellPart && home.Role != wire.BaseApp {
			t.at = by.app
		}
		t.out.Heed(a.now, m, t.of.life(), &t.life)
	}
}

// The reasons why calls are given up.
var (
	errEnded    = fmt.Errorf("%w: the target has ended", entity.ErrNoEntity)
	errBaseDead = fmt.Errorf("%w: the base of the target has died", entity.ErrNoEntity)
	errNowhere  = fmt.Errorf("%w: the target is nowhere to be found", entity.ErrNoEntity)
)

// abandon forgets what was sent to a part that is gone. Whoever waits for an answer to what was not
// handled is told later.
func (t *talk) abandon(why error) {
	a := t.of.app
	calls := 0
	t.out.EachKept(func(payload []byte, received bool) { // what was handled nobody will answer either
		var m flow.ServerCall
		p := flow.Payload(payload[0])
		switch {
		case received:
		case p == flow.AnswerPayload:
			a.report.LateAnswers++
		default:
			calls++
		}
		switch {
		case p == flow.ServerCallPayload && m.Parse(payload[1:]) == nil:
			t.of.fail(m.Request, why)
		case p == flow.GivePayload:
			t.of.giveFailed(t.id, payload[1:], why)
		}
	})
	if calls > 0 {
		a.report.Refused += uint64(calls)
		t.of.log.Debug("calls given up", "target", t.id, "calls", calls, "why", why)
	}
	t.out.Settle(a.now, t.out.Last())
}
