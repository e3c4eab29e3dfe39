package wire

import (
	"encoding/json"
	"fmt"

	"github.com/cellscape/cellscape/space/cluster/status"
)

// MaxStatus bounds an encoded Status.
const MaxStatus = 1 << 20

// Status is what the CellAppMgr sends observers every second, for space viewers and status lines.
// It is JSON, because browsers read it and its size does not matter at one a second.
type Status struct{ status.World }

// Append encodes m.
func (m *Status) Append(b []byte) []byte {
	j, err := json.Marshal(m)
	if err != nil {
		// Only unsupported numbers could cause this. But loads are integers divided by constants,
		// and rectangles are cut to finite bounds.
		panic(fmt.Sprintf("wire: status: %v", err))
	}
	return append(b, j...)
}

// Parse decodes a body.
func (m *Status) Parse(body []byte) error {
	*m = Status{} // so that nothing stays in fields that were not sent
	if len(body) > MaxStatus {
		return fmt.Errorf("%w: status of %d bytes", ErrMalformed, len(body))
	}
	if err := json.Unmarshal(body, m); err != nil {
		return fmt.Errorf("%w: status: %w", ErrMalformed, err)
	}
	return nil
}
