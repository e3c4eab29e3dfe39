package cellappmgr

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/spacekey"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// returning is an app of an earlier term that tells what it has.
type returning struct {
	ch    mercury.ChannelID // 0 when lost after the app's last message
	peer  mercury.Address
	join  wire.Join
	told  *wire.Rejoin
	cells []returningCell
	rules []migrate.Departure // of BaseApps; Number is 0 for one that is not gone
	// copies is how many spaces it has kept.
	copies int
	done   bool
}

// returningCell is a cell that it has.
type returningCell struct {
	space   entity.SpaceID
	id      bsp.CellID
	version bsp.Version
	data    uint64 // number of the newest space data
}

// waiting is a new start that has to wait for the end of the window.
type waiting struct {
	ch   mercury.ChannelID
	peer mercury.Address
	join wire.Join
}

// outranked reports whether a message is a Join which shows that this manager must not let the app
// in: the app was welcomed by a manager of the same term, of which there can be only one, or of a
// higher term. Then this manager was only stalled while the other took its place. Whatever it would
// order now is void, so it is silent. This is asked before the graves, since a manager that was
// stalled takes everyone for dead.
func (m *CellAppMgr) outranked(ch mercury.ChannelID, msg []byte) bool {
	j := joinIn(msg)
	if j == nil || j.Term < m.cfg.Term || j.Term > MaxTerm || j.Disagreement(m.cfg.Schema.Digest) != "" {
		return false
	}
	if m.seatCounts != nil {
		m.outrankedBy = max(m.outrankedBy, j.Term)
		return true // the Seat takes a higher term
	}
	if j.Term > m.cfg.Term {
		m.superseded = true
		m.log.Error("a manager of a higher term has taken this one's place; this one does nothing any more: end it", "term", m.cfg.Term, "higher", j.Term)
	} else {
		m.log.Error("apps know another start of a manager of this term; start the manager with a higher one", "term", m.cfg.Term)
	}
	m.refuse(ch, j.Term)
	return true
}

// joinIn parses a message if it is a Join.
func joinIn(msg []byte) *wire.Join {
	id, body, err := wire.Split(msg)
	if err != nil || id != wire.JoinID {
		return nil
	}
	var j wire.Join
	if j.Parse(body) != nil {
		return nil
	}
	return &j
}

func (m *CellAppMgr) refuse(ch mercury.ChannelID, term uint32) {
	m.sendOn(ch, m.encode(&wire.Refused{Reason: fmt.Sprintf("this manager is of term %d, the app knows one of term %d; a manager is started with a higher term than the one before", m.cfg.Term, term)}))
}

// refuseSuperseded answers those who join a manager whose place is taken.
func (m *CellAppMgr) refuseSuperseded(ch mercury.ChannelID, msg []byte) {
	if j := joinIn(msg); j != nil {
		m.refuse(ch, j.Term)
	}
}

// Superseded reports whether a manager of a higher term has shown itself. Then this one gives no
// more orders and answers, and should be ended.
func (m *CellAppMgr) Superseded() bool { return m.superseded }

// await keeps a Join until it can be answered: that of an app of an earlier term until the app has
// told what it has; within the window, anyone's until the end of the window.
func (m *CellAppMgr) await(ch mercury.ChannelID, peer mercury.Address, j *wire.Join) {
	r := &m.recovery
	if !r.begun {
		r.begun, r.beganAt, r.heardAt = true, m.awake.total, m.awake.total
	}
	r.waiting = slices.DeleteFunc(r.waiting, func(w waiting) bool { return w.peer == peer })
	r.returning = slices.DeleteFunc(r.returning, func(b *returning) bool { return b.peer == peer })
	if j.Term == 0 {
		r.waiting = append(r.waiting, waiting{ch, peer, *j})
		return
	}
	r.heardAt = m.awake.total
	r.returning = append(r.returning, &returning{ch: ch, peer: peer, join: *j})
}

// telling is the app that is telling over a channel what it has, nil if none is.
func (r *recovery) telling(ch mercury.ChannelID) *returning {
	if i := slices.IndexFunc(r.returning, func(b *returning) bool { return b.ch == ch && !b.done }); i >= 0 {
		return r.returning[i]
	}
	return nil
}

// rejoinBegins takes the first message of what an app tells.
func (m *CellAppMgr) rejoinBegins(from sender, msg *wire.Rejoin) {
	told := *msg
	from.back.told = &told
	m.learn(from.now, from.back)
}

// rejoinEnds takes the last message of what an app tells.
func (m *CellAppMgr) rejoinEnds(from sender, msg *wire.RejoinEnd) error {
	b := from.back
	if b.told == nil || int(msg.Cells) != len(b.cells) || int(msg.Rules) != len(b.rules) || int(msg.Spaces) != b.copies {
		return fmt.Errorf("%w: the end of a rejoin with %d cells, %d rules and %d spaces after %d, %d and %d", wire.ErrMalformed,
			msg.Cells, msg.Rules, msg.Spaces, len(b.cells), len(b.rules), b.copies)
	}
	b.done = true
	if !m.recovery.on {
		m.recovery.returning = slices.DeleteFunc(m.recovery.returning, func(r *returning) bool { return r == b })
		m.comeLate(from.now, b)
	}
	return nil
}

