// Package cellapp is the CellApp: the process that runs cells of spaces. It passes messages to its
// cells, runs their ticks, and reports to the CellAppMgr what they cost.
//
// CellApp is a state machine: it opens no socket, starts no goroutine and reads no clock. A runner
// (mercury/host, or the simulator) passes in messages and the time, and carries what it sends.
//
//	joining --Welcome--> running --Dismissed--> dismissed
//	   ^                    |
//	   +--- manager lost ---+   (cells go on without balance)
//
// The geometry of a space comes as whole trees and deltas; a bsp.Follower beside each cell puts
// them together. The CellApp asks for what is missing with GeometryLacked, at most every 200 ms for
// each space, and every CellsReport shows it.
//
// A CellApp listens only to the CellAppMgr, on the channel to it, and to apps that the manager has
// named (wire.Members). Each may say what its role allows: CellApps speak of ghosts and handoffs,
// BaseApps of the entities whose bases they have. The messages of others wait at the door for a
// while, since a new app's first message may overtake the one that names it.
//
// When a channel to another app ends, the last messages may be lost even though both apps live. The
// CellApp then repeats what that app must know: news that bases have not answered, handoffs, where
// reals are, which ghosts there should be. Package migrate tells the whole of it.
//
// A dismissed CellApp was only slow, but has been declared dead, and its entities now live
// elsewhere. It drops everything, and the runner starts it again under a new salt.
package cellapp
