package sim

import (
	"errors"
	"fmt"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/space"
)

// gameTime checks that game time never goes back, on a cell or for an entity in one incarnation and
// one space, whatever rates the space has had and wherever the entity has been; and that in the end all cells
// have the same time.
type gameTime struct {
	c        *Cluster
	entities map[entity.ID]entityTime
	cells    map[cellPlace]time.Duration
}

// cellPlace is a CellApp, and a space of which it has a cell.
type cellPlace struct {
	app   mercury.Address
	space entity.SpaceID
}

type entityTime struct {
	order entity.Order
	space entity.SpaceID // another one has another time
	game  time.Duration
}

// elsewhere reports whether an entity may have been in another space since it was looked at last:
// with two handoffs, there and back. It has a new time then.
func (was entityTime) elsewhere(now entityTime) bool {
	return now.space != was.space || now.order.Hop > was.order.Hop+1
}

func (k *gameTime) safe() error {
	for p, a := range k.c.liveCellApps() {
		for cell := range a.Cells() {
			at := cellPlace{p.Address(), cell.Space()}
			if was := k.cells[at]; cell.Game() < was {
				return fmt.Errorf("game time of space %d on %s went back from %v to %v", cell.Space(), p.Name, was, cell.Game())
			}
			k.cells[at] = cell.Game()
		}
	}
	for v := range k.c.views() {
		was, now := k.entities[v.ID()], entityTime{v.Order(), v.cell.Space(), v.Now()}
		switch {
		case !v.IsReal(), now.order.Before(was.order):
			continue
		case now.order.Incarnation == was.order.Incarnation && !was.elsewhere(now) && now.game < was.game:
			return fmt.Errorf("game time of %s on %s went back from %v (%v) to %v (%v)", v.ID(), v.p.Name, was.game, was.order, now.game, now.order)
		}
		k.entities[v.ID()] = now
	}
	return nil
}

// apartAtMost is by how much cells with the same clock differ: by when they last ticked, and by
// what a CellApp may be behind the time of the cluster.
const apartAtMost = 200*time.Millisecond + 100*time.Millisecond

func (k *gameTime) converged() error {
	var faults []error
	first := map[entity.SpaceID]space.Hosted{}
	for p, a := range k.c.liveCellApps() {
		for cell := range a.Cells() {
			if a.Removing(cell.Space()) {
				continue // the cell is told nothing any more
			}
			other, known := first[cell.Space()]
			if !known {
				first[cell.Space()] = cell
				continue
			}
			if cell.Clock().Number != other.Clock().Number {
				faults = append(faults, fmt.Errorf("%s has clock %x of space %d, another CellApp %x", p.Name, cell.Clock().Number, cell.Space(), other.Clock().Number))
			}
			if d := cell.Game() - other.Game(); max(d, -d) > apartAtMost {
				faults = append(faults, fmt.Errorf("the game times of space %d on %s and another CellApp are %v apart", cell.Space(), p.Name, d))
			}
		}
	}
	return errors.Join(faults...)
}

// slowestPace is how long a cell may be ahead of the others after the bad time, since it had missed that the
// space runs slower: as long again as no manager was heard, and more. It runs at half the rate meanwhile.
const slowestPace = 20 * time.Second

// sameTime reports whether all cells of each space have the same time.
func (c *Cluster) sameTime() bool { return (&gameTime{c: c}).converged() == nil }
