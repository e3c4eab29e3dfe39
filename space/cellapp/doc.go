// Package cellapp is the CellApp: the process that runs cells of spaces. It
// receives what arrives, gives it to its cells, runs their ticks, and tells the
// CellAppMgr what they cost.
//
// CellApp is a state machine: it opens no socket, starts no goroutine and reads no
// clock. A runner (mercury/host, or the simulator) gives it messages and the time
// and carries away what it sends.
//
//	joining --Welcome--> running --Dismissed--> dismissed
//	   ^                    |
//	   +--- manager lost ---+   (cells go on; balance stands still)
//
// The geometry of a space comes as whole trees and deltas; a bsp.Follower beside
// each cell puts them together. What it lacks is asked for with GeometryLacked, at
// most every 200 ms for each space, and shows in every CellsReport.
//
// Nobody is listened to but the CellAppMgr, on the channel to it, and apps that it has
// named (wire.Members), each as its role may speak: CellApps of ghosts and handoffs,
// BaseApps of entities whose base they have. Others wait at the door for a while, since
// the manager's word may come later than what a new app says.
//
// When a channel to another app has ended, what was sent last may be lost though both
// live on. The CellApp then says again what that app must know: words that bases have not
// answered, handoffs, where reals are, which ghosts there should be. See package migrate
// for the whole of it.
//
// A CellApp that is dismissed was declared dead while it was only slow: its
// entities live elsewhere by now. It drops everything; the runner starts it anew
// under a new salt.
package cellapp
