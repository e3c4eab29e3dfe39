// Package host runs apps: it owns the goroutines, the carriers and the clock that apps do without.
//
// # Purpose
//
// An App is a state machine that is told what arrived and what time it is. A Host runs any number
// of them in one OS process. Each is a Process, with one goroutine, which is the only one that ever
// calls the app, and with any number of carriers: UDP, TCP, QUIC, WebSocket, or one of your own.
// There is one loop for all of them:
//
//	   carriers                                              carriers
//	      |  all that has come to each                            ^
//	      v                                                       | batched
//	Carrier.Receive -> Do, jobs -> App.Tick if due -> Carrier.Flush
//	      ^                                                       |
//	      +--- wait: input, a deadline, the tick, Do <------------+
//
// A waking costs more than what is done in it, so that a process wakes seldom: while much comes, a
// Pace apart, and then it takes all there is and answers in batches; while little comes, for each
// message at once. On Linux a server app waits in the kernel for the sockets of all its carriers
// together, with a single thread that wakes; elsewhere, and as a Shared app, at its first carrier.
//
// While it works, the goroutine of a server app is locked to an OS thread, so that Env.CPU can say
// what the app costs itself, and Env.Work can be a clock that stands while the app has no processor;
// Env.ProcessCPU is what the system counts of the whole OS process.
// Clients of a load test are started with Shared instead: a goroutine each, and hundreds of them
// are cheap.
//
// # Carriers
//
// The address that Start is given is a UDP socket, the first carrier. The option Carriers adds
// others, or stands alone when the address is "":
//
//	h.Start("LoginApp", "10.0.0.7:20013", create, host.Carriers(web, rack), host.Secure(seal))
//
// An app speaks to one mercury.Transport, Env.Transport, whatever carries a channel. A channel
// belongs to one carrier for its life. A Dial goes over the first carrier, unless a Route names
// another for the address, or Net.DialOver is told a network. All carriers of a start have one
// salt; Env.Places and Process.Places say where each is reached, Net.Carrier to which a channel
// belongs, and Process.Carriers how each fares.
//
// Whoever writes a carrier implements mercury.Carrier, or for a protocol with connections gives package
// stream a Network. Where the process does not wait in the kernel, the goroutine waits inside
// Receive of the first carrier, and the others wake it there (Watch): there UDP does best in the
// first place, as a second UDP carrier has a goroutine that reads.
//
// # Contract
//
//   - All processes of a Host share one clock, which begins at New and never runs back. The now
//     that an app is given and Env.Clock are on that clock.
//   - What has arrived is handed over before a tick is run, up to a bound of each carrier, so that
//     a flood over one keeps the app neither from its tick nor from its other carriers. What an app
//     sends goes out in batches, at most once per Pace.
//   - The App is called by carriers inside Receive alone, and hears of a channel only between its
//     Opened and its Closed or its own Close, whatever carries it.
//   - An ID of a channel is never used again in the life of a start. With n carriers each has one
//     number in n, and a channel beyond its last is refused and counted.
//   - What blocks is a job: Jobs performs it on a bounded pool of goroutines and hands the result
//     back on the app's goroutine.
//   - A Lookout asks the kernels of other machines whether a process with a Lifeline is there. That
//     of a killed process is known at once; a paused process is there.
//   - An app that reports Dismissed is thrown away and made anew under another salt at the same
//     places: to everyone else it is another start.
//   - An app that reports Ended is stopped, as by Stop. One that is Stoppable is told so before.
//   - A carrier that breaks, as one whose socket was closed, ends its process as a panic does.
//   - An app that panics ends alone, as an OS process of its own would; Process.Err says why. The
//     others go on.
//   - Stop closes the channels of all carriers and goes on until the peers have everything, for
//     Config.StopTimeout at most. Kill says nothing to anyone. Either way all carriers are
//     released.
//
// # The seal
//
// With the option Secure all channels of a process are encrypted, and who is dialled is proved by a
// key; without it nothing is asked of the carriers. What seals differs:
//
//	carrier     sealed by                         who proves what
//	──────────────────────────────────────────────────────────────────────────────────────────────
//	udp         a Guard of package secure, one    the acceptor by the key that the dialler was given
//	            for each start and carrier
//	quic        TLS 1.3, always                   the acceptor by its certificate; the dialler by one of its own, if
//	                                              the listener's tls.Config asks for it
//	websocket   TLS with Config.TLS and DialTLS,  the same; behind a proxy the proxy does
//	            else nothing
//	tcp         TLS with Config.TLS and DialTLS,  the same
//	            else nothing
//
// Start refuses a carrier that is in the clear in a Secure process, unless it was given by
// UnsealedCarriers: the owner's word that someone else seals it, or that nobody else is on that
// network. Without Secure, packets over UDP are only checksummed. A sealed UDP carrier can talk to
// sealed ones alone. See package secure for what that defends against.
//
// # Concurrency
//
// Methods of Host and Process may be called from any goroutine but that of an app, since most of
// them wait for one. Methods of an Env and of its Net are for the app's goroutine, except Log and
// Clock. A carrier belongs to its process from Start on.
//
// # Caller's duties
//
// Close a Host when done; it waits until every goroutine has ended. A program that is to end in
// order stops its processes in an order that suits its apps before.
package host
