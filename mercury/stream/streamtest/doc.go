// Package streamtest checks the adapters of mercury.Transport that are made with package stream, in
// real time over loopback.
//
// An adapter's tests call TestAdapter with a function that makes a Transport; it runs
// mercurytest.TestTransport and what that suite cannot know of: peers that read slowly or not at
// all, limits, loops, goroutines left behind. Bulk is their common benchmark. All owners run on the
// caller's goroutine, one after the other, except in Bulk and where loops are tested.
package streamtest
