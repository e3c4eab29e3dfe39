// Package cluster wires the processes of a world together over real sockets: all
// roles in one OS process, or one role each.
//
// # Purpose
//
//	            Start                          StartManagers   StartLogin
//	 one OS process, all roles                 StartBaseApp    StartCellApp
//	+---------------------------+              one OS process each, same Config
//	| CellAppMgr  BaseAppMgr    |
//	| LoginApp                  |              each finds the others through one
//	| BaseApp  x Config.BaseApps|              address, that of the managers
//	| CellApp  x Config.CellApps|
//	+---------------------------+
//
// Processes talk to each other over UDP either way, and cannot tell the difference.
// A small game calls Start; a large one starts roles where it has machines.
//
// # Contract
//
//   - Start returns when players can log in: every process has joined and every
//     space has a cell. What does not come about in Config.StartTimeout is an error
//     that names it, and then nothing is left running.
//   - Stop ends the processes in order: no more logins, then the BaseApps with the
//     clients, then the cells, then the managers.
//   - A process that ends by itself is reported by Wait and by the log; the rest
//     of the cluster goes on.
//
// # The seal
//
// With Config.Key everything that the processes and the players say to each other is
// encrypted and authenticated; see there. A player in another OS process is sealed
// by one setting, session.Config.ServerKey of package entity/client/session. A ticket spares it
// the round trip to its BaseApp: LoginApp and BaseApps share ticket keys, and the start of
// a BaseApp that a ticket is for is told by its address. One without the world's public key, or with another, hears nothing from the world;
// its session ends with mercury.ErrTimeout.
//
// # Concurrency
//
// Methods may be called from any goroutine. Scripts and hooks run on the goroutine
// of the app that they belong to; those of different apps run at the same time.
package cluster
