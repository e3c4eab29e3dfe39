package flow

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/limits"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
)

// Between any two parts, cell or base, of one entity or of two.
const (
	// ServerCallPayload: a script calls a method, exposed or not (ServerCall).
	ServerCallPayload Payload = 65 + iota
	// AnswerPayload: what became of such a call (Answer).
	AnswerPayload
)

// MaxArguments bounds the arguments of a ServerCall and the results of an Answer, in bytes. With all
// else they fit MaxPayload.
const MaxArguments = 512<<10 - 256 - limits.ErrorText

// RequestID is the number of a two-way call among those of its caller. The zero RequestID is of a call
// that wants no answer.
//
// A restored caller makes again the calls that a message of its base caused. They have the same number
// as before, by which an answer to the former one finds the new one. A call without a cause may be
// another one than before, so it has the number of the incarnation.
type RequestID struct {
	Cause  uint64
	Life   uint32
	Number uint64
}

// IsZero reports whether no answer is wanted.
func (q RequestID) IsZero() bool { return q == RequestID{} }

// Compare orders requests.
func (q RequestID) Compare(p RequestID) int {
	return cmp.Or(cmp.Compare(q.Cause, p.Cause), cmp.Compare(q.Life, p.Life), cmp.Compare(q.Number, p.Number))
}

// Append encodes q.
func (q RequestID) Append(b []byte) []byte {
	b = binary.AppendUvarint(b, q.Cause)
	b = binary.AppendUvarint(b, uint64(q.Life))
	return binary.AppendUvarint(b, q.Number)
}

// ReadRequestID reads what Append wrote.
func ReadRequestID(r *codec.Reader) RequestID {
	return RequestID{Cause: r.Uvarint(), Life: fields.ReadUint32(r), Number: r.Uvarint()}
}

// ServerCall is the body of ServerCallPayload.
type ServerCall struct {
	// Caller made the call. It is the flow's sender, unless that is another part of the called entity
	// which hands the call on.
	Caller     entity.ID
	CallerPart entity.Part
	// Cause is the number of the message from the caller's base that made a cell part call, 0 for
	// none; Turn counts its calls of this part because of that message, from 1. A restored caller
	// handles the message again and makes the same calls, so the target can recognise them: of one
	// caller's calls, cause and turn rise.
	Cause uint64
	Turn  uint32
	// Request is zero if no answer is wanted.
	Request RequestID
	// Within is how long the caller waits for one, in game time; it travels in milliseconds, rounded up.
	Within time.Duration
	// Part is the part that the call is for.
	Part entity.Part
	// Type is what the caller takes the target for (property.Definition.ID), whose methods Method counts;
	// an ask and a wish are for entities of all types, and have any.
	Type   uint16
	Method uint16 // property.Method.Index
	Args   []byte // aliases the input after Parse
}

// Append encodes m with its payload byte.
func (m *ServerCall) Append(b []byte) []byte {
	b = fields.AppendID(append(b, byte(ServerCallPayload)), m.Caller)
	b = append(b, byte(m.CallerPart))
	b = binary.AppendUvarint(b, m.Cause)
	b = binary.AppendUvarint(b, uint64(m.Turn))
	b = m.Request.Append(b)
	if !m.Request.IsZero() {
		b = binary.AppendUvarint(b, uint64((m.Within+time.Millisecond-1)/time.Millisecond))
	}
	b = binary.LittleEndian.AppendUint16(append(b, byte(m.Part)), m.Type)
	b = binary.LittleEndian.AppendUint16(b, m.Method)
	return append(b, m.Args...)
}

// Parse decodes a body.
func (m *ServerCall) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.Caller = fields.ReadID(&r)
	m.CallerPart = fields.ReadPart(&r)
	m.Cause = r.Uvarint()
	m.Turn = fields.ReadUint32(&r)
	m.Request, m.Within = ReadRequestID(&r), 0
	if !m.Request.IsZero() {
		ms := r.Uvarint()
		if ms == 0 || ms > uint64(limits.CallTime/time.Millisecond) {
			r.Fail(errors.New("flow: a caller that waits no time, or too long"))
			ms = 0
		}
		m.Within = time.Duration(ms) * time.Millisecond
	}
	m.Part, m.Type = fields.ReadPart(&r), r.U16()
	m.Method = r.U16()
	m.Args = r.Rest()
	if m.CallerPart == entity.ClientPart {
		r.Fail(errors.New("flow: a client makes no server calls"))
	}
	return payloadDone(&r, "server call")
}

