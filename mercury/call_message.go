package mercury

import (
	"encoding/binary"
	"strings"
)

// callOp is what a message of Calls does. It rides in the two low bits of the call's number.
type callOp uint8

const (
	callRequest  callOp = iota // body follows
	callDetailed               // a request whose failure is to be told with code and text
	callReply                  // body follows
	callFailure                // code and text follow
)

const (
	callOpBits = 2
	// MaxFailureText is the most that a CallFailure's text may be, in bytes: a line for a log. Longer ones are cut.
	MaxFailureText = 256
)

// A message of Calls is
//
//	┌──────┬──────────────────────┬─────
//	│ kind │ varint: call·4 + op  │ body; or of a failure varint code, text
//	└──────┴──────────────────────┴─────

// appendCall appends what stands before the body.
func appendCall(b []byte, kind byte, op callOp, call CallID) []byte {
	return binary.AppendUvarint(append(b, kind), uint64(call)<<callOpBits|uint64(op))
}

// appendFailure appends what stands in the place of a failure's body.
func appendFailure(b []byte, code uint32, text string) []byte {
	if len(text) > MaxFailureText {
		text = strings.ToValidUTF8(text[:MaxFailureText], "") // a letter may be cut in two
	}
	return AppendString(binary.AppendUvarint(b, uint64(code)), text)
}

// readCall reads what appendCall wrote, behind the kind.
func readCall(r *Reader) (op callOp, call CallID) {
	v := r.Uvarint()
	return callOp(v & (1<<callOpBits - 1)), CallID(v >> callOpBits)
}

// readFailure reads what appendFailure wrote, to the end.
func readFailure(r *Reader) (code uint32, text []byte, err error) {
	v := r.Uvarint()
	if v > 1<<32-1 {
		r.fail(ErrValue)
	}
	text = r.Bytes(MaxFailureText)
	return uint32(v), text, r.Close()
}
