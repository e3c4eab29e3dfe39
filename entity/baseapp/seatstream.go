package baseapp

import (
	"encoding/binary"
	"errors"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/internal/tail"
)

// What a base knows of its client goes with it to another BaseApp, or into its backup:
//
//	number of the session | incarnation that the client was told
//	0                                                             no client
//	1 | token of the login                                        the client has yet to come
//	2 | room | tokens | shown | sent | has | uploads | tail       it has a seat
//
// A base that is made from that keeps the seat, as after a lost channel, until the client resumes it
// there.

// The kinds of a client in a stream.
const (
	streamNoClient uint8 = iota
	streamAwaited
	streamSeat
)

// Faults of such a stream.
var (
	errSeatKind  = errors.New("baseapp: a client of no kind")
	errSeatToken = errors.New("baseapp: a client's token is here already")
	errSeatTail  = errors.New("baseapp: a tail out of order, or too long")
)

// appendClient appends what is known of the client.
func (b *base) appendClient(buf []byte) []byte {
	buf = binary.AppendUvarint(binary.AppendUvarint(buf, uint64(b.session)), uint64(b.told))
	switch s := b.seat; {
	case s != nil:
		return s.append(append(buf, streamSeat))
	case b.attachBy != 0:
		return append(append(buf, streamAwaited), b.token[:]...)
	}
	return append(buf, streamNoClient)
}

func (s *seat) append(buf []byte) []byte {
	buf = binary.AppendUvarint(buf, uint64(s.base.room))
	buf = append(append(buf, s.token[:]...), s.former[:]...)
	buf = codec.AppendBool(buf, s.shown)
	for i := range s.sent {
		buf = binary.AppendUvarint(binary.AppendUvarint(buf, s.sent[i]), s.has[i])
	}
	buf = binary.AppendUvarint(buf, s.uploads)
	buf = binary.AppendUvarint(buf, uint64(s.tail.Len()))
	s.tail.Each(func(stream uint8, number uint64, msg []byte) {
		buf = codec.AppendBytes(binary.AppendUvarint(append(buf, stream), number), msg)
	})
	return buf
}

// readClient reads what appendClient wrote into a base that has no client yet. The seat is kept from now
// on, as after a lost channel. If r has an error afterwards, the base must be dropped with leaveSeat.
func (b *base) readClient(r *codec.Reader) {
	b.session, b.told = fields.ReadUint32(r), fields.ReadUint32(r)
	switch r.U8() {
	case streamNoClient:
	case streamAwaited:
		copy(b.token[:], r.Take(len(b.token)))
		if b.app.byToken[b.token] != nil {
			r.Fail(errSeatToken)
		}
		if r.Err() == nil {
			b.app.byToken[b.token] = b
			b.attachBy = b.app.now + AttachTimeout
		}
	case streamSeat:
		s := &seat{base: b, restored: true, lost: "its BaseApp is gone"}
		if s.read(r); r.Err() == nil {
			b.seat = s
			s.keep()
		}
	default:
		r.Fail(errSeatKind)
	}
}

// keep makes the tokens of a restored seat good.
func (s *seat) keep() {
	a := s.base.app
	s.shared, s.heardAt = s.sent[protocol.BaseStream], a.now
	s.until = a.now + max(0, a.cfg.ResumeTime)
	for _, t := range [...]protocol.Token{s.token, s.former} {
		if t != (protocol.Token{}) {
			a.seats[t] = s
		}
	}
}

func (s *seat) read(r *codec.Reader) {
	s.base.room = fields.ReadUint32(r)
	copy(s.token[:], r.Take(len(s.token)))
	copy(s.former[:], r.Take(len(s.former)))
	if s.base.app.seats[s.token] != nil || s.base.app.seats[s.former] != nil {
		r.Fail(errSeatToken)
	}
	s.shown = r.Bool()
	for i := range s.sent {
		s.sent[i], s.has[i] = r.Uvarint(), r.Uvarint()
	}
	s.uploads = r.Uvarint()
	last := s.has
	for range r.Count(MaxClientTail/tail.Overhead, 3) { // a stream, a number, no bytes
		stream, number := r.U8(), r.Uvarint()
		msg := r.Bytes(protocol.MaxBundle)
		if r.Err() != nil {
			return
		}
		if int(stream) >= protocol.Streams || number <= last[stream] || number > s.sent[stream] || s.tail.Size()+len(msg) > MaxClientTail {
			r.Fail(errSeatTail)
			return
		}
		last[stream] = number
		s.tail.Add(stream, number, msg)
	}
}
