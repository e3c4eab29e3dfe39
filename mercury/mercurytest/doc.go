// Package mercurytest holds what tests of networked apps need: a fake network in virtual time, a world that runs
// endpoints over it, a stage on which a test plays all others of one app, and a suite that every transport must pass.
//
// A Network carries datagrams with loss, doubling, reordering, delay and cuts, all drawn from one seed: the same seed and
// the same calls give the same run. It starts no goroutine and reads no clock. A World puts mercury.Endpoints on a
// Network and moves virtual time from event to event.
//
// A Stage is a transport without a network: what one app sends is recorded, and the test answers by hand.
//
// TestTransport checks what mercury.Transport promises against any implementation, with or without a fake network.
package mercurytest
