package sim

import (
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// Each checker is shown to catch a bug that is planted for it: a run with a tampered message must
// fail, and name that promise.

// tamper is what Options.Tamper takes: it may change a message that comes in.
type tamper = func(p *Process, ch mercury.ChannelID, reliable bool, msg []byte) []byte

// expectBroken plays worlds until one shows the bug, each with a plant of its own. (One plant was once for
// all of them, and had been used up in the first.)
func expectBroken(t *testing.T, promise string, plant func() tamper) {
	t.Helper()
	t.Parallel()
	for seed := uint64(7); seed < 12; seed++ { // not every run has enough of what the bug concerns
		c, err := New(Options{Seed: seed, Lodgers: 2, Tamper: plant(), Faults: 10 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		switch err = c.Run(); {
		case err == nil:
			t.Logf("not noticed with seed %d: %+v", seed, c.Result())
		case !strings.Contains(err.Error(), promise):
			t.Fatalf("the planted bug was noticed as %v, want %q", err, promise)
		default:
			return
		}
	}
	t.Fatal("the planted bug was not noticed")
}

func isCellApp(p *Process) bool {
	return isCellAppName(p.Name)
}

func kind(msg []byte) wire.ID {
	id, _, _ := wire.Split(msg)
	return id
}

// TestPlantedSecondReal gives a handoff to two CellApps, and hides from both that the base
// acknowledges only one.
func TestPlantedSecondReal(t *testing.T) {
	expectBroken(t, "promise 1", func() tamper {
		channels := map[*Process]mercury.ChannelID{}
		planted := false
		return func(p *Process, ch mercury.ChannelID, _ bool, msg []byte) []byte {
			if !isCellApp(p) {
				return msg
			}
			if peer, _ := p.ep.Peer(ch); p.c.byPlace[peer.At] != nil && isCellApp(p.c.byPlace[peer.At]) {
				channels[p] = ch // nobody else hands an entity over
			}
			if kind(msg) == wire.RefuseRealID {
				return nil
			}
			if kind(msg) != wire.OnloadID || planted {
				return msg
			}
			for _, q := range p.c.cellApps {
				if q != p && channels[q] != 0 && q.alive && p.c.now > 15*time.Second {
					planted = true
					var m migrate.Onload
					if _, body, err := wire.Split(msg); err != nil || m.Parse(body) != nil {
						return msg
					}
					m.Serial = 0 // it is of another pair of apps
					q.app.Message(p.c.now, channels[q], true, wire.Encode(nil, &m))
					break
				}
			}
			return msg
		}
	})
}

// TestPlantedCut gives one CellApp another geometry under the same version.
func TestPlantedCut(t *testing.T) {
	told := map[entity.SpaceID]*bsp.Follower{} // what the CellApp would have
	follow := func(id entity.SpaceID, msg []byte) *bsp.Tree {
		if told[id] == nil {
			told[id] = &bsp.Follower{}
		}
		if _, err := told[id].Take(msg); err != nil || told[id].Tree() == nil {
			return nil
		}
		return told[id].Tree().Clone()
	}
	expectBroken(t, "promise 2", func() tamper {
		return func(p *Process, _ mercury.ChannelID, _ bool, msg []byte) []byte {
			var a wire.AddCell
			if p.Name == "cellapp2" && kind(msg) == wire.AddCellID && a.Parse(msg[1:]) == nil {
				follow(a.Space, a.Tree)
			}
			var m wire.Geometry
			if p.Name != "cellapp2" || kind(msg) != wire.GeometryID || m.Parse(msg[1:]) != nil {
				return msg
			}
			tree := follow(m.Space, m.Tree)
			if tree == nil {
				return msg
			}
			for n := range tree.Nodes() {
				if tree.MoveLine(n.ID, n.Line+1) == nil {
					m.Tree = tree.Append(nil)
					return wire.Encode(nil, &m)
				}
			}
			return msg
		}
	})
}

// TestPlantedRepeat delivers a base's message twice, the second time under the next number, so that
// the next message is taken for a duplicate.
func TestPlantedRepeat(t *testing.T) {
	expectBroken(t, "promise 3", func() tamper {
		n := 0
		return func(p *Process, ch mercury.ChannelID, _ bool, msg []byte) []byte {
			var m flow.Message
			if !isCellApp(p) || kind(msg) != wire.FlowID || m.Parse(msg[1:]) != nil ||
				flow.Payload(m.Payload[0]) != flow.CallCellPayload {
				return msg
			}
			if n++; n != 100 {
				return msg
			}
			p.app.Message(p.c.now, ch, true, append([]byte(nil), msg...))
			m.Number++
			return wire.Encode(nil, &m)
		}
	})
}

// TestPlantedDeafGhost hides from a CellApp what the reals of its ghosts do, and that it has missed
// it.
func TestPlantedDeafGhost(t *testing.T) {
	expectBroken(t, "promise 4", func() tamper {
		return func(p *Process, _ mercury.ChannelID, _ bool, msg []byte) []byte {
			p.c.fresh.off = true // clients do not see the ghosts move, which promise 9 would report first
			if isCellApp(p) && (kind(msg) == wire.GhostUpdateID || kind(msg) == wire.GhostRollID) {
				return nil
			}
			return msg
		}
	})
}

// TestPlantedCorrection puts a player back that walks as it may.
func TestPlantedCorrection(t *testing.T) {
	expectBroken(t, "promise 4", func() tamper {
		return func(p *Process, _ mercury.ChannelID, reliable bool, msg []byte) []byte {
			if p.Name != "player1" || !reliable || !p.c.fresh.active() || len(msg) == 0 || protocol.ID(msg[0]) != protocol.BundleID {
				return msg
			}
			m := protocol.Forced{Number: 9, Control: true}
			return m.Append(append([]byte(nil), msg...))
		}
	})
}

// TestPlantedBlindClient loses some of what the server tells a client.
func TestPlantedBlindClient(t *testing.T) {
	expectBroken(t, "promise 5", func() tamper {
		n := 0
		return func(p *Process, _ mercury.ChannelID, reliable bool, msg []byte) []byte {
			p.c.deaf = true // the check of the order would report the gap first
			if p.Name != "player3" || !reliable || p.c.now < 10*time.Second {
				return msg
			}
			// It loses every second bundle: some of what it loses is never said again. It spares
			// bundles with calls, whose loss promise 3 would report first.
			if n++; n%2 == 0 && !calls(msg) {
				return nil
			}
			return msg
		}
	})
}

// calls reports whether a bundle has a call in it.
func calls(bundle []byte) (has bool) {
	_ = protocol.Messages(bundle, func(id protocol.ID, _ []byte) error {
		has = has || id == protocol.CallID
		return nil
	})
	return has
}

// TestPlantedLostCall loses a call on its way from a client to its proxy. The counters notice (promise
// 3), unless it is the numbered calls that do (promise 6).
func TestPlantedLostCall(t *testing.T) {
	expectBroken(t, "promise", func() tamper {
		n := 0
		return func(p *Process, ch mercury.ChannelID, reliable bool, msg []byte) []byte {
			peer, _ := p.ep.Peer(ch)
			from := p.c.byPlace[peer.At]
			if !strings.HasPrefix(p.Name, "baseapp") || p.Name == "baseappmgr" || from == nil || !strings.HasPrefix(from.Name, "player") {
				return msg
			}
			if protocol.ID(msg[0]) != protocol.CellCallID {
				return msg
			}
			if n++; n == 50 {
				return nil
			}
			return msg
		}
	})
}

// TestPlantedData tells one CellApp another value of the space's data.
func TestPlantedData(t *testing.T) {
	expectBroken(t, "promise 5: cellapp2 has space data", func() tamper {
		return func(p *Process, _ mercury.ChannelID, _ bool, msg []byte) []byte {
			var m wire.SpaceData
			if p.Name != "cellapp2" || kind(msg) != wire.SpaceDataID || m.Parse(msg[1:]) != nil {
				return msg
			}
			m.Entry.Value = append([]byte("not "), m.Entry.Value...)
			return wire.Encode(nil, &m)
		}
	})
}

// TestPlantedRoom hides from a CellApp that a room has ended, and tells the manager that the room
// is gone.
func TestPlantedRoom(t *testing.T) {
	var of *Process
	var room wire.RemoveCell
	expectBroken(t, "which has ended", func() tamper {
		return func(p *Process, _ mercury.ChannelID, _ bool, msg []byte) []byte {
			var m wire.RemoveCell
			switch {
			case isCellApp(p) && (of == nil || of == p) && kind(msg) == wire.RemoveCellID && m.Parse(msg[1:]) == nil && m.Ended:
				if of == nil {
					of, room = p, m
				}
				if m.Cell == room.Cell {
					return nil
				}
			case p == p.c.manager && kind(msg) == wire.CellsReportID && of != nil && room.Space != 0:
				return append(msg, wire.Encode(nil, &wire.CellRemoved{Space: room.Space, Cell: room.Cell})...)[len(msg):]
			}
			return msg
		}
	})
}
