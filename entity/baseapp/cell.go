package baseapp

import (
	"fmt"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/entity/placement"
	"github.com/cellscape/cellscape/internal/script"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/property"
)

// CreateCell is part of entity.Base's host.
func (b *base) CreateCell(space entity.SpaceID, position, direction property.Vector3, init func(*property.Values)) error {
	parts, err := b.firstParts(position, direction, init)
	if err != nil {
		return err
	}
	return b.link.Create(b.app.now, cellCopy{Space: space, Position: position, Parts: parts})
}

// firstParts is the first state of a cell part, if there may be one.
func (b *base) firstParts(position, direction property.Vector3, init func(*property.Values)) ([]byte, error) {
	d := b.props.Definition()
	switch {
	case b.destroying || !d.HasCell:
		return nil, fmt.Errorf("create cell of %s %v: %w", d.Name, b.id, entity.ErrNoPart)
	case b.link.State() != linkNone || b.creation != nil:
		return nil, fmt.Errorf("create cell of %s %v: %w", d.Name, b.id, entity.ErrHasPart)
	}
	var cell *property.Values
	if b.keep.made {
		cell = b.cellValues() // as they were kept
	}
	if cell == nil {
		cell = property.NewValues(d, property.CellSide, nil)
	}
	if init != nil {
		init(cell)
	}
	parts := migrate.AppendFirst(nil, position, direction, cell, &b.app.compressor)
	if b.formerHeard() {
		parts = migrate.AppendPart(parts, migrate.HeardPart, b.former.AppendBody)
	}
	if b.exposes() {
		parts = migrate.AppendExposed(parts, b.props)
	}
	if len(parts) > migrate.MaxParts {
		return nil, fmt.Errorf("create cell of %s %v: %d bytes of properties, at most %d travel", d.Name, b.id, len(parts), migrate.MaxParts)
	}
	return parts, nil
}

// DestroyCell is part of entity.Base's host.
func (b *base) DestroyCell() error {
	if b.creation != nil && b.creation.asking {
		b.endCreation(&placement.CreateError{Code: placement.NoPart, Reason: "it was destroyed before it was made"})
		return nil
	}
	tell, err := b.link.Leave(b.app.now)
	switch {
	case err != nil:
		return err
	case tell:
		b.sendDestroy()
	default:
		b.settleLink()
	}
	return nil
}

// sendDestroy tells the cell part to destroy itself, and whether the base ends as well. If the flow
// has no room even for that, it cuts the link, and the orphan is refused at its next message.
func (b *base) sendDestroy() {
	what := flow.DestroyPayload
	if b.destroying {
		what = flow.EndPayload
	}
	if err := b.addToFlow(append(b.app.payload[:0], byte(what))); err != nil {
		b.app.fault("cannot tell a cell part to destroy itself", "entity", b.id, "error", err)
		b.app.refuse(b.link.App(), b.id, b.link.Order())
		b.link.Gone(b.app.now)
		b.settleLink()
	}
}

// tickCell does what is due for the cell link.
func (b *base) tickCell() {
	if b.removed {
		return
	}
	b.stepLink()
	b.tickCreation()
	b.settleLink()
	if b.removed {
		return
	}
	if b.link.Live() && b.link.out.Kept() > KeptForcesBackup && !b.asked {
		b.asked = true
		_ = b.addToFlow(append(b.app.payload[:0], byte(flow.BackupNowPayload)))
	}
	b.probe()
	b.sendAck()
}

// settleLink draws the consequences of a link that ended.
func (b *base) settleLink() {
	if b.link.State() != linkNone || b.removed {
		return
	}
	b.asked = false
	ended := b.teleports
	b.teleports = nil
	if b.gotCell {
		b.gotCell = false
		b.tell(protocol.AppendCellGone(b.app.buf[:0]))
		callHook(b, "OnLoseCell", func(s CellLoser) { s.OnLoseCell() })
	}
	b.loseTeleports(ended)
	b.loseCreation()
	if b.destroying && b.link.State() == linkNone {
		b.remove()
	}
}

// sendCell sends a message to the cell part through the flow.
func (b *base) sendCell(payload []byte) error {
	if !b.link.Open() {
		return entity.ErrNoPart
	}
	return b.addToFlow(payload)
}

// addToFlow keeps a message until a backup contains it, and sends it if the real is known to be
// somewhere.
func (b *base) addToFlow(payload []byte) error {
	b.app.payload = payload[:0]
	if _, err := b.link.out.Add(b.app.now, payload); err != nil {
		return fmt.Errorf("%w: %w", entity.ErrFull, err)
	}
	b.app.report.FlowSent++
	// Waiting messages go first, when it is their turn; see sendFlows.
	if b.link.Live() && b.link.out.Waiting() == 1 && b.app.links.Level(b.link.App()) < mercury.Packed {
		b.link.out.Send(b.sendMessage)
	}
	return nil
}

