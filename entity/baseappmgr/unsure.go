package baseappmgr

import (
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// A login to an account that seems free has to wait while a BaseApp of the cluster has not told
// what it has: the account may have a proxy there, as when the BaseAppMgr has just been started
// again.
//
//	             all have told
//	CreateProxy ---------------> (asks a BaseApp, or refuses)
//	     |                            ^
//	     +-------> unsure ------------+ all have told
//	                 |
//	                 +---- sureTime ----> refused: not ready

// sureTime is how long a login waits: longer than BaseApps take to join a manager that was started
// again, and less than a LoginApp waits for an answer.
const sureTime = 3 * time.Second

// unsureLogin is a login that waits.
type unsureLogin struct {
	asker mercury.ChannelID
	c     wire.CreateProxy
	until time.Duration
}

// allTold reports whether each BaseApp of the cluster has told this manager once what it has, and
// what came to it from one that had not. What one that is away has is known: its accounts stay
// until it is back, or dead. (While no BaseApp was named yet it said yes. Then a manager that had
// started again gave the account of the first login to the first BaseApp that joined, and would not
// hear of the one that had it.)
func (m *BaseAppMgr) allTold() bool {
	if !m.named {
		return false
	}
	for _, at := range m.members {
		if a := getApp(m.baseApps, at); a == nil || !a.told {
			return false
		}
	}
	return len(m.untold) == 0
}

// await has a login wait. It is refused at once if too many do.
func (m *BaseAppMgr) await(now time.Duration, asker mercury.ChannelID, c *wire.CreateProxy) protocol.Code {
	if len(m.unsure) >= MaxPending {
		return protocol.ServerBusy
	}
	x := unsureLogin{asker, *c, now + sureTime}
	x.c.Data = slices.Clone(c.Data)
	m.unsure = append(m.unsure, x)
	return 0
}

// tickUnsure carries on with those who wait, in the order in which they came.
func (m *BaseAppMgr) tickUnsure(now time.Duration) {
	if len(m.unsure) == 0 {
		return
	}
	list := m.unsure
	m.unsure = nil
	sure := m.closing() || m.allTold()
	for i := range list {
		switch x := &list[i]; {
		case sure:
			m.haveMade(now, x.asker, &x.c, false)
		case now >= x.until:
			m.refuseProxy(x.asker, x.c.Request, protocol.NotReady) // the world starts, or goes on after its managers
		default:
			m.unsure = append(m.unsure, *x)
		}
	}
}
