package baseapp

import (
	"iter"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/mercury"
)

// BaseView is what an observer may know of a base.
type BaseView struct {
	ID   entity.ID
	Type string
	// Order, App and State are those of the cell link.
	Order entity.Order
	App   mercury.Address
	State entity.LinkState
	// Session is the client's session; 0 without a client.
	Session uint32
	// Kept and Unreceived count messages for the cell part: not yet in a backup,
	// and not yet acknowledged.
	Kept, Unreceived int
}

// Bases yields every base in the order of ids, for tests, checkers and status
// pages. The app must not be used while it runs.
func (a *BaseApp) Bases() iter.Seq[BaseView] {
	return func(yield func(BaseView) bool) {
		for _, b := range a.list {
			if b.removed {
				continue
			}
			v := BaseView{ID: b.id, Type: b.props.Definition().Name, Order: b.link.Order(), App: b.link.App(), State: b.link.State(),
				Session: b.ClientSession(), Kept: b.link.Out.Kept(), Unreceived: b.link.Out.Unreceived()}
			if !yield(v) {
				return
			}
		}
	}
}

// Script returns the script of a base, for tests; nil if there is no such base.
func (a *BaseApp) Script(id entity.ID) any {
	if b := a.byID[id]; b != nil {
		return b.script
	}
	return nil
}
