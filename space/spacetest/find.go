package spacetest

import (
	"iter"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cellapp"
)

// Views yields all entities of all cells, reals and ghosts, with the CellApp that has them. The
// views are good until time passes.
func (w *World) Views() iter.Seq2[*App, space.View] {
	return func(yield func(*App, space.View) bool) {
		for _, a := range w.cells {
			app, ok := a.app.(*cellapp.CellApp)
			if !ok {
				continue
			}
			for c := range app.Cells() {
				for v := range c.Views() {
					if !yield(a, v) {
						return
					}
				}
			}
		}
	}
}

// Reals yields the real of each entity. One that is paused, or cut off, may still have a real that
// was restored elsewhere long ago: only the newest counts.
func (w *World) Reals() iter.Seq2[*App, space.View] {
	return func(yield func(*App, space.View) bool) {
		newest := make(map[entity.ID]entity.Order)
		for _, v := range w.Views() {
			if v.IsReal() && !v.Order().Before(newest[v.ID()]) {
				newest[v.ID()] = v.Order()
			}
		}
		for a, v := range w.Views() {
			if v.IsReal() && v.Order() == newest[v.ID()] && !yield(a, v) {
				return
			}
		}
	}
}

// Real returns the real of an entity, and the CellApp that has it; false if there is none now, as
// on its way to another cell.
func (w *World) Real(id entity.ID) (space.View, *App, bool) {
	for a, v := range w.Reals() {
		if v.ID() == id {
			return v, a, true
		}
	}
	return space.View{}, nil, false
}

// Where returns the CellApp that has the real of an entity, nil if none has it now.
func (w *World) Where(id entity.ID) *App {
	_, a, _ := w.Real(id)
	return a
}

// Bases yields all bases, with the BaseApp that has them.
func (w *World) Bases() iter.Seq2[*App, baseapp.BaseView] {
	return func(yield func(*App, baseapp.BaseView) bool) {
		for _, a := range w.bases {
			app, ok := a.app.(*baseapp.BaseApp)
			if !ok {
				continue
			}
			for b := range app.Bases() {
				if !yield(a, b) {
					return
				}
			}
		}
	}
}

// Home returns the BaseApp that has the base of an entity, nil if none has it now.
func (w *World) Home(id entity.ID) *App {
	for a, b := range w.Bases() {
		if b.ID == id {
			return a
		}
	}
	return nil
}

// CellScripts yields the scripts of type T of all reals, in the order of the CellApps.
func CellScripts[T any](w *World) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for _, v := range w.Reals() {
			if s, ok := v.Script().(*T); ok && !yield(s) {
				return
			}
		}
	}
}

// BaseScripts yields the scripts of type T of all bases, in the order of the BaseApps.
func BaseScripts[T any](w *World) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for a, b := range w.Bases() {
			if s, ok := a.app.(*baseapp.BaseApp).Script(b.ID).(*T); ok && !yield(s) {
				return
			}
		}
	}
}
