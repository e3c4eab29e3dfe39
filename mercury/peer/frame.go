package peer

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/mercury/call"
)

// A request or what ends it:
//
//	┌──────────┬──────────────────────┬─────
//	│ callKind │ varint: call·4 + op  │ body
//	└──────────┴──────────────────────┴─────
const (
	// callKind begins requests, replies and failures.
	callKind = 0xC0
	// escaped stands before a message of the app that begins like one of these two.
	escaped = 0xC1
)

// operation is what such a message does. It rides in the two low bits of the call's number.
type operation uint8

const (
	opRequest operation = iota
	opReply
	opFailure // the body is text

	opBits = 2
)

// MaxFailureText is the longest that a Failure may be, in bytes: a line for a log. Longer texts are
// cut.
const MaxFailureText = 256

// Failure ends a request that Config.Answer of the peer refused: it is what that says, at most
// MaxFailureText bytes of anything.
type Failure string

func (f Failure) Error() string { return fmt.Sprintf("peer: refused by the peer: %q", string(f)) }

// appendFrame appends a message of a call.
func appendFrame(b []byte, op operation, id call.ID, body []byte) []byte {
	return append(binary.AppendUvarint(append(b, callKind), uint64(id)<<opBits|uint64(op)), body...)
}

// parseFrame reads what appendFrame wrote.
func parseFrame(msg []byte) (op operation, id call.ID, body []byte, err error) {
	r := codec.NewReader(msg[1:])
	v := r.Uvarint()
	op, id, body = operation(v&(1<<opBits-1)), call.ID(v>>opBits), r.Rest()
	if id == 0 || op > opFailure || op == opFailure && len(body) > MaxFailureText {
		r.Fail(codec.ErrValue)
	}
	return op, id, body, r.Err()
}

// failureText is what is told of an error.
func failureText(err error) []byte {
	text := err.Error()
	if len(text) > MaxFailureText {
		text = strings.ToValidUTF8(text[:MaxFailureText], "") // a letter may be cut in two
	}
	return []byte(text)
}
