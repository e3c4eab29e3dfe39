// Package mercurytest holds what tests of networked apps need: a fake network in virtual time, a
// world that runs endpoints over it, real sockets over a link that is as bad as a test wants it, a
// stage on which a test plays all others of one app, and suites that every transport must pass.
//
// # In virtual time
//
// A Network carries datagrams between places. What happens to them says a Link: loss, bursts of
// loss, outages, doubling, reordering, delay, damage, a limit of size, a bottleneck with a queue;
// for all, for a pair, or for one direction. Links that name the same Trunk share one bottleneck,
// and a Cubic is a download that fills it. Places can be cut off, and can change their addresses
// (Rebind). A test can see every datagram (Watch) and send what it has seen or forged (Inject). All
// chance comes from one seed: the same seed and the same calls give the same run. Nothing here
// starts a goroutine or reads a clock. A World puts mercury.Endpoints on a Network and moves
// virtual time from event to event; it can stop an endpoint, take it away, and set its clock ahead.
//
// A Stage is a transport without a network: what one app sends is recorded, and the test answers by
// hand.
//
// # In real time
//
// A UserLink does to the datagrams of real sockets what a Network does to those of fake ones. It
// has goroutines and reads the clock; so does a UDPRig, which is made of it.
//
// # Suites
//
// TestTransport checks what mercury.Transport promises against any implementation: over a fake
// network, over sockets and a UserLink, or without faults. TestHostile checks that an Endpoint,
// with or without a Guard, survives floods, forgeries, replays and peers that break the protocol.
package mercurytest
