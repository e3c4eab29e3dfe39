package baseapp

import (
	"fmt"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/script"
	"github.com/cellscape/cellscape/internal/wire"
)

const (
	// MaxSpaceRequests bounds the spaces that the bases of one app wait for. A manager answers
	// within a tick or two, so this many mean that it is away or that a script asks without end.
	MaxSpaceRequests = 4096

	// spaceRetry is how long the app waits for the manager's answer before it asks again. A broken
	// channel may have taken the request or the answer.
	spaceRetry = time.Second
)

// spaceRequest is a space that a base has asked for.
type spaceRequest struct {
	message wire.CreateSpace
	base    entity.ID
	method  string
}

// spaceRequests are the unanswered requests, by number.
type spaceRequests struct {
	last uint64
	open []spaceRequest
	at   time.Duration // when to ask again
}

// CreateSpace is part of entity.BaseHost.
func (b *base) CreateSpace(info entity.SpaceInfo, method string) (uint64, error) {
	q := &b.app.spaces
	if b.destroying {
		return 0, entity.ErrGone
	}
	if err := script.CheckCallback[entity.SpaceReply](b.kind, method); err != nil {
		return 0, err
	}
	if len(q.open) >= MaxSpaceRequests {
		return 0, fmt.Errorf("%w: %d spaces are asked for already", entity.ErrTooMany, MaxSpaceRequests)
	}
	q.last++
	r := spaceRequest{message: wire.CreateSpace{Request: q.last, Info: info}, base: b.id, method: method}
	q.open = append(q.open, r)
	b.app.cellMgr.Send(&r.message)
	return q.last, nil
}

// DestroySpace is part of entity.BaseHost.
func (b *base) DestroySpace(id entity.SpaceID) error {
	if !b.app.endings.Ask(&b.app.cellMgr, id) {
		return fmt.Errorf("%w: %d spaces are waiting to be destroyed", entity.ErrTooMany, app.MaxEndings)
	}
	return nil
}

// tickSpaces repeats unanswered requests.
func (a *BaseApp) tickSpaces() {
	a.endings.Tick(a.now, &a.cellMgr)
	if a.now < a.spaces.at {
		return
	}
	a.spaces.at = a.now + spaceRetry
	for i := range a.spaces.open {
		a.cellMgr.Send(&a.spaces.open[i].message)
	}
}

// spaceCreated tells the script that asked. If its base is gone, it destroys the space, since
// nobody else knows it.
func (a *BaseApp) spaceCreated(m *wire.SpaceCreated) {
	i := slices.IndexFunc(a.spaces.open, func(r spaceRequest) bool { return r.message.Request == m.Request })
	if i < 0 {
		return // answered twice
	}
	r := a.spaces.open[i]
	a.spaces.open = slices.Delete(a.spaces.open, i, i+1)
	b := a.byID[r.base]
	if b == nil || b.destroying || b.failed {
		if m.Space != 0 {
			a.endings.Ask(&a.cellMgr, m.Space)
		}
		return
	}
	callBack(b, r.method, entity.SpaceReply{Request: m.Request, Space: m.Space, Reason: m.Reason})
}

// spaceDestroyed takes the answer to a DestroySpace.
func (a *BaseApp) spaceDestroyed(m *wire.SpaceDestroyed) {
	a.endings.Answered(m.Space)
	if m.Reason != "" {
		a.log.Warn("space not destroyed", "space", m.Space, "reason", m.Reason)
	}
}

// noSpace handles that the space in which to make a cell part has ended. The script is told even if
// it never got that cell part, since it waits for one call or the other.
func (b *base) noSpace() {
	space := b.link.Copy().Space
	if !b.link.NoSpace(b.app.now) {
		return
	}
	b.log.Info("the cell part is gone because its space has ended", "space", space)
	got := b.gotCell
	b.settleLink()
	if !got && !b.removed {
		callHook(b, "OnLoseCell", func(s CellLoser) { s.OnLoseCell() })
	}
}