// After reports whether the call comes after another one of the same caller, whose cause and turn
// are given; it always does without a cause.
func (m *ServerCall) After(cause uint64, turn uint32) bool {
	return m.Cause == 0 || m.Cause > cause || m.Cause == cause && m.Turn > turn
}

// Answer is the body of AnswerPayload. It goes from the part that was called to the caller.
type Answer struct {
	Request RequestID
	// Code says why there are no results, 0 if there are.
	Code ErrorCode
	// Game and Text are of an entity.GameError. Text tells people more of any error.
	Game    int32
	Text    string
	Results []byte // aliases the input after Parse
}

// Append encodes m with its payload byte.
func (m *Answer) Append(b []byte) []byte {
	b = m.Request.Append(append(b, byte(AnswerPayload)))
	b = append(b, byte(m.Code))
	if m.Code != 0 {
		b = binary.AppendVarint(b, int64(m.Game))
		b = codec.AppendString(b, m.Text)
	}
	return append(b, m.Results...)
}

// Parse decodes a body.
func (m *Answer) Parse(body []byte) error {
	r := codec.NewReader(body)
	*m = Answer{Request: ReadRequestID(&r), Code: ErrorCode(r.U8())}
	if m.Code >= errorCodes {
		r.Fail(errors.New("flow: unknown error"))
	}
	if m.Code != 0 {
		game := r.Varint()
		m.Game = int32(game)
		m.Text = r.String(limits.ErrorText)
		if int64(m.Game) != game || r.Len() > 0 {
			r.Fail(errors.New("flow: an error has no results"))
		}
	}
	m.Results = r.Rest()
	return payloadDone(&r, "answer")
}

// AnsweredCause is the cause of the call that a payload answers; 0 if the call had none, or if the
// payload is no answer.
func AnsweredCause(payload []byte) uint64 {
	kind, body, err := SplitPayload(payload)
	if err != nil || kind != AnswerPayload {
		return 0
	}
	r := codec.NewReader(body)
	id := ReadRequestID(&r)
	if r.Err() != nil {
		return 0
	}
	return id.Cause
}

// ErrorCode is an error of a call where it travels.
type ErrorCode uint8

// The codes. They are part of what is sent and saved.
const (
	noError ErrorCode = iota
	gameError
	refused
	noEntity
	noPart
	noMethod
	badArguments
	full
	errorCodes
)

// codes are the errors that keep their identity.
func codes() [errorCodes]error {
	return [errorCodes]error{refused: entity.ErrRefused, noEntity: entity.ErrNoEntity, noPart: entity.ErrNoPart,
		noMethod: entity.ErrNoMethod, badArguments: entity.ErrArguments, full: entity.ErrFull}
}

// Fail makes m say that a call ended with err, which is not nil.
func (m *Answer) Fail(err error) {
	m.Results = nil
	var game *entity.GameError
	if errors.As(err, &game) {
		m.Code, m.Game, m.Text = gameError, game.Code, cut(game.Text)
		return
	}
	m.Code, m.Text = refused, cut(err.Error())
	for code, known := range codes() {
		if known != nil && errors.Is(err, known) {
			m.Code = ErrorCode(code)
			return
		}
	}
}

// Err is the error that m tells of, nil for none.
func (m *Answer) Err() error {
	switch m.Code {
	case noError:
		return nil
	case gameError:
		return &entity.GameError{Code: m.Game, Text: m.Text}
	}
	known := codes()[m.Code]
	if m.Text == "" || m.Text == known.Error() {
		return known
	}
	return fmt.Errorf("%w: there: %s", known, m.Text)
}

func cut(s string) string { return s[:min(len(s), limits.ErrorText)] }
