package space

import (
	"testing"
)

// A script reaches what the game keeps for the cell that its entity is on, wherever that goes.
func TestCellLocal(t *testing.T) {
	r := newRig(t, 2)
	r.apps[0].cell.SetLocal("west")
	r.create(1, -5, 0)
	r.tick(5)
	if got := r.apps[0].real(1).CellLocal(); got != "west" {
		t.Errorf("%v before the move", got)
	}
	r.move(1, 60)
	r.tick(30)
	if got := r.apps[1].real(1).CellLocal(); got != nil {
		t.Errorf("%v on a cell for which nothing is kept", got)
	}
	r.apps[1].cell.SetLocal("east")
	if got := r.apps[1].real(1).CellLocal(); got != "east" {
		t.Errorf("%v after the move", got)
	}
}
