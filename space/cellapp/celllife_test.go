package cellapp

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/ending"
)

// lives writes down what the game hears of cells. What it keeps for a cell is the space's id.
type lives struct {
	r     *rig
	heard []string
}

func newLives(t *testing.T) *lives {
	l := &lives{r: newRig(t)}
	l.r.app.cfg.Scripts.OnNewCell(func(c *space.Cell) {
		l.note("space %d begins", c.Space())
		l.spawn(c)
		c.SetLocal(c.Space())
	})
	l.r.app.cfg.Scripts.OnCellEnd(func(c *space.Cell, why ending.Why) {
		l.note("space %d ends: %v", c.Local(), why)
		l.spawn(c)
		if c.Space() == 8 {
			panic("a fault of the game")
		}
	})
	l.r.join()
	return l
}

// spawn checks that nothing is made where no entity can live.
func (l *lives) spawn(c *space.Cell) {
	if _, err := c.Spawn("Walker", property.Vector3{}, property.Vector3{}, nil); err == nil {
		l.r.t.Error("an entity was made on a cell that begins or ends")
	}
}

func (l *lives) note(format string, args ...any) {
	l.heard = append(l.heard, fmt.Sprintf(format, args...))
}

func (l *lives) expect(want ...string) {
	l.r.t.Helper()
	if !slices.Equal(l.heard, want) {
		l.r.t.Errorf("heard %q, want %q", l.heard, want)
	}
	l.heard = nil
}

// The game hears once of each cell that begins and ends, and why; a repeated order changes nothing.
func TestCellLife(t *testing.T) {
	l := newLives(t)
	r := l.r
	for range 2 {
		r.room(5, true)
		r.room(6, false)
	}
	l.expect("space 5 begins", "space 6 begins")
	var kept *space.Cell
	for c := range r.app.Cells() {
		if c.Space() == 6 {
			kept = c.Cell
		}
	}
	r.enter(70, 5)
	r.tick(2)
	for range 2 {
		r.manage(&wire.RemoveCell{Space: 5, Cell: roomCell(5), Ended: true})
		r.manage(&wire.RemoveCell{Space: 6, Cell: roomCell(6)})
		r.tick(2)
	}
	l.expect("space 6 ends: removed") // nobody at the other's base has acknowledged the end of its real
	l.spawn(kept)
	if r.app.population.Pending() == 0 || r.app.cell(6) != nil {
		t.Errorf("nothing is pending, or the cell is still there")
	}
	for tick := 0; r.app.cell(5) != nil && tick < 10000; tick++ {
		r.tick(1)
	}
	l.expect("space 5 ends: space ended")
	r.room(5, false) // a CellApp may get another cell of a space
	l.expect("space 5 begins")
}

// A cell that takes the place of one that is being removed goes on with what the game keeps for it.
func TestCellLifeOfAReusedCell(t *testing.T) {
	l := newLives(t)
	l.r.world()
	l.r.manage(&wire.RemoveCell{Space: 1, Cell: l.r.app.cell(1).ID()})
	l.r.tick(2)
	l.r.addCell(2)
	l.r.tick(2)
	l.expect("space 1 begins")
}

// The game hears that the process ends, or that others have taken over what it had; and nothing
// after that.
func TestCellLifeOfTheProcess(t *testing.T) {
	for name, tt := range map[string]struct {
		why string
		end func(r *rig)
	}{
		"stop of the world":   {"stopped", func(r *rig) { r.manage(&wire.Stop{Number: 1, Step: wire.StopEnded}) }},
		"stop of the process": {"stopped", func(r *rig) { r.app.Stopping() }},
		"declared dead":       {"dismissed", func(r *rig) { r.manage(&wire.Dismissed{Term: 1}) }},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLives(t)
			r := l.r
			for id := range entity.SpaceID(5) {
				r.room(id+5, id%2 == 0)
				r.enter(entity.ID(70+id), id+5)
			}
			r.tick(2)
			l.heard = nil
			tt.end(r)
			tt.end(r)
			r.app.Stopping()
			l.expect("space 5 ends: "+tt.why, "space 6 ends: "+tt.why, "space 7 ends: "+tt.why, "space 8 ends: "+tt.why, "space 9 ends: "+tt.why)
			if n := r.app.Counters().Errors; n != 1 {
				t.Errorf("%d errors, want that of the hook that panicked", n)
			}
		})
	}
}

func TestCellLifeFaults(t *testing.T) {
	l := newLives(t)
	s := l.r.app.cfg.Scripts
	s.OnNewCell(nil)
	s.OnCellEnd(nil)
	if err := s.Err(); err == nil || len(err.(interface{ Unwrap() []error }).Unwrap()) != 2 {
		t.Errorf("two second functions: %v", err)
	}
}
