// Package sim runs a whole cluster and its clients on one goroutine, from one seed, over a fake
// network with loss, delay, duplication and reordering, with processes that crash and pause.
//
// The processes are the real ones (cellapp, cellappmgr, baseapp, baseappmgr, loginapp, client) over
// the real transport; only sockets, clocks and chance are the simulator's. Time jumps from event to
// event, so a minute of a cluster takes a fraction of a second.
//
// # A run
//
//	start:  everyone joins and logs in over a clean network
//	faults: bad links, and what Options say: crashes, pauses, cuts between living
//	        processes, channels that break and processes that die at messages of
//	        drawn kinds, messages held back, players that come and go or misbehave, or
//	        lose their channels and resume,
//	        noise from strangers; safety checkers on
//	heal:   the network is clean, everyone alive; players go on for a while
//	rest:   players stand still; a world with tight budgets falls silent, and
//	        everyone must be told all; the world is frozen; then every checker of
//	        convergence must be content
//
// # The game
//
// Players walk, call their own entity by numbered calls (wear) and other entities by greetings.
// Rovers, which have a base and no client, wander, exchange numbers with their base and set the
// space's data. Critters, which have no base, wander, die, and leave one like them behind. Lodgers
// ask for rooms, which are spaces of their own, move in, and give them up in every way that there
// is.
//
// A wild world (Options.Wild) has more: clocks live by timers of every kind and keep a book of
// them, heralds set space data under many keys, stones do nothing for a long time, brittle scripts
// panic in every hook, bases of all kinds panic in their timers (cracks), twins log in under one
// name at once, namers fight for names of bases, settlers have themselves and others made near
// somebody, and scripts of players change what their clients see (views), add idols to it by hand,
// refuse moves into the ground (walls), and ask who is near (ranges). Towers are seen from afar,
// sentries have traps, and bases kick their clients. All seeds of TestSeeds are wild, each in its
// own way (wildOf). The kept seeds and most scripts are not, so that their runs stay the same. Each
// feature of a wild world draws from a chance of its own.
//
// # Checkers
//
// They look into the processes from outside and change nothing. For each, a test that tampers with
// messages shows that it catches a planted bug.
//
//	promise 1  oneReal         one real of an incarnation, which its base acknowledges
//	promise 2  tiling          every version is one cut of the plane, the same everywhere
//	promise 3  exactlyOnce     numbers between base and cell part have no gap
//	           callsOnce       calls of clients are handled in order, once, in spite of
//	                           crashes of their CellApp (promise 6)
//	           callsNumbered   calls of every other kind, by numbers for each pair of
//	                           caller and target, in all runs, whatever died
//	promise 4  ghostsFollow    ghosts never go back, and equal their reals at rest
//	           movesInOrder    a player's real never goes back on its client's way
//	           lastWord        it goes no farther than its top speed allows, whatever its
//	                           client claims, and no honest client is put back
//	           timersRun       timers run as often as they should, when they should, across
//	                           handoffs and restores
//	promise 5  clientsConverge clients hold what the reals hold, no more, no less
//	           idolsShown      clients see the idols that their scripts have added, and no others
//	           sentriesKnow    traps tell of each who comes and goes, by turns
//	           ridersSit       who rides is where its seat on the vehicle is
//	           wallsHold       a move that a script refuses is not seen by anybody
//	           heardInOrder    clients hear calls of one life of an entity in order, once;
//	                           its own client misses none
//	           oneSession      an account has one proxy, and none stays locked
//	           kicksTold       who is told of a kick was kicked, and who was kicked is gone
//	           oneData         every cell and client has the newest space data, key by key
//	           oneShared       at rest all apps have the same of what the cluster shares, what
//	                           whoever lives has set is there, and whoever hears has heard it
//	           oneOracle       at rest each BaseApp has one fragment of a service, which all know
//	           gameTime        game time never goes back, for a cell or for an entity
//	                           on its way; at rest all cells have the same
//	           roomsKnown      a space begins once; at rest CellApps have cells of those
//	                           spaces alone that their manager has, and every lodger is
//	                           in the room that it was given
//	           callsAnswered   what scripts call of each other, of entities without a base and of
//	                           players' clients, and the answers
//	           namesUnique     a name has one base; each question about names and bases
//	                           elsewhere is answered once
//	           oneBeacon       of what every BaseApp ensures there is one, and one at rest
//	           settlersTold    what is asked to be made near somebody is answered once, and who is
//	                           told of a failure can ask again
//	           tapes           what a recording of the space shows of an entity was so, at most
//	                           recording.Grace before, whatever died or was refused; at rest it
//	                           is so, and a seek shows what playing does
//	promise 9  placesFresh     while all move, and the network is well again, a place that a
//	                           client holds is late only if its budget was spent, and
//	                           never later than the queue promises; of the moves in view that
//	                           need not wait for budget 99 of 100 arrive in two ticks
//	           basesKept       a base that is restored has all that it was told others have a
//	                           copy of; what it did of itself since, it may do again
//	           savedKept       a cell part is not restored without what its script was told is safe
//	promise 7  noise           a stranger is never answered with more than it sent
//
// The numbers of exactlyOnce begin anew in each life. At rest a cell part has handled all that its base
// knows to have said. It has handled more only if the script of the base has panicked a moment before the
// rest, and no more than was said until then: lives.go. Only the tail of a frozen copy may come more
// than once; hearing says from which cell part, and from which number on.
//
// The numbers of callsNumbered are part of the state of those who make and who handle the calls, so
// a restore takes them back along with the rest. A call of a client to an entity with a base is
// handled once, in order, or some incarnation of its caller said that it was refused. What a cell
// part says to its base and its own client comes in order; only after a restore some of it comes
// again, and none is left out. Other clients hear no number twice between meeting an entity and
// losing sight of it. A client that meets it anew, on a cell whose ghost is late, meets it as it
// was, and hears again what it has done since.
//
// In a sixth of the seeds players see through gateways (gateways.go): from one part of their space
// into another, and into a second space. clientsConverge then knows of every place at which an
// entity may be seen, and gatesFresh demands that what is seen of the second space is at most a
// second old, unless the client's budget was spent.
//
// Scripts (break_test.go, repair_test.go) break channels exactly at each kind of message, with
// stones and pebbles about, which do nothing and so repeat nothing. In another one
// (impostor_test.go) a player's machine says to every process what only processes of the cluster
// may say.
//
// # Replay
//
// The same options give the same run, byte for byte: the trace, which has one line in simulated
// time for each datagram, start, crash, pause and cut, is hashed, and a test compares two runs.
// Flags come after -args:
//
//	-seeds=N -start=S  TestSeeds runs the seeds S to S+N-1; a few dozen by default
//	-managers          the CellAppMgr crashes in all of them
//	-retires           cells retire all the time in all of them
//	-tame              leaves out what makes their world wild
//	-first             ends TestSeeds at the first seed that fails
//	-v.log             the logs of the processes, in simulated time, on stderr
//	-trace=FILE        the trace as text
//	-update            TestTranscripts writes testdata/transcripts anew, to be reviewed as a diff
//
// In three of four seeds BaseApps die as CellApps do, and others hold copies of their bases.
// In a fifth of the seeds the CellAppMgr crashes, too, and in a fourth cells and whole CellApps
// retire all the time (withManager). These draw from chances of their own, so that the other seeds
// stay the same runs.
//
// Bugs that are planted in the library's source measure whether all of this catches enough: see the
// program internal/sim/plants.
//
// A failing run prints the command that replays it, such as
//
//	go test ./internal/sim -run '^TestSeeds$' -args -seeds=1 -start=1208 -v.log
//
// A new draw of chance anywhere makes another run of every seed. So a fault that was understood is
// kept as a script in scenario_test.go, which crashes, parts or pauses processes at the very
// message (Options.Tamper, Process.kill), beside its seed in regress_test.go.
package sim
