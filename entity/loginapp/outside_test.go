package loginapp

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
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

// A manager that begins to lead dials those whom it knows, by the inner door. The LoginApp goes to it, and
// takes it for no stranger.
func TestLeaderCallsByInnerDoor(t *testing.T) {
	next := mercurytest.Host(8, 88)
	r := newRig(t, func(c *Config) {
		c.Managers = []netip.AddrPort{cellAppMgr.At, next.At}
		c.Network = func(mercury.ChannelID) string { return "" }
	})
	r.join()
	before := r.l.report.Refused
	call := r.net.Accept(next)
	r.l.Opened(r.now, call, next)
	if r.net.Ended[call] || r.l.report.Refused != before {
		t.Errorf("ended %v, %d refused", r.net.Ended[call], r.l.report.Refused-before)
	}
	r.tick(time.Second)
	if !slices.ContainsFunc(r.net.Dials, func(ch mercury.ChannelID) bool { to, _ := r.net.Peer(ch); return to.At == next.At }) {
		t.Error("the leader is not dialled")
	}
	if ch := r.connect(); !r.net.Ended[ch] || r.l.report.Refused != before+1 {
		t.Errorf("a stranger: ended %v, %d refused", r.net.Ended[ch], r.l.report.Refused-before)
	}
}
