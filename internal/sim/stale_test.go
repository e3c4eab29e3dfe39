package sim

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// TestStaleOffer: the message that a real was taken over is lost, and the destination backs the
// real up and dies. The frozen copy that the origin then offers is older than the backup. It may
// not replace the backup, however many backups the origin had made before: the base has forgotten
// what the newer one contains.
func TestStaleOffer(t *testing.T) {
	play(t, Options{Seed: 41, Balance: still(2)}, func(r *rig) {
		id := r.id()
		r.lead(r.across(-40))
		r.wait(12 * time.Second) // the origin has made several backups
		origin, _, v := r.real(id)
		was := v.Order()
		var to *Process
		backups := 0
		r.hook = func(p *Process, ch mercury.ChannelID, msg []byte) []byte {
			if kind(msg) == wire.OnloadID {
				if e, order := orderOf(wire.OnloadID, msg); e == id && was.Before(order) && to == nil {
					to = p
					r.part(origin, p) // it has arrived, and nobody hears of it
				}
			}
			if to != nil && r.peer(p, ch) == to && isBackupOf(id, msg) {
				backups++
			}
			return msg
		}
		r.send(r.across(60))
		r.until("the destination has backed the player up twice", 9*time.Second, func() bool { return backups >= 2 })
		offered := false
		r.hook = func(p *Process, ch mercury.ChannelID, msg []byte) []byte {
			if kind(msg) == wire.OfferID && isOf(id, msg) {
				offered = true
			}
			return msg
		}
		to.crash()
		r.until("the player is restored", 10*time.Second, func() bool {
			on, _, v := r.real(id)
			return offered && on != nil && v.Order().Incarnation == was.Incarnation+1
		})
		r.join(origin, to)
	})
}

// TestTailToldTwice: a real hands itself over while its base hears nothing, and the destination
// dies with it. The real that is restored from the frozen copy tells the base the tail that nobody
// had acknowledged, and dies before a backup of its own arrives. The next one tells the tail again,
// from where the first one began.
func TestTailToldTwice(t *testing.T) {
	play(t, Options{Seed: 43, CellApps: 3, Balance: still(2)}, func(r *rig) {
		id := r.id()
		r.lead(r.across(-40))
		origin, _, v := r.real(id)
		first := v.Order().Incarnation
		var to *Process
		tails := map[uint32]int{} // what each incarnation told under the life of the first
		lost := false             // the backup after the first tail
		r.hook = func(p *Process, ch mercury.ChannelID, msg []byte) []byte {
			if e, _ := orderOf(kind(msg), msg); kind(msg) == wire.OnloadID && e == id && to == nil {
				to = p
				p.kill()
				return nil
			}
			var m flow.Message
			if kind(msg) != wire.FlowID || m.Parse(msg[1:]) != nil || m.From != id || m.ToPart != entity.BasePart {
				return msg
			}
			switch life, ok := toldLife(r, m.Payload); {
			case m.Incarnation == first && origin == r.peer(p, ch):
				return nil // from now on the base does not hear the first
			case m.Incarnation == first+1 && tails[first+1] > 0 && isBackupOf(id, msg):
				lost = true
				return nil
			case ok && life == first:
				tails[m.Incarnation]++
			}
			return msg
		}
		r.wait(time.Second)
		r.send(r.across(60))
		r.until("the first restored one has told the tail", 20*time.Second, func() bool { return lost })
		on, _, _ := r.real(id)
		on.crash()
		r.until("the next one has told the tail", 20*time.Second, func() bool {
			_, _, v := r.real(id)
			return tails[first+2] > 0 && v.Order().Incarnation == first+2 && r.tally(id).Life == first+2
		})
		if tails[first+1] < 2 || tails[first+1] != tails[first+2] {
			t.Errorf("told under the first life: %v", tails)
		}
	})
}

// toldLife is the life in a payload that calls Told of a player's base.
func toldLife(r *rig, payload []byte) (life uint32, ok bool) {
	kind, body, err := flow.SplitPayload(payload)
	var m flow.MethodCall
	if err != nil || kind != flow.CallBasePayload || m.Parse(body) != nil {
		return 0, false
	}
	told := r.world.schema.Type("Walker").BaseMethod("told")
	if int(m.Method) != told.Index {
		return 0, false
	}
	args, err := told.ReadArgs(m.Args)
	if err != nil {
		return 0, false
	}
	return uint32(args[0].Uint()), true
}

// isBackupOf reports whether a message carries a backup of an entity to its base.
func isBackupOf(id entity.ID, msg []byte) bool {
	var m flow.Message
	return kind(msg) == wire.FlowID && m.Parse(msg[1:]) == nil && m.From == id && m.ToPart == entity.BasePart &&
		flow.Payload(m.Payload[0]) == flow.BackupPayload
}

// isOf reports whether a message of a handoff is about an entity.
func isOf(id entity.ID, msg []byte) bool {
	e, _ := orderOf(kind(msg), msg)
	return e == id
}
