// Package protocol defines every message between a client and the servers it meets: the LoginApp
// first, then the BaseApp that holds its proxy.
//
// # Shapes
//
// A reliable mercury message is a bundle of protocol messages, each framed so that a receiver can
// skip what it does not know:
//
//	+----+----------------+----------------+----+-----
//	| id | length uvarint | body           | id | ...
//	+----+----------------+----------------+----+-----
//
// A message whose id is 128 or more has no length: it is a value of a property of the player's own
// entity, whose id says how long it is. See [AppendOwnValue].
//
// An unreliable mercury message from the server is a Positions packet: where the entities around
// the player were, as far as the byte budget went, and [News] of them.
//
//	+------------------------------+----------------------+------+-----------+-----------------------+------+-----
//	| after, number, epoch, origin | aliases of the lists | X, Z | X, Z, yaw | middle: X, Z, ...     | news | ...
//	|                              |                      | ...  | ...       | far: X, Z, yaw, Y ... |      |
//	+------------------------------+----------------------+------+-----------+-----------------------+------+-----
//
// An entity has a short alias from its Enter to its Leave. A place is told on a grid of the space,
// of 1/32 m, and never as the whole number: the near form has the lowest eight bits of X and Z,
// which tell a client that holds a place not too far from there which one is meant. So most entries
// take two bytes, three with the yaw, and the same two or three for everyone who watches. They
// stand in lists of their own, which leaves all their bits to the place: four metres is what a
// player walks while its client's word of what it has seen is under way for 0.7 s. With flags in
// them, seven bits reached half as far, and took twice the bytes for players whose round trip is
// 200 ms. The aliases of a list are bits, or steps from one to the next, whichever is shorter.
//
// The near form must never misplace anybody, whatever was lost. In each Move, and when it stands
// still and packets come, the client says which it has seen ([Seen]). The witness uses the near
// form only if the entity has gone no farther than [NearReach] since a place that the client has
// had, by the length of its path: then it is right for each place that the client may hold, that
// one or any that was sent after it. The middle form is the same with twelve bits and
// [MiddleReach], for whom the budget lets wait or whose height changes: it has eight bits of the
// height if the client may not hold it. Everybody else is told the far form: 16 bits of X and Z,
// next to the origin of the packet, with yaw, height, pitch and roll, or all of it whole for what
// is a kilometre away. So none of the packets needs another. A packet that has overtaken a bundle
// is used, but does not count as seen: what it tells of entities that enter in that bundle finds no
// replica. The place where an entity comes to rest is told reliably and exactly.
//
// After counts the reliable bundles that the witness had sent before the packet. A client uses an
// entry only for a replica that was created by bundle After or an earlier one, and only if no packet
// of a higher number told of it: so a late packet never moves an entity back. An alias names another
// entity only when the client has said that it has applied the bundle with the Leave; a packet of
// another epoch, the incarnation of the player's real, is of no use. So a packet that comes late, or
// ahead of its bundle, tells of whom it was written for, or of nobody.
//
// Of an entity on a vehicle that the client has, a packet tells the seat, and says so, in the middle form or
// a longer one. A client uses it if it has all bundles up to After, and no later one tells of that ride: then
// it is on the vehicle that was meant.
//
// # News
//
// News are what a packet tells of an entity beside its place: values of properties that are Unreliable,
// always whole, and calls of client methods that are. A packet that is lost is not sent again. A call in
// it was lost for good. A value is made good by a later packet, or when the property has rested: then it
// is in a Changes message, once. So a client that holds still in the end holds what is true.
//
// A client never lets an older value replace a newer one. It uses news of an entity only if the packet
// comes after the last bundle with a reliable word on the properties of that entity (After says so).
// Of two packets the one with the higher number is newer. And a value in a Changes message is old if a
// packet has told the property whose After is not below the number of the message's bundle. Calls
// are made at most once, in the order in which they were sent; between them and what is told reliably there
// is no order.
//
// # Numbers
//
// Types, properties and methods go by the numbers that a client can know:
// [property.Definition].ClientID, [property.Property].ClientIndex, [property.Method].ExposedIndex
// upwards, and Index among the client methods downwards. They count only what clients see or call,
// and so does the digest that the two sides compare. An edit of the definitions that concerns only
// servers changes neither, and locks no client out.
//
// # Properties
//
// A property travels with its ClientIndex, as a whole value or as a change of a part of it: the
// third element, a slice of a list. The lowest bit says which; see
// [property.Values.AppendClientChange]. Enter and Audit carry only whole values. A part is sent
// only to a client that has the value as it was before the change, so parts must be applied once
// each and in the order in which they come.
//
// The properties of BasePlayer, CellPlayer and Enter are packed if the type that the client knows
// has a Compression.External; see [property.Compressor]. Those of other types go unpacked, without
// even the byte that says so. The digest tells such types from others, so the two sides cannot
// disagree.
//
// # Order
//
// LoginApp: Login up; LoginOK or Refused down. BaseApp: Attach or Resume up; after an Attach,
// Attached down, and BasePlayer once the client has said that it is ready, in the Attach or by
// EnableEntities. Before that the client may only say good-bye and Heard, and is sent nothing but
// downloads. Then CellPlayer whenever the cell part exists (again), preceded by Reset, which drops
// everything seen before, or by LeaveSpace, which does the same when the entity was teleported, and
// is followed by Arrived once all near by have been told. Transit in place of LeaveSpace drops
// nothing: the client maps its coordinates, and who is seen on both sides stays. Then Enter,
// Changes, Call, Rest, Ride, Leave for the entities in the area of interest. Nothing about an entity
// comes before its Enter or after its Leave. A [Ride] comes after the Enter of the vehicle; from there
// on to the Ride that ends it, no Rest and no packet tells the place of who rides.
//
// Instead of a Leave there may be a [Keep], and then a [Return] instead of the next Enter. The witness
// alone decides what is kept and in which of MaxKept slots, and says so in the stream of bundles, which
// is reliable and ordered: so it knows at each point of the stream what the client has, and need not
// ask. A Reset empties all slots.
//
// # Lost channels
//
// A session outlives its channel. Both sides count the reliable messages, and each keeps its own until
// the other has said that it has them. So over another channel each is told what it lacks, once and in
// order:
//
//	client                                    proxy
//	  Resume: token, what it has   ────────▶
//	                               ◀────────  Resumed: new token, uploads handled
//	  uploads not handled          ────────▶
//	                               ◀────────  all that the client lacks
//
// There are two streams down. One is of the cell part: its bundles begin with Bundle or Ahead, whether the
// proxy was here when they were made or not. The other is of the proxy: all else. They are counted
// apart ([StreamOf], [Counts]), since a proxy that was restored from its backup gets the later
// messages of its cell part again, in the same order, while what it says itself is new. There is one
// stream up, of calls, rests, requests of audits and EnableEntities ([Uploaded]).
//
//   - The first message of a session that counts is the one with Attached.
//   - A NewToken comes before a ResetEntities over the same channel, so it has come when the client says
//     EnableEntities. What the client says between the two is for an entity that it has no more, and is not
//     handled.
//   - A client that is sent its BasePlayer a second time, with the same id, has the properties from there:
//     its proxy was restored from a copy of before the client was ready.
//   - A message of no stream is for its channel alone: Resumed, NewToken, Settled, Fallback, Pong,
//     Refused. Downloads are not counted either: they end with their channel, and both ends are
//     told.
//   - A Resume gives a new token. The one before is good until the client has said anything over the new
//     channel, since the Resumed may be lost. Then it is not. The token of the LoginOK is the first one.
//   - A BaseApp that goes on with the session may have a copy of the proxy from before the newest token.
//     So a Resume shows the one before, too. If that is of the LoginOK, and the copy from before the
//     client came, the session begins once more: Attached comes again, as the first message, and
//     BasePlayer, whose entity may be another than the one that the client had.
//   - Any door of the BaseApp that has the session will do, over whatever network.
//   - Of two channels of a session the newer one counts.
//   - Heard says what has come, after a second or many bytes, so that the proxy keeps little. Settled says
//     which uploads nobody will ask for again.
//   - A client that hears nothing asks with a Ping. Without a Pong it also asks where Fallback
//     points to, over another channel: a BaseApp that holds copies of others' bases lets a Resume
//     wait that it does not know yet. Its own BaseApp may only pause: whichever answers first has
//     the session.
//   - A channel that is closed properly, or on which one side broke the protocol, ends the session.
//
// Unreliable messages of the time between are lost, as others are. The view needs no care: the cell part
// waits, and then tells the sum of what has changed.
//
// # Whose word counts
//
// The player's client says in a [Move] where the player's entity is, as long as it has the control.
// CellPlayer and [Forced] are the server's word on that: each has a number, a place, and says who
// has the control from there on. A Move repeats the number of the last one that the client has
// applied. The server takes no Move with another number, of another incarnation, or with a smaller
// sequence number than one before. So a Move that was made before the client knew never undoes
// what the server said, whatever is lost or late.
//
// A Forced may name a vehicle: then its place is a seat on that, and so are those of the moves that
// repeat its number. So a seat is never taken for a place in the world, or the other way round.
//
// [Controlled] and [MoveOther] are the same for an entity that is not the player's own. The number and
// the incarnation are that entity's. A Controlled comes after the Enter of its entity; its Leave, Keep or
// second Enter ends the control, and so does a Reset. A client that gets the control sends a MoveOther
// even if it does not move the entity.
//
// # Bounds
//
// Every parser here is fed bytes from outside. Lengths are checked against the named limits before
// anything is allocated; a malformed message is an error, and only its connection suffers.
package protocol
