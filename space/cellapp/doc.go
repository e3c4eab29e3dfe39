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
// A CellApp that is dismissed was declared dead while it was only slow: its
// entities live elsewhere by now. It drops everything; the runner starts it anew
// under a new salt.
package cellapp
