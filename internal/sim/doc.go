// Package sim runs a whole cluster and its clients on one goroutine, from one
// seed, over a fake network with loss, delay, duplication and reordering, with
// processes that crash and pause.
//
// The processes are the real ones (cellapp, cellappmgr, baseapp, baseappmgr,
// loginapp, client) over the real transport; only sockets, clocks and chance are
// the simulator's. Time jumps from event to event, so a minute of a cluster
// takes a fraction of a second.
//
// # A run
//
//	start:  everyone joins and logs in over a clean network
//	faults: bad links, and what Options say: crashes, pauses, cuts between living
//	        processes, players that come and go or misbehave, noise from strangers;
//	        safety checkers on
//	heal:   the network is clean, everyone alive; players go on for a while
//	rest:   players stand still, the world is frozen; then every checker of
//	        convergence must be content
//
// # The game
//
// Players walk, call their own entity by numbered calls (wear) and others by
// greetings; rovers, which have a base and no client, wander, exchange numbers
// with their base and set the space's data; critters, which have no base, wander,
// die, and leave one like them behind. Lodgers ask for rooms, spaces of their own, move
// in, and give them up in every way that there is.
//
// # Checkers
//
// They look into the processes from outside and change nothing. Each is shown to
// catch a planted bug by a test that tampers with messages.
//
//	promise 1  oneReal         one real of an incarnation, which its base acknowledges
//	promise 2  tiling          every version is one cut of the plane, the same everywhere
//	promise 3  exactlyOnce     numbers between base and cell part have no gap
//	           callsOnce       calls of clients are handled in order, once, in spite of
//	                           crashes of their CellApp (promise 6)
//	           countsAgree     the operator's counters of sent and handled agree where
//	                           nothing died
//	promise 4  ghostsFollow    ghosts never go back, and equal their reals at rest
//	promise 5  clientsConverge clients hold what the reals hold, no more, no less
//	           oneData         every cell and client has the newest space data
//	           gameTime        game time never goes back, for a cell or for an entity
//	                           on its way; at rest all cells have the same
//	           roomsKnown      a space begins once; at rest CellApps have cells of those
//	                           spaces alone that their manager has, and every lodger is
//	                           in the room that it was given
//	promise 7  noise           a stranger is never answered with more than it sent
//
// countsAgree asks for FlowSent = FlowHandled + calls given up, and for
// ClientCallsSent = ClientCallsHandled = the calls that clients sent, only in runs
// in which no process or session ended. After a death they do not add up, and need
// not: a dead app's last second was never reported, a restored real handles again
// what its backup did not contain, and what was sent to a part that was destroyed
// is handled by no one.
//
// Scripts (break_test.go, repair_test.go) break channels exactly at each kind of message,
// with stones and pebbles about, which do nothing and so repeat nothing; another
// (impostor_test.go) has a player's machine say to every process what only its like say.
//
// # Replay
//
// The same options give the same run, byte for byte: the trace, one line for each
// datagram, start, crash, pause and cut in simulated time, is hashed, and a test
// compares two runs. Flags come after -args:
//
//	-seeds=N -start=S  TestSeeds runs the seeds S to S+N-1; a few dozen by default
//	-managers          the CellAppMgr crashes in all of them
//	-retires           cells retire all the time in all of them
//	-v.log             the logs of the processes, in simulated time, on stderr
//	-trace=FILE        the trace as text
//
// In a fifth of the seeds the CellAppMgr crashes, too, and in a fourth cells and whole
// CellApps retire all the time (withManager): by chances of their own, so that the others
// are not other runs for it.
//
// A failing run prints the one command that replays it, such as
//
//	go test ./internal/sim -run '^TestSeeds$' -args -seeds=1 -start=1208 -v.log
//
// A new draw of chance anywhere makes another run of every seed. So a fault that
// was understood is kept as a script, in scenario_test.go, that crashes, parts or
// pauses processes at the very message (Options.Tamper, Process.kill), beside its
// seed in regress_test.go.
package sim
