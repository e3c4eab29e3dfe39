package flow

import (
	"errors"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
)

// Culprit names a message to a real in whose handling its script panicked. The message comes again
// to the restored real under the same name, since numbers mean the same in all streams of their
// sender: Mark has the stream in which it was first sent. The zero value names none.
type Culprit struct {
	From     entity.ID
	FromPart entity.Part
	Mark     Mark
}

// MaxPanics is over how many incarnations of a real its script may panic in the handling of one
// message. A panic may have come from what else there was at that time, so the message is tried
// again; one that is no better the third time is passed over.
const MaxPanics = 3

// IsZero reports whether x names no message.
func (x Culprit) IsZero() bool { return x == Culprit{} }

// MaxCulprits bounds the messages over which a restored real is told to pass without its script. A
// sender's next message comes when this one was passed over, so more than a few at once take as
// many senders.
const MaxCulprits = 8

// Code codes x; none is one byte.
func (x *Culprit) Code(c *codec.Coder) {
	some := !x.IsZero()
	if c.Bool(&some); !some {
		*x = Culprit{}
		return
	}
	codec.Field(c, x,
		func(b []byte, x Culprit) []byte { return fields.AppendEnd(b, x.From, x.FromPart) },
		func(r *codec.Reader) (x Culprit) { x.From, x.FromPart = fields.ReadEnd(r); return x })
	c.Uvarint((*uint64)(&x.Mark))
	if !x.From.Valid() || x.FromPart == 0 || x.Mark.Number() == 0 {
		c.Fail(errCulprit)
	}
}

var errCulprit = errors.New("flow: a culprit that no message can be")
