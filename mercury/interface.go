package mercury

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// Length says how many bytes the body of a message has.
type Length int

const (
	// Variable is the Length of messages that announce theirs.
	Variable Length = -1
	// Empty is the Length of messages without a body. It is not 0, so that a Length that was forgotten is a fault.
	Empty Length = -2
)

const (
	// MaxMessageID is the greatest id. Up to 127 an id takes one byte, then two.
	MaxMessageID = 1<<14 - 1
	// MaxFixedLength is the most that a fixed length may be: it costs nothing to announce a longer one.
	MaxFixedLength = 1 << 16
	// lengthEscape stands in place of a length of one byte when the length follows as a varint.
	lengthEscape = 0xFF
)

// Errors of message tables.
var (
	// ErrUnknownMessage is for an id that is not in the table, or has no Handler on this side.
	ErrUnknownMessage = errors.New("mercury: unknown message")
	// ErrStop, returned by a Handler as it is, stops the dispatch behind the message: Dispatch returns the rest of the bundle.
	ErrStop = errors.New("mercury: dispatch stopped")
	// ErrStopBefore, returned by a Handler as it is, stops the dispatch before the message, which counts as not handled: it
	// is the first of the rest.
	ErrStopBefore = errors.New("mercury: dispatch stopped before the message")
)

// MessageError says which message of a bundle, or of a table's writer, is at fault. Err is ErrUnknownMessage, or what a
// Reader says: ErrShort, ErrLength, ErrValue.
type MessageError struct {
	Interface string
	ID        int    // -1 when not even that could be read
	Name      string // "" when the id is unknown
	Offset    int    // of the message in its bundle
	Err       error
}

func (e *MessageError) Error() string {
	return fmt.Sprintf("mercury: interface %s, message %d %q at %d: %v", e.Interface, e.ID, e.Name, e.Offset, e.Err)
}

// Unwrap returns Err.
func (e *MessageError) Unwrap() error { return e.Err }

// Message is one line of an Interface.
type Message[C any] struct {
	ID   int    // 0 to MaxMessageID; give the ids up to 127 to what is sent most
	Name string // for errors and statistics
	// Length is a number of bytes from 1 to MaxFixedLength, Variable or Empty.
	Length Length
	// Handler takes the body from r, whole: what it leaves, like what it finds missing, is an error of that message. Rest skips what is not
	// wanted. r is valid only during the call. A nil Handler is for a message that this side only sends.
	Handler func(ctx C, r *Reader) error
}

// Interface is the table of the messages that one kind of app understands: built once, the same at both ends but for the
// handlers. C is what handlers get: the app, or the entity and the channel that spoke.
//
// A bundle is a run of messages, each
//
//	┌────────────┬──────────────────────────────────────┬──────
//	│ id, varint │ if Variable: length 0..254, one byte │ body
//	│ 1 or 2     │ or 0xFF, length as a varint          │
//	└────────────┴──────────────────────────────────────┴──────
//
// so that a short message costs two bytes, a fixed one one, and any length can be written without knowing it first. A
// bundle is the body of a message of a Transport, or part of one.
//
// An Interface belongs to one goroutine, as it counts what passes. A Handler may call any method, Dispatch too.
type Interface[C any] struct {
	name     string
	messages []tableEntry[C] // by id
	byID     []int16         // place in messages, -1 for none
	unknown  uint64
	broken   uint64
	readers  []*Reader // one for each Dispatch under way; on the stack they would be made anew for each bundle
	depth    int
}

type tableEntry[C any] struct {
	Message[C]
	stats MessageStats
}