// sendMessage sends a message of the flow. What it says of the client is what is so now, not what
// was so when it was kept: a new incarnation is made with the present session, and would end it and
// begin it anew by an older word.
func (b *base) sendMessage(number uint64, payload []byte) (sent bool) {
	if len(payload) > 0 && flow.Payload(payload[0]) == flow.SetClientPayload {
		m := b.clientSession()
		payload = m.Append(b.app.payload[:0], flow.SetClientPayload)
		b.app.payload = payload
	}
	b.app.send(b.link.App(), &flow.Message{
		From: b.id, FromPart: entity.BasePart, To: b.id, ToPart: entity.CellPart,
		Incarnation: b.life(), Born: b.link.out.Born(number, b.life()), Low: b.link.out.Low(), Number: number,
		Reply: b.app.net.Self(), Payload: payload,
	})
	return true
}

// sendUnreceived sends a real at a new place what it may not have received, as far as there is
// room. sendFlows sends the rest.
func (b *base) sendUnreceived() {
	b.link.out.Again(b.app.now)
	b.sendFlow()
}

// sendFlow sends the flow's waiting messages, and those due to be sent again, while the channel to
// the real's app has room. All bases together so fill at most a quarter of the queue to a CellApp
// with repeats in one tick. That matters when a CellApp comes back and all bases have something to
// send.
func (b *base) sendFlow() {
	if !b.link.Live() {
		return
	}
	to := b.link.App()
	b.link.out.Resume(b.app.now, func(n uint64, payload []byte) bool {
		return b.app.links.Level(to) == mercury.Free && b.sendMessage(n, payload)
	})
}

// sendFlows goes on with all flows. It starts at another base in each tick, so that all get their
// share of scarce room.
func (a *BaseApp) sendFlows() {
	first := 0
	if n := uint64(len(a.list)); n > 0 {
		first = int(a.ticks.Number * fairStep % n)
	}
	for i := range a.list {
		if i += first; i >= len(a.list) {
			i -= len(a.list)
		}
		if b := a.list[i]; !b.removed {
			b.sendFlow()
		}
	}
}

// fairStep is a large prime, so that ticks begin all over the list.
const fairStep = 7919

// sendAck acknowledges what the cell part has sent since the last ack.
func (b *base) sendAck() {
	to := b.link.App()
	if !b.link.Live() {
		to = b.heard
	}
	if to.IsZero() || !b.link.in.Owed() || b.app.links.Level(to) == mercury.Packed {
		return // there is no room: the ack stays owed, and a later one says more
	}
	b.link.in.TakeOwed()
	b.app.ack = flow.Ack{To: b.id, ToPart: entity.CellPart, From: b.id, FromPart: entity.BasePart, Life: b.life(),
		Incarnation: b.link.in.Incarnation(), Number: b.link.in.Last(), Settled: b.settled(&b.link.in)}
	b.app.send(to, &b.app.ack)
}

func (a *BaseApp) takeLocated(m *wire.Located) {
	b := a.byID[m.ID]
	if b == nil || m.Space != b.link.Copy().Space {
		return
	}
	if m.Gone {
		b.noSpace()
		return
	}
	if a.links.Level(m.App) != mercury.Free {
		return // the base asks again until that CellApp keeps up or the manager names another
	}
	if a.links.Dead(m.App) || !b.link.Located(a.now, m.App) {
		return
	}
	c := b.link.Copy()
	if b.traced() {
		b.step("cell asked for", "app", m.App, "space", c.Space, "restored", c.Restored)
	}
	a.send(m.App, &migrate.Create{
		ID: b.id, Type: b.props.Definition().ID, Space: c.Space, Order: b.link.Order(), Base: a.net.Self(), Title: b.seal.title(b.link.Order().Incarnation),
		Session: b.clientSession(), Handled: c.Handled, Heard: b.link.Heard(), Restored: c.Restored, Pass: b.cellFaults.pass(), Parts: c.Parts,
	})
}

// baseEntitled returns the base whose real, or a copy of it, an app claims to have. If the app was never
// given it, or there is no such base, the app is refused, and the result is nil.
func (a *BaseApp) baseEntitled(from mercury.Address, id entity.ID, o entity.Order, t migrate.Title, claim string) *base {
	b := a.byID[id]
	if b == nil {
		a.refuseUnknown(from, id, o)
		return nil
	}
	if !b.entitled(o, t) {
		a.refused(claim, "entity", id, "from", from, "order", o)
		a.refuse(from, id, o)
		return nil
	}
	return b
}

