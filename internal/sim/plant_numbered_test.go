package sim

import (
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// flowOf parses a message of a flow with a payload of a kind.
func flowOf(msg []byte, kind flow.Payload) (m flow.Message, ok bool) {
	if id, body, err := wire.Split(msg); err != nil || id != wire.FlowID || m.Parse(body) != nil {
		return m, false
	}
	return m, flow.Payload(m.Payload[0]) == kind
}

// TestPlantedLostGreeting swallows a call between two entities. It does so for four pairs, since
// the entities of a pair may be gone by the end: the target hears the next call under the number of
// the lost one.
func TestPlantedLostGreeting(t *testing.T) {
	type pair struct{ from, to entity.ID }
	expectBroken(t, "promise 6: a call was lost", func() tamper {
		swallowed := map[pair]uint64{}
		return func(p *Process, _ mercury.ChannelID, _ bool, msg []byte) []byte {
			m, ok := flowOf(msg, flow.RemoteCallPayload)
			if !isCellApp(p) || !ok || p.c.now < 8*time.Second {
				return msg
			}
			this := pair{m.From, m.To}
			if _, known := swallowed[this]; !known && len(swallowed) < 4 && p.c.based(m.To) {
				swallowed[this] = m.Number
			}
			if m.Number != swallowed[this] {
				return msg
			}
			m.Payload = []byte{byte(flow.RemoteCallPayload)} // the number is used up, but the call is not there
			return wire.Encode(nil, &m)
		}
	})
}

// TestPlantedGreetingTwice makes a target handle a call of another entity twice, as it would that
// of a restored caller whose repeat nobody recognises.
func TestPlantedGreetingTwice(t *testing.T) {
	expectBroken(t, "promise 3", func() tamper {
		planted := false
		return func(p *Process, ch mercury.ChannelID, _ bool, msg []byte) []byte {
			m, ok := flowOf(msg, flow.RemoteCallPayload)
			if planted || !isCellApp(p) || !ok || p.c.now < 8*time.Second || !p.c.based(m.To) {
				return msg
			}
			planted = true
			p.app.Message(p.c.now, ch, true, append([]byte(nil), msg...))
			var call flow.MethodCall
			if err := call.Parse(m.Payload[1:]); err != nil {
				t.Error(err)
			}
			call.Cause += 1 << 20
			m.Number, m.Payload = m.Number+1, call.Append(nil, flow.RemoteCallPayload)
			return wire.Encode(nil, &m)
		}
	})
}

// TestPlantedEarlySettle makes senders believe that everything handled is settled, as they did when
// an ack was enough, and kills CellApps.
func TestPlantedEarlySettle(t *testing.T) {
	expectLossy(t, "promise 6: a call was lost", func(p *Process, _ mercury.ChannelID, _ bool, msg []byte) []byte {
		var a flow.Ack
		if id, body, err := wire.Split(msg); err != nil || id != wire.FlowAckID || a.Parse(body) != nil {
			return msg
		}
		a.Settled = a.Number
		return wire.Encode(nil, &a)
	})
}

// TestPlantedForgetfulRestore restores entities without what they knew of the flows of others,
// which then repeat what was handled, and without what they keep for others.
func TestPlantedForgetfulRestore(t *testing.T) {
	expectLossy(t, "call", func(p *Process, _ mercury.ChannelID, _ bool, msg []byte) []byte {
		id, body, err := wire.Split(msg)
		var m migrate.Create
		if err != nil || id != wire.CreateID || m.Parse(body) != nil || !m.Restored {
			return msg
		}
		m.Parts = without(t, m.Parts, migrate.FlowsPart)
		return wire.Encode(nil, &m)
	})
}

// without is a copy of parts that lacks one.
func without(t *testing.T, parts []byte, lacks migrate.Tag) (b []byte) {
	err := migrate.EachPart(parts, func(tag migrate.Tag, body []byte) error {
		if tag != lacks {
			b = migrate.AppendPart(b, tag, func(b []byte) []byte { return append(b, body...) })
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return b
}

// expectLossy is expectBroken for bugs that show only when CellApps die: of several runs, one has
// to notice.
func expectLossy(t *testing.T, promise string, tamper func(p *Process, ch mercury.ChannelID, reliable bool, msg []byte) []byte) {
	t.Helper()
	t.Parallel()
	for seed := uint64(1); seed <= 12; seed++ {
		c, err := New(Options{Seed: seed, Players: 12, Crash: true, Tamper: tamper, Faults: 20 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Run(); err != nil {
			if !strings.Contains(err.Error(), promise) {
				t.Fatalf("the planted bug was noticed as %v, want %q", err, promise)
			}
			return
		}
	}
	t.Fatal("the planted bug was not noticed")
}

// TestPlantedSkip gives the lowest number of a base's flow as higher than it is: what lies between
// is given up. The counters notice (promise 3), unless a client notices first, by a change that
// builds on one it has missed (promise 5).
func TestPlantedSkip(t *testing.T) {
	expectBroken(t, "promise", func() tamper {
		planted := false
		return func(p *Process, _ mercury.ChannelID, _ bool, msg []byte) []byte {
			m, ok := flowOf(msg, flow.BundlePayload)
			if planted || !ok || p.c.now < 8*time.Second || m.ToPart != entity.BasePart {
				return msg
			}
			planted = true
			m.Number++
			m.Low = m.Number
			return wire.Encode(nil, &m)
		}
	})
}

// TestPlantedLostUtterance loses one call of a cell part to its own client.
func TestPlantedLostUtterance(t *testing.T) {
	expectBroken(t, "promise 3", func() tamper {
		planted := false
		return func(p *Process, _ mercury.ChannelID, _ bool, msg []byte) []byte {
			m, ok := flowOf(msg, flow.BundlePayload)
			var bundle flow.Bundle
			if planted || !ok || p.c.now < 8*time.Second || bundle.Parse(m.Payload[1:]) != nil {
				return msg
			}
			var rest []byte
			err := protocol.Messages(bundle.Bytes, func(id protocol.ID, body []byte) error {
				var call protocol.Call
				if id == protocol.CallID && !planted && call.Parse(body) == nil && call.ID == m.From {
					planted = true
					return nil
				}
				if protocol.IsOwnValue(id) { // it has no length in its frame
					rest = append(append(rest, byte(id)), body...)
					return nil
				}
				var mark int
				rest, mark = protocol.Begin(rest, id)
				rest = protocol.End(append(rest, body...), mark)
				return nil
			})
			if err != nil {
				t.Error(err)
			}
			bundle.Bytes = rest
			m.Payload = bundle.Append(nil)
			return wire.Encode(nil, &m)
		}
	})
}

// TestPlantedWage doubles a call of a base to its client.
func TestPlantedWage(t *testing.T) {
	expectBroken(t, "promise 3", func() tamper {
		planted := false
		return func(p *Process, _ mercury.ChannelID, reliable bool, msg []byte) []byte {
			if planted || !reliable || p.Name != "player3" || p.c.now < 8*time.Second || protocol.ID(msg[0]) != protocol.CallID {
				return msg
			}
			planted = true
			return append(append([]byte(nil), msg...), msg...)
		}
	})
}
