package metrics

import (
	"strconv"

	"github.com/cellscape/cellscape/space/cluster/status"
)

// spaceTables are the figures of a space and its cells.
type spaceTables struct {
	space []figure[status.Space]
	cell  []figure[status.Cell]
}

func newSpaceTables() spaceTables {
	type (
		space = status.Space
		cell  = status.Cell
	)
	ofCell := []string{"space", "cell", "app"}
	return spaceTables{
		space: []figure[space]{
			gauge("space_rate", "How fast the game time of a space runs; 1 is normal.", func(s *space) float64 { return s.Rate }, "space"),
			gauge("space_cells", "Cells of a space.", func(s *space) float64 { return float64(len(s.Cells)) }, "space"),
		},
		cell: []figure[cell]{
			gauge("cell_load", "Load of a cell, as a share of a core.", func(c *cell) float64 { return c.Load }, ofCell...),
			gauge("cell_reals", "Entities that are real in a cell.", func(c *cell) float64 { return float64(c.Reals) }, ofCell...),
			gauge("cell_ghosts", "Ghosts in a cell.", func(c *cell) float64 { return float64(c.Ghosts) }, ofCell...),
			gauge("cell_overloaded", "1 while the CellApp of a cell is above the bound up to which cells grow.", func(c *cell) float64 { return truth(c.Overloaded) }, ofCell...),
		},
	}
}

// putSpace gives what is of one space.
func (t *spaceTables) putSpace(out output, s *status.Space) {
	id := strconv.FormatUint(uint64(s.ID), 10)
	putAll(out, t.space, s, id)
	for i := range s.Cells {
		c := &s.Cells[i]
		putAll(out, t.cell, c, id, c.Cell, strconv.FormatUint(uint64(c.App), 10))
	}
}