func (a *BaseApp) takeCurrent(from mercury.Address, m *migrate.Current) {
	b := a.baseEntitled(from, m.ID, m.Order, m.Title, "a real of an app that was never given it")
	if b == nil {
		return
	}
	switch b.link.Current(a.now, from, m.Order, m.Handled) {
	case currentRefused:
		a.refuse(from, m.ID, m.Order)
	case currentKnown:
		b.hearFrom(from)
	case currentMoved:
		if b.traced() {
			b.step("cell moved", "app", from)
		}
		b.heldBy(from)
		b.hearFrom(from)
		b.resetClient()
		b.sendUnreceived()
		if !b.gotCell {
			b.gotCell = true
			callHook(b, "OnGetCell", func(s CellGetter) { s.OnGetCell() })
			b.endCreation(nil)
		}
		b.endOutdated()
	}
}

func (a *BaseApp) takeOffer(from mercury.Address, m *migrate.Offer) {
	b := a.baseEntitled(from, m.ID, m.Order, m.Title, "a copy of an app that was never given the real")
	if b == nil {
		return
	}
	kept, lost := b.link.Offer(a.now, cellCopy{Order: m.Order, Saves: m.Saves, Handled: m.Handled,
		Space: m.Space, Position: m.Position, Parts: m.Parts})
	b.log.Debug("offered a frozen copy", "order", m.Order, "kept", kept, "lost", lost)
	b.settleLink()
	// Answer that nothing of that order may live on; without an answer the CellApp offers the copy
	// again.
	a.refuse(from, m.ID, m.Order)
}

func (a *BaseApp) takeLost(from mercury.Address, m *migrate.Lost) {
	if a.byID[m.ID] == nil {
		a.refuseUnknown(from, m.ID, m.Order)
		return
	}
	if b := a.byID[m.ID]; b.mayLose(from, m) && b.link.Lost(a.now, m.Order) {
		b.log.Warn("lost the cell part", "app", from, "order", m.Order, "reason", m.Reason)
		if b.traced() {
			b.step("cell lost", "app", from, "reason", m.Reason)
		}
		if m.Fault {
			b.link.Delay(b.cellFaults.note(a.now, m.Culprit))
		}
		b.noteLost(m)
		b.settleLink()
	}
	a.refuse(from, m.ID, m.Order) // the answer, as for an offer
}

func (a *BaseApp) takeAck(by sender, m *flow.Ack) {
	if m.ToPart != entity.BasePart {
		a.passAck(by, m)
		return
	}
	if m.From != m.To || m.FromPart != entity.CellPart {
		a.takeTalkAck(by, m)
		return
	}
	b, from := a.byID[m.To], by.app
	if b == nil || by.role != wire.CellApp {
		return
	}
	// An ack of an older incarnation, or of what a former life of this base said, does not show what
	// the current one has.
	if b.holds(from) && m.Incarnation == b.life() && m.Life == b.link.Order().Incarnation && b.link.State() != linkNone {
		b.hearFrom(from)
		b.link.out.Received(a.now, m.Number)
	}
}

// passFlow forwards a message from another entity to the real, whose place the sender
// does not know. If there is no real now, the sender's timer brings the message again. If there
// will never be one, the base says so, since nobody else can.
func (a *BaseApp) passFlow(m *flow.Message) {
	switch b := a.byID[m.To]; {
	case b != nil && b.link.Live():
		if a.links.Level(b.link.App()) < mercury.Packed { // otherwise as if there were no real
			a.send(b.link.App(), m)
		}
	case b == nil && a.elsewhere(m.To):
		a.tooEarly("a flow by way of its base", m.To, m.Reply)
	case b == nil:
		a.sayGone(m.Reply, m)
	case b.link.State() != linkNone: // one that leaves says itself what it was the last to handle
	case b.partEnded():
		a.sayGone(m.Reply, m)
	default:
		b.backupSoon() // the sender asks again
	}
}

// passAck forwards an ack of a cell part that was restored, and does not know where the sender of the
// flow is. That such a part has ended is not for a CellApp to say.
func (a *BaseApp) passAck(by sender, m *flow.Ack) {
	b := a.byID[m.To]
	if b == nil || !b.link.Live() || m.ToPart != entity.CellPart || m.FromPart != entity.CellPart || m.Gone || by.role != wire.CellApp {
		a.refused("an ack that is not for a base", "from", m.From, "to", m.To)
		return
	}
	if a.links.Level(b.link.App()) < mercury.Packed {
		a.send(b.link.App(), m)
	}
}

