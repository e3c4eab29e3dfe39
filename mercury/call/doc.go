// Package call keeps the calls of an app that wait for an answer over the channels of package
// mercury. An answer, a failure, a time-out or the end of the channel ends a call exactly once, and
// the callee keeps nothing. How requests and answers look is the app's own: they carry the ID of
// their call. The package does no input or output and reads no clock.
package call
