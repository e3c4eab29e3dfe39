// Package cluster wires the processes of a world together over real sockets: all roles in one OS
// process, or one role each.
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
// Either way the processes talk to each other over sockets and cannot tell the difference. A small
// game calls Start; a large one starts roles where it has machines.
//
// # Contract
//
//   - Start returns when players can log in: every process has joined and every space has a cell.
//     If that takes longer than Config.StartTimeout, Start returns an error that names what is
//     missing, and leaves nothing running.
//   - Stop ends the processes in order: no more logins, then the BaseApps with the clients, then
//     the cells, then the managers.
//   - Wait and the log report a process that ends by itself; the rest of the cluster goes on.
//
// # Situations
//
// The zero Config is one seamless world on one machine. Others differ in a few fields:
//
//	many rooms, none of them cut       Balance.MaxCells: 1, Space.AoIRadius: the size of a room
//	one world over several machines    Listen: each machine's address, Key; a CellApp for each core
//	the processes share a rack         Inner: TCP
//	thousands of NPCs                  Space.Border.GhostDistance: 200, if players see 150 m. The default of 550 m
//	                                   mirrors far more of them on other CellApps than anyone sees
//	players on phones, or far away     Space.Witness.BytesPerTick: 500, which is 40 kbit/s, and
//	                                   AoIRadius 150 or so; TicketKeys, which spare a round trip;
//	                                   a player whose line carries less is found out by itself
//	clients that send a lot            Upload: messages and bytes a second
//	players whose lines drop out       ResumeTime: how long their places are kept
//	who logs in twice                  Relogin: the second gets the entity, is refused, or begins anew
//	players in browsers                Doors: a WebSocket beside UDP, TLS
//	a laptop, hundreds of bots         CellApps: 1, BaseApps: 1
//	a world that outlives its managers Managers: three places, each with StartManagers
//
// # Looking inside
//
// An Observer is told the status every second, from any OS process. It also reads what each process
// shows by name, and with an operator's key sets what may change in flight, such as budgets, bounds
// of logins and the level of a log; see package watch. Trace has the steps of some entities' lives
// logged by all processes.
//
// # Managers that survive
//
// The world runs on without its managers, but nobody logs in, no cell is added and no death heals. A
// supervisor that starts StartManagers again, with the same Config, is enough: they find the world and
// take its next term. With Config.Managers several OS processes can lead:
//
//	managers 1 (leads)   managers 2 (stands by)   managers 3 (stands by)
//	     ▲     └────────── votes for a time ───────────┘
//	     └ all others join whoever of the three leads
//
// When the one that leads is killed, stops or is cut off from the others, one of them leads after about
// two seconds, and after two more players log in again. Whoever plays notices nothing. Keep as many
// running as there are places: a majority must vote, so the last of three does not lead.
//
// A place is a host name and a port, or any name for Config.Resolve, which may ask a service registry.
// What the name stands for may change: managers that a supervisor of containers starts again have
// another address, and whoever looks for them hears of it within some seconds. A name that stands for
// nothing yet, or nothing any more, is waited for. All other processes tell the managers their own
// addresses, so these names are all that a process needs to be told of its world.
//
// # Deaths
//
// What the death of a process costs. The others notice a killed process by its closed port, a silent
// machine by asking around, and a process that only hangs after Config.HangTimeout. A pause of eight
// seconds is no death, nor is the lack of a processor for as long, on a machine with too much to do. One that
// was wrongly declared dead starts anew and harms nothing.
//
//	CellApp       its entities go on at others from their bases' copies, within a tenth of a second of the
//	              verdict; who has no base is lost. Clients are told all anew, within their session.
//	BaseApp       its bases go on at others from the copies of Config.BackupPeriod, and their cell parts
//	              where they are. Clients find that it is silent, and go to the one that has their base: no
//	              session ends, and what they see stays. Without another BaseApp, or with a BackupPeriod
//	              below 0, its bases, their cell parts and the sessions of its players end.
//	LoginApp      who logs in just then tries again elsewhere. Players in the world notice nothing.
//	managers      the world runs on, without logins, balance and verdicts, until they are started again
//	              with a higher Config.Term. A space whose CellApps have all died with them is made anew: two
//	              BaseApps have its data.
//
// What a base does by itself is copied now and then; what must not be done twice waits for a copy
// (entity.Base.Backup).
//
// # A restart without an end
//
// Every process but the managers can be taken out of a running world, one after the other, while players
// play: start another one of its role, then retire it (RetireCellApp, RetireBaseApp), or stop it if it is a
// LoginApp. Managers are stopped and started anew at their address with a higher Term; meanwhile nobody logs
// in, and nothing is balanced.
//
// # The end
//
// Cluster.Stop ends the processes of one OS process, after its BaseApps have written what a store
// keeps; the rest of the world goes on. The one with the store waits for the BaseApps elsewhere,
// which may be stopping, too. Shutdown, by the managers' process or by an Observer with an
// operator's key, stops the whole world: in order, with nothing under way, with the last state of
// every kept entity in the store, and with a report of what was saved. Package cellappmgr has the
// steps. Each process ends by itself then, and Wait returns.
//
// # Two sides
//
//	             outside                                inside
//	           Config.Doors                 Config.Listen, Config.Inner
//	player ── udp, websocket ──> LoginApp ──────── udp, or tcp ────────> managers
//	       └─ quic, tcp ───────> BaseApp  ──────────────────────────────> CellApps
//
// Each door is a socket of its own, which understands only the client protocol; no client gets in
// at the inner sockets. The socket that a channel came in at decides, never an address. The answer
// to a login names all doors of the BaseApp. The status has the figures of each carrier of each
// process (status.Carrier), with what its socket and its seal have refused or lost (status.Counts).
//
// # The seal
//
// Config.Key encrypts and authenticates everything that processes and players send each other over
// UDP; see there. Between processes it also seals TCP, by mutual TLS with a certificate made from
// the key. Doors over QUIC, WebSocket and TCP use Config.TLS. A door that nothing seals is refused
// at start-up, unless Door.Clear allows it, or the world has no key and the door is on the
// loopback.
//
// A player in another OS process needs one setting, session.Config.ServerKey of package
// entity/client/session. A ticket spares it the round trip to its BaseApp: LoginApp and BaseApps
// share ticket keys, and a ticket is for one start of a BaseApp, which its address tells. The
// session of a player without the world's public key, or with another, ends with mercury.ErrKey.
//
// The processes prove to each other that they belong to this world, by Config.ClusterKeys, which
// follow from Key if none are given. Messages between processes are taken only from peers that have
// proved it; to others, managers and CellApps give no channel. Observers get in by keys derived
// from a cluster key, one to read and one to operate. SetClusterKeys changes the keys while the
// world runs. Without Key only an address is proved. Such a world is for the loopback, or for a
// network where everyone is trusted, and a notice says so.
//
// # Concurrency
//
// Methods may be called from any goroutine. Scripts and hooks run on the goroutine of their app;
// those of different apps run at the same time.
package cluster
