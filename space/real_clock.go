package space

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
)

// This file keeps an entity's game time going when it moves to another cell.
//
// All cells of a space have nearly the same game time. They differ because each knows the time of
// the cluster only as well as it was told, and because a cell that heard of a slower rate too late
// is ahead for a while (see pace). So it may be earlier where a real arrives than where it came
// from. Therefore a real takes its game time along:
//
//	due   x--------------x------------x       timers keep the times they were due at
//	from  ----1---2---3|
//	to          1---2---3---4---5             game time of the two cells
//	entity    1---2---3|3-3-4---5             its Now stands still until the cell is there
//
// So its Now never goes back. No timer comes twice or too early, or falls behind by the time that
// each of many moves took. A value of Now in a property stays valid. A backup only has how long
// each timer has to go, since another cluster may restore it, whose game time began again.

// maxAhead is the most by which the game time of an entity's former cell may be ahead of that of the new
// one. A cell misses news of its rate for at most as long as a channel takes to break, 10 s. maxUnderWay is
// the longest time on the way: a handoff is sent until it arrives, and a cut of the network may last
// longer than a channel. If the times differ by more, they are not of one clock, and timers keep how
// long they have to go, as in a backup.
const (
	maxAhead    = 15 * time.Second
	maxUnderWay = time.Minute
)

// Now is game time, the clock of timers. It is the same on all CellApps of the space except for
// network delay, and runs slower when the space does (see Rate). For one entity it never goes back
// while its cell part lives, wherever that moves in the space. Another space may have another time.
func (r *Real) Now() time.Duration { return max(r.cell.game, r.ahead) }

// appendClock encodes the real's space and its game time.
func (r *Real) appendClock(b []byte) []byte {
	return binary.AppendVarint(binary.AppendUvarint(b, uint64(r.cell.space)), int64(r.Now()))
}

// readClock turns the timers, which were read before, from how long they have to go into when they
// are due, and keeps Now from going back.
func (r *Real) readClock(rd *codec.Reader) {
	of, game := entity.SpaceID(fields.ReadUint32(rd)), time.Duration(rd.Varint())
	if game < 0 {
		rd.Fail(errors.New("game time out of range"))
	}
	if rd.Err() != nil || of != r.cell.space {
		return
	}
	late := game - r.cell.game
	if late > maxAhead || late < -maxUnderWay {
		return
	}
	r.timers.Shift(late)
	r.ahead = game
}
