package sim

import (
	"errors"
	"fmt"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cellapp"
)

// gameTime checks that game time never goes back, on a cell or for an entity in one
// incarnation, whatever rates the space has had and wherever the entity has been; and
// that in the end all cells have the same.
type gameTime struct {
	c        *Cluster
	entities map[entity.ID]entityTime
	cells    map[mercury.Address]time.Duration
}

type entityTime struct {
	order entity.Order
	game  time.Duration
}

func (k *gameTime) safe() error {
	var err error
	k.c.eachCellApp(func(p *Process, a *cellapp.CellApp) {
		for cell := range a.Cells() {
			if was := k.cells[p.Address()]; cell.Game() < was && err == nil {
				err = fmt.Errorf("game time of %s went back from %v to %v", p.Name, was, cell.Game())
			}
			k.cells[p.Address()] = cell.Game()
		}
	})
	k.c.eachView(func(p *Process, _ *space.Cell, v space.View) {
		was, now := k.entities[v.ID()], entityTime{v.Order(), v.Now()}
		switch {
		case !v.IsReal(), now.order.Before(was.order):
			return
		case now.order.Incarnation == was.order.Incarnation && now.game < was.game && err == nil:
			err = fmt.Errorf("game time of %s on %s went back from %v (%v) to %v (%v)", v.ID(), p.Name, was.game, was.order, now.game, now.order)
		}
		k.entities[v.ID()] = now
	})
	return err
}

// apartAtMost is by how much cells differ that have the same clock: by when they
// ticked last, and by how long their first Welcome was under way.
const apartAtMost = 200*time.Millisecond + welcomeDelay

// welcomeDelay is of a Welcome over a bad link, lost a few times.
const welcomeDelay = 3 * time.Second

func (k *gameTime) converged() error {
	var faults []error
	clock, first := uint64(0), time.Duration(-1)
	k.c.eachCellApp(func(p *Process, a *cellapp.CellApp) {
		for cell := range a.Cells() {
			if first < 0 {
				clock, first = cell.ClockNumber(), cell.Game()
			}
			if cell.ClockNumber() != clock {
				faults = append(faults, fmt.Errorf("%s has clock %x of the space, another CellApp %x", p.Name, cell.ClockNumber(), clock))
			}
			if d := cell.Game() - first; max(d, -d) > apartAtMost {
				faults = append(faults, fmt.Errorf("the game times of %s and another CellApp are %v apart", p.Name, d))
			}
		}
	})
	return errors.Join(faults...)
}
