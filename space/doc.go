// Package space runs the cells of spaces. It joins entities, ghosts, handoffs, areas of interest
// and witnesses in one tick, and binds them to the scripts that a game writes.
//
// A space is one seamless world with its own coordinates, in metres, x and z on the ground, y up.
// It is cut into cells by a BSP tree (package bsp); each cell runs on one CellApp. A Cell holds the
// reals whose home it is and ghosts of the reals that its neighbours hold near the lines.
//
// Game code uses Cell. Two types are for the CellApp alone. A Population is everything that one
// CellApp has of entities: its cells, and what outlives a real on its cell, namely handoffs,
// tombstones, and what destroyed reals still owe. It finds each entity by its id, so it takes all
// messages about entities, whatever cells there are. A Hosted is a cell with the methods for the
// CellAppMgr's orders: its geometry, its clock, its end.
//
// # What a game writes
//
// For each entity type with a cell part a game writes a struct that embeds *Real, with a handle
// field for each property it uses and a method for each cell method of the definition; see
// Register. A field that is not a property is lost when the entity moves to another cell, and needs
// the tag `cellscape:"local"` to say so.
//
// A type may also have a script for its ghosts, which reads what a ghost holds and is told when it
// changes; see RegisterGhost.
//
// Timers (Real.AddTimer), walks (Real.MoveTo, Real.MoveToEntity), turns (Real.TurnTo), traps, which
// tell who comes near (Real.AddTrap), and the game's own controllers (Controller,
// Real.AddController) travel with the entity, and call the script back by the name of a method.
//
// # Walks and turns
//
// One walk and one turn of an entity go on at a time, the last of each. They go by game time: slower
// in a slow space, and not at all in a frozen one. Each step begins where the entity is by then, so
// that a script, or a vehicle that it is on, may move it meanwhile; the end is a place and a yaw of
// the world, and is reached to the bit.
//
//	                with no Gait         with an Acceleration
//	begins          at full speed        with Gait.From, or the speed of the walk before it
//	goes on         at full speed        gathers speed, up to that of the walk
//	ends            dead                 brakes and is at rest there; or at speed, with Gait.Through
//	travels         as where to and      the same, with the speed after the last tick: it goes on
//	                how fast             from that on another cell, or after a restore
//
// A walk with an Acceleration covers (v+w)/2 metres a second in a tick that it begins with the speed v
// and ends with w. It takes no higher w than that from which it can stop, w²/2a metres later, where
// it ends. So it never overshoots, it is never faster than it was told to be, and the way does not
// depend on how long the ticks are, but for the tick in which it reaches its speed. Only if its goal
// comes nearer, or it began too fast and too near, it brakes harder than it gathers speed.
//
// A walk looks where it goes, and sets the yaw in each step. Beside a turn it needs
// Gait.KeepsFacing. Both take the control from a player's client, as all controllers do that move an
// entity; the top speed of clients (Real.SetTopSpeed) is none for them.
//
// # The life of a cell script
//
// A script may have any of these hooks. In each it may do whatever it may do elsewhere, with the
// exceptions named. It may also destroy the entity, and a panic costs the entity a life, as
// everywhere (the base restores it), except in OnLeftCell. A message over which three lives were lost
// is passed over by the next. After the fourth within a minute that no message caused, as in a timer,
// the base waits before it restores the entity, longer each time, up to a quarter of a minute.
//
//	hook            called                              there
//	OnCreated       once, when the base or Spawn has    set up what the entity has: it is not called
//	                made it; then the first backup      again for a restored real
//	OnRestored      instead, when the base has brought  fields that are not properties are gone; what
//	                it back from a backup               came after the backup has not happened
//	OnClient        when its client came or went; after
//	                OnCreated or OnRestored, not after
//	                a move to another cell
//	OnLeavingCell   before a handoff; its state is      what it changes travels along. If it moves
//	                packed next                         back or destroys itself, it does not leave
//	OnLeftCell      at the origin, when the Onload is   read its fields, as they were packed. Methods
//	                sent and a ghost is in its place    of Real do nothing, and a panic is only logged
//	OnEnteringCell  at the destination, with all of its change its state: ghosts and clients see it
//	                state, before the cells with ghosts only with what it changes
//	                of it and clients are told
//	OnEnteredCell   right after they are told
//	OnWitnessed     at the end of a tick, when a client begin or end what only matters if somebody
//	                sees it, or none has for            looks; it is also called where a client sees a
//	                UnwitnessedAfter                    ghost of it
//	OnSpaceData     at the beginning of the tick after  read all of it
//	                each change of the space's data
//	OnCallRefused   when a client's call was given up
//	OnAlighted      when it is off its vehicle, and    the ride is over already; it may board again
//	                has not got off itself
//	OnMoving        for each move of its client, within allow, refuse or change the move
//	                the top speed
//	OnDestroy       when it is about to be destroyed,   say goodbye to other parts and to clients: calls
//	                before anybody hears of it          go, all else fails with entity.ErrGone. It is not
//	                                                    called for a real that is lost
//
// A handoff that the destination refuses, or that dies with it, is undone by the base: OnRestored is
// called. The transcripts border, death and seen in internal/sim/testdata show the order.
//
// # Who moves a player
//
// A player's own client moves it, unless a controller does (Real.MoveTo) or the script has said
// that another client or the server alone does (Real.SetControlledBy). The client is at once where
// it says that it is, and uploads that some ten times a second; the cell checks each upload:
//
//	of this session and incarnation, and newer      else it does not count
//	repeats the number of the last forced place     else Counters.Overruled, and nothing more
//	the client has the control                      the same
//	the way takes no longer than it had time for    else it is corrected
//	the game's check agrees (MoveChecker)           else it is corrected, or goes where the check says
//
// A forced place is the server's word. Real.SetPosition, Real.SetDirection, the begin and the end of
// a walk, SetControlledBy and each correction make one. It gets the next number, and goes to the
// client in the ordered stream, at most once a tick; a new session and a restored entity begin with
// one (protocol.CellPlayer). Whatever the client has uploaded before it knew is void, so nothing that
// is under way undoes what the server has set, and others see only what counts. The number and the
// control travel with the entity. In a backup only the control and the top speed matter: a restored
// entity is a new incarnation, which no old upload names.
//
// During a walk, and as long as the server alone moves it, the client is told the place three times
// a second, and at once where the walk ends. A script that wants a player to go on by itself walks it;
// one that sets its position in each tick tells its client in each.
//
// The top speed (Real.SetTopSpeed, Config.ClientTopSpeed) is checked by the time that has passed in
// the cluster, so that a change of cells gives nothing away. The moves of a client may be ahead of
// that time by MaxDebt, since networks have jitter and clocks differ a little. After a silence they
// may all come at once: what they take together is bounded by the length of the silence, of which
// at most five seconds count. A client that plays dead gains no more than it could have walked. A
// correction is counted (status.Counters.Corrected) and puts the client where its entity is. It is
// no proof of a cheat: when a script lowers a speed, moves at the old one are still under way.
//
// A pet or a vehicle is moved by the client of another entity, its driver: SetControlledBy names that.
// All of the above holds for the moves of the driver's client, with the driven entity's number, speed
// and OnMoving. Ghosts know who drives (presence.Control), with the number. So the driver's cell, where
// the driven one is a ghost or a real, decides alone when the client has the control: as long as it has
// been shown an entity that names its driver.
//
//	driven entity --SetControlledBy, forced place--> its ghosts (Update, State)
//	                                                       |
//	driver's real, each tick: in view and named  <---------+
//	      | Controlled (reliable)             ^
//	      v                                   | MoveOther
//	driver's client ---------------------> its proxy
//	driver's real: a charge, its number ----> driven entity: named, its number, newer ----> it moves
//
// The control ends when the driven one is named otherwise, walks, leaves the view, is destroyed or
// begins anew in another incarnation; it comes back when all that is over. Moves go unreliably over
// both ways, the place at rest in the flows. A client that gets the control says where the entity is,
// so that no older word of it has the last one. The driven entity's own client is told where it is, as
// if the server moved it. A client drives at most MaxControlled entities.
//
// By default no client is checked. Entities bump into each other on the clients alone; a game that
// wants the server's say has OnMoving.
//
// # Vehicles
//
// Any entity can carry others: a ferry, a horse, a lift. Real.Board puts an entity on a vehicle, at a seat:
// a place relative to that (presence.Spot). In each tick, after timers and controllers, whoever rides is put
// where its seat is by then, on whichever cell it is: there the vehicle is a real, or a ghost that is a tick
// behind. So to all that goes by places, a passenger is like anybody else: areas of interest, borders,
// ghosts, traps. Passengers and vehicle cross a border one by one, each at its own place.
//
//	         Board                                           Alight, a teleport without the vehicle,
//	on foot --------> riding: on a cell with the vehicle -----------------------------------------> on foot
//	                    |  ^                             the vehicle is destroyed or does not
//	    not on the cell |  | it comes                    come; it is put far away: OnAlighted
//	                    v  |
//	                  waiting where it was, for VehiclePatience
//
// Walks and chases wait with it. If the script puts or turns who waits, the ride is over: OnAlighted.
//
// The ride travels with the entity and is in its backups, but not in the store: who is loaded from there
// rides on nothing, where it was. It is by the vehicle's id: a vehicle that was restored has its passengers
// again. Put or teleported elsewhere in its space, a vehicle takes its passengers with it, however far that
// is: whoever should stay alights before. To another space it takes only those who are named in
// Real.TeleportTogether; the others are off it, at the latest after VehiclePatience.
//
// A client is told the seat instead of the place, if it has been shown the vehicle: see package witness. A
// player's own client knows its place by its seat then (a forced place with a vehicle), moves about on the
// vehicle, and is checked by the way that it walks there; OnMoving is given places in the world. As long as
// its client is not shown the vehicle, the server moves the player, and tells it where. What another
// client drives can be a vehicle, but nobody drives who rides (Real.SetControlledBy acts when it is off).
//
// So clients put passengers where the vehicle is as they were told that. Whatever turns needs a yaw in
// its Volatile, and whatever tilts the rest: without, and beyond the distances there, clients learn of a
// turn only when the vehicle rests. Until then a passenger thirty metres astern may be sixty metres from
// its place.
//
// Its invariants:
//
//   - At the end of a tick, who rides and does not wait is where its seat is on the vehicle as its cell
//     has that.
//   - Nobody rides on what rides on it: a ring that two cells made at the same time ends.
//   - A client's move counts in the world or on a vehicle, as the forced place whose number it repeats.
//
// # Spaces that come and go
//
// Besides the spaces of the cluster's configuration, game code can create spaces while the world
// runs: a dungeon for a party, a room for a match. A base asks for one (entity.Base.CreateSpace)
// and makes its cell part there. The function of Scripts.OnFirstCell spawns the space's own
// entities. The space ends when all who have a base have left it again, or by Real.DestroySpace,
// Cell.DestroySpace or entity.Base.DestroySpace. entity.SpaceInfo.KeepFor says how long it waits for
// somebody who comes, or comes back.
//
// What the game keeps for a cell beside entities (a grid, files, a connection, a count) it makes in the
// function of Scripts.OnNewCell and gives to Cell.SetLocal. Scripts find it by Real.CellLocal, and the
// function of Scripts.OnCellEnd closes it: cell_life.go draws when. What must not be lost with a CellApp
// belongs into the space's data, or to entities.
//
// # Space data
//
// What belongs to a space and not to an entity (weather, a score, the time of day) is its data: keys
// with one or several entries each. Cells, cell scripts and bases set it, all cells and clients see
// it in the same order. See Cell.SetSpaceData, Cell.AddSpaceData and entity.Base.SetSpaceData. Scripts
// hear changes by OnSpaceData, clients by Events.SpaceData. Cell.SetTimeOfDay uses one of the keys
// from spacekey.First on, which are the library's; the day runs with game time.
//
// While the data has an entry with recording.Key, which is the game's to set although it is above that,
// each cell records what clients other than an entity's own may see: tape in tape.go, package recording.
//
// What the whole cluster shares is Real.Shared; see package entity/shared.
//
// # Teleports
//
// A script takes its entity to another place with Real.Teleport: far away in its space, in another
// space by its id, near another entity. The cell there may refuse it: one that has ended or has not
// loaded its land, one with Config.MaxReals, or by a rule of the game (Scripts.OnArrival). Then the
// entity is as it was before. Its script is asked first (Teleporter), and hears once how it went
// (Teleportee, Stayer). Package migrate has the protocol, and the type teleport its states.
//
//	same cell                    the real is put there; it has a new place and a new view
//	another cell of this CellApp the real is made there at the next hop; nothing is sent
//	another CellApp              a handoff, which may be refused
//
// The client begins a new view: LeaveSpace, CellPlayer, the data of the space, who is near, Arrived.
// CellPlayer has a new number of a forced place, so what the client says of the old place is ignored.
//
// Through a transition area (entity.Destination.Transition), a place that looks the same here and there
// such as a lift, the view goes along instead:
//
//	origin                      destination                          client
//	the witness travels    -->  Witness.Carry: who is a companion
//	with the real               and the client has it
//	                            Transit, CellPlayer, data       -->  own place and companions += offset
//	                            the companions come into range,      same replicas, no Leave, no Enter
//	                            as ever: a new place each       -->  places after the Transit count, older
//	                            Leave of who is in the old space     packets do not
//
// Companions are those who go in the same Real.TeleportTogether: all leave in one tick and are made in one,
// so no witness finds one missing. They keep their places relative to the first. Whoever is not moved, and is
// in range of both places of one space, stays where the client has it. An entity of the old space that is
// no companion leaves at once. A refused transition changes nothing, since the witness comes back as it was.
//
// # Gateways
//
// Through a gateway (Cell.OpenGateway) players see what is at its other end, in another space or far away
// in this one: a portal, the entrance of a dungeon. It is data of both spaces: an area at each end, whose
// entities are seen at the other, and the offset from the places here to those there. Whoever goes through is
// teleported, best with entity.Destination.Transition. Both ways are alike; this is one of them:
//
//	cell at the near end              CellAppMgr           cells at the far end
//	a real comes to the area
//	  LocateArea            -------->
//	                        <-------- LocatedArea: the apps whose cells are near the far end
//	  State, and whatever a ghost is told ---------------> a ghost, where the entity is
//	                                                       an image, at that place and the offset
//	                                                         --- Enter, places, ... ---> clients near by
//	the real leaves the area, or the gateway is closed
//	  Delete                ----------------------------->  no ghost, no image: Leave
//
// A ghost for a gateway is one like all others: an app has at most one of an entity, which says where the
// entity is, in its own space. If the app has no cell of that space, the ghost is in an annex: what a Cell
// is to its ghosts, without an area. An image is a second place of a real or a ghost on the app, which
// only witnesses meet: scripts and OnArrival know none. So offloads, teleports, restores, calls and
// repairs need nothing of their own: a call to an image is one to its entity. A cell on whose app the
// entity is itself needs no ghost for its image.
//
//	the client sees   image comes to AoI   entity comes to AoI   what it sees goes
//	nothing of it     the image            the entity            -
//	an image          -                    Leave, the entity     Leave, another image if one is there
//	the entity        -                    -                     Leave, an image if one is there
//
// The promises:
//
//   - A client has an entity at most once: where it is, if that is in its area of interest, else through
//     the oldest image that is.
//   - Whoever is in the area of one end is shown at the other, to all whose area of interest reaches there.
//     Who leaves the area is shown for Config.GhostSlack more metres, so that nobody flickers.
//   - Aspects count: who is withheld is not shown. Manual types are never shown, and a client does not
//     control what it sees through a gateway (SetControlledBy).
//   - An image's place is that of the entity as known here, and the offset. So clients converge as they
//     do without gateways.
//   - A gateway that one of its spaces does not have any more, since it was closed there or the
//     space has lost its data, is closed: nobody sees through, whatever the other space still has.
//   - To whoever looks on, an entity that goes through leaves and enters in one bundle, at one place. Its
//     own client and its companions see nothing of that in a transition.
//
// Its costs are bounded: a space has at most MaxGateways, whose areas have sides of at most the ghost
// distance; a cell shows at most MaxThroughGateway entities through each. GhostBudget and the budgets of
// clients hold as ever. Where the other end is, is asked once a second for each gateway, only by cells with
// somebody at this end, so lines may move and apps die there. A space without gateways costs nothing.
//
// Real.SpawnNear makes an entity without a base near another one, wherever that is, and
// entity.Base.CreateCellAt a cell part: both ask the other entity's cell part by a call, which finds it
// wherever it has gone, and is answered once.
//
// A space may have a limit of entities (entity.SpaceInfo.MaxEntities, Cell.SetMaxEntities). A full one
// refuses who is teleported to it from another space, made in it or spawned, and says so; who walks over
// a border is never refused.
//
// # Geometry
//
// The game loads terrain, collision meshes and the like. A space that is configured with Geometry
// (the rectangle that has any) is loaded cell by cell:
//
//	cell made, or its area changed:  Scripts.OnArea --> Cell.ToLoad --> Cell.Do, a job elsewhere
//	                                                                      |
//	the manager hears of it with the next report:  Cell.SetGeometryLoaded <+
//
// In return the cluster promises that no entity is made from its base, restored or handed over
// where a cell has not loaded the land. An entity that belongs there stays on the cell that has it,
// with a ghost in the other; an entity without a real waits at its base. Lines grow a cell only
// over land that it has loaded, with a ghost distance to spare. Only the game can check where an
// entity goes by itself, by a walk, a jump or Cell.Spawn: after a CellApp has died, its land is
// missing until a neighbour has loaded it. See Cell.HasLoaded.
//
// Nothing waits in silence: the manager logs a cell that has not loaded for a minute. None of this
// applies to a space without Geometry, or under balance.Config.IgnoreGeometry.
//
// # The tick
//
//  1. Flow messages between reals of this cell, then the departures they caused. The end of all
//     reals if the space has ended. The game's hooks if the area is new or the space has just
//     begun.
//  2. Controllers and timers of each real, in id order.
//  3. Messages to ghosts: where each real is, its changes and events.
//  4. Every CheckPeriod: offload what has left the cell, make and end ghosts. Only who is near a
//     line, has ghosts, or has just been lost from sight is visited.
//  5. Range events, collected so far, go to the witnesses.
//  6. Witnesses: one bundle and one packet for each client.
//     Then the recording of the tick, if the space is recorded.
//  7. Histories: some witnesses say what they still need, or some histories are trimmed.
//  8. Acks that flows owe and repeats that are due; backups that are due; repeats for haunts and
//     bases that may have missed something; leases that ran out.
//  9. Meters: the work since the last tick becomes load.
//
// After all cells the Population does what belongs to none of them: teleports, what destroyed reals owe,
// handoffs that are due again, leases that ran out, news that bases have not acknowledged.
//
// Messages from outside are handled as they arrive, between ticks. Ghosts are told of clients'
// moves a few times before the next tick; see Population.TellEarly.
//
// # Whom a CellApp believes
//
// That a sender is a CellApp of the cluster is proved before a message comes here. What it may say
// of an entity hangs on what is known of the entity here:
//
//	a word about                is believed of
//	where the other end of a    the CellAppMgr
//	gateway is
//	a real that is here         its base's app. Another CellApp may claim a newer incarnation; then
//	                            the base is asked, and refuses one of the two. The real does not
//	                            hand itself over meanwhile, and a newer hop is a lie
//	a ghost's changes           the app of its real
//	the end of a ghost          the app of its real. Of others the ghost asks that app, and goes if
//	                            there is no answer for GhostLease
//	a ghost that is not here    nobody for sure: it holds up older States, whose senders are asked
//	a real that comes           any CellApp. The base decides by the title that came with it
//	                            (migrate.Title), and what a ghost here was told keeps no real out
//	an ack of a handoff, or     the app that the real was handed to
//	a refusal
//	what a base says, passed on the app that handed the real over to here
//	what comes for a real       nobody who claims a newer incarnation of it: it is for that one
//	what another's base says    the app of the real's own base, which passes it on; of an entity
//	                            without a base, the app that has issued the caller's id
//	a caller that is here       this app
//	who drives an entity        the entity's app; of the driver's moves, any CellApp
//
// What is not believed is counted (status.Counters.Unproved); what no sound app says is refused,
// too. Nothing of it costs an answer that a sound app waits for: what a move or a lost message made
// doubtful is said again.
//
// A hostile CellApp can still do this. It can say of any entity that it has taken it over, with a
// ghost State: ghosts follow the newest real that they hear of, since that State may be the only
// news if the app before it has died. Such a ghost shows the clients of its cell what the liar
// says, and calls from there go to the liar, until the real comes or the liar is declared dead.
// Reals, bases, backups and the entity's own client do not follow. An entity without a base has no
// title, so a CellApp can bring a second one of it into the world. Numbers of flows are not signed,
// so it can call as any entity that is not on the called one's CellApp, and ack for it. It can move
// a player whose session number it guesses, and a driven entity, as far as physics lets them go.
// And whatever it was once given, in a handoff or to restore, it can claim until the next
// incarnation.
//
// # Load
//
// A cell measures what it does with the stopwatch of its CellApp, over a clock that stands while the
// CellApp has no processor (cellapp.Config.Work). What others do on the machine is no load of a real:
// in a world whose cells had a fortieth of a core each, one wait of 50 ms made one real seem to be half
// of its cell's load, and lines moved by 20 m after that. A CellApp that waits much feels overload
// instead, by its late ticks. Time counts for a real while its
// controllers and timers run, while messages to it are handled, in its callbacks, while its client
// is updated and while it is backed up. All other time counts for the cell, which shares it evenly
// over its reals when it reports where its load lies. Migration counts for nobody, including what
// scripts do in it: the offload and ghost check, Onload, and States and Deletes of ghosts.
// Otherwise moving a line would raise the load that it is meant to lower. A cell's load is the sum
// of its own meter and its reals' meters. So a real takes its load along at once, and Cost.Gained
// tells how much that was. See Real.Load and Hosted.Cost. What each
// entity type costs is in the status (status.App.Types).
//
// # Game time
//
// Leases, backups, dwells and periods go by the clock of the CellApp. Timers and controllers go by
// game time. All cells of a space compute that from the cluster's time in the same way, and it may
// run slower (gametime.Clock). It never goes back, neither for a cell nor for an entity that moves
// between cells.
//
// # Overload
//
// When a crowd is too dense to be divided, its CellApp sends its clients less at a time, then
// details only from nearer entities, and at last wants its space to run slower; see package
// overload. Whatever a client must learn comes later then, but it comes.
//
// If another app does not keep up, senders act on how full the channel to it is:
//
//	way to it       High                                Packed
//	a flow          what waited, or is due again, waits  new messages wait, too
//	witness         goes on                              waits as long as its flow does
//	backup          goes on                              waits, and is newer when it goes
//	ghosts          are left behind; one State later     the same
//	handoffs        none begin                           the same
//	all the rest    goes                                 goes: it is little, and in its turn
//
// A BaseApp whose channel is High also counts as load, so that budgets shrink, then detail, and at
// last time slows down. Nothing is lost for want of room, and nothing waits in a queue that a later
// message makes obsolete.
//
// # Invariants
//
//   - An entity on a CellApp is a real or a ghost, never both, and Population has it once.
//   - A real on its way out (gone != staying) sends nothing more, and the next sweep removes it. So
//     callbacks never run in the middle of a walk.
//   - Before a State is made, the real's haunts have been told all its changes, and the receiver of
//     the State is not one of them. So the numbers in a State and in the Updates after it are
//     contiguous, and no part of a property changes twice.
//   - Calls of other entities that a real has handled are settled, and their senders told, once its
//     base has a backup that contains them (Real.saved, Real.confirm). What a real keeps for others
//     is in its backups. Both tails are bounded (tailCalls, tailBytes, MaxTail).
//   - When a base has a backup, it has all that the real said before it. The frozen copy of a
//     handoff is as new as the real was, so a real restored from it repeats what nobody had
//     acknowledged (Real.retell).
//   - A flow with another part is forgotten when no settled backup keeps anything of it, and the
//     other end has said that nothing of it can come again. Numbers up to the highest one that was
//     forgotten are doubted.
//   - A commit's callback (Real.Backup) comes only when the base has the state that it is about.
//   - A call to a real with a base is given up only when that base says so or is dead.
//   - A real that is destroyed acks what it has handled, and what it owes is sent, before its end is
//     told (Real.sayLast).
//   - A handoff's Onload uses the same channel as earlier ghost messages of the real, and the real
//     is a ghost here before anything else happens.
//   - A real is handed over only to a cell that has been created and has loaded its land.
//   - A client's move counts only while it has the control and repeats the number of the last
//     forced place. What the client has gone since the last one takes no more than the time that
//     has passed, and MaxDebt.
//   - A client is told that it controls another entity only after it has been told of that, and
//     that it does no more before it is told that the entity has left.
//   - Sums of load are integers; no map is walked.
//
// # Concurrency
//
// A Population, its cells and all their scripts run on their CellApp's goroutine, so scripts need
// no locks. To use more cores, run more CellApps.
package space
