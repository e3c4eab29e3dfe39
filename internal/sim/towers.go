package sim

import (
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
)

// Towers are big: they are seen, and have ghosts, from farther away than others, by more than ghosts
// stand beyond what others are seen from. Some of them walk.

const towerDef = `<root> <AppealRadius> 120 </AppealRadius> <Volatile> <position/> <yaw/> </Volatile>
	<Properties>
		<steps> <Type> UINT32 </Type> <Flags> ALL_CLIENTS </Flags> </steps>
		<lamp>  <Type> UINT32 </Type> <Flags> OTHER_CLIENTS </Flags> <DetailLevel> NEAR </DetailLevel> </lamp>
	</Properties>
	<LoDLevels> <level> 40 <hyst> 5 </hyst> <label> NEAR </label> </level> </LoDLevels>
</root>`

// towerBase is the base part of a tower.
type towerBase struct{ *entity.Base }

// OnCreated makes the cell part.
func (b *towerBase) OnCreated() {
	_ = b.CreateCell(theSpace, somewhere(uint64(b.ID())*3), property.Vector3{}, nil)
}

// towerCell is the cell part.
type towerCell struct {
	*space.Real
	Steps, Lamp property.Uint32
	w           *world `cellscape:"local"`
}

// OnCreated starts the beat, and the walk of those that walk.
func (s *towerCell) OnCreated() {
	_, _ = s.AddTimer(beat, beat, "OnBeat", 0)
	if s.ID()%2 == 0 {
		s.OnThere(entity.Callback{})
	}
}

// OnThere walks on.
func (s *towerCell) OnThere(entity.Callback) { wander(s.Real, 30) }

// OnBeat counts, and now and then hides it from all, or shows it again.
func (s *towerCell) OnBeat(entity.Callback) {
	s.w.veil(s.Real)
	if settles(s.Real) {
		return
	}
	s.Steps.Set(s.Steps.Get() + 1)
	s.Lamp.Set(s.Lamp.Get() + 1)
	s.w.journey(s.Real, 20)
}
