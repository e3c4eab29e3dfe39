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
	// HasCell says that there is a cell part, or one is being made or restored; Live that it has said
	// where it is. App is where it is believed to be, Order its last known life.
	HasCell, Live bool
	Order         entity.Order
	App           mercury.Address
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
			v := BaseView{ID: b.id, Type: b.props.Definition().Name, Order: b.link.Order(), App: b.link.App(), HasCell: b.link.State() != linkNone, Live: b.link.Live(),
				Session: b.ClientSession(), Kept: b.link.out.Kept(), Unreceived: b.link.out.Unreceived()}
			if !yield(v) {
				return
			}
		}
	}
}

// Script returns the script of a base, for tests; nil if there is no such base.
func (a *BaseApp) Script(id entity.ID) any {
	if b := a.byID[id]; b != nil && b.value.IsValid() {
		return b.value.Interface()
	}
	return nil
}
