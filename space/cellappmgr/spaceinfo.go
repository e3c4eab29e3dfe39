package cellappmgr

import (
	"errors"
	"fmt"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/mercury"
)

// origin is where a space that game code created comes from. It goes with every AddCell of the
// space as Info, so that a manager that starts anew can take the space over from the CellApps.
type origin struct {
	info entity.SpaceInfo
	// owner asked for the space, in its request of that number: if it asks again, it is told the
	// same space and does not get a second one.
	owner   mercury.Address
	request uint64
}

// infoFormat is the first byte of an Info; another format gets another byte. A store may have spaces in the
// first one, which nobody writes any more.
const (
	infoFormat  = 2
	firstFormat = 1
)

var errInfoFormat = errors.New("unknown format")

func (o *origin) code(c *codec.Coder) {
	format := uint8(infoFormat)
	switch c.U8(&format); format {
	case infoFormat:
		fields.SpaceInfo(c, &o.info)
	case firstFormat:
		fields.FirstSpaceInfo(c, &o.info)
	default:
		c.Fail(errInfoFormat)
	}
	fields.Address(c, &o.owner)
	c.Uvarint(&o.request)
}

// appendSpaceInfo encodes what AddCell.Info says of a created space.
func appendSpaceInfo(b []byte, o *origin) []byte { return codec.Append(b, o.code) }

// parseSpaceInfo decodes an AddCell.Info. An empty one belongs to a space of the Config: it has no
// origin, and the result is the zero value.
func parseSpaceInfo(b []byte) (o origin, err error) {
	if len(b) == 0 {
		return o, nil
	}
	if err := codec.Parse(b, o.code); err != nil {
		return origin{}, fmt.Errorf("cellappmgr: info of a space: %w", err)
	}
	return o, nil
}

// config is the space as the manager keeps it.
func (o *origin) config(id entity.SpaceID) SpaceConfig {
	return SpaceConfig{
		ID: id, Bounds: o.info.Bounds, MinCells: int(o.info.MinCells), MaxCells: int(o.info.MaxCells),
		Geometry: o.info.Geometry, MinLoad: o.info.MinLoad, Keep: o.info.Keep, KeepFor: o.info.KeepFor, MaxEntities: o.info.MaxEntities,
	}
}

// restoreSpace makes the record of a space that a former manager had, from what a CellApp was told
// of it, unless there is a record already. The caller gives it its cells.
func (m *CellAppMgr) restoreSpace(id entity.SpaceID, info []byte) (*space, error) {
	if s := m.space(id); s != nil {
		return s, nil
	}
	o, err := parseSpaceInfo(info)
	if err != nil {
		return nil, err
	}
	if !isCreated(id) || len(info) == 0 {
		return nil, fmt.Errorf("cellappmgr: space %d is not in the Config, and nobody created it", id)
	}
	if m.issuedSpace(id) {
		return nil, fmt.Errorf("cellappmgr: the id of space %d is not of before term %d", id, m.cfg.Term)
	}
	cfg := o.config(id)
	if err := cfg.fault(m.cfg.Balance); err != nil {
		return nil, err
	}
	if len(m.spaces) >= MaxSpaces {
		return nil, errSpacesFull
	}
	return m.enter(cfg, &o), nil
}
