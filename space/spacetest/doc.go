// Package spacetest runs a whole world inside a test: every process of a cluster.Config, and its
// players, on one goroutine, over a fake network, in virtual time. A minute of the world takes well
// under a second, nothing sleeps, and the same seed gives the same run, so that a test which fails
// fails again.
//
//	func TestTrade(t *testing.T) {
//		w := spacetest.Start(t, spacetest.Config{World: game.Config(), Seed: 7})
//		ada, bob := w.Login("Ada"), w.Login("Bob")
//		ada.Player().Cell().Call("give", bob.Player().ID, int32(10))
//		w.Run(50 * time.Millisecond)
//		w.Where(bob.Player().ID).Kill() // in the middle of it
//		w.Until(30*time.Second, func() bool { return gold(w, "Bob") == 10 })
//	}
//
// The world is what the game ships: give the Config that its own main gives to cluster.Start. What
// that says of addresses, doors, seals and cores is left out here, since there is no real network.
// Everything else acts as it does outside: logins, borders, backups, deaths, the store.
//
// # Time
//
// Time passes only in Run, Until, Login and Shutdown; between them the test may look at whatever it
// likes, and change it, as if the world held its breath. A call takes no time here: a script that
// computes for a second costs the test a second and the world none. So a cell's load is not
// measured; by default each entity counts as DefaultLoad, and crowds are spread over CellApps as
// outside. What blocks (the store, Auth, what a game loads) is done on the spot, and its result
// comes a millisecond later.
//
// # Faults
//
// World.Net is the network: links that lose, delay and reorder, and places that are cut off from
// each other. An App can be killed, started again, paused, and retired. A process that was declared
// dead while it was paused starts anew by itself, as package host has it.
//
// # Many seeds
//
// One run shows one order of events. Let a test run a few dozen seeds, each with another moment for
// its fault:
//
//	for seed := uint64(1); seed <= 50; seed++ {
//		t.Run(fmt.Sprint(seed), func(t *testing.T) { trade(t, seed) })
//	}
//
// A world belongs to the goroutine of its test; worlds of different tests may run beside each
// other.
package spacetest
