package main

import (
	"encoding/binary"
	"encoding/json"
	"time"
)

// kind is the first byte of each message of the probe.
//
//	data     kind, flags, number u32, stamp i64, filler
//	credit   kind, bytes u32
//	begin    kind, JSON of spec           client -> server, on the first connection of a run
//	begun    kind                         server -> client: the other connections may join
//	join     kind                         client -> server, on each other connection
//	ready    kind                         server -> client: all have joined, the clocks of both ends start
//	finish   kind                         client -> server: all is sent
//	report   kind, JSON of side           server -> client
//	refused  kind, text                   server -> client
//	ping     kind                         answered by pong
//	request  kind, bytes u32              answered by pieces
//	piece    kind, flags, filler
//
// Numbers are little endian.
type kind byte

const (
	kindData kind = 1 + iota
	kindCredit
	kindBegin
	kindBegun
	kindJoin
	kindReady
	kindFinish
	kindReport
	kindRefused
	kindPing
	kindPong
	kindRequest
	kindPiece
)

// Flags of data and pieces.
const (
	flagMeasured = 1 // sent within the measured time
	flagLast     = 2 // the last piece of an answer
)

const (
	// dataHeader is the size of a data message without filler, and so the smallest.
	dataHeader = 1 + 1 + 4 + 8
	// pieceSize is the largest piece of an answer: small enough for every transport, large enough
	// to cost nothing.
	pieceSize = 32 << 10
	// pieceHeader is what stands before the filler of a piece.
	pieceHeader = 2
)

// putData writes the header of a data message into b, which is the whole message.
func putData(b []byte, flags byte, number uint32, stamp time.Duration) {
	b[0], b[1] = byte(kindData), flags
	binary.LittleEndian.PutUint32(b[2:], number)
	binary.LittleEndian.PutUint64(b[6:], uint64(stamp))
}

// readData reads what putData wrote; false when msg is too short.
func readData(msg []byte) (flags byte, number uint32, stamp time.Duration, ok bool) {
	if len(msg) < dataHeader {
		return 0, 0, 0, false
	}
	return msg[1], binary.LittleEndian.Uint32(msg[2:]), time.Duration(binary.LittleEndian.Uint64(msg[6:])), true
}

// withNumber is a message of a kind and one number: credit and request.
func withNumber(k kind, n int) []byte {
	return binary.LittleEndian.AppendUint32([]byte{byte(k)}, uint32(n))
}

// readNumber reads what withNumber wrote; false when msg has another size.
func readNumber(msg []byte) (int, bool) {
	if len(msg) != 5 {
		return 0, false
	}
	return int(binary.LittleEndian.Uint32(msg[1:])), true
}

// withJSON is a message of a kind and a value.
func withJSON(k kind, v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // a fault of our own structs
	}
	return append([]byte{byte(k)}, text...)
}
