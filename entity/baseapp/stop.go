package baseapp

import (
	"cmp"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// The steps of the stop of the world, as a BaseApp takes them; package cellappmgr draws them.
//
//	closing  nobody logs in; who has logged in may still come
//	paused   clients are told why, and their sessions end without a word to scripts; timers stand still and
//	         nothing is loaded. Calls under way are handled and answered.
//	held     no script is called. Each base that has a row asks its cell part for its last state, and is
//	         written when that is here; cell parts that do not answer within heldPatience leave it stale.
//	saved    the same; nobody's death matters
//	ended    the process ends
//
// A verdict of death in held is that the world goes back to paused; the manager says so, too. Then each base
// is written again in the next held.

const (
	// heldPatience is how long a base waits for the last state of its cell part: far more than ten thousand
	// of them take, and half of what the manager gives the store.
	heldPatience = 5 * time.Second

	// maxHeldWritesPerTick bounds the records that a tick makes in held, where nothing else is to be done:
	// four megabytes of usual bases.
	maxHeldWritesPerTick = 2048
)

func (a *BaseApp) stopStep() wire.StopStep {
	step, _ := a.cellMgr.Stopping()
	return step
}

// takeStop takes an order about the stop of the world.
func (a *BaseApp) takeStop(_ sender, m *wire.Stop) {
	if a.dismissed || !a.cellMgr.TakeStop(m) {
		return
	}
	if m.Step >= wire.StopPaused && !a.paused {
		a.pause(m.Reason)
	}
	switch held := m.Step >= wire.StopHeld; {
	case held && !a.held:
		a.hold()
	case !held:
		a.held = false
	}
	a.sayStop()
}

// pause ends the sessions of all clients. Their entities stay as they are.
func (a *BaseApp) pause(reason string) {
	a.log.Warn("the world is being stopped", "reason", reason)
	a.paused, a.frozen, a.storing.closing = true, true, true
	if a.leave.state == leaveStill {
		a.goOn("the world is being stopped")
	}
	a.TurnAway(reason)
	a.awaited = nil
	for i := 0; i < len(a.list); i++ { // scripts hear of ended downloads, and may add bases
		if b := a.list[i]; b.seat != nil && !b.removed {
			b.leaveSeat()
			b.setCellClient()
		}
	}
}

// TurnAway tells all clients that the server is closing, and closes their channels: without that, a process
// that stops is to them a peer that has hung up. It is for a process about to stop, and leaves bases as they
// are. The reason is cut to protocol.MaxReason bytes.
func (a *BaseApp) TurnAway(reason string) {
	reason = reason[:min(len(reason), protocol.MaxReason)]
	var clients []*client
	// order does not show: they are sorted
	for _, c := range a.clients {
		clients = append(clients, c)
	}
	slices.SortFunc(clients, func(x, y *client) int { return cmp.Compare(x.ch, y.ch) })
	for _, c := range clients {
		c.refuse(protocol.ServerClosing, reason)
	}
}

// hold begins to write.
func (a *BaseApp) hold() {
	a.held = true
	for _, b := range a.list {
		k := &b.keep
		k.final, k.stale, k.asked = 0, false, false
		if !b.isKept() || k.deleting {
			continue
		}
		k.asked = b.askCell()
		if k.asked {
			k.freshBy = a.now + heldPatience
		}
		b.want()
		b.backupSoon() // so that an heir has what the store has
	}
}

// isKept reports whether the store has the base, or is to have it.
func (b *base) isKept() bool {
	k := &b.keep
	return k.typ != nil && !b.ended() && !k.over && (k.made || k.wanted || k.calling)
}

// cellIsLast reports whether the copy of the cell part is its last state.
func (b *base) cellIsLast() bool {
	k := &b.keep
	return b.link.State() == linkNone || k.asked && b.link.out.Known(b.link.copy.Handled, b.link.life) >= k.freshAt
}

// tickHeld is a tick in which no script is called.
func (a *BaseApp) tickHeld() {
	for _, b := range a.list {
		if !b.removed {
			b.sendAck()
		}
	}
	a.sendFlows()
	a.tickKeeping()
	a.tickCopies()
}

// unheardHeld reports whether a message is left for its sender to say again, since no script may be called.
func unheardHeld(id wire.ID) bool {
	switch id {
	case wire.CurrentID, wire.OfferID, wire.CellLostID, wire.LocatedID, wire.MakeBaseID, wire.MakeProxyID, wire.ReloginID,
		wire.BasePlacedID, wire.BaseMadeID, wire.BringBackID, wire.NameHeldID, wire.NameLostID, wire.SpaceCreatedID, wire.SpaceDestroyedID, wire.AppLeftID,
		wire.MournedID, wire.ClientPacketID:
		return true
	}
	return false
}

// flowHeld reports whether a message of a flow is taken although no script may be called: the backup of a
// cell part.
func flowHeld(m *flow.Message) bool {
	return m.From == m.To && m.FromPart == entity.CellPart && len(m.Payload) > 0 && flow.Payload(m.Payload[0]) == flow.BackupPayload
}

// refuseStopped tells a client that comes now why it cannot.
func (a *BaseApp) refuseStopped(ch mercury.ChannelID) {
	_, reason := a.cellMgr.Stopping()
	m := protocol.Refused{Code: protocol.ServerClosing, Reason: reason[:min(len(reason), protocol.MaxReason)]}
	a.buf = m.Append(a.buf[:0])
	if a.links.ToClient(ch, true, a.buf) != nil {
		a.report.Refused++
	}
	a.net.Close(ch)
}

// sayStop answers the manager.
func (a *BaseApp) sayStop() {
	var m wire.StopState
	switch step := a.stopStep(); {
	case step == wire.StopPaused:
		a.unsettled(&m)
	case a.held:
		m.Pending = uint64(a.Unsaved())
		m.Saved = a.saved()
	}
	a.cellMgr.SayStop(&m)
}

// unsettled counts and names what is under way.
func (a *BaseApp) unsettled(m *wire.StopState) {
	m.Activity = a.report.FlowSent + a.report.FlowHandled + a.asked + a.space
	// What the store is asked is tried again for long while it is busy, and no script hears of a
	// write any more: held waits for those. Only what is being loaded would still live.
	questions, loads := a.links.Asked()-a.storeAsks.Asking(), len(a.storing.loads)
	m.Pending = uint64(questions + loads + len(a.talking.local) + a.failed.Len())
	if a.still() {
		m.Pending++
		m.AddLeft("it is leaving the cluster")
	}
	if questions > 0 {
		m.AddLeft("%d questions to other processes", questions)
	}
	if loads > 0 {
		m.AddLeft("%d entities are being loaded", loads)
	}
	for _, b := range a.list {
		if b.removed {
			continue
		}
		n := 0
		switch state := b.link.State(); {
		case b.keep.ending: // it waits for the store alone, and so does held
		case b.destroying:
			n = 1
		case state != linkNone && !b.link.Live():
			n = 1 + b.link.out.Unreceived()
		case state != linkNone:
			n = b.link.out.Unreceived()
		}
		if n > 0 {
			m.Pending += uint64(n)
			m.AddLeft("%s %s and its cell part have %d under way", b.props.Definition().Name, b.id, n)
		}
	}
	for _, t := range a.talking.active {
		if n := t.out.Unreceived(); n > 0 {
			m.Pending += uint64(n)
			m.AddLeft("%s %s has %d messages under way to %s", t.of.props.Definition().Name, t.of.id, n, t.id)
		}
	}
}

// saved says what became of the bases that the store keeps. One that has ended is here until the store has
// its last write.
func (a *BaseApp) saved() []status.Saved {
	var sum status.Stop
	for _, b := range a.list {
		k := &b.keep
		if k.typ == nil || b.removed || k.ending && (k.over || !k.mayExist() && !k.wanted) {
			continue
		}
		s := status.Saved{Type: k.typ.Name}
		switch {
		case k.ending:
			s.Failed = 1
		case !k.over && !b.isKept():
			s.Unkept = 1
		case k.final == 0 || k.confirmed < k.final || k.wanted:
			s.Failed = 1
		case k.stale:
			s.Stale = 1
		default:
			s.Written = 1
		}
		sum.Add(s)
	}
	return sum.Types
}

// Ended reports whether the world was stopped, and the process can end. One that was declared dead meanwhile
// ends, too, since nobody lets it in any more.
func (a *BaseApp) Ended() bool {
	return a.stopStep() == wire.StopEnded || a.dismissed && a.stopStep() > wire.StopNone
}

// Fault is status.ErrUnsaved if the world was stopped, and the store does not have all bases of this BaseApp
// with their last state. What was declared dead has none: those are its heirs'.
func (a *BaseApp) Fault() error {
	if a.stopStep() != wire.StopEnded || a.dismissed {
		return nil
	}
	own := status.Stop{Done: true, Types: a.saved()}
	return own.Err()
}