// NewInterface makes a table. It reports all faults of messages at once, each with its remedy. name is for errors.
func NewInterface[C any](name string, messages ...Message[C]) (*Interface[C], error) {
	var faults []error
	fault := func(m *Message[C], format string, args ...any) {
		where := fmt.Sprintf("mercury: interface %s, message %d %q: ", name, m.ID, m.Name)
		faults = append(faults, errors.New(where+fmt.Sprintf(format, args...)))
	}
	t := &Interface[C]{name: name}
	names := make(map[string]int, len(messages))
	ids := make(map[int]string, len(messages))
	for _, m := range messages {
		if m.Name == "" {
			fault(&m, "has no name: give it one, for errors and statistics")
		} else if other, ok := names[m.Name]; ok {
			fault(&m, "has the name of message %d: take another", other)
		}
		if other, ok := ids[m.ID]; ok {
			fault(&m, "has the id of %q: take another", other)
		}
		if m.ID < 0 || m.ID > MaxMessageID {
			fault(&m, "take an id from 0 to %d", MaxMessageID)
		}
		if m.Length != Variable && m.Length != Empty && (m.Length < 1 || m.Length > MaxFixedLength) {
			fault(&m, "has length %d: take 1 to %d, Variable, or Empty for none", int(m.Length), MaxFixedLength)
		}
		names[m.Name], ids[m.ID] = m.ID, m.Name
		t.messages = append(t.messages, tableEntry[C]{Message: m, stats: MessageStats{ID: m.ID, Name: m.Name}})
	}
	if faults != nil {
		return nil, errors.Join(faults...)
	}
	t.index()
	return t, nil
}

// index sorts the messages and makes them findable by id.
func (t *Interface[C]) index() {
	slices.SortFunc(t.messages, func(a, b tableEntry[C]) int { return cmp.Compare(a.ID, b.ID) })
	for i, m := range t.messages {
		for len(t.byID) < m.ID {
			t.byID = append(t.byID, -1)
		}
		t.byID = append(t.byID, int16(i))
	}
}

// Name is what NewInterface was given.
func (t *Interface[C]) Name() string { return t.name }

// find returns the entry of an id, nil when there is none.
func (t *Interface[C]) find(id uint64) *tableEntry[C] {
	if id >= uint64(len(t.byID)) || t.byID[id] < 0 {
		return nil
	}
	return &t.messages[t.byID[id]]
}

// Mark is a message that was begun and not yet ended.
type Mark struct{ start, body, id int }

// Begin begins a message in a bundle, which may hold others before it. The caller appends the body to b, then calls End or
// Abandon with the same Mark. An id that is not in the table is told by End.
func (t *Interface[C]) Begin(b []byte, id int) ([]byte, Mark) {
	m := Mark{start: len(b), id: id}
	if id >= 0 {
		b = binary.AppendUvarint(b, uint64(id))
	}
	if e := t.sent(id); e != nil && e.Length == Variable {
		b = append(b, 0)
	}
	m.body = len(b)
	return b, m
}

// End ends the message that Begin began: it fills in its length. When the body has not the length that the table says, or more than
// MaxMaxMessage bytes, the message is taken back, as by Abandon, and the error says why.
func (t *Interface[C]) End(b []byte, m Mark) ([]byte, error) {
	e, n := t.sent(m.id), len(b)-m.body
	switch {
	case e == nil:
		return b[:m.start], &MessageError{t.name, m.id, "", m.start, ErrUnknownMessage}
	case e.Length != Variable && n != max(0, int(e.Length)), n > MaxMaxMessage:
		return b[:m.start], &MessageError{t.name, m.id, e.Name, m.start, ErrLength}
	case e.Length == Variable && n < lengthEscape:
		b[m.body-1] = byte(n)
	case e.Length == Variable:
		b = insertLength(b, m.body, n)
	}
	e.stats.Out.add(len(b) - m.start)
	return b, nil
}

// Abandon takes back a message that was begun, whatever was appended since.
func (t *Interface[C]) Abandon(b []byte, m Mark) []byte { return b[:m.start] }

// Append appends a message whose body is at hand. When it does not fit the table, b is returned as it was.
func (t *Interface[C]) Append(b []byte, id int, body []byte) ([]byte, error) {
	b, m := t.Begin(b, id)
	return t.End(append(b, body...), m)
}

// sent finds what this side sends.
func (t *Interface[C]) sent(id int) *tableEntry[C] {
	if id < 0 {
		return nil
	}
	return t.find(uint64(id))
}

