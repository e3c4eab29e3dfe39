// Package watch is what a running process shows of itself by name, and what may be set there.
//
//	balance/period            500ms        writable
//	cells/reals               1204
//	game/monsters             37
//	trace/entities            2048.1
//	witness/bytes_per_tick    5000         writable
//
// Each process of a world has a [Tree] of its own: its figures, those of its settings that may
// change in flight, and under "game" what the game adds (cluster.Config.Watch). An operator reads
// and sets them from any OS process by cluster.Observer, which asks the CellAppMgr, which asks the
// process:
//
//	Observer --question--> CellAppMgr --question--> process
//	         <--answer----            <--answer----
//
// A question is answered once: with values, or with a [Fault] that says why not. Reading takes the
// key that shows the status, setting the key that freezes the world.
//
// # Promises
//
// A list is in the order of paths. A value that was set acts from then on in that process, until it
// is set again or the process ends; it is written nowhere else. Only what is set of the CellAppMgr,
// but for the game's own values, acts as long as the world lives: managers that take the place of
// others set it anew. A value that is refused has changed nothing, and the error tells what is
// taken. Nothing is computed until somebody asks.
//
// # Bounds
//
// A tree has at most [MaxValues] values, a path [MaxPath] bytes, a text [MaxText] bytes. An answer
// holds at most [MaxList] values; whoever wants more asks for those after the last.
//
// # Concurrency
//
// A tree belongs to the goroutine of its process. Getters and setters are called there, between two
// messages, and must not block.
//
// # Source
//
// BigWorld's watchers: a tree of named values in each process, which tools read and set.
package watch
