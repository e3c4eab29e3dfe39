package baseapp

import (
	"fmt"
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/entity/placement"
	"github.com/cellscape/cellscape/internal/script"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// MaxTeleports bounds the teleports that a base waits for. Only one at a time can be under way; any
// other is refused when it comes to the cell part.
const MaxTeleports = 16

// whereis tells a CellApp where the real of a base is.
func (a *BaseApp) whereis(m *wire.Whereis, from mercury.Address) {
	if a.byID[m.ID] == nil && a.elsewhere(m.ID) {
		a.tooEarly("a question for a real", m.ID, from)
		return
	}
	answer := wire.Whereabouts{ID: m.ID, Asker: m.Asker, Gone: true}
	if b := a.byID[m.ID]; b != nil && b.link.Open() {
		answer.Gone = false
		if b.link.Live() {
			answer.App = b.link.App()
		}
	}
	a.send(from, &answer)
}

// teleport is one that a base waits for the end of.
type teleport struct {
	request uint64 // the base's number of it, which its end repeats
	method  string
	user    int64 // comes back in the reply
}

// TeleportCell is part of entity.Base's host. The request is in the flow to the cell part, so it comes
// there once, and again after a restore if the backup does not contain it; then its end is told
// again, too, and only the first one counts.
func (b *base) TeleportCell(to entity.Destination, method string, user int64) error {
	if err := script.CheckCallback[entity.TeleportReply](b.kind, method); err != nil {
		return err
	}
	if len(b.teleports) >= MaxTeleports {
		return fmt.Errorf("%w: %d teleports have not ended", entity.ErrTooMany, MaxTeleports)
	}
	m := flow.Teleport{Request: b.teleported + 1, To: to, User: user}
	if err := b.sendCell(m.Append(b.app.payload[:0])); err != nil {
		return err
	}
	b.teleported++
	b.teleports = append(b.teleports, teleport{b.teleported, method, user})
	return nil
}

// endTeleport takes in how a teleport has ended. One that the base does not wait for is said again by
// a restored cell part.
func (b *base) endTeleport(m *flow.Teleported) {
	i := slices.IndexFunc(b.teleports, func(t teleport) bool { return t.request == m.Request })
	if i < 0 {
		return
	}
	t := b.teleports[i]
	b.teleports = slices.Delete(b.teleports, i, i+1)
	var err error
	if m.Code != 0 {
		err = &placement.TeleportError{Code: m.Code, Reason: m.Reason}
	}
	b.tellTeleport(t, err)
}

// loseTeleports tells the script that these cannot end well any more: the cell part is gone.
func (b *base) loseTeleports(list []teleport) {
	for _, t := range list {
		b.tellTeleport(t, &placement.TeleportError{Code: placement.NoPart})
	}
}

func (b *base) tellTeleport(t teleport, err error) {
	if !b.failed && !b.removed {
		callBack(b, t.method, entity.TeleportReply{User: t.user, Err: err})
	}
}
