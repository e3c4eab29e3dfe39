package baseapp

import (
	"math"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/entity/limits"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/property"
)

// cellPatience is how long a write waits for the cell part's newest properties: a backup takes a
// round trip, and the restore of a cell part some seconds.
const cellPatience = 2 * time.Second

// # One moment in both parts
//
// A record has both parts as they were at one moment: what the base has heard from its cell part is
// in the copy of the cell part that is written with it. Else gold that goes from one part to the
// other, however carefully, would be in both or in neither when the world begins again from the
// store. A copy comes in the flow, after all that the cell part had said before it was taken. So a
// write is made when the copy comes that was asked for, or later if the base has heard nothing
// since.

// tellToSay asks the cell part for its newest state. One that is being made has yet to handle what
// it was told before: that is to be in the copy, too. The number is that of the message.
func (b *base) tellToSay() (number uint64, asked bool) {
	if !b.link.Open() {
		return 0, false
	}
	if err := b.addToFlow(append(b.app.payload[:0], byte(flow.BackupNowPayload))); err != nil {
		return 0, false // what is here must do
	}
	return b.link.out.Last(), true
}

// askCell asks for it, for what is to have all that the cell part was ever told.
func (b *base) askCell() bool {
	n, asked := b.tellToSay()
	if asked {
		b.keep.freshAt, b.keep.freshBy = n, b.app.now+cellPatience
	}
	return asked
}

// askForWrite asks for it, for a write. One that waits for an earlier answer is not put off: else a
// script that says Write all the time would never be written.
func (b *base) askForWrite() uint64 {
	n, asked := b.tellToSay()
	if k := &b.keep; asked && (!k.queued || b.cellAnswered()) {
		k.freshAt, k.freshBy = n, b.app.now+cellPatience
	}
	return n
}

// cellSaid reports whether the newest copy has all that the cell part was to have handled before
// the write.
func (b *base) cellSaid() bool { return b.cellHandled(b.keep.freshAt) }

func (b *base) cellHandled(number uint64) bool {
	return b.link.State() == linkNone || b.link.out.Known(b.link.copy.Handled, b.link.life) >= number
}

// cellAnswered reports whether nothing is to be waited for.
func (b *base) cellAnswered() bool { return b.app.now >= b.keep.freshBy || b.cellSaid() }

// cellFresh reports whether a record may be made now; if not, the cell part has been asked.
func (b *base) cellFresh() bool {
	k := &b.keep
	switch {
	case !b.cellAnswered():
		return false
	case !k.ahead || b.link.State() == linkNone || b.app.held || !b.cellSaid():
		return true
	case !b.askCell(): // it is to go
		k.freshAt, k.freshBy = math.MaxUint64, b.app.now+cellPatience
	}
	return false
}

// heardCell notes that the base has heard something from its cell part that scripts go by.
func (b *base) heardCell(p flow.Payload) {
	switch p {
	case flow.CallBasePayload, flow.ServerCallPayload, flow.AnswerPayload:
		b.keep.ahead = true
	}
}

// cellCopied takes a new copy of the cell part, and has the base written that waited for it.
func (b *base) cellCopied() {
	k, s := &b.keep, &b.app.storing
	b.keepCopy()
	k.ahead = false
	if k.queued && !k.calling && s.room > 0 && b.app.mayKeep(b) && b.cellSaid() {
		s.room--
		b.callKeep() // tickKeeping takes it off the queue
	}
}

// keepCopy notes the newest copy of the cell part, which the link forgets with it.
func (b *base) keepCopy() {
	if b.keep.typ != nil && b.link.State() != linkNone {
		b.keep.copy, b.keep.loaded = b.link.Copy(), nil
	}
}

// cellValues are the newest known properties of the cell part; nil for none.
func (b *base) cellValues() *property.Values {
	b.keepCopy()
	k, d := &b.keep, b.props.Definition()
	if !d.HasCell || k.typ == nil {
		return nil
	}
	cell := property.NewValues(d, property.CellSide, nil)
	switch {
	case len(k.copy.Parts) > 0:
		err := migrate.EachPart(k.copy.Parts, func(tag migrate.Tag, body []byte) error {
			if tag != migrate.PropsPart {
				return nil
			}
			return migrate.ReadProps(body, cell, &b.app.compressor)
		})
		if err != nil {
			b.app.fault("cannot read the copy of a cell part", "entity", b.id, "error", err)
			return nil
		}
	case len(k.loaded) > 0:
		var own *property.Values
		if d.HasBase {
			own = property.NewValues(d, property.BaseSide, nil)
		}
		if _, _, err := k.typ.Decode(nil, k.loaded, own, cell); err != nil {
			b.app.fault("cannot read what the store has of a cell part", "entity", b.id, "error", err)
			return nil
		}
	default:
		return nil
	}
	return cell
}

// Stood is part of entity.Base's host.
func (b *base) Stood() (s entity.Stood, ok bool) {
	b.keepCopy()
	k := &b.keep
	switch {
	case len(k.copy.Parts) > 0:
		s.Space, s.Position = k.copy.Space, k.copy.Position
		_ = migrate.EachPart(k.copy.Parts, func(tag migrate.Tag, body []byte) error {
			var core migrate.Core
			if tag == migrate.CorePart && core.Parse(body) == nil {
				s.Position, s.Direction, ok = core.Position, core.Direction, true
			}
			return nil
		})
	case len(k.loaded) > 0:
		s, ok = b.stoodIn(k.loaded)
	}
	return s, ok
}

// stoodIn reads where the cell part was out of a record.
func (b *base) stoodIn(data []byte) (s entity.Stood, ok bool) {
	d := b.props.Definition()
	var cell *property.Values
	if d.HasCell {
		cell = property.NewValues(d, property.CellSide, nil)
	}
	rest, _, err := b.keep.typ.Decode(nil, data, property.NewValues(d, property.BaseSide, nil), cell)
	if err != nil {
		return s, false
	}
	s = readRecordRest(rest).Stood
	return s, s.Space != 0
}

// recordRest is what the store keeps of a base besides properties.
type recordRest struct {
	entity.Stood        // Space 0: it had no cell part
	sole         string // see sole.go; "" is left out
}

func (k *recordRest) code(c *codec.Coder) {
	codec.Uint32(c, &k.Space)
	fields.Vector3(c, &k.Position)
	fields.Vector3(c, &k.Direction)
	tail := codec.Append(nil, func(c *codec.Coder) { c.String(&k.sole, limits.BaseName) })
	if k.sole == "" {
		tail = nil
	}
	if c.Rest(&tail, limits.BaseName+8); len(tail) > 0 {
		if err := codec.Parse(tail, func(c *codec.Coder) { c.String(&k.sole, limits.BaseName) }); err != nil {
			c.Fail(err)
		}
	}
}

// readRecordRest reads that. It is zero for what is of a later build.
func readRecordRest(rest []byte) (k recordRest) {
	if len(rest) == 0 || codec.Parse(rest, k.code) != nil {
		return recordRest{}
	}
	return k
}

// record is what the store is to have of the base.
func (b *base) record() ([]byte, error) {
	var rest []byte
	k := recordRest{sole: b.soleName()}
	stood := false
	if k.Stood, stood = b.Stood(); stood || k.sole != "" {
		rest = codec.Append(nil, k.code)
	}
	_, data, err := b.keep.typ.Encode(b.props, b.cellValues(), rest)
	return data, err
}
