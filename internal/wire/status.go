package wire

import (
	"encoding/json"
	"fmt"

	"github.com/cellscape/cellscape/space/cluster/status"
)

// MaxStatus bounds an encoded Status.
const MaxStatus = 1 << 20

// Status is what the CellAppMgr tells observers every second: the feed of a
// space viewer and of status lines. It is JSON, since browsers read it and its
// size does not matter at one a second.
type Status struct{ status.World }

// Append encodes m.
func (m *Status) Append(b []byte) []byte {
	j, err := json.Marshal(m)
	if err != nil {
		// Only unsupported numbers can do this; the loads are integers divided
		// by constants and the rectangles are cut to finite bounds.
		panic(fmt.Sprintf("wire: status: %v", err))
	}
	return append(b, j...)
}

// Parse decodes a body.
func (m *Status) Parse(body []byte) error {
	*m = Status{} // a field that is not sent leaves nothing behind
	if len(body) > MaxStatus {
		return fmt.Errorf("%w: status of %d bytes", ErrMalformed, len(body))
	}
	if err := json.Unmarshal(body, m); err != nil {
		return fmt.Errorf("%w: status: %w", ErrMalformed, err)
	}
	return nil
}
