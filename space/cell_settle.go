package space

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
)

// A message to a real with a base is settled when the base has a backup that contains it, and keeps that
// whatever dies. Until then its sender keeps it. These constants bound the memory for that.
const (
	// tailCalls and tailBytes bound the calls of other entities that a real handles between two
	// backups, since the senders keep them in their own state. Beyond these the next backup comes
	// early.
	tailCalls = 64
	tailBytes = 16 << 10

	// earlyBackup is the least time from a backup to an early one, so that callers cannot have an
	// entity backed up each tick.
	earlyBackup = time.Second

	// MaxTail bounds what one real keeps for others, in bytes. That travels in its backups, beside
	// its properties. Beyond it, calls of its client are refused.
	MaxTail = 64 << 10

	// CallPatience is how long a restored real keeps its client's calls to entities that it does
	// not see. The former incarnation may have seen them, and they may be about to be restored
	// themselves.
	CallPatience = 15 * time.Second
)

// ErrTail refuses a client's call that would exceed MaxTail.
var ErrTail = errors.New("space: too much that was sent is not settled yet")

// tail is what a real keeps for other entities.
type tail struct{ bytes int }

// uploads says which call of which session of its client a real has handled last. They come in order.
type uploads struct {
	session uint32
	number  uint64
}

func (r *Real) addTail(p *peer) {
	if !r.own(p) {
		r.tail.bytes += p.out.Bytes()
	}
}

// settled is the number up to which a peer's messages stay handled whatever dies. A real without a
// base dies with its CellApp. Nothing brings it back, so nothing is sent again.
func (r *Real) settled(p *peer) uint64 {
	if r.e.Base.IsZero() {
		return p.in.Last()
	}
	return p.in.Settled()
}

// note counts a message of another entity, and asks for an early backup after many of them.
func (r *Real) note(m *flow.Message, size int) {
	if m.FromPart == entity.BasePart && m.From == r.e.ID {
		return
	}
	r.unsavedCalls++
	r.unsavedBytes += size
	if r.unsavedCalls >= tailCalls || r.unsavedBytes >= tailBytes {
		r.backupAt = min(r.backupAt, r.savedAt+earlyBackup)
	}
}

// saved notes that a backup was sent. Once the base has it, all that it contains is settled. While
// the base has one to confirm, a later backup does not replace it, or a slow base would never
// confirm the last one.
func (r *Real) saved(number uint64) {
	r.savedAt, r.unsavedCalls, r.unsavedBytes = r.cell.now, 0, 0
	if r.saving != 0 {
		return
	}
	r.saving = number
	r.inBackup = contents{r.cell.now, r.base().in.Last(), r.uploads}
	for i := range r.flows {
		r.flows[i].in.Save()
	}
}

// confirm settles what a backup contains that the base has settled, too: other apps have a copy of the base
// with it. Until then the base's app and this one may die together, as they do when a machine dies.
func (r *Real) confirm(base *peer) {
	if !r.own(base) || r.saving == 0 || base.out.Low() <= r.saving {
		return
	}
	r.saving, r.quietUntil = 0, 0
	r.backed = r.inBackup
	for i := range r.flows {
		if p := &r.flows[i]; !r.own(p) { // the base learns it from the backup
			p.in.Confirm()
		}
	}
}

// sees reports whether the client sees an entity, and may call it.
func (r *Real) sees(id entity.ID) bool {
	rec := r.cell.population.find(id)
	return rec != nil && r.sight(rec) != nil
}

// appendSaving and readSaving carry what the client has said last, which numbers were forgotten,
// what the newest settled backup has, the state of an unconfirmed one, how long calls to unseen
// entities wait, and for how long it asks after bases. A restored real has no use for the last three, and
// keeps again what the copy has kept.
func (r *Real) appendSaving(b []byte, sending bool) []byte {
	b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(r.uploads.session)), r.uploads.number)
	b = binary.AppendUvarint(b, r.spent)
	b = r.backed.append(b)
	if b = codec.AppendBool(b, sending); !sending {
		return b
	}
	b = r.backed.appendAge(b, r.cell.now)
	if b = binary.AppendUvarint(b, r.saving); r.saving != 0 {
		b = r.inBackup.appendAge(r.inBackup.append(b), r.cell.now)
	}
	b = binary.AppendUvarint(b, uint64(max(r.patientUntil-r.cell.now, 0)))
	return binary.AppendUvarint(b, uint64(max(r.seekUntil-r.cell.now, 0)))
}

func (r *Real) readSaving(rd *codec.Reader, restoring bool) {
	r.uploads = uploads{fields.ReadUint32(rd), rd.Uvarint()}
	r.spent = rd.Uvarint()
	r.backed.read(rd)
	if !rd.Bool() {
		return
	}
	now, most := r.cell.now, r.lease()
	backed, inBackup := r.backed, contents{}
	backed.readAge(rd, now, most)
	saving := rd.Uvarint()
	if saving != 0 {
		inBackup.read(rd)
		inBackup.readAge(rd, now, most)
	}
	patience, seeks := rd.Uvarint(), rd.Uvarint()
	if !restoring {
		r.backed, r.saving, r.inBackup = backed, saving, inBackup
		r.patientUntil = now + time.Duration(min(patience, uint64(CallPatience)))
		if seeks > 0 {
			r.seekUntil = now + time.Duration(min(seeks, uint64(flow.SeekTime)))
		}
	}
}