func (m *CellAppMgr) hearCell(b *returning, msg *wire.RejoinCell) error {
	if b.told == nil || b.join.Role != wire.CellApp || len(b.cells) >= wire.MaxRejoinCells {
		return fmt.Errorf("%w: a cell of an app that has none", wire.ErrMalformed)
	}
	last := uint64(0)
	for i := range msg.Data {
		last = max(last, msg.Data[i].Number)
	}
	b.cells = append(b.cells, returningCell{msg.Space, msg.Cell, msg.Version, last})
	s := m.spaceHeardOf(msg)
	if s == nil {
		return nil
	}
	tree, err := bsp.Parse(msg.Tree)
	if err != nil {
		return err
	}
	if what := notOf(msg, tree, m.cfg.Term); what != "" {
		return fmt.Errorf("%w: %s reported to a manager of term %d", wire.ErrMalformed, what, m.cfg.Term)
	}
	s.over = s.over || msg.Ended && isCreated(msg.Space)
	if m.recovery.on {
		s.hear(msg, tree)
	} else {
		m.hearLate(b, s, msg)
	}
	return nil
}

// hearLate takes what is still useful of a cell that is reported after the window. The tree is not:
// the space goes on from the one that won, or was made anew, and the cell is in neither (claim).
// Nor is the Info, since the space is known.
func (m *CellAppMgr) hearLate(b *returning, s *space, msg *wire.RejoinCell) {
	if s.ending {
		return
	}
	m.lateData(s, msg.Data, b.peer.String())
	if msg.Clock.Number > s.rates.clock.Number {
		// The others' game time stays as it is, since all go by it. But a cell ignores a Clock that
		// is older than its own: if this app gets another cell of the space, that cell must find a
		// newer Clock.
		s.rates.outrun = true
		m.pace(s, s.rates.rate())
	}
}

// spaceHeardOf is the space of a cell that an app has, nil if this manager is not to keep the
// space.
func (m *CellAppMgr) spaceHeardOf(msg *wire.RejoinCell) *space {
	s := m.space(msg.Space)
	var err error
	switch {
	case s != nil:
		return s
	case m.recovery.on:
		if s, err = m.restoreSpace(msg.Space, msg.Info); err == nil {
			return s
		}
	default:
		err = errEnded
	}
	m.counts.UnknownCells++
	m.log.Error("an app has a cell of a space that this manager does not keep", "space", msg.Space, "cell", msg.Cell.String(), "error", err)
	return nil
}

var errEnded = errors.New("cellappmgr: the space was not heard of in time, or has ended")

// hear takes what an app knows of a space: the newest tree wins whole, and of each key of the data
// the newest entry.
func (s *space) hear(msg *wire.RejoinCell, tree *bsp.Tree) {
	if s.heard == nil || s.heard.Version().Less(tree.Version()) {
		s.heard = tree
	}
	if msg.Clock.Number > s.rates.clock.Number {
		s.rates.clock = msg.Clock
	}
	for _, e := range msg.Data {
		s.data.restore(e)
	}
}

// notOf says what about a reported cell cannot come from a manager of an earlier term, "" if
// nothing: numbers of this term would collide with those that this manager gives out.
func notOf(msg *wire.RejoinCell, tree *bsp.Tree, term uint32) string {
	if tree.Version().Term >= term {
		return "geometry " + tree.Version().String()
	}
	if msg.Cell.Term >= term {
		return "cell " + msg.Cell.String()
	}
	for _, leaf := range tree.Leaves() {
		if leaf.Cell.Term >= term {
			return "leaf " + leaf.Cell.String()
		}
	}
	if msg.Clock.Number >= uint64(term)<<32 {
		return fmt.Sprintf("clock %d", msg.Clock.Number)
	}
	for i := range msg.Data {
		if msg.Data[i].Number > spacekey.Base(term) {
			return fmt.Sprintf("space data %d", msg.Data[i].Number)
		}
	}
	return ""
}

// unhear forgets an app whose channel ended before it was let in. An app that has told everything
// is kept if it may only have lost the channel. One that was still telling when the window ended is
// missed: others may count on it.
func (m *CellAppMgr) unhear(now time.Duration, ch mercury.ChannelID, reason error) {
	r := &m.recovery
	if b := r.telling(ch); b != nil && !r.on {
		defer m.miss(now, wire.AppRef{Role: b.join.Role, App: b.peer})
	}
	r.waiting = slices.DeleteFunc(r.waiting, func(w waiting) bool { return w.ch == ch })
	m.unnumbered = slices.DeleteFunc(m.unnumbered, func(w waiting) bool { return w.ch == ch })
	r.returning = slices.DeleteFunc(r.returning, func(b *returning) bool {
		if b.ch != ch {
			return false
		}
		b.ch = 0
		return !b.done || m.proves(nil, reason)
	})
}
