package space

import (
	"encoding/binary"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/shared"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
)

// Shared is what the whole cluster shares, as this CellApp knows it.
func (r *Real) Shared() shared.Data { return r.cell.population.env.Shared }

// sharedLast is the number of the newest change; 0 without a CellApp that has any.
func (p *Population) sharedLast() uint64 {
	if p.env.Shared == nil {
		return 0
	}
	return p.env.Shared.Last()
}

// hearShared tells the script of changes since it last heard. The number travels with the real, so
// that it hears each change once, on whatever CellApp.
func (r *Real) hearShared() {
	s, heard := r.cell.population.env.Shared, r.sharedHeard
	r.sharedHeard = s.Last()
	if r.kind == nil {
		return
	}
	if _, hears := r.script.Interface().(shared.Watcher); !hears {
		return
	}
	for change := range s.News(heard) {
		if r.gone == staying {
			callback(r, "OnSharedData", func(s shared.Watcher) { s.OnSharedData(change) })
		}
	}
}

// appendNews encodes the real's space, and what it has heard of the data of that and of what the cluster
// shares. It is in backups, too: a restored script hears what it has missed. (It was not, and an entity whose
// CellApp had died never heard of what was set between its last backup and its return.)
func (r *Real) appendNews(b []byte) []byte {
	b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(r.cell.space)), r.dataHeard)
	return binary.AppendUvarint(b, r.sharedHeard)
}

func (r *Real) readNews(rd *codec.Reader) {
	of, heard := entity.SpaceID(fields.ReadUint32(rd)), rd.Uvarint()
	if of == r.cell.space {
		r.dataHeard = heard
	}
	r.sharedHeard = rd.Uvarint()
}
