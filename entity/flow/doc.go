// Package flow carries messages between the parts of entities, wherever both ends go.
//
// A flow is a numbered stream of messages from one part of an entity to another. The numbers and
// the unacknowledged tail travel with the sender, and the receive state travels with the target, so
// order and exactly-once hold while either end moves, over any transport:
//
//	sender                                   target
//	Sender: next, kept[n]  --- Message n --->  Receiver: last, early[...]
//	        drop kept <= s <--- Ack a, s ----       deliver last+1, last+2, ...
//
// a is what the target has handled, which the sender need not send again; s is what it has settled,
// which nobody will ask for again.
//
// Invariants (promise 3 of the design):
//
//   - A Receiver delivers number n once, and only after n-1, within one stream. A stream is one
//     incarnation of the sender.
//   - A Sender keeps what is not settled. Towards a cell part with a base, whoever sends, "settled"
//     means contained in a backup that the base has settled; towards a base of which other apps hold
//     copies, it means contained in such a copy; everywhere else it means handled, since the target dies with
//     the app that handled it. A cell part that is restored has settled what was settled before its
//     backup, until the base settles the next one.
//   - An Ack names the incarnation of its target. A newer incarnation was restored from a backup:
//     the sender goes back to what that one has handled, and what an older one acknowledged no
//     longer counts. A message of a newer incarnation says the same (Sender.Lives). A sender that is
//     not told asks (Sender.Probe).
//   - An Ack goes to where the incarnation is that was heard, even if a newer one of the sender is known
//     elsewhere: a cell part that was destroyed keeps what it has sent, until it is settled.
//   - What a cell part keeps for other entities is in its backups, too: a new incarnation says it
//     again, in its own stream.
//   - What a restored sender goes on with from its backup has the numbers that it had, and
//     Message.Born says in which incarnation. A Receiver delivers nothing again that it has handled
//     under that number and of that incarnation. Of two streams of a sender, the newer one may repeat
//     more than the older did: it may go on from a newer copy of the same life. What the former stream
//     had beyond its backup may have been handled, and is not taken back.
//   - A target that ends acks what it has handled before its end is told, and its end says that
//     again to each sender (LastWords): what it has handled is settled, and the answers come from
//     where it was. What came early behind the message by which it ended was not handled. Only for
//     LastWordsLease, and MaxLastWords, is that remembered, in the app that tells of the end, which
//     is the base's for a cell part with a base. So a sender takes a handled message for a lost one
//     only if it missed the ack, and that app has died or the base has moved from there.
//   - A call to another entity carries the number of the base's message that caused it, and how many
//     such calls the message has caused before (ServerCall.Cause and Turn). By these the target
//     recognises the repeat of a restored caller that is not in its backup. A call by the caller's client
//     carries its place among all that the client said, since a restored base may pass it on again in
//     another message.
//   - A message that arrives early waits in the Receiver up to a limit; beyond the limit it is
//     dropped and the Sender's timer brings it again.
//   - A target forgets what it has handled only when the sender has said that nothing of it can
//     come again, from the present sender or a later life (Inquiry). What may be of a forgotten
//     flow is not handled before the sender has said what it still keeps.
//   - Message.Low says the lowest number that the sender can still send. A target restored from an
//     older state skips to Low instead of waiting for messages that no one has any more.
//
// # Concurrency
//
// Nothing here locks. Each end belongs to its part, and to the one app that holds that part.
package flow
