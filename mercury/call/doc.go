// Package call provides requests and replies over the channels of package mercury. A time-out, a
// failure or the end of a channel ends a call exactly once, and the callee keeps nothing. The
// package does no input or output itself and reads no clock.
//
// Its messages look like this:
//
//	┌──────┬──────────────────────┬─────
//	│ kind │ varint: call·4 + op  │ body; or of a failure varint code, text
//	└──────┴──────────────────────┴─────
//
// The kind is the app's own first byte for such messages. Everything that a peer sends is bounded:
// a message that cannot be read is counted and reported as an error, and a reply to no call is
// counted.
package call
