package call

import (
	"encoding/binary"
	"strings"

	"github.com/cellscape/cellscape/internal/codec"
)

// operation is what a message of Calls does. It rides in the two low bits of the call's number.
type operation uint8

const (
	opRequest  operation = iota // body follows
	opDetailed                  // a request whose failure is to be told with code and text
	opReply                     // body follows
	opFailure                   // code and text follow
)

const (
	opBits = 2
	// MaxFailureText is the longest that a Failure's text may be, in bytes: a line for a log.
	// Longer texts are cut.
	MaxFailureText = 256
)

// appendHead appends what precedes the body.
func appendHead(b []byte, kind byte, op operation, call ID) []byte {
	return binary.AppendUvarint(append(b, kind), uint64(call)<<opBits|uint64(op))
}

// appendFailure appends what stands in place of a failure's body.
func appendFailure(b []byte, code uint32, text string) []byte {
	if len(text) > MaxFailureText {
		text = strings.ToValidUTF8(text[:MaxFailureText], "") // a letter may be cut in two
	}
	return codec.AppendString(binary.AppendUvarint(b, uint64(code)), text)
}

// readHead reads what appendHead wrote after the kind.
func readHead(r *codec.Reader) (op operation, call ID) {
	v := r.Uvarint()
	return operation(v & (1<<opBits - 1)), ID(v >> opBits)
}

// readFailure reads what appendFailure wrote, to the end.
func readFailure(r *codec.Reader) (code uint32, text []byte, err error) {
	v := r.Uvarint()
	if v > 1<<32-1 {
		r.Fail(codec.ErrValue)
	}
	text = r.Bytes(MaxFailureText)
	return uint32(v), text, r.Close()
}