// insertLength makes room before the body at at, for a length that one byte cannot hold. A long body is moved once; writing it
// cost more.
func insertLength(b []byte, at, n int) []byte {
	var size [binary.MaxVarintLen64]byte
	extra := binary.PutUvarint(size[:], uint64(n))
	b = append(b, size[:extra]...)
	copy(b[at+extra:], b[at:at+n])
	b[at-1] = lengthEscape
	copy(b[at:], size[:extra])
	return b
}

// readLength reads the length before the body of a Variable message.
func readLength(r *Reader) uint64 {
	n := uint64(r.U8())
	if n < lengthEscape {
		return n
	}
	n = r.Uvarint()
	if n < lengthEscape && r.err == nil {
		r.fail(ErrValue) // one byte would have done
	}
	return n
}

// next takes the next message from r: its entry, nil when it is unknown, and its body.
func (t *Interface[C]) next(r *Reader) (id int, e *tableEntry[C], body []byte) {
	v := r.Uvarint()
	if r.err != nil {
		return -1, nil, nil
	}
	e = t.find(v)
	if e == nil {
		id = int(min(v, 1<<31-1))
		r.fail(ErrUnknownMessage)
		return id, nil, nil
	}
	n := uint64(max(0, e.Length))
	if e.Length == Variable {
		n = readLength(r)
	}
	if n > uint64(r.Len()) {
		r.fail(ErrShort)
		return e.ID, e, nil
	}
	return e.ID, e, r.take(int(n))
}

// Dispatch gives each message of a bundle to its handler, in order. bundle is not kept.
//
// A message with an unknown id, or one that cannot be told from what follows it, costs the rest of the bundle: the error is a
// *MessageError. An error of a handler, or a body that it did not read right, is counted and costs that message alone.
//
// When a handler returns ErrStop or ErrStopBefore, rest is what was not handled, itself a bundle, and the error is nil. That
// is how a handler moves its entity to another app, or closes the channel: what follows is still there to be
// forwarded, or dropped. Otherwise rest is nil.
func (t *Interface[C]) Dispatch(ctx C, bundle []byte) (rest []byte, err error) {
	r := NewReader(bundle)
	body := t.enter()
	for r.Len() > 0 && rest == nil {
		offset := len(bundle) - r.Len()
		id, e, p := t.next(&r)
		if r.err != nil {
			err = t.fault(id, e, offset, r.err)
			break
		}
		*body = NewReader(p)
		end := len(bundle) - r.Len()
		stop := e.handle(ctx, body)
		if stop == ErrStopBefore {
			rest = bundle[offset:]
			break
		}
		e.stats.In.add(end - offset)
		if stop == ErrStop {
			rest = bundle[end:]
		}
	}
	t.leave()
	return rest, err
}

// handle calls the handler and counts its error; only the two that stop a dispatch are passed on.
func (e *tableEntry[C]) handle(ctx C, r *Reader) error {
	err := ErrUnknownMessage
	if e.Handler != nil {
		err = e.Handler(ctx, r)
	}
	if err == ErrStopBefore {
		return err
	}
	stop := err == ErrStop
	if stop || err == nil {
		err = r.Close()
	}
	if err != nil {
		e.stats.Errors++
		e.stats.LastError = err
	}
	if stop {
		return ErrStop
	}
	return nil
}

// fault counts and describes what ended a dispatch.
func (t *Interface[C]) fault(id int, e *tableEntry[C], offset int, err error) error {
	if e == nil && id >= 0 {
		t.unknown++
		return &MessageError{t.name, id, "", offset, err}
	}
	t.broken++
	name := ""
	if e != nil {
		name = e.Name
	}
	return &MessageError{t.name, id, name, offset, err}
}

// enter returns the Reader for the bodies of one dispatch; handlers may dispatch in turn.
func (t *Interface[C]) enter() *Reader {
	if t.depth == len(t.readers) {
		t.readers = append(t.readers, new(Reader))
	}
	t.depth++
	return t.readers[t.depth-1]
}

// leave gives it back.
func (t *Interface[C]) leave() {
	t.depth--
	*t.readers[t.depth] = Reader{}
}
