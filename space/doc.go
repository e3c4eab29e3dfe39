// Package space runs the cells of spaces: it joins entities, ghosts, handoffs,
// areas of interest and witnesses into one tick, and binds them to the scripts
// that a game writes.
//
// A space is one seamless world with its own coordinates, in metres, x and z on
// the ground, y up. It is cut into cells by a BSP tree (package bsp); each cell
// runs on one CellApp. A Cell holds the reals whose home it is and ghosts of the
// reals that its neighbours hold near the lines.
//
// Two types are for the CellApp alone. A Population is all that one CellApp has of entities: its
// cells, and what outlives a real on its cell, namely handoffs, tombstones, and what destroyed
// reals still owe. It finds each entity by its id, so it takes all messages about one, whatever
// cells there are. A Hosted is one of its cells as the CellAppMgr orders it about: its geometry,
// its clock, its end. What game code needs of a cell is in Cell.
//
// # What a game writes
//
// For each entity type with a cell part a struct that embeds *Real, with a handle
// field for each property it uses and a method for each cell method of the
// definition; see Register. What is not a property is lost when the entity moves
// to another cell and must say so with the tag `cellscape:"local"`.
//
// A type may have a script for its ghosts, too, which reads what a ghost holds and
// hears when it changes; see RegisterGhost.
//
// What goes on by itself travels with the entity and calls the script back by the name of a
// method: timers (Real.AddTimer), walks (Real.MoveTo), and controllers that the game writes
// itself (Controller, Real.AddController).
//
// # Spaces that come and go
//
// Besides the spaces of the cluster's configuration there are those that game code
// creates while the world runs: a dungeon for a party, a room for a match. A base asks
// for one (entity.Base.CreateSpace) and makes its cell part there; Scripts.OnFirstCell
// is where the space's own entities are spawned. It ends when it is empty again, or by
// Real.DestroySpace, Cell.DestroySpace or entity.Base.DestroySpace.
//
// # Geometry
//
// Terrain, collision meshes and the like are the game's to load. A space that is configured with Geometry (the rectangle in
// which there is any) is loaded cell by cell:
//
//	cell made, or its area changed:  Scripts.OnArea --> Cell.ToLoad --> Cell.Do, a job of the runner
//	                                                                      |
//	the manager hears of it with the next report:  Cell.SetGeometryLoaded <+
//
// In return the cluster promises that where a cell has not loaded the land, no entity is made from
// its base, restored or handed over. An entity that belongs there stays on the cell that has it,
// with a ghost in the other; an entity without a real waits at its base. Lines grow a cell only
// over land that it has loaded, with a ghost distance to spare. Where an entity goes by itself, by
// a walk, a jump or Cell.Spawn, is the game's affair: after a CellApp has died, its land is missing
// until a neighbour has loaded it. See Cell.HasLoaded.
//
// Nothing waits in silence: the manager logs a cell that does not load for a minute. A space without Geometry knows nothing
// of all this, nor does one under balance.Config.IgnoreGeometry.
//
// # The tick
//
//  1. Flow messages between reals of this cell, then departures they caused; the end of
//     everything if the space has ended, the game's hooks if its area is new or the space
//     has just begun.
//  2. Controllers and timers of each real, in id order.
//  3. Ghosts' messages out: where each real is, its changes and events.
//  4. Every CheckPeriod: offload what has left the cell, make and end ghosts.
//  5. Range events, collected until here, to the witnesses.
//  6. Witnesses: one bundle and one packet for each client.
//  7. Histories: some of the witnesses say what they need, or some are trimmed.
//  8. Acks owed and resends due of flows; backups due; what haunts and bases may not have
//     heard; leases that ran out.
//  9. Meters: what was done since the last tick becomes load.
//
// After all cells the Population sees to what is of none: what destroyed reals owe, handoffs that
// are due again, leases that ran out, words that bases have not answered.
//
// Messages from outside are handled as they arrive, between ticks. What clients moved then is told
// to ghosts a few times before the next tick; see Population.TellEarly.
//
// # Load
//
// A cell measures what it does with the stopwatch of its CellApp. Time counts for a real while its
// controllers and timers run, while messages to it are handled, in its callbacks, while its client
// is updated and while it is backed up. All other time counts for the cell, which shares it evenly
// over its reals when it reports where its load lies. Migrations count for nobody, nor does what
// scripts do in them: the offload and ghost check, Onload, States and Deletes of ghosts that
// arrive. Otherwise a line that moves would raise the load that it is meant to lower. A cell's load
// is the sum of its own meter and its reals' meters. So a real takes its load along at once, and
// Cost.Gained tells how much that was. See Real.Load, Hosted.Cost and Population.TypeLoads.
//
// # Game time
//
// Leases, backups, dwells and periods go by the clock of the CellApp. Timers and
// controllers go by game time, which is one function of the cluster's time for all cells
// of a space, and may run slower (gametime.Clock). It never goes back, neither for a cell
// nor for an entity that moves between cells.
//
// # Overload
//
// When a crowd is too dense to be divided, its CellApp sends its clients less at once,
// then details from less far away, and at last wants its space to run slower:
// see package overload. What a client is entitled to for good comes later then, but comes.
//
// An app that does not keep up is felt by whoever has something to tell it:
//
//	way to it       High                                Packed
//	a flow          what waited, or is due again, waits  new messages wait, too
//	witness         goes on                              waits as long as its flow does
//	backup          goes on                              waits, and is newer when it goes
//	ghosts          are left behind; one State later     the same
//	handoffs        none begin                           the same
//	all the rest    goes                                 goes: it is little, and in its turn
//
// A BaseApp that is High counts as load besides, so that budgets shrink, then detail, and
// time dilates at last. Nothing is lost for want of room, and nothing queues that a later
// word makes void.
//
// # Invariants
//
//   - A record on a CellApp is a real or a ghost, never both; Population has it once.
//   - A real that is on its way out (gone != staying) sends nothing more and is
//     taken off at the next sweep: callbacks never run in the middle of a walk.
//   - Before a State is made, what its real changed has been told to the haunts it
//     already had, and who gets the State is none of them: so the numbers in a State
//     and in the Updates that follow it are contiguous, and no part of a property
//     changes twice.
//   - What a real has handled of other entities' calls is settled when its base holds a
//     backup with it (Real.saved, Real.confirm), and told so then. What a real keeps for
//     others is in its backups; both tails are bounded (tailCalls, tailBytes, MaxTail).
//   - A base had all that its real said before a backup when it has the backup. The frozen
//     copy of a handoff is as new as the real was: what was not acknowledged of what it
//     said is said by the one that is restored from it (Real.retell).
//   - A call to a real with a base is given up at the word of that base alone, or when
//     the base is dead.
//   - A handoff's Onload leaves on the channel that earlier ghost messages of the
//     real left on, and the real is a ghost here before anything else happens.
//   - A real is handed over only to a cell whose leaf is created and does not load.
//   - Sums of load are integers; no map is walked.
//
// # Concurrency
//
// A Population and its cells belong to their CellApp's goroutine, hence so do all scripts:
// they need no locks. Cores are used by running more CellApps.
package space
