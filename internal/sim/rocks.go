package sim

import (
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
)

// Rocks and grains do nothing: they have no timer, do not move, and say nothing. What is lost of
// them in one message is not repeated in a later one, as it is for all other entities. A rock has a
// base, and its script panics when it is told to crack; a grain has no base.

const rockDef = `
<root>
	<Properties>
		<steps>  <Type> UINT32 </Type> <Flags> CELL_PUBLIC </Flags> </steps>
		<greeted> <Type> UINT32 </Type> <Flags> CELL_PRIVATE </Flags> </greeted>
		<cracks> <Type> UINT32 </Type> <Flags> CELL_PRIVATE </Flags> </cracks>` + numbersDef + `
	</Properties>
	<CellMethods>
		<greet> <Exposed> ALL_CLIENTS </Exposed> <Arg> STRING </Arg> </greet>
		<crack/>
		<shift/>
		<roll> <Arg> FLOAT32 </Arg> <Arg> FLOAT32 </Arg> </roll>
	</CellMethods>
</root>`

const grainDef = `
<root>
	<Properties>
		<steps> <Type> UINT32 </Type> <Flags> CELL_PUBLIC </Flags> </steps>
		<greeted> <Type> UINT32 </Type> <Flags> CELL_PRIVATE </Flags> </greeted>
	</Properties>
	<CellMethods>
		<greet> <Exposed> ALL_CLIENTS </Exposed> <Arg> STRING </Arg> </greet>
	</CellMethods>
</root>`

// rockBase is the base part of a rock.
type rockBase struct {
	*entity.Base
	w *world `cellscape:"local"`
}

// OnGiven does the same as that of walkerBase.
func (b *rockBase) OnGiven(g entity.ClientGiven) { b.w.handed = append(b.w.handed, g) }

// lay makes the cell part.
func (b *rockBase) lay(at property.Vector3) error {
	return b.CreateCell(theSpace, at, property.Vector3{}, nil)
}

// rockCell is the cell part of a rock.
type rockCell struct {
	*space.Real
	numbers
	Steps           property.Uint32
	Greeted, Cracks property.Uint32
}

// Greet is what players say to everyone. Nobody sees that a rock has heard it.
func (s *rockCell) Greet(from entity.ID, text string) {
	s.Greeted.Set(s.Greeted.Get() + 1)
	s.count(s.ID(), from, text)
}

// Crack panics, once in the life of a rock. The call is repeated to a restored rock, which takes it
// without a panic.
func (s *rockCell) Crack() {
	if s.Order().Incarnation == 1 {
		panic("a rock cracks")
	}
	s.Cracks.Set(s.Cracks.Get() + 1)
}

// Shift changes something that its ghosts have, once.
func (s *rockCell) Shift() { s.Steps.Set(s.Steps.Get() + 1) }

// Roll puts it elsewhere.
func (s *rockCell) Roll(x, z float32) { _ = s.SetPosition(property.Vector3{X: x, Z: z}) }

// grainCell is a grain.
type grainCell struct {
	*space.Real
	Steps, Greeted property.Uint32
}

// Greet does the same as that of rocks.
func (s *grainCell) Greet(entity.ID, string) { s.Greeted.Set(s.Greeted.Get() + 1) }
