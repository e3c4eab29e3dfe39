// Package call has requests and replies over the channels of package mercury: time-outs, failures
// and the end of a channel end a call exactly once, and the callee keeps nothing. It does no input
// or output itself and reads no clock.
//
// A message of it is
//
//	┌──────┬──────────────────────┬─────
//	│ kind │ varint: call·4 + op  │ body; or of a failure varint code, text
//	└──────┴──────────────────────┴─────
//
// The kind is the app's own first byte for such messages. Everything that a peer sends is bounded:
// a message that cannot be read is counted and told by an error, a reply to no call is counted.
package call
