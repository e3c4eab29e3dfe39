package baseapp

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/internal/tail"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// What a base knows of its client goes with it to another BaseApp, or into its backup:
//
//	number of the session | incarnation that the client was told
//	0                                                             no client
//	1 | token of the login                                        the client has yet to come
//	2 | room | tokens | enabled | given | from | sent | has | restored | shared by each token, if so | uploads | tail   it has a seat
//	3 | token of the login | as 2                                 it has a seat, and the next client has yet to come
//
// A base that is made from that keeps the seat, as after a lost channel, until the client resumes it
// there.

// The kinds of a client in a stream.
const (
	streamNoClient uint8 = iota
	streamAwaited
	streamSeat
	streamBoth
)

// sessionGap is how many sessions a restored base passes over for each former life, which may have had them
// after its copy was made: what an unknown one has left in a flow is for nobody. Between two copies there is
// room for a few logins.
const sessionGap = 1 << 10

// Faults of such a stream.
var (
	errSeatKind  = errors.New("baseapp: a client of no kind")
	errSeatToken = errors.New("baseapp: a client's token is here already")
	errSeatTail  = errors.New("baseapp: a tail out of order, or too long")
)

// appendClient appends what is known of the client.
func (b *base) appendClient(buf []byte) []byte {
	buf = codec.AppendBytes(buf, b.loginData)
	buf = binary.AppendUvarint(binary.AppendUvarint(buf, uint64(b.session)), uint64(b.sessions))
	buf = binary.AppendUvarint(buf, uint64(b.told))
	switch s := b.seat; {
	case s != nil && b.attachBy != 0:
		return s.append(append(append(buf, streamBoth), b.token[:]...))
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
	buf = codec.AppendBool(codec.AppendBool(buf, s.enabled), s.given)
	buf = fields.AppendID(buf, s.from)
	for i := range s.sent {
		buf = binary.AppendUvarint(binary.AppendUvarint(buf, s.sent[i]), s.has[i])
	}
	if buf = codec.AppendBool(buf, s.restored); s.restored {
		for _, shared := range s.shared {
			for i, n := range shared {
				buf = binary.AppendUvarint(buf, min(n, s.sharing()[i]))
			}
		}
	}
	buf = binary.AppendUvarint(buf, s.uploads)
	buf = binary.AppendUvarint(buf, uint64(s.tail.Len()))
	s.tail.Each(func(stream uint8, number uint64, msg []byte) {
		buf = codec.AppendBytes(binary.AppendUvarint(append(buf, stream), number), msg)
	})
	return buf
}

// sharing is what a client shares with the next life, if it has heard of no other past. What the cell part
// says to it lives on.
func (s *seat) sharing() protocol.Counts {
	return protocol.Counts{protocol.BaseStream: s.sent[protocol.BaseStream], protocol.CellStream: math.MaxUint64}
}

// readClient reads what appendClient wrote into a base that has no client yet. awaitClient makes it good,
// once the base is sure to live.
func (b *base) readClient(r *codec.Reader) {
	b.loginData = append([]byte(nil), r.Bytes(wire.MaxLoginData)...)
	b.session, b.sessions = fields.ReadUint32(r), fields.ReadUint32(r)
	b.told = fields.ReadUint32(r)
	kind := r.U8()
	if kind > streamBoth {
		r.Fail(errSeatKind)
	}
	if kind == streamAwaited || kind == streamBoth {
		copy(b.token[:], r.Take(len(b.token)))
		b.attachBy = b.app.now + AttachTimeout
	}
	if kind == streamSeat || kind == streamBoth {
		b.seat = &seat{base: b, restored: true, lost: "its BaseApp is gone"}
		b.seat.read(r)
	}
}

// passOverSessions leaves out the numbers of sessions that former lives may have given.
func (b *base) passOverSessions(lives uint32) {
	if b.sessions > 0 || b.attachBy != 0 {
		b.sessions += sessionGap * lives
	}
}

// awaitClient makes the tokens good that were read. A seat is kept from now on, as after a lost channel.
func (b *base) awaitClient() error {
	a, s := b.app, b.seat
	if b.attachBy != 0 {
		if a.byToken[b.token] != nil {
			return errSeatToken
		}
		a.byToken[b.token] = b
	}
	if s == nil {
		return nil
	}
	// The client does not know yet that its channel has nobody at the other end.
	s.heardAt, s.until = a.now, a.now+mercury.DefaultInactivity+max(0, a.cfg.ResumeTime)
	tokens := [...]protocol.Token{s.token, s.former}
	for _, t := range tokens {
		if a.seats[t] != nil {
			return errSeatToken
		}
	}
	for _, t := range tokens {
		if t != (protocol.Token{}) {
			a.seats[t] = s
		}
	}
	s.sayProperties()
	return nil
}

func (s *seat) read(r *codec.Reader) {
	s.base.room = fields.ReadUint32(r)
	copy(s.token[:], r.Take(len(s.token)))
	copy(s.former[:], r.Take(len(s.former)))
	s.enabled, s.given, s.from = r.Bool(), r.Bool(), fields.ReadID(r)
	for i := range s.sent {
		s.sent[i], s.has[i] = r.Uvarint(), r.Uvarint()
	}
	s.shared = [2]protocol.Counts{s.sharing(), s.sharing()}
	if r.Bool() {
		for k := range s.shared {
			for i, n := range s.shared[k] {
				s.shared[k][i] = min(n, r.Uvarint())
			}
		}
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
