// Package witness decides what one player's client is told about the entities around it: which of
// them first, in how much detail, in how many bytes.
//
// # A turn
//
// The cell says who is in range (Enter, Leave) and calls Update once a tick. The witness compares
// each entity with what the client was told, and queues those with anything unsent. If the byte
// budget has room for all, all are served. Otherwise the queue is served by virtual time until the
// budget is spent:
//
//	 Enter/Leave      entries, by id                queue, by virtual time
//	 ----------->  [ 3 | 7 | 8 | 20 ]  --unsent-->  7 (at 4.2)  3 (at 9)  20 (at 31)
//	                                                |
//	                                   served: at += 1 .. 5001, with the square of the distance,
//	                                   or as a property.UpdateScheme says
//	                                                |
//	   bundle (reliable)                            v           packets (unreliable)
//	+--------+--------+--------+-----------------------------+  +-------+--------+-------+----
//	| number | direct | leaves | enter | changes, calls | rest|  | after | origin | place | ...
//	+--------+--------+--------+-----------------------------+  +-------+--------+-------+----
//
// In a packet, places stand in the order of the aliases, which is the order of the entries: an
// Update goes through memory from the front to the back.
//
// The queue lasts while there is not room for all, and only whose turn comes is looked at. It knows
// times as slots of sixteen steps; whose turns are in one slot have them as they came to it. The
// client is told of an entity twenty metres away fourteen times as often as of one eighty metres
// away. An entity with nothing unsent takes its turn and costs no bytes. The front of the queue
// defines the present virtual time: an entity that was idle has saved up nothing. When all were
// looked at and there is budget left, nobody competes any more. Each Update then looks at all,
// until they do not fit again; the nearest come first.
//
// A turn is a step after the last one, and the step is that of where the entity is now. Whoever has gone
// away when the turn comes is put off. Whoever has come near is hastened: a patrol goes round all entries
// within a second. The nearest twenty do not depend on the queue: half of the budget is for them first,
// in each second Update (see circle.go).
//
// # Entities, seen by many
//
// What all witnesses of a cell read of an entity stands in its Subject, which is brought up to date
// once a tick: the place as clients are told it, and from which moment on a client must have had a
// place so that two bytes tell the next.
//
//	Entity --Show, once a tick--> Subject <--- entry of witness A: what this client was told, and when
//	                                      <--- entry of witness B
//
// # What the client holds
//
//   - Properties with a detail level are sent to watchers that are near enough. The
//     witness keeps a number for each level of each entity: the client knows the level up
//     to that number. When the watcher comes nearer again it is sent what has changed
//     since, and no more.
//   - Changes and broadcast calls of one entity go out in the order of their numbers. Of
//     several changes of one property only the present value goes. If the client knows
//     the property except for changes of parts of it, only those parts go, each with its
//     own number.
//   - Changes of Unreliable properties, and calls of Unreliable methods, go into the packets as news,
//     once: lost is lost. When such a property has rested for RestTicks, its value is sent reliably,
//     once. Nothing waits for news: they hold up no history and no reliable call. What a packet has no
//     room for, and a value that the client has never had, goes reliably at once.
//   - A call beyond its method's detail distance is lost, since a call is not state. So is
//     an unreliable call that the history no longer has. A client that has missed a
//     reliable call that the history no longer has is told to forget the entity, and meets
//     it anew.
//   - An entity that is met anew after the client has forgotten it is like a new one: the client
//     holds it as the copy here has it, and hears the calls after that. If the copy is behind what
//     the client had heard before, as a ghost may be after a handover, some earlier calls come again.
//     Between an enter and its leave no call comes twice, and none comes again of who was kept.
//   - Moves go out unreliably while an entity moves, on a grid of three centimetres, in as
//     many packets as the budget pays for, each as long as the channel takes
//     (SetMaxPacket). What the client says that it has seen (Saw) makes them short.
//     Once the entity has stood still for RestTicks, its place is sent reliably and
//     exactly, once.
//
// # Who comes back
//
// Of an entity that leaves, the client keeps what it knows, in one of protocol.MaxKept slots, and the
// witness keeps a note of what that is: the incarnation and the numbers of the levels. When it comes
// back in the same incarnation, the client is told the slot, the place unless it is the same, and the
// properties that have changed since, as for an entity that never left:
//
//	witness: bundle 5 (reliable)      client
//	  Keep alias 3, slot 7     ---->  slot 7 = values and place of alias 3
//	  ... and later
//	  Return slot 7, alias 12  ---->  an entity as it was, with the changes
//
// BigWorld's clients keep what they like, and are asked for their stamps when an entity comes into
// view: a round trip before it can be shown, and a state of waiting for an answer, with a time-out,
// for each. Here nobody asks. The witness alone decides what is kept, and which slot is used again, and
// says so in the stream of bundles. That stream is reliable and ordered, so loss and reordering cannot
// make the two disagree: at each point of it the client has what the witness has noted. Neither counts
// on the other to evict by the same rule. The notes travel with the witness to the next cell, some
// twenty bytes for each. If they were lost there, nothing would go wrong: the client keeps something
// that nobody asks for until the slot is used again. A new session, or a real that comes back from its
// backup, has a new witness without notes, and the client begins with empty slots (protocol.ResetID).
//
// A client keeps 256 entities of 64 KB in all (MaxKeptBytes), and a note takes about a hundred bytes
// here. The one that left first is dropped. What a Leave is told of and not a Keep: who is no more, an
// older incarnation, who has no alias, and who is too large.
//
// # Who is seen through something
//
// A cell may show an entity at another place than its own, as through a gateway: it then gives Enter a
// Subject with another record, which says where the entity appears, and a Via. A client knows an entity
// once. So if the cell shows it another way, the client loses sight of it and meets it anew, in one
// bundle: no place that it was told one way counts for the other. For the same reason nothing is kept of
// who was seen through something.
//
// # Invariants (promises 5 and 9 of the design)
//
//   - No budget is left over while any place, change or call is unsent, except for what a
//     bundle has no room for.
//   - What could not be sent does not count as sent: a packet given to Unsent leaves its
//     entities as they were, but for the calls in it, which are lost.
//   - Of an Unreliable property the client is told ascending numbers, wherever the witness goes.
//   - When the world is still and budget has passed, Pending is zero, and the client holds
//     what AppendExpected says, for every entity in range.
//   - Nothing about an entity is sent before its enter or after its leave.
//   - The client is told the near form of a place only if that is right for every place
//     that it may hold: one that it has had, or any that was sent after it.
//   - An alias names one entity at a time, as the client has it.
//   - An entity is never cut in half: all that it is owed goes in one bundle.
//   - If the number of a level is n, the client holds each property of the level as it was
//     after change n, whatever copy of the entity told it. All copies of an incarnation
//     give a change the same number. So the client lacks exactly the parts numbered above
//     n, on any copy; none is applied twice, none is skipped. A copy that is behind n, as
//     the ghost that a watcher meets after a handover may be, has nothing above n and
//     sends nothing of the level until it has caught up.
//   - Nobody waits longer than Config.MaxWait while the budget pays for that, and one of those
//     who have waited nearly as long is served each tick even when it is spent.
//
// # Handoff
//
// The witness travels with the player's real: Append on one cell, Read on the next. Entries are
// then unlinked until the new cell calls Enter for whatever is in range there. The client notices
// nothing. The numbers of bundles and packets go on, and so do aliases; what the client has seen has
// to be learned anew, since the paths of entities are those of this cell's records.
//
// # Concurrency and the caller's duties
//
// A Witness belongs to one cell. Update reads entities and writes only the witness, so Updates of
// different witnesses may run in parallel while nothing changes entities, unless they count in the
// same property.Stats. The cell calls Enter and Leave in pairs, never for the watcher itself, and
// sends each bundle before it calls Update again. Before it trims the history of an entity it asks
// every witness what it still needs (HoldHistory).
//
// Source: seed S4 §6.1.5.
package witness
