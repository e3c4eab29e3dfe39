package space

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/codec"
)

// What was sent to a real with a base is settled when a backup that contains it has
// reached the base; until then its sender keeps it. These bound what that may take.
const (
	// tailCalls and tailBytes are what a real may have handled of other entities'
	// calls since its last backup before the next one comes early: what their senders
	// keep for it, in their own state.
	tailCalls = 64
	tailBytes = 16 << 10

	// earlyBackup is the least time between two backups of which the second comes
	// early: whoever calls an entity cannot have it backed up each tick.
	earlyBackup = time.Second

	// MaxTail bounds what one real keeps for others, in bytes: it travels in its
	// backups, beside its properties. Beyond it, calls of its client are refused.
	MaxTail = 64 << 10

	// CallPatience is how long after its restore a real keeps the calls of its client
	// that are for entities which it does not see: the former incarnation may have
	// seen them, and they may be about to be restored themselves.
	CallPatience = 15 * time.Second
)

// ErrTail is why a call of a client is refused that would exceed MaxTail.
var ErrTail = errors.New("space: too much that was sent is not settled yet")

// tail is what a real keeps for other entities.
type tail struct{ bytes int }

func (t *tail) add(p *peer) {
	if p.side != entity.BasePart {
		t.bytes += p.out.Bytes()
	}
}

// settled is up to where a peer's messages stay handled whatever dies. A real without
// a base dies with its CellApp: nothing brings it back, so nothing is sent again.
func (r *Real) settled(p *peer) uint64 {
	if r.e.Base.IsZero() {
		return p.in.Last()
	}
	return p.in.Settled()
}

// note counts a message of another entity, and has a backup made early if there were
// many since the last.
func (r *Real) note(m *flow.Message, size int) {
	if m.FromPart == entity.BasePart {
		return
	}
	r.unsavedCalls++
	r.unsavedBytes += size
	if r.unsavedCalls >= tailCalls || r.unsavedBytes >= tailBytes {
		r.backupAt = min(r.backupAt, r.savedAt+earlyBackup)
	}
}

// saved notes that a backup was sent: once the base has it, all that it contains is
// settled. While the base is to confirm one, a later one is not waited for: a base
// that is slow would never confirm the last.
func (r *Real) saved(number uint64) {
	r.savedAt, r.unsavedCalls, r.unsavedBytes = r.cell.now, 0, 0
	if r.saving != 0 {
		return
	}
	r.saving = number
	for i := range r.flows {
		r.flows[i].in.Save()
	}
}

// confirm settles what the backup contains that the base has acknowledged.
func (r *Real) confirm(base *peer) {
	if base.side != entity.BasePart || r.saving == 0 || base.out.Low() <= r.saving {
		return
	}
	r.saving = 0
	for i := range r.flows {
		if p := &r.flows[i]; p.side != entity.BasePart { // the base reads it in the backup
			p.in.Confirm()
		}
	}
}

// sees reports whether the client sees an entity, and so may call it.
func (r *Real) sees(id entity.ID) bool {
	rec := r.cell.population.find(id)
	return rec != nil && rec.cell == r.cell && r.witness != nil && r.cell.ranges.Contains(r.trigger, rec.node)
}

// appendSaving and readSaving carry what is under way of a backup, and how long calls
// of entities out of sight wait; neither says anything to a restored real.
func (r *Real) appendSaving(b []byte, sending bool) []byte {
	if !sending {
		return append(b, 0, 0)
	}
	b = binary.AppendUvarint(b, r.saving)
	return binary.AppendUvarint(b, uint64(max(r.patientUntil-r.cell.now, 0)))
}

func (r *Real) readSaving(rd *codec.Reader, restoring bool) {
	saving, patience := rd.Uvarint(), rd.Uvarint()
	if !restoring {
		r.saving = saving
		r.patientUntil = r.cell.now + time.Duration(min(patience, uint64(CallPatience)))
	}
}
