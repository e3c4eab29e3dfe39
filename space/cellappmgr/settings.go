package cellappmgr

import (
	"slices"
	"strings"

	"github.com/cellscape/cellscape/internal/spacekey"
	"github.com/cellscape/cellscape/internal/wire"
)

// What an operator sets of a process is lost with that process. But the world that a manager leads goes on
// under the next one, with the lines that should rest, the bounds of logins, the entities that are traced.
// So the apps keep what was set of the manager, among what the cluster shares, and the next one sets it anew.
// What the game's own values do when they are set, such as to begin something, is done once.

// gameValues is where the game's own values are.
const gameValues = "game/"

// keepSetting has the apps keep what was set.
func (m *CellAppMgr) keepSetting(path, text string) {
	if strings.HasPrefix(path, gameValues) {
		return
	}
	set, ok := m.shared.data.set(wire.SpaceDataEntry{Key: spacekey.Setting, Name: path, Value: []byte(text)})
	if !ok {
		m.refusedData(m.shared, spacekey.Setting, m.cfg.Transport.Self().String())
		return
	}
	m.tellData(m.shared, set)
}

// applySettings sets what was set under earlier managers.
func (m *CellAppMgr) applySettings() {
	for _, e := range slices.Clone(m.shared.data.entries) {
		if e.Key != spacekey.Setting || e.Removed {
			continue
		}
		if _, err := m.watches.Tree.Set(e.Name, string(e.Value)); err != nil {
			m.log.Warn("a value that was set under an earlier manager is not taken", "path", e.Name, "text", string(e.Value), "error", err)
			continue
		}
		m.log.Info("a value was set as under an earlier manager", "path", e.Name, "text", string(e.Value))
	}
}
