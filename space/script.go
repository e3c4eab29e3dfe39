package space

import (
	"fmt"
	"runtime/debug"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/invariant"
	"github.com/cellscape/cellscape/internal/script"
)

// guard runs game code. A panic affects only its entity: it is logged with its stack, the
// half-changed real is dropped, and its base restores it from the last backup. An entity without a
// base is gone. Nothing is run while a message is passed over; see passing.go.
func (r *Real) guard(what string, f func()) {
	if r.passing {
		return
	}
	r.cell.watch.Enter(&r.meter)
	defer r.cell.watch.Leave()
	defer r.contain(what)
	f()
}

// contain is deferred by functions that run game code; see guard.
func (r *Real) contain(what string) {
	p := recover()
	if p == nil {
		return
	}
	invariant.Pass(p)
	r.cell.count.Errors++
	r.panicked, r.culprit = true, r.handling
	r.Log().Error("script panicked; the entity is restored from its backup if it has not left",
		"in", what, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
	switch r.gone {
	case staying:
		r.depart(lost, fmt.Sprintf("panic in %s: %v", what, p))
	case handedOver: // its new cell has it whole
	default:
		r.gone, r.reason = lost, fmt.Sprintf("panic in %s: %v", what, p)
	}
}

// makeScript makes the script of a new real. If the constructor panics, the real has no script and
// is lost.
func (r *Real) makeScript() {
	kind := r.kind
	if kind == nil {
		return
	}
	r.kind = nil
	defer r.contain("constructor")
	r.script = kind.New(r, r.e.Props)
	r.kind = kind
}

// Script returns the real's script, a *T of Register, for controllers; nil for a type without a
// script.
func (r *Real) Script() any {
	if r.kind == nil {
		return nil
	}
	return r.script.Interface()
}

// callback calls an optional hook of a script.
func callback[T any](r *Real, name string, f func(T)) {
	if r.kind == nil {
		return
	}
	if s, ok := r.script.Interface().(T); ok {
		r.guard(name, func() { f(s) })
	}
}

// callMethod calls a cell method. source is the entity whose client called, 0 for the server; asked is
// zero if no answer is wanted.
func (r *Real) callMethod(index int, asked script.Asked, source entity.ID, args []byte) (results script.Results, err error) {
	if _, err := r.kind.Method(index); err != nil {
		return results, err
	}
	if r.passing {
		return results, errPassed
	}
	former := r.owed.Begin(asked)
	r.guard("cell method", func() { results, err = r.kind.Call(&r.cell.population.parameters, r.script, index, source, args) })
	results.End(&r.owed, former, err)
	return results, err
}
