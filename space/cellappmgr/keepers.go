package cellappmgr

import (
	"fmt"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/spacekey"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// Two BaseApps keep what each space has besides its entities, for the case that the manager dies
// together with all CellApps that have a cell of it:
//
//	        chosen: SpaceCopy              each change: SpaceData
//	(none) ------------------> keeper ------------------------------> keeper
//	           ^                  |
//	           |                  | the space ends, or others rank higher: SpaceCopy, gone
//	           |                  | it is welcomed anew: nobody knows what it has heard
//	           +------------------+
//
// Keepers are the BaseApps that rank highest for a space (migrate.Holders), so that few spaces move
// when BaseApps come and go. Whoever was welcomed is told of all its spaces, and then that all
// others are gone: a space that ended meanwhile does not come back with it.

const (
	// spaceKeepers is how many keep a space: either may die with the manager.
	spaceKeepers = 2
	// keptPerTick bounds the spaces that are looked at in a tick, each of which may be sent twice.
	// A thousand rooms have keepers after two seconds, and the largest data of as many spaces is
	// less than what a link carries in a tick.
	keptPerTick = 50
)

// keeping is the manager's part of that.
type keeping struct {
	round   uint64 // rises when BaseApps come or go, from 1
	pending bool   // some space was not looked at in this round
	list    []mercury.Address
	chosen  []mercury.Address
}

// keepAnew has the keepers of all spaces chosen again.
func (m *CellAppMgr) keepAnew() {
	m.keeping.round++
	m.keeping.pending = true
}

// unkept forgets what a member was told to keep, since it is welcomed and may not have heard it.
func (m *CellAppMgr) unkept(a *member) {
	if a.role != wire.BaseApp {
		return
	}
	for _, s := range m.spaces {
		s.keepers = slices.DeleteFunc(s.keepers, func(k *member) bool { return k == a })
	}
	a.keepsUnknown = true
	m.keepAnew()
}

// keepSpaces has spaces kept that are not, or not where they should be.
func (m *CellAppMgr) keepSpaces() {
	k := &m.keeping
	if !k.pending {
		return
	}
	k.list = k.list[:0]
	for _, a := range m.members {
		if a.keeps() {
			k.list = append(k.list, a.address)
		}
	}
	left := keptPerTick
	for _, s := range m.spaces {
		if s.keptRound == k.round {
			continue
		}
		if left--; left < 0 {
			return
		}
		m.chooseKeepers(s)
	}
	k.pending = false
	for _, a := range m.members {
		if a.keeps() && a.keepsUnknown {
			a.keepsUnknown = false
			m.send(a, &wire.SpaceCopy{Gone: true})
		}
	}
}

// keeps reports whether a member may be a keeper.
func (a *member) keeps() bool { return a.role == wire.BaseApp && a.channel != 0 && !a.missing }

func (m *CellAppMgr) chooseKeepers(s *space) {
	k := &m.keeping
	s.keptRound = k.round
	if s.ending {
		return // all have been told
	}
	k.chosen = migrate.Holders(k.chosen[:0], m.cfg.Transport.Self(), entity.ID(s.cfg.ID), k.list, spaceKeepers)
	s.keepers = slices.DeleteFunc(s.keepers, func(a *member) bool {
		if slices.Contains(k.chosen, a.address) {
			return false
		}
		m.send(a, &wire.SpaceCopy{Space: s.cfg.ID, Gone: true})
		return true
	})
	for _, at := range k.chosen {
		if !slices.ContainsFunc(s.keepers, func(a *member) bool { return a.address == at }) {
			a := m.byAddress(at)
			s.keepers = append(s.keepers, a)
			m.send(a, &wire.SpaceCopy{Space: s.cfg.ID, Info: s.info, Data: s.data.entries})
		}
	}
}

// release tells the keepers of a space that it has ended.
func (m *CellAppMgr) release(s *space) {
	for _, a := range s.keepers {
		m.send(a, &wire.SpaceCopy{Space: s.cfg.ID, Gone: true})
	}
	s.keepers = nil
}

// hearCopy takes what a BaseApp has kept of a space.
func (m *CellAppMgr) hearCopy(from sender, msg *wire.SpaceCopy) error {
	b := from.back
	if b.told == nil || b.join.Role != wire.BaseApp || msg.Gone || b.copies >= wire.MaxRejoinCells {
		return fmt.Errorf("%w: a copy of a space from an app that keeps none", wire.ErrMalformed)
	}
	for i := range msg.Data {
		if n := msg.Data[i].Number; n > spacekey.Base(m.cfg.Term) {
			return fmt.Errorf("%w: space data %d reported to a manager of term %d", wire.ErrMalformed, n, m.cfg.Term)
		}
	}
	b.copies++
	s := m.space(msg.Space)
	if s == nil && m.recovery.on {
		var err error
		if s, err = m.restoreSpace(msg.Space, msg.Info); err != nil {
			m.counts.UnknownCells++
			m.log.Error("a BaseApp keeps a space that this manager does not", "space", msg.Space, "error", err)
			return nil
		}
	}
	switch {
	case s == nil || s.ending:
		m.counts.UnknownCells++ // its asker was told that it is gone
	case m.recovery.on:
		s.copied = true
		for _, e := range msg.Data {
			s.data.restore(e)
		}
	default:
		m.lateData(s, msg.Data, b.peer.String())
	}
	return nil
}

// revive goes on with the spaces that only their keepers know. Those who were in them come back
// from their bases; if nobody does, they end.
func (m *CellAppMgr) revive(now time.Duration) {
	for _, s := range m.spaces {
		if s.copied && s.heard == nil && isCreated(s.cfg.ID) {
			s.held = true
			s.stay(now + lossGrace)
			m.log.Warn("the CellApps of a space have gone with the manager; its data is known, and it is made anew", "space", s.cfg.ID)
		}
	}
}
