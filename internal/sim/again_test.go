package sim

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// TestSessionIsNotBegunTwice: a twin takes another's place, and the CellApp dies before the cell
// part has heard of it. The next incarnation is made with the new session. What the flow keeps for
// it says first that the old client is gone, and that must not have it begin the new session once
// more: the client would be told of two pasts in one.
func TestSessionIsNotBegunTwice(t *testing.T) {
	o := Options{Seed: 82, CellApps: 2, Players: 6, Rovers: 2, Balance: still(2), Wild: Wild{Twins: 2, Relogins: true}}
	play(t, o, func(r *rig) {
		var id entity.ID
		var on *Process // hears nothing more of the base of id
		next := false   // the flow has the end of a session, and the next one
		r.hook = func(p *Process, _ mercury.ChannelID, msg []byte) []byte {
			to, s, said := sessionOf(msg)
			switch {
			case to == 0 || on != nil && (to != id || p != on):
				return msg
			case on == nil && said && s.Number == 0 && r.isTwin(to):
				id, on = to, p
			case on != nil && said && s.Number != 0:
				next = true
			}
			if on == nil {
				return msg
			}
			return nil
		}
		r.until("another has taken the twin's place", time.Minute, func() bool { return next })
		on.crash()
		on = nil
		var since time.Duration // when the next incarnation began, which has shown the client others before it hears more
		r.hook = func(_ *Process, _ mercury.ChannelID, msg []byte) []byte {
			if to, _, _ := sessionOf(msg); to == id && (since == 0 || r.now < since+time.Second/5) {
				return nil
			}
			return msg
		}
		missed := uint64(0)
		r.until("the next incarnation has heard what was kept", 20*time.Second, func() bool {
			if on, _, _ := r.real(id); on != nil && since == 0 {
				since = r.now
			}
			for _, tw := range r.twins {
				missed = max(missed, tw.client.Stats().BundlesMissed)
			}
			return since != 0 && r.now > since+2*time.Second
		})
		if missed > 0 {
			t.Errorf("a client missed %d bundles: their numbers began again", missed)
		}
	})
}

// sessionOf is to whom a message of a base to its own cell part is, and what it says of the client,
// if it does.
func sessionOf(msg []byte) (to entity.ID, s flow.Session, said bool) {
	var m flow.Message
	if kind(msg) != wire.FlowID || m.Parse(msg[1:]) != nil || m.FromPart != entity.BasePart || m.From != m.To {
		return 0, s, false
	}
	pay, body, err := flow.SplitPayload(m.Payload)
	return m.To, s, err == nil && pay == flow.SetClientPayload && s.Parse(body) == nil
}

// isTwin reports whether an entity is that of the twins.
func (r *rig) isTwin(id entity.ID) bool {
	_, b := r.base(id)
	return b.Account == twinName
}
