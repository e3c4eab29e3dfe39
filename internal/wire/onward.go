package wire

import (
	"fmt"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
)

// Onward is a message for a real that a CellApp passes on, since the real has gone to another one.
//
//	app 1              app 2              app 3
//	gone to 2, hop 5   gone to 3, hop 6   real
//	  ├─── past hop 5 ───>│                 │
//	  │                   ├── past hop 6 ──>│
//
// Whoever knows only of the hop by which it has come, or an earlier one, passes it on no further,
// so it comes to no app twice. (Once it was only not sent back to where it came from. Three ghosts
// that each pointed at the next one, because a handoff waited in a full channel, passed a client's
// moves round as fast as the network could. That kept the channel full, and the handoff waiting.)
type Onward struct {
	Past entity.Order
	// Message is encoded with its id. It aliases the input after Parse.
	Message []byte
}

// Append encodes m.
func (m *Onward) Append(b []byte) []byte { return append(fields.AppendOrder(b, m.Past), m.Message...) }

// Parse decodes a body.
func (m *Onward) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.Past = fields.ReadOrder(&r)
	m.Message = r.Rest()
	if err := done(&r, "message passed on"); err != nil {
		return err
	}
	if id, _, err := Split(m.Message); err != nil || !goesOn(id) {
		return fmt.Errorf("%w: a %v is not passed on", ErrMalformed, id)
	}
	return nil
}

// goesOn reports whether a message is one that is passed on.
func goesOn(id ID) bool {
	switch id {
	case FlowID, FlowAckID, FlowInquiryID, ClientMoveID, SteerID:
		return true
	}
	return false
}
