package space

import (
	"errors"
	"fmt"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/spacekey"
)

// ErrFull is returned by Spawn in a space that has as many entities as it takes.
var ErrFull = errors.New("space: the space has as many entities as it takes")

// SetMaxEntities sets how many entities the space takes, 0 for no limit; it is what
// entity.SpaceInfo.MaxEntities is at first, and an entry of the space's data: see SetSpaceData. Beyond
// it, entities that are teleported from other spaces, made from their bases, and spawned are refused
// (placement.Full, ErrFull) and counted (status.Counters.TurnedAway). Whoever is in the space already
// stays, and moves within it, over borders too; and whoever is restored comes back.
//
// In a space of one cell the limit is exact, but for the restored. In a space of several, the CellAppMgr
// adds up what CellApps report, and tells all cells when the space is full and when it is not any more.
// What arrives until they hear that, for about a report (250 ms) and the ways to and from the manager, is
// taken beyond the limit. While there is no manager, the last word counts, and each cell by itself takes
// no more than the limit.
func (c *Cell) SetMaxEntities(n uint32) error {
	if n > spacekey.MostMaxEntities {
		return fmt.Errorf("space: %d entities at most: give up to %d", n, spacekey.MostMaxEntities)
	}
	return c.askData(entity.SpaceDatum{Key: spacekey.MaxEntities, Removed: n == 0, Value: spacekey.AppendMaxEntities(nil, n)})
}

// SetMaxEntities is that of the Cell.
func (r *Real) SetMaxEntities(n uint32) error { return r.cell.SetMaxEntities(n) }

// MaxEntities is how many entities the space takes, 0 for no limit.
func (c *Cell) MaxEntities() uint32 {
	value, ok := c.data.get(spacekey.MaxEntities)
	if !ok {
		return 0
	}
	n, err := spacekey.ParseMaxEntities(value)
	if err != nil {
		return 0 // only the library sets it
	}
	return n
}

// full reports whether the space takes no more entities, and counts the one that it is asked for.
// before is how many come with that and are not there yet.
func (c *Cell) full(before int) bool {
	most := int(c.MaxEntities())
	if most == 0 {
		return false
	}
	if _, told := c.data.get(spacekey.Full); !told && len(c.reals)+before < most {
		return false
	}
	c.count.TurnedAway++
	return true
}
