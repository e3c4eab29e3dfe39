// Package replay plays recordings of spaces (package recording): a Player merges the logs of all cells
// by game time, and shows the entities as a client shows those that it sees.
//
//	found, err := keep.Find("recordings")
//	player, err := replay.New(replay.Config{Schema: schema, Scripts: scripts, Events: events}, found[0].Logs...)
//	for more := true; more && err == nil; {
//		more, err = player.Step() // or Advance(to), by a clock that runs as fast as you like
//	}
//
// The Scripts, the Filter and the Events are those of package client. So what draws a live world, and
// what it does when a script is told of a change or a call, plays a recording as well. Calls to the
// server fail with client.ErrNotPlaying. There is no player's own entity, and nobody's area of
// interest: all that is in the space is shown. Properties that are only exposed for replay are in
// Replica.Props, and Events hear of their changes. Scripts of client.Register cannot have fields for
// them, since no client has them.
//
// # What is shown
//
//	the logs say                         shown
//	State                                the entity enters, or goes on: what differs is a change
//	an older hop than the newest         nothing; but calls of it are heard
//	Gone on, or a key frame without it   the entity, for recording.Grace, unless a State comes
//	End                                  it leaves
//	Ride                                 it goes where its vehicle is shown; if that is lost, it is where
//	                                     its last key frame had it
//	nothing, since the sink refused it   what it held, for Grace, unless another log has it (Player.Gaps)
//	a log ends (its CellApp died)        what it held, for Grace, unless another log goes on with it
//
// Entities are within recording.Resolution/2 of where they were, and have every value that they had, at
// each moment of Step. Between cells of different CellApps times differ by as much as the clocks of
// those do (a few milliseconds).
//
// # Seek
//
// Seek goes to any time. It plays, in silence, from the key frames before: at most recording.Grace and
// two recording.KeyPeriod. Who hears is told that all leave and that those of the new time enter.
//
// # Costs
//
// A Player holds the entities that are shown, and 24 bytes for each chunk of each log. Everything that
// it reads is bounded (package recording), and bytes that make no sense are errors.
//
// # Concurrency
//
// A Player belongs to one goroutine.
package replay
