package space

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
)

// How an entity's game time goes on when it moves to another cell.
//
// All cells of a space have the same game time but for two things: each knows the
// time of the cluster only as well as it was told, and one may have heard of a slower
// rate too late and be ahead for a while (see pace). So where a real comes to, it may
// be earlier than where it came from. Therefore it takes along what game time it had:
//
//	due   x--------------x------------x       timers keep the times they were due at
//	from  ----1---2---3|
//	to          1---2---3---4---5             game time of the two cells
//	entity    1---2---3|3-3-4---5             its Now stands still until the cell is there
//
// Its Now so never goes back, a timer comes neither twice nor too early nor late by
// what each of many moves took, and what a script keeps of Now in a property stays
// good. A backup has only how long each timer has to go: it may be restored by
// another cluster, whose game time began anew.

// maxAhead is by how much the game time of the cell that an entity comes from may
// differ from that of the one it goes to. A cell without news of its rate is at most
// as late as a channel takes to break, 10 s. A cell that differs by more does not have the same
// time; timers then keep how long they have to go, as in a backup.
const maxAhead = 15 * time.Second

// Now is game time, the clock of timers: the same on all CellApps of the space but for
// network delay. For one entity it never goes back while its cell part lives, wherever
// that moves in the space; it is slowed down with the space (see Rate). Another space
// may have another.
func (r *Real) Now() time.Duration { return max(r.cell.game, r.ahead) }

// appendClock encodes which space's game time the real had.
func (r *Real) appendClock(b []byte) []byte {
	return binary.AppendVarint(binary.AppendUvarint(b, uint64(r.cell.space)), int64(r.Now()))
}

// readClock brings the timers, which were read before, from how long they have to go
// to when they are due, and keeps Now from going back.
func (r *Real) readClock(rd *codec.Reader) {
	of, game := entity.SpaceID(fields.ReadUint32(rd)), time.Duration(rd.Varint())
	if game < 0 {
		rd.Fail(errors.New("game time out of range"))
	}
	if rd.Err() != nil || of != r.cell.space {
		return
	}
	late := game - r.cell.game
	if late > maxAhead || late < -maxAhead {
		return
	}
	r.timers.Shift(late)
	r.ahead = game
}
