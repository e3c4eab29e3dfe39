package client

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/property"
)

// packedRig plays the servers of a type that is packed, to where the client has its player's
// entity.
func packedRig(t *testing.T, z *property.Compressor) *rig {
	r := rigOf(t, schemaOf(t, property.Compression{External: "ZIP_6"}))
	r.attach()
	_ = r.own.Load(gold, property.Int(5))
	_ = r.own.Load(mana, property.Int(3))
	base := protocol.BasePlayer{ID: me, Props: z.AppendStream(nil, r.own, property.OwnClientBaseStream, protocol.MaxProps)}
	r.say(base.Append((&protocol.Attached{}).Append(nil)))
	return r
}

func TestPackedEntities(t *testing.T) {
	for name, z := range map[string]*property.Compressor{"packs": new(property.Compressor), "sends as it is": nil} {
		r := packedRig(t, z)
		cell := protocol.CellPlayer{Space: 1, Props: z.AppendStream(nil, r.own, property.OwnClientCellStream, protocol.MaxProps)}
		r.say(cell.Append(r.cell(1)))
		words := strings.Repeat("duke of here and there ", 40)
		_ = r.others.Load(title, property.StringValue(words))
		props := appendValue(appendValue(nil, health, r.others), title, r.others)
		enter := protocol.Enter{ID: foe, Props: z.Pack(nil, props, r.others.Definition().Packing(property.OtherClientStream), protocol.MaxProps)}
		if z != nil && len(enter.Props) > 100 || z == nil && len(enter.Props) != len(props)+1 {
			t.Errorf("%s: enter with %d bytes", name, len(enter.Props))
		}
		r.say(enter.Append(r.cell(2)))
		r.wantEvents("logged in", "base player 1.1 gold 5", "cell player at {0 0 0} mana 3", "enter 1.7 health 100")
		if e := r.c.Entity(foe); e == nil || e.Props.Get(title).Str() != words {
			t.Errorf("%s: the client has %+v", name, e)
		}
	}
}

// What cannot be unpacked ends the session, whichever message it is in.
func TestPackedGarbage(t *testing.T) {
	z := new(property.Compressor)
	for name, c := range map[string]struct {
		props []byte
		want  error
	}{
		"no form":    {nil, property.ErrTruncated},
		"form":       {[]byte{9, 0, 0, 0, 0}, property.ErrValue},
		"bomb":       {z.Pack(nil, make([]byte, 1<<20), 1, 1<<20), property.ErrLength},
		"claim":      {binary.AppendUvarint([]byte{1}, 1<<20), property.ErrLength},
		"no deflate": {[]byte{1, 8, 0xff, 0xff}, property.ErrValue},
	} {
		r := rigOf(t, schemaOf(t, property.Compression{External: "ZIP"}))
		r.attach()
		r.say((&protocol.BasePlayer{ID: me, Props: c.props}).Append((&protocol.Attached{}).Append(nil)))
		r.wantUnpacked("base player "+name, c.want)

		r = packedRig(t, z)
		r.say((&protocol.CellPlayer{Space: 1, Props: c.props}).Append(r.cell(1)))
		r.wantUnpacked("cell player "+name, c.want)

		r = packedRig(t, z)
		r.say((&protocol.Enter{ID: foe, Props: c.props}).Append(r.cell(1)))
		r.wantUnpacked("enter "+name, c.want)
	}
}

func (r *rig) wantUnpacked(what string, want error) {
	r.t.Helper()
	r.wantMalformed()
	if !errors.Is(r.c.Err(), want) {
		r.t.Errorf("%s: %v, want %v", what, r.c.Err(), want)
	}
}
