package baseapp

import (
	"fmt"
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/placement"
	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/script"
	"github.com/cellscape/cellscape/internal/wire"
)

// MaxSpaceRequests bounds the spaces that the bases of one app wait for. A manager answers within a
// tick or two, so this many mean that it is away or that a script asks without end.
const MaxSpaceRequests = 4096

// CreateSpace is part of entity.Base's host.
func (b *base) CreateSpace(info entity.SpaceInfo, method string, user int64) error {
	a := b.app
	if b.destroying {
		return entity.ErrGone
	}
	if err := script.CheckCallback[entity.SpaceReply](b.kind, method); err != nil {
		return err
	}
	if err := info.CheckData(); err != nil {
		return err
	}
	info.Data = slices.Clone(info.Data)
	for i := range info.Data {
		info.Data[i].Value = slices.Clone(info.Data[i].Value) // the request may be repeated
	}
	number := a.space + 1
	asked := pending{what: questionSpace, request: number, method: method, user: user}
	if !app.Insist(&a.spaces, &wire.CreateSpace{Number: number, Info: info}, func(m *wire.SpaceCreated) { a.spaceCreated(b, asked, m) }) {
		return fmt.Errorf("%w: %d spaces are asked for already", entity.ErrTooMany, MaxSpaceRequests)
	}
	a.space = number
	b.await(asked)
	return nil
}

// DestroySpace is part of entity.Base's host.
func (b *base) DestroySpace(id entity.SpaceID) error {
	if !b.app.endings.DestroySpace(id, b.app.log) {
		return fmt.Errorf("%w: %d spaces are waiting to be destroyed", entity.ErrTooMany, app.MaxEndings)
	}
	return nil
}

// spaceCreated tells the script that asked. If its base is gone, or the script panics over the answer, it
// destroys the space, since nobody else knows it, not even the next life of the base.
func (a *BaseApp) spaceCreated(b *base, asked pending, m *wire.SpaceCreated) {
	b.answered(questionSpace, asked.request)
	if b.removed || b.destroying || b.failed {
		if m.Space != 0 {
			a.endings.DestroySpace(m.Space, a.log)
		}
		return
	}
	reply := entity.SpaceReply{User: asked.user, Space: m.Space}
	switch {
	case m.Full:
		reply.Err = fmt.Errorf("%w: %s", entity.ErrTooMany, m.Reason)
	case m.Space == 0:
		reply.Err = because(m.Reason)
	}
	callBack(b, asked.method, reply)
	if b.failed && m.Space != 0 {
		a.endings.DestroySpace(m.Space, a.log)
	}
}

// noSpace handles that the space in which to make a cell part has ended. The script is told even if
// it never got that cell part, since it waits for one call or the other.
func (b *base) noSpace() {
	space := b.link.Copy().Space
	if b.creation != nil {
		b.giveUpCreation(placement.NoSpace, "")
		return
	}
	if b.rehome(space) {
		return
	}
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

// rehome asks the script for another place, and reports whether the cell part is made there.
func (b *base) rehome(ended entity.SpaceID) bool {
	if b.destroying || b.link.State() != linkLocating || !b.link.Open() {
		return false
	}
	var to entity.Destination
	ok := false
	callHook(b, "OnNoSpace", func(s Rehomer) { to, ok = s.OnNoSpace(ended) })
	if !ok || b.failed || b.link.State() != linkLocating || b.link.Copy().Space != ended {
		return false
	}
	if to.Space == 0 || to.Space == ended || to.Near != 0 || to.Check() != nil {
		b.app.fault("OnNoSpace named no place", "entity", b.id, "to", to)
		return false
	}
	return b.link.Rehome(b.app.now, to.Space, to.Position, to.Direction)
}
