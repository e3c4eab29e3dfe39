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
// Processes talk to each other over sockets either way, and cannot tell the difference.
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
// # Two sides
//
//	             outside                                inside
//	           Config.Doors                 Config.Listen, Config.Inner
//	player ── udp, websocket ──> LoginApp ──────── udp, or tcp ────────> managers
//	       └─ quic, tcp ───────> BaseApp  ──────────────────────────────> CellApps
//
// Each door is a socket of its own, where nothing but the client protocol is understood; at
// the inner sockets no client is let in. Which is which is told by the socket that a channel came
// in at, never by an address. One login answer names all doors of the BaseApp. How each
// carrier of each process fares is in the status (status.Carrier).
//
// # The seal
//
// With Config.Key everything that the processes and the players say to each other over UDP is
// encrypted and authenticated; see there. Between processes it seals TCP, too: by TLS, both
// ways, with a certificate that is made of the key. Doors over QUIC, WebSocket and TCP have
// Config.TLS. A door that nothing seals is refused at start-up, but on the loopback of a
// world without a key, unless Door.Clear says that it may be so. A player in another OS process is sealed
// by one setting, session.Config.ServerKey of package entity/client/session. A ticket spares it
// the round trip to its BaseApp: LoginApp and BaseApps share ticket keys, and the start of
// a BaseApp that a ticket is for is told by its address. One without the world's public key, or with another, hears nothing from the world;
// its session ends with mercury.ErrTimeout.
//
// The processes prove to each other that they are of this world, by Config.ClusterKeys, which follow
// from Key if none are given. A message between processes is never taken from who has not proved
// it, and a manager or a CellApp gives him no channel. Observers get in by keys that are drawn out
// of a cluster key, one to read and one to operate. SetClusterKeys changes the keys while all runs.
// Without Key an address is all that is proved: so a world is for loopback, or for a network
// where all are trusted, and says so in a notice.
//
// # Concurrency
//
// Methods may be called from any goroutine. Scripts and hooks run on the goroutine
// of the app that they belong to; those of different apps run at the same time.
package cluster
