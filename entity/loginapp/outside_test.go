package loginapp

import (
	"testing"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// By the outer door even the address of a manager makes no manager, and by the inner one nobody
// logs in.
func TestOuterDoorIsForClients(t *testing.T) {
	outside := make(map[mercury.ChannelID]bool)
	r := newRig(t, func(c *Config) {
		c.Network = func(ch mercury.ChannelID) string {
			if outside[ch] {
				return "websocket"
			}
			return ""
		}
	})
	r.join()
	posing := r.net.Accept(cellAppMgr)
	outside[posing] = true
	r.l.Opened(r.now, posing, cellAppMgr)
	r.fromManager(posing, &wire.Logins{Refused: true})
	r.wantRefused(posing, protocol.Malformed)
	if r.l.full {
		t.Error("a client has shut the world")
	}
	before := r.l.report.Refused
	if ch := r.connect(); !r.net.Ended[ch] || r.l.report.Refused != before+1 || r.l.Counts().Channels != 0 {
		t.Errorf("ended %v, %d refused, %+v", r.net.Ended[ch], r.l.report.Refused-before, r.l.Counts())
	}
}
