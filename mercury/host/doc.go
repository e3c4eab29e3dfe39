// Package host runs apps: it owns the goroutines, the sockets and the clock that
// apps do without.
//
// # Purpose
//
// An App is a state machine that is told what arrived and what time it is. A Host
// runs any number of them in one OS process. Each has a UDP socket, a
// mercury.Endpoint and one goroutine, which is the only one that ever calls the
// app:
//
//	   socket                                               socket
//	      |  all datagrams that have come                      ^
//	      v                                                    | batched
//	Endpoint.Receive -> Advance -> App.Tick if due -> Endpoint.Flush
//	      ^                                                    |
//	      +---- wait: a datagram, the tick, a deadline, Do <---+
//
// The goroutine of a server app is locked to an OS thread, so that Env.CPU can say
// what the app costs itself; Env.ProcessCPU is what the system counts of the whole OS
// process. Clients of a load test are started with Shared instead: a
// goroutine each, and hundreds of them are cheap. There are no reader goroutines:
// an app waits at its socket itself, with a deadline.
//
// # Contract
//
//   - All processes of a Host share one clock, which begins at New and never runs
//     back. The now that an app is given and Env.Clock are on that clock.
//   - Datagrams that have arrived are all handed over before a tick is run, and
//     what an app sends goes out in batches, at most once per Pace.
//   - What blocks is a job: Jobs performs it on a bounded pool of goroutines and
//     hands the result back on the app's goroutine.
//   - An app that reports Dismissed is thrown away and made anew under another
//     salt at the same port: to everyone else it is another start.
//   - An app that panics ends alone, as an OS process of its own would; Process.Err
//     says why. The others go on.
//
// # The seal
//
// With the option Secure the packets of a process are encrypted, and who is dialled is
// proved by a key; without it they are only checksummed. A sealed process can talk to
// sealed ones alone. See package secure for what that defends against.
//
// # Concurrency
//
// Methods of Host and Process may be called from any goroutine but that of an app,
// since most of them wait for one. Methods of an Env are for the app's goroutine,
// except Log and Clock.
//
// # Caller's duties
//
// Close a Host when done; it waits until every goroutine has ended. A program that
// is to end in order stops its processes in an order that suits its apps before.
package host
