package protocol

import (
	"errors"
	"fmt"
	"math"

	"github.com/cellscape/cellscape/internal/codec"
)

// Version is the version of this protocol. Client and server must agree. Version 3 packs the
// properties of BasePlayer, CellPlayer and Enter where a type asks for it; version 4 rounds the
// entries of Positions packets, relative to an origin; version 5 names their entities by alias and
// says where they are next to what the client is known to hold, which it tells (Seen), and has the
// client keep what it knows of who leaves (Keep, Return); version 6 numbers the places that the
// server puts a player's entity at (Forced), and has moves repeat the number, and teleports players
// (LeaveSpace, Arrived); version 7 lets a client move entities beside its own (Controlled,
// MoveOther); version 8 lets a session go on over another channel (Resume); version 9 lets a client
// say when it is ready to be shown the world (EnableEntities), gives it to another base
// (ResetEntities, NewToken), asks a silent server (Ping), and takes the view along through a
// transition (Transit); version 10 tells a client its place in the queue of those who wait for room
// (Waiting); version 11 says where a session goes on that is sent to an app which is gone by then
// (Switch); version 12 rounds the place of who enters on the way; version 13 has the places of a
// packet in lists, by how they are written; version 14 says with a Resume which view the client has;
// version 15 has vehicles (Ride, and in a Forced); version 16 has the seats of those who move about on
// them in packets; version 17 tells with the login where it goes on if the BaseApp is gone, has a Resume
// show the token before the last as well, and has a code for an account that is banned.
const Version = 17

// MaxBundle bounds one bundle: it is the most that a reliable mercury message carries.
const MaxBundle = 512 << 10

// MaxReason bounds a reason text, a sentence that a player reads.
const MaxReason = 512

// ErrMalformed is in the chain of every parse error of this package.
var ErrMalformed = errors.New("protocol: malformed message")

// ID says what a framed message is.
type ID uint8

// Begin starts a message that has its length in the frame: it appends the id and room for the length.
// Append the body, then call End with the mark.
func Begin(b []byte, id ID) (out []byte, mark int) {
	return codec.BeginBytes(append(b, byte(id)))
}

// End fills in the length of the message that began at mark.
func End(b []byte, mark int) []byte {
	return codec.EndBytes(b, mark)
}

// Messages calls f with each message of a bundle, in order, and stops at the first error, its own
// or f's.
func Messages(bundle []byte, f func(id ID, body []byte) error) error {
	if len(bundle) > MaxBundle {
		return fmt.Errorf("%w: bundle of %d bytes", ErrMalformed, len(bundle))
	}
	r := codec.NewReader(bundle)
	for r.Len() > 0 {
		id := ID(r.U8())
		var body []byte
		if n := ownSize(id); n > 0 {
			body = r.Take(n)
		} else {
			body = r.Bytes(MaxBundle)
		}
		if err := r.Err(); err != nil {
			return fmt.Errorf("%w: frame: %w", ErrMalformed, err)
		}
		if err := f(id, body); err != nil {
			return err
		}
	}
	return nil
}

// aFrame bounds what takes the rest of a body by the frame that it stands in.
const aFrame = math.MaxInt

// frame frames and encodes a message by its description, parse decodes one.
func frame(b []byte, id ID, code func(*codec.Coder)) []byte {
	b, mark := Begin(b, id)
	return End(codec.Append(b, code), mark)
}

func parse(body []byte, m any, code func(*codec.Coder)) error {
	return codec.ParseAs(ErrMalformed, body, m, code)
}

// bare frames a message that says all by its id.
func bare(b []byte, id ID) []byte {
	b, mark := Begin(b, id)
	return End(b, mark)
}

// done closes a reader and names the message in its error.
func done(r *codec.Reader, name string) error {
	return r.CloseAs(ErrMalformed, name)
}
