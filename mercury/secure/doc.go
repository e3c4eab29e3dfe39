// Package secure protects mercury's channels from outsiders. It implements mercury.Guard by the
// handshake NK of the Noise framework, an AEAD on each packet, and tickets that spare a returning
// client the round trip.
//
//	key, _ := secure.GenerateKey(rand.Reader)                                         // once; key.Public() ships with the client
//	server, err := secure.New(secure.Config{Random: rand.Reader, Key: key})           // mercury.Config.Guard of who is dialled
//	client, err := secure.New(secure.Config{Random: rand.Reader, ServerKey: public})  // mercury.Config.Guard of who dials
//
// The dialler knows the acceptor's static public key, and so whom it talks to. The acceptor does
// not know a player, who logs in by messages inside the channel. The processes of a cluster know
// each other by a shared cluster key (Config.ClusterKeys): a dialler mixes it into the handshake,
// and only others that have it can answer. The channel's mercury.Standing tells what was proved,
// and Config.Least keeps out peers that have proved less.
//
// # Against whom
//
//	eavesdropper          reads nothing              every packet is sealed with keys that only the two ends have
//	forger, corruption    costs himself a packet     tag of 16 bytes over head, text and number
//	replayer of packets   a number opens once        the Endpoint's window of numbers, which the tag covers
//	replayer of a first   opens no second session    a pass opens one session, a ticket is struck off when it is used;
//	                                                 neither is good with another start, nor after its life
//	man in the middle     cannot answer              only who has the static key can make a reply that Finish takes
//	downgrade             ends the handshake         suite and version are under the handshake's hash; both suites are strong
//	changed open          ends the handshake         bind is under that hash, in the pass, and in the binder of a ticket
//	amplification         gains nothing              a reply is shorter than the padded open that asks for it
//	flood of hellos       takes CPU, no memory       Answer keeps nothing; the Endpoint bounds its rate and asks for a cookie
//	flood of passes       under a microsecond each   whatever does not open ends before a key is derived
//	stolen pass           worth nothing              holds its keys sealed; is good at one place for seconds
//	stolen ticket         from the client's memory:  good once, from the same IP, within its life, for a channel of the thief's own,
//	                                                 or to read and forge the one channel that the client opens with it
//	stolen ticket key     channels opened with its   own ones are drawn anew each TicketLife and the old ones gone; shared ones
//	                      tickets are read           change when SetTicketKeys is called
//	public key alone      a stranger's channel       membership, and the right to observe or operate, take a key of the
//	                      at outer doors, none       cluster's, which the handshake proves both ways; a ticket, a pass and
//	                      at inner ones              a hello that is replayed prove none
//	stolen cluster key    with the public key he     channels of before stay closed to him; SetClusterKeys ends it for new
//	                      joins, until it is left    ones; the channels that he has opened go on
//	                      out; without the static
//	                      key nobody answers for us
//	stolen observer's key reads what observers are   it does not tell the operator's, nor the cluster's
//	                      told, and no more
//	stolen static key     the thief can stand in for the acceptor from then on; channels of before stay closed to him
//	stolen channel keys   that channel from the epoch before on; what was in earlier epochs stays closed
//
// The package does not defend against analysis of traffic (sizes, times, addresses and packet
// numbers are visible), against denial of service by those who can hold back or change packets on
// the way, or against the thief of a living ticket key, who can read channels that were opened with
// its tickets.
//
// Forward secrecy: a channel of a full handshake has it once the key of its pass is gone, two
// PassLives later. A channel opened by a ticket has it once the ticket's key is gone. Inside a
// channel keys move on with each epoch. A Guard has no timer, so expired keys go at the next Answer
// or Admit.
//
// # Handshake
//
//	dialler                                               acceptor
//	  │ open:   bind, hello  49 bytes ──────────────────────> │ Answer: keeps nothing
//	  │ <────────────────── accept: reply with pass 178 bytes │
//	  │ Finish                                                │
//	  │ first:  pass 114 bytes, packet 0, 1, ... ───────────> │ Admit, Open
//	  │ <─────────────────────────────── ticket, under seal   │ Ticket
//	  │ Keep                                                  │
//
//	  │ first:  early pass 114 bytes, packet 0, 1, ... ─────> │ Admit, Open: no round trip
//	  │ <──────────────── packets, or "pass is not good"      │ then Again, and the handshake above
//
// Messages have fixed sizes. Numbers in passes and tickets are little endian.
//
//	hello   ┌───────┬──────────────────────┬─────┐
//	        │ suite │ ephemeral public key │ tag │                                  Noise NK: e, es
//	        └─ 1 ───┴─ 32 ─────────────────┴ 16 ─┘
//	        ┌───────┬────────┬──────────────────────┬─────┐
//	        │ suite │ key id │ ephemeral public key │ tag │                         with a proof, Noise NKpsk0: psk, e, es
//	        └─ 1 ───┴─ 8 ────┴─ 32 ─────────────────┴ 16 ─┘
//	reply   ┌──────────────────────┬─────┬──────┬─────┐
//	        │ ephemeral public key │ tag │ pass │ tag │                             Noise NK: e, ee
//	        └─ 32 ─────────────────┴ 16 ─┴ 114 ─┴ 16 ─┘                             the last tag is over the pass
//	pass    ┌─────┬───────┬──────────────────────────────────┬─────┐
//	        │ 'A' │ nonce │ kind, expiry, two secrets        │ tag │     acceptor's own key, over IP, port and bind,
//	        └─ 1 ─┴─ 24 ──┴─ 1 + 8 + 32 + 32 ────────────────┴ 16 ─┘     which are not in it
//	ticket  ┌─────────┬─────────────┬────────┬──────┐
//	        │ version │ life, s     │ secret │ blob │
//	        └─ 1 ─────┴─ 4 ─────────┴─ 32 ───┴─ 80 ─┘
//	blob    ┌───────┬────────────────────────────────┬─────┐
//	        │ nonce │ secret, expiry in Unix seconds │ tag │       ticket key, over acceptor's ID and client's IP,
//	        └─ 24 ──┴─ 32 + 8 ───────────────────────┴ 16 ─┘       which are not in it
//	early   ┌─────┬───────┬────────┬──────┬────────┐
//	pass    │ 'E' │ suite │ random │ blob │ binder │            ticket's secret, over all before it and bind
//	        └─ 1 ─┴─ 1 ───┴─ 16 ───┴─ 80 ─┴─ 16 ───┘
//
// The prologue of the handshake is "cellscape mercury 1", the suite, the key id if there is one,
// and bind. The kind in a pass is suite and standing. Passes and tickets are sealed with
// XChaCha20-Poly1305. All other keys come out of HKDF-SHA256 with a label each:
//
//	cluster key ─ "member", "operator", "observer" ─> pre-shared key ─ "proof id" ─> key id
//
//	full handshake ─> two secrets of Noise ─┐
//	                                        ├─> secret of epoch 0 ── "epoch" ─> of epoch 1 ── "epoch" ─> ...
//	ticket's secret, early pass, bind ──────┘            │ "packet"                 │ "packet"
//	                                                     v                          v
//	                                                  key, IV                    key, IV
//
// A packet's nonce is the IV with the packet's number over its last eight bytes; its associated
// data is all before the text. An epoch is 2^20 numbers, so both ends change keys without a signal.
// A receiver has the keys of its present epoch, of the one before and, once a packet claims to be
// of it, of the next. Only a packet that opens moves it into the next epoch.
//
// # Keys of a cluster
//
// Three pre-shared keys are derived from a cluster key: the member's, by which processes dial each
// other, and those of ClusterKey.Operator and ClusterKey.Observer, for programs outside of the
// cluster. The hello names the key by an id, so several can be good at a time, and keys can change
// while everything runs: give the new one last everywhere (it is accepted), then first everywhere
// (it is used), then leave the old one out. A hello that names no accepted key is refused before
// anything is computed. PrivateKey.ClusterKey derives a cluster key for those who have drawn none.
//
// # Tickets in a cluster
//
// Apps that share Config.TicketKeys can mint tickets for each other: a LoginApp sends its client
// the place, the public key and a ticket of a BaseApp (Mint); the client stores them (Pin, Keep)
// and dials the BaseApp without a round trip. Only one start of one acceptor remembers whether a
// ticket was used, so a ticket names that start by Config.ID and is good nowhere else.
// Config.MaxUsed bounds the memory: beyond it tickets are refused, and no used one is ever
// forgotten before it expires.
//
// # What the caller does
//
//   - Give a Random that is fit for keys. With the same random bytes two channels would have the
//     same keys.
//   - Call all methods on the goroutine of the Endpoint, with its clock.
//   - Seal each number once, in rising order; a Sealer panics otherwise. Keep the window of opened
//     numbers, and bound the rate of Answer.
//   - With TicketKeys give each start of each acceptor an ID of its own. If IDs repeat, used
//     tickets are good again.
//
// Errors and Stats hold no keys, and keys do not print themselves.
//
// # Sources
//
// The Noise Protocol Framework, revision 34 (pattern NK, sections 5 and 7.5; prologue, section 6;
// pre-shared keys, section 9). Tickets, binder and the register of used ones: RFC 8446, sections
// 4.2.11.2, 4.6.1 and 8. Addresses validated before state, limits of amplification: RFC 9000,
// section 8. Packet protection, change of keys and limits of the AEADs: RFC 9001, sections 5.3, 6
// and 6.6. HKDF: RFC 5869.
package secure