// takeFlow takes a message of a flow: from a cell part to its base, from any part of another entity
// to a base, or to a cell part whose base is here.
func (a *BaseApp) takeFlow(by sender, m *flow.Message) {
	switch {
	case a.held && !flowHeld(m):
		return // its sender keeps it
	case !a.speaksFor(by, m):
		a.refused("a flow of a part that is not on the sender's app", "from", m.From, "part", m.FromPart, "app", by.app)
		return
	case m.From != m.To && m.ToPart == entity.CellPart:
		a.passFlow(m)
		return
	case m.From != m.To && m.ToPart == entity.BasePart, m.FromPart == entity.BasePart && m.ToPart == entity.BasePart:
		a.takeTalk(by.app, m)
		return
	case m.ToPart != entity.BasePart || m.FromPart != entity.CellPart:
		a.refused("a flow that is not from a cell part to its base", "from", m.From, "to", m.To)
		return
	}
	from := by.app
	b := a.byID[m.To]
	if b == nil {
		a.refuseUnknown(from, m.From, wholeStream(m.Incarnation))
		return
	}
	if b.link.State() == linkAdopting {
		b.ask(from) // where the real is, since it is there or was
	}
	in := &b.link.in
	switch current := b.link.Order().Incarnation; {
	case m.Incarnation > current:
		a.refused("a flow of an incarnation that was never begun", "entity", m.From, "stream", m.Incarnation)
		return
	case m.Incarnation == current && !b.holds(from):
		a.refused("a flow from an app that does not hold the entity", "entity", m.From, "from", from)
		b.ask(from)
		return
	case m.Incarnation < current, b.link.State() == linkNone && m.Number > in.Last():
		a.refuseStream(from, m.From, m.Incarnation)
		return
	}
	b.heard = from
	b.hearFrom(from)
	in.Accept(m.Incarnation, m.Low, m.Number, m.Payload, b.deliver)
	a.report.FlowLost += in.TakeLost()
}

// deliver handles one message of the cell part, in its order.
func (b *base) deliver(payload []byte) {
	if b.removed {
		return
	}
	b.app.report.FlowHandled++
	b.note(len(payload))
	b.startHandling(b.id, entity.CellPart, b.link.in.Delivering())
	defer b.endHandling()
	p, body, err := flow.SplitPayload(payload)
	if err == nil {
		b.heardCell(p)
		err = b.handle(p, body)
	}
	if err != nil {
		b.app.fault("the base does not understand a message of its cell part", "entity", b.id, "error", err)
	}
}

func (b *base) handle(p flow.Payload, body []byte) error {
	switch p {
	case flow.CallBasePayload:
		var m flow.MethodCall
		if err := m.Parse(body); err != nil {
			return err
		}
		if b.failed {
			return nil
		}
		b.handling = entity.Call{Source: b.id, Number: m.Cause}
		defer func() { b.handling = entity.Call{} }()
		_, err := b.call(int(m.Method), script.Asked{}, 0, m.Args)
		return unlessPanicked(err)
	case flow.ServerCallPayload:
		return b.takeCall(entity.CellPart, b.id, true, body)
	case flow.AnswerPayload:
		return b.takeAnswer(b.id, body)
	case flow.BundlePayload:
		var m flow.Bundle
		if err := m.Parse(body); err != nil {
			return err
		}
		b.relay(&m)
	case flow.BackupPayload:
		var m flow.Backup
		if err := m.Parse(body); err != nil {
			return err
		}
		b.takeBackup(&m)
	case flow.GonePayload:
		return b.takeGone(body)
	case flow.TeleportedPayload:
		var m flow.Teleported
		if err := m.Parse(body); err != nil {
			return err
		}
		b.endTeleport(&m)
	default:
		return fmt.Errorf("payload %d is not for a base", p)
	}
	return nil
}

// takeGone takes the last message of an incarnation.
func (b *base) takeGone(body []byte) error {
	if err := b.former.Parse(body); err != nil {
		return err
	}
	b.formerAt = b.app.now
	b.backupSoon() // its CellApp keeps the flow until it is settled, and may want to go
	b.sendAck()    // now, since the base may be gone at the end of the tick
	ends := b.former.Ending && !b.destroying
	if ends {
		b.keepCopy() // for the last write
	}
	if b.traced() {
		b.step("cell destroyed")
	}
	b.link.Gone(b.app.now)
	if ends {
		b.goOnEnding()
	}
	b.settleLink()
	return nil
}

// takeBackup keeps the state of the cell part.
func (b *base) takeBackup(m *flow.Backup) {
	if !b.link.Backup(b.app.now, cellCopy{Order: m.Order, Saves: m.Saves, Handled: m.Handled,
		Space: m.Space, Position: m.Position, Parts: m.Parts}) {
		return
	}
	b.asked = false
	if b.traced() {
		b.step("backup taken", "of", m.Order.String(), "saves", m.Saves, "bytes", len(m.Parts))
	}
	if m.Commit {
		b.backupSoon()
	}
	b.cellCopied()
}
