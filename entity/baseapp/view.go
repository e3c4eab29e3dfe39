package baseapp

import (
	"iter"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/mercury"
)

// BaseView is what an observer sees of a base.
type BaseView struct {
	ID   entity.ID
	Type string
	// HasCell is true if there is a cell part, or if one is being made or restored; Live is true if
	// it has said where it is. App is where the base believes it, Order its last known order.
	HasCell, Live bool
	Order         entity.Order
	App           mercury.Address
	// Account is that of a proxy.
	Account string
	// Life is 0, and one more each time that the base was restored on another BaseApp.
	Life uint32
	// Session is the client's session; 0 without a client. Away says that the client's place is kept, and it
	// is not there.
	Session uint32
	Away    bool
	// Kept counts messages for the cell part that are not yet in a backup, Unreceived those that
	// are not yet acknowledged.
	Kept, Unreceived int
	// Confirmed is the number of the newest copy that all other BaseApps have which are to hold it; 0 for
	// none. With Uncopied none is to hold it (entity.Base.SetAutoBackup).
	Confirmed uint64
	Uncopied  bool
	// Hasty says that the cell part was made again before others had a copy of what the former one had said,
	// since the holders did not answer. Should this BaseApp die before they do, that is lost.
	Hasty bool
}

// Bases yields all bases in order of their ids, for tests, checkers and status pages. Do not use
// the app while it runs.
func (a *BaseApp) Bases() iter.Seq[BaseView] {
	return func(yield func(BaseView) bool) {
		for _, b := range a.list {
			if b.removed {
				continue
			}
			v := BaseView{ID: b.id, Account: b.account, Type: b.props.Definition().Name, Order: b.link.Order(), App: b.link.App(), HasCell: b.link.State() != linkNone, Live: b.link.Live(), Life: b.life(),
				Session: b.ClientSession(), Away: b.clientSession().Away, Kept: b.link.out.Kept(), Unreceived: b.link.out.Unreceived(), Confirmed: b.copied.confirmed, Uncopied: b.uncopied(), Hasty: b.hastyAt != 0 && !b.copiedSince(b.hastyAt)}
			if !yield(v) {
				return
			}
		}
	}
}

// Copies yields the copies that this app holds for others, with their numbers, by owner in the order in
// which it first heard of them.
func (a *BaseApp) Copies() iter.Seq2[mercury.Address, CopyView] {
	return func(yield func(mercury.Address, CopyView) bool) {
		for _, w := range a.holding.wards {
			for _, c := range w.copies {
				if !yield(w.owner, CopyView{c.id, c.number}) {
					return
				}
			}
		}
	}
}

// CopyView is what an observer sees of a copy.
type CopyView struct {
	ID     entity.ID
	Number uint64
}

// Script returns the script of a base, for tests; nil if there is no such base.
func (a *BaseApp) Script(id entity.ID) any {
	if b := a.byID[id]; b != nil && b.value.IsValid() {
		return b.value.Interface()
	}
	return nil
}
