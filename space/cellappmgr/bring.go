package cellappmgr

import (
	"errors"
	"fmt"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
)

// When a world with a store starts, the DBApp says which spaces it has kept, before any space is
// made or created:
//
//	BringSpace ...         BringSpace (All)
//	-----------> (noted) -------------------> spaces are made: those that were kept with their data, and
//	                         bringMost over   with fromStore for OnFirstCell
//
// A created space comes back under its id. Nobody may ever come to one that is not to be kept: then it ends
// like one whose asker has died.

// bringMost is how long a manager waits for that: as long as a DBApp waits that does not know
// whether the cluster starts anew, and the store needs for a page. Both count from the first
// BaseApp, before which a DBApp says nothing.
const bringMost = 15 * time.Second

// bringing is what the manager knows of the spaces of the store.
type bringing struct {
	known bool // all were told, or the world runs already
	timed bool
	since time.Duration // when the first BaseApp had come, by the time that the manager was awake
	n     int           // how many came
}

// knowsSpaces reports whether spaces may be made.
func (m *CellAppMgr) knowsSpaces() bool {
	b := &m.bringing
	switch {
	case b.known || !m.cfg.Stores:
		return true
	case !b.timed && m.count(wire.BaseApp) == 0:
	case !b.timed:
		b.timed, b.since = true, m.awake.total
	case m.awake.total-b.since >= bringMost:
		b.known = true
		m.log.Error("no DBApp has said which spaces the store has; the world begins without them", "after", bringMost)
	}
	return b.known
}

// bringSpace takes a space of the store.
func (m *CellAppMgr) bringSpace(from sender, msg *wire.BringSpace) {
	if !m.runs() {
		return // it is said again
	}
	answer := wire.SpaceBrought{Request: msg.Request}
	b := &m.bringing
	switch {
	case !msg.All:
		if err := m.bring(from.now, &msg.KeptSpace); err != nil {
			m.log.Error("a space of the store cannot be brought back", "space", msg.Space, "error", err)
			answer.Reason = err.Error()[:min(len(err.Error()), wire.MaxReason)]
		}
	case !b.known:
		b.known = true
		m.log.Info("the store has said which spaces there were", "spaces", b.n)
		m.shutLostGateways()
	}
	m.send(from.app, &answer)
	m.makeSpaces(from.now)
}

var errMade = errors.New("cellappmgr: the space has begun without it")

// bring makes the record of a space of the store, or gives one of the Config its data.
func (m *CellAppMgr) bring(now time.Duration, k *wire.KeptSpace) error {
	s := m.space(k.Space)
	switch {
	case s != nil && s.fromStore:
		return nil // it is said again
	case s != nil && (s.made || s.tree != nil || m.bringing.known):
		return errMade
	case s == nil:
		var err error
		if s, err = m.bringCreated(now, k); err != nil {
			return err
		}
	}
	s.fromStore = true
	m.bringing.n++
	for _, e := range k.Data {
		if _, ok := s.data.set(wire.SpaceDataEntry{Key: e.Key, ID: e.ID, Value: e.Value}); !ok {
			m.refusedData(s, e.Key, "the store")
		}
	}
	return nil
}

// bringCreated makes the record of a space that game code had created.
func (m *CellAppMgr) bringCreated(now time.Duration, k *wire.KeptSpace) (*space, error) {
	o, err := parseSpaceInfo(k.Info)
	if err != nil {
		return nil, err
	}
	if !isCreated(k.Space) || len(k.Info) == 0 {
		return nil, fmt.Errorf("cellappmgr: space %d is not in the Config any more", k.Space)
	}
	cfg := o.config(k.Space)
	if err := cfg.fault(m.cfg.Balance); err != nil {
		return nil, err
	}
	if len(m.spaces) >= MaxSpaces {
		return nil, errSpacesFull
	}
	s := m.enter(cfg, &o)
	if !cfg.Keep {
		m.orphanSpace(now, s)
	}
	return s, nil
}
