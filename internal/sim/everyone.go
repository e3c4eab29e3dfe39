package sim

import (
	"iter"

	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cellapp"
)

// sighting is a real or ghost, and where it is.
type sighting struct {
	space.View
	p    *Process
	cell space.Hosted
}

// views yields every real and ghost of every live CellApp.
func (c *Cluster) views() iter.Seq[sighting] {
	return func(yield func(sighting) bool) {
		for p := range c.liveCellApps() {
			for v := range c.viewsOf(p) {
				if !yield(v) {
					return
				}
			}
		}
	}
}

// reals yields every real of every live CellApp.
func (c *Cluster) reals() iter.Seq[sighting] {
	return func(yield func(sighting) bool) {
		for v := range c.views() {
			if v.IsReal() && !yield(v) {
				return
			}
		}
	}
}

// viewsOf yields every real and ghost of one CellApp.
func (c *Cluster) viewsOf(p *Process) iter.Seq[sighting] {
	return func(yield func(sighting) bool) {
		for cell := range p.app.(*cellapp.CellApp).Cells() {
			for v := range cell.Views() {
				if !yield(sighting{v, p, cell}) {
					return
				}
			}
		}
	}
}

// realsOf yields every real of every live CellApp that has a script of one type.
func realsOf[S any](c *Cluster) iter.Seq2[sighting, S] {
	return func(yield func(sighting, S) bool) {
		for v := range c.reals() {
			if s, ok := v.Script().(S); ok && !yield(v, s) {
				return
			}
		}
	}
}

// housed is a base, and where it is.
type housed struct {
	baseapp.BaseView
	p   *Process
	app *baseapp.BaseApp
}

func (b housed) script() any { return b.app.Script(b.ID) }

// bases yields every base of every live BaseApp.
func (c *Cluster) bases() iter.Seq[housed] {
	return func(yield func(housed) bool) {
		for p, a := range c.liveBaseApps() {
			for b := range a.Bases() {
				if !yield(housed{b, p, a}) {
					return
				}
			}
		}
	}
}

// basesOf yields every base of every live BaseApp that has a script of one type.
func basesOf[S any](c *Cluster) iter.Seq2[housed, S] {
	return func(yield func(housed, S) bool) {
		for b := range c.bases() {
			if s, ok := b.script().(S); ok && !yield(b, s) {
				return
			}
		}
	}
}

func (c *Cluster) liveCellApps() iter.Seq2[*Process, *cellapp.CellApp] {
	return live[*cellapp.CellApp](c.cellApps)
}

func (c *Cluster) liveBaseApps() iter.Seq2[*Process, *baseapp.BaseApp] {
	return live[*baseapp.BaseApp](c.baseApps)
}

// live yields those processes that live, with their apps.
func live[A App](list []*Process) iter.Seq2[*Process, A] {
	return func(yield func(*Process, A) bool) {
		for _, p := range list {
			if p.alive && !yield(p, p.app.(A)) {
				return
			}
		}
	}
}
