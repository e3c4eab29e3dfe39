package space

import (
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/script"
)

// AddTimer calls the script's method of that name, a func (T) OnX(entity.Callback), once the time
// after has passed, and then at intervals of every if that is above zero. Times are game time,
// rounded up to ticks. The timer travels with the entity and dies with it. Errors are
// entity.ErrNoCallback, entity.ErrTooMany beyond limits.Timers, entity.ErrGone, and that of a
// negative time.
func (r *Real) AddTimer(after, every time.Duration, method string, user int64) (entity.CallbackID, error) {
	if err := r.mayCallBack(method); err != nil {
		return 0, err
	}
	return r.timers.Add(r.Now(), after, every, method, user)
}

// Cancel ends a timer, controller or trap without a callback, and reports whether there was one.
func (r *Real) Cancel(id entity.CallbackID) bool {
	if i := r.controllers.find(id); i >= 0 {
		if t, ok := r.controllers.list[i].Controller.(*trap); ok {
			t.lift(r.cell)
		}
	}
	return r.timers.Cancel(id) || r.controllers.cancel(id)
}

func (r *Real) mayCallBack(method string) error {
	if r.gone != staying {
		return entity.ErrGone
	}
	return script.CheckCallback[entity.Callback](r.kind, method)
}

// callBack calls a callback of the script. If the script has no such method, the name came from a
// process with another version of it.
func (r *Real) callBack(method string, c entity.Callback) { callBackWith(r, method, c) }

func callBackWith[A any](r *Real, method string, a A) {
	if r.gone != staying {
		return
	}
	var err error
	r.guard(method, func() { err = script.CallBack(r.kind, r.script, method, a) })
	if err != nil {
		r.cell.count.Errors++
		r.Log().Error("the script has no method for a timer, controller or trap", "error", err)
	}
}
