// Package sim runs a whole cluster and its clients on one goroutine, from one
// seed, over a fake network with loss, delay, duplication and reordering, with
// processes that crash and pause.
//
// The processes are the real ones (cellapp, cellappmgr, baseapp, baseappmgr,
// loginapp, client) over the real transport; only sockets, clocks and chance are
// the simulator's. Time jumps from event to event, so a minute of a cluster
// takes about a second.
//
// # A run
//
//	start:  everyone joins and logs in over a clean network
//	faults: bad links, crashes, pauses; safety checkers on
//	heal:   the network is clean, everyone alive; players go on for a while
//	rest:   players stand still, the world is frozen; then every checker of
//	        convergence must be content
//
// # Checkers
//
// One for each promise of the design (architecture §4): OneReal (1), Tiling (2),
// ExactlyOnce (3), GhostsFollow (4), ClientsConverge (5). They look into the
// processes from outside and change nothing. Each is shown to catch a planted bug
// by a test that tampers with messages.
//
// # Replay
//
// The same options give the same run, byte for byte: the trace, one line for each
// datagram, tick, crash and client event in simulated time, is hashed, and a test
// compares two runs. A failing seed is replayed by
//
//	go test ./internal/sim -run TestSeeds -args -seeds=1 -start=SEED -v=true
package sim
