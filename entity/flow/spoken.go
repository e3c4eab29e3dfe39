package flow

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
)

// maxSpells bounds the lives of a sender of which a Receiver knows what each has said. Beyond it the
// oldest count as one: only who goes on from the copy of a life before them is mistaken.
const maxSpells = 8

// spell is what one life of a sender has said: all numbers that were born in it, up to the last.
type spell struct {
	born uint32
	last uint64
}

// spoken is what a Receiver has handled, by the life in which each message was born (Message.Born).
//
// Lives of a sender need not follow one another. One goes on from an old copy and dies before it has a
// copy of its own, and the next goes on from a newer copy of the life before both. Then each number
// may stand for two messages. (What was handled used to be one life and one number. The messages that
// only the newer copy had counted as handled by the numbers of the life between: seed 7001.)
//
// The zero value has handled nothing. A copy shares nothing that is written to.
type spoken struct {
	now    spell   // of the message that was handled last
	others []spell // by birth, at most maxSpells
	before spell   // all of the lives up to this one that is not above the number
}

// fresh reports whether a message was not handled, and notes that it is now.
func (s *spoken) fresh(number uint64, born uint32) bool {
	switch {
	case born <= s.before.born && number <= s.before.last:
		return false
	case born == s.now.born:
		if number <= s.now.last {
			return false
		}
	case slices.ContainsFunc(s.others, func(x spell) bool { return x.born == born && number <= x.last }):
		return false
	default:
		s.turnTo(born)
	}
	s.now.last = number
	return true
}

// turnTo goes on with another life.
func (s *spoken) turnTo(born uint32) {
	others := make([]spell, 0, len(s.others)+1)
	for _, x := range append(slices.Clip(s.others), s.now) {
		if x.born != born && x.last > 0 {
			others = append(others, x)
		}
	}
	slices.SortFunc(others, func(x, y spell) int { return cmp.Compare(x.born, y.born) })
	if len(others) > maxSpells {
		s.before = spell{max(s.before.born, others[0].born), max(s.before.last, others[0].last)}
		others = others[1:]
	}
	s.now, s.others = spell{born: born}, others
}

// What follows the first byte. Nearly all flows are of one life, and have only the last number.
const (
	carriesFormer byte = 1 << iota
	carriesBefore
	carriesOthers
	endsAtLast // the last number handled is that of now
	carriesAll = 1<<iota - 1
)

// append encodes what was spoken, and what a Receiver knows of a former stream. last is its last number.
func (s *spoken) append(b []byte, f former, last uint64) []byte {
	has := byte(0)
	if f.last > 0 {
		has |= carriesFormer
	}
	if s.before.last > 0 {
		has |= carriesBefore
	}
	if len(s.others) > 0 {
		has |= carriesOthers
	}
	if s.now.last > 0 && s.now.last == last {
		has |= endsAtLast
	}
	b = append(b, has)
	if has&endsAtLast != 0 {
		b = binary.AppendUvarint(b, uint64(s.now.born))
	} else {
		b = s.now.append(b)
	}
	if has&carriesFormer != 0 {
		b = spell{f.stream, f.last}.append(b)
	}
	if has&carriesBefore != 0 {
		b = s.before.append(b)
	}
	if has&carriesOthers == 0 {
		return b
	}
	b = binary.AppendUvarint(b, uint64(len(s.others)))
	for _, x := range s.others {
		b = x.append(b)
	}
	return b
}

func (s *spoken) read(r *codec.Reader, last uint64) (f former) {
	has := r.U8()
	if has > carriesAll || has&endsAtLast != 0 && last == 0 {
		r.Fail(errSpoken)
		return f
	}
	if has&endsAtLast != 0 {
		s.now = spell{fields.ReadUint32(r), last}
	} else {
		s.now.read(r)
	}
	if has&carriesFormer != 0 {
		var x spell
		x.read(r)
		f = former{x.born, x.last}
	}
	if has&carriesBefore != 0 {
		s.before.read(r)
	}
	if has&carriesOthers != 0 {
		s.readOthers(r)
	}
	if (has&carriesFormer != 0) != (f.last > 0) || (has&carriesBefore != 0) != (s.before.last > 0) ||
		(has&endsAtLast != 0) != (s.now.last > 0 && s.now.last == last) {
		r.Fail(errSpoken) // each has one form alone
	}
	return f
}

var errSpoken = errors.New("flow: what a life has said stands twice, or nowhere")

func (s *spoken) readOthers(r *codec.Reader) {
	n := r.Count(maxSpells, 2)
	if n == 0 {
		r.Fail(errSpoken)
		return
	}
	s.others = make([]spell, n)
	for i := range s.others {
		x := &s.others[i]
		if x.read(r); x.last == 0 || x.born == s.now.born && s.now.last > 0 || i > 0 && x.born <= s.others[i-1].born {
			r.Fail(errSpoken)
			return
		}
	}
}

func (x spell) append(b []byte) []byte {
	if b = binary.AppendUvarint(b, x.last); x.last > 0 {
		b = binary.AppendUvarint(b, uint64(x.born))
	}
	return b
}

func (x *spell) read(r *codec.Reader) {
	if x.last = r.Uvarint(); x.last > 0 {
		x.born = fields.ReadUint32(r)
	}
}
