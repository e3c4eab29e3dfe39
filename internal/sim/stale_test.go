package sim

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// TestStaleOffer: the word that a real was taken over is lost, the destination backs it up,
// and dies. The frozen copy that the origin then offers is older than the backup, and may not
// replace it, however many backups the origin had made before: the base has forgotten what
// the newer one contains.
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
					r.part(origin, p) // it has come, and nobody hears so
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

// isBackupOf reports whether a message carries a backup of an entity to its base.
func isBackupOf(id entity.ID, msg []byte) bool {
	var m entity.Message
	return kind(msg) == wire.FlowID && m.Parse(msg[1:]) == nil && m.From == id && m.ToSide == entity.BaseSide &&
		entity.Payload(m.Payload[0]) == entity.BackupPayload
}

// isOf reports whether a message of the handoff machine is about an entity.
func isOf(id entity.ID, msg []byte) bool {
	e, _ := orderOf(kind(msg), msg)
	return e == id
}
