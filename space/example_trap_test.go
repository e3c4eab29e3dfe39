package space_test

import (
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/space"
)

// A Wolf runs after whoever comes within twenty metres, and bites.
type Wolf struct{ *space.Real }

// OnCreated lays the trap, which goes with the wolf.
func (w *Wolf) OnCreated() {
	if _, err := w.AddTrap(20, "OnSmell", 0); err != nil {
		w.Log().Error("a wolf without a nose", "error", err)
	}
}

// OnSmell is told who comes and who goes.
func (w *Wolf) OnSmell(x space.Trapped) {
	prey, ok := w.Find(x.Entity)
	if !x.Inside || !ok || prey.Def() == w.Def() {
		return
	}
	if _, err := w.MoveToEntity(x.Entity, 1, 6, "OnCaught", int64(x.Entity)); err != nil {
		w.Log().Warn("it got away", "error", err)
	}
}

// OnCaught bites, unless the prey has gone out of sight.
func (w *Wolf) OnCaught(c entity.Callback) {
	if prey, ok := w.Find(entity.ID(c.User)); ok && c.Err == nil {
		if err := w.Lookup(prey.ID(), prey.Def().Name, entity.CellMailbox).Call("bite"); err != nil {
			w.Log().Warn("it bites into the air", "error", err)
		}
	}
}

func ExampleReal_AddTrap() {
	_ = (*Wolf).OnCreated
	_ = (*Wolf).OnSmell
	_ = (*Wolf).OnCaught
}
