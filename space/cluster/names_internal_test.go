package cluster

import (
	"testing"

	"github.com/cellscape/cellscape/mercury/host"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// A process that joins managers elsewhere does not know its number when it is named, and takes none that
// another one may have.
func TestNames(t *testing.T) {
	for want, c := range map[string]*Cluster{"CellApp 1": {cellAppMgr: new(host.Process)}, "CellApp": {}} {
		if got := c.nameOf(status.RoleCellApp, 0); got != want {
			t.Errorf("the first is %q, want %q", got, want)
		}
	}
	if got := new(Cluster).nameOf(status.RoleBaseApp, 1); got != "BaseApp no. 2 here" {
		t.Errorf("the second is %q", got)
	}
}
