package wire

import (
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/space"
)

// What a space has besides its entities is with the CellAppMgr and with the CellApps that have its
// cells. If they die together, two BaseApps have it still:
//
//	manager --SpaceCopy---> keeper    the whole; then each change, as CellApps hear it
//	        --SpaceData--->
//	        --SpaceCopy---> keeper    gone: the space has ended, or others keep it
//
//	next manager <--SpaceCopy-- keeper   in its Rejoin

// SpaceCopy is all that a BaseApp keeps of a space, from the CellAppMgr; and the same back, to the next one.
type SpaceCopy struct {
	Space entity.SpaceID
	// Gone means that the receiver no longer keeps the space. With Space 0 it is all those that it
	// was not told of since its Welcome.
	Gone bool
	// Info is that of the AddCell.
	Info []byte // aliases the input after Parse
	// Data is the space data.
	Data []space.DataEntry
}

func (m *SpaceCopy) code(c *codec.Coder) {
	codec.Uint32(c, &m.Space)
	c.Bool(&m.Gone)
	c.Bytes(&m.Info, MaxSpaceInfo)
	codeSpaceData(c, &m.Data)
}

func (m *SpaceCopy) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *SpaceCopy) Parse(body []byte) error { return parse(body, m, m.code) }
