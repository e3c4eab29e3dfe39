package sim

import (
	"fmt"

	"github.com/cellscape/cellscape/entity/client/protocol"
)

// overhear checks the numbers of the bundles that a player is sent: from 1 in each incarnation of
// its cell part, and for each entity that the client gets, without a gap, wherever the cell part
// goes. The packets that tell places count from these numbers; after a gap they would be accepted
// too early, or not at all.
func (pl *player) overhear(msg []byte) {
	_ = protocol.Messages(msg, func(id protocol.ID, body []byte) error {
		switch id {
		case protocol.ResetID, protocol.ResetEntitiesID, protocol.CellGoneID, protocol.AttachedID:
			pl.bundles = 0
		case protocol.BundleID:
			n, err := protocol.ParseBundle(body)
			if err == nil && n != pl.bundles+1 && pl.heardWrong == nil {
				pl.heardWrong = fmt.Errorf("promise 5: %s was sent bundle %d after bundle %d", pl.name, n, pl.bundles)
			}
			pl.bundles = n
		}
		return nil
	})
}
