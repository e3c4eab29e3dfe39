package baseapp

import (
	"encoding/binary"

	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/property"
)

// This file has what recordings of a space show of bases: properties of a base with ExposedForReplay.
// The cell part records them, so it is given them when it is made, and told each change in its flow.
// They are in its backups and go along with it. Only types that have such properties pay for it.

// exposes reports whether recordings show anything of the base.
func (b *base) exposes() bool {
	return len(b.props.Definition().Stream(property.BaseReplayStream)) > 0
}

// expose tells the cell part of a change.
func (b *base) expose(c *property.Change) {
	if !b.link.Open() {
		return // it is told when it is made
	}
	m := append(b.app.payload[:0], byte(flow.ExposedPayload))
	m = binary.LittleEndian.AppendUint16(codec.AppendBool(m, false), uint16(c.Index))
	b.tellExposed(b.props.AppendChange(m, c))
}

// exposeAll tells the cell part all, of a base that was restored from a copy, and so may have gone back.
func (b *base) exposeAll() {
	if b.exposes() && b.link.Open() {
		m := codec.AppendBool(append(b.app.payload[:0], byte(flow.ExposedPayload)), true)
		b.tellExposed(b.props.AppendStream(m, property.BaseReplayStream))
	}
}

func (b *base) tellExposed(m []byte) {
	if err := b.sendCell(m); err != nil {
		b.app.fault("cannot tell a cell part what is exposed for replay", "entity", b.id, "error", err)
	}
}
