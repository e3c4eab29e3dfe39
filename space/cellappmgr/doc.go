// Package cellappmgr is the manager of a cluster: the one address that every process joins, and the
// owner of how each space is divided into cells.
//
// # Purpose
//
// A CellAppMgr steers, and carries no traffic. It numbers the processes and gives them their entity
// id allocators; it makes the cells of every space and places them on CellApps; it moves the lines
// between cells as the load demands (package balance decides, this package acts); it declares
// silent processes dead and heals the spaces that they leave; it tells observers how the world is.
//
// The ids that entities and created spaces get begin with numbers. With Config.Numbers a store
// counts them, so none comes twice however often the world is stopped and started; numbers.go draws
// how. Without, they are made of the term, and only one life of a world tells them apart.
//
//	CellApp, BaseApp,        Join  ------------------------>
//	LoginApp, BaseAppMgr,    <------------ Welcome | Refused   CellAppMgr
//	observer                 Report, CellsReport ---------->
//	                         <---- AddCell, Geometry, SpaceData, AppDead, Members, Freeze,
//	                               RemoveCell, CellGoing, SpaceRate, Logins
//	                         CellCreated, CellRemoved, GeometryLacked, Locate,
//	                         LocateArea, SetSpaceData ---->
//	                         <---------------------- Located, LocatedArea, Status
//	                         CreateSpace, DestroySpace ---->
//	                         <---------------------- SpaceCreated, SpaceDestroyed
//	                         <---------------------- Look
//	                         Seen ----------------->
//	                         AppSilent ------------>
//	                         <---------------------- AppLeft
//
// A cell's life:
//
//	            AddCell             CellCreated           app declared dead
//	(chosen) ------------> placed ---------------> created -----------------> gone
//	             every second                                its sibling takes over, or, if it was
//	             until confirmed                             the last, another app gets a new cell
//
// # Spaces
//
// The spaces of the Config live as long as the manager. BaseApps ask for others, by the thousand:
// each is placed whole, and divided later if its load asks for it. Such a space ends when someone
// asks for that, or 10 s after its last entity has left, unless it is to be kept; a minute after,
// if a CellApp with a cell of it has died. A space that nobody has used yet does not end, unless
// the BaseApp that asked for it dies: so a space cannot stay for ever because its answer was lost
// together with the asker. A space may say itself how long it is kept while nobody is in it, whether
// somebody has been there or not (entity.SpaceInfo.KeepFor). When there are MaxSpaces, further ones are
// refused. The id of a space is never used again.
//
// Every cell gets its CellApp from the scorers of Config.Balance, with their vetoes: the first cell
// of a space of the Config, that of a room, that of a space which has lost its last, and those that
// the balance adds. A CellApp that is to be shut down is given a whole space only if all of them
// are. While the scorers refuse every CellApp the space waits: it is counted
// (Counts.UnplacedSpaces), named in the log, and tried again each balance period.
//
// What a space has besides its entities is with the manager and with the CellApps of its cells. Lest
// it is lost when they die together, two BaseApps keep it: they are told the whole, then each
// change, and tell the next manager (keepers.go draws it).
//
// Whoever asks where to make an entity in a space that has ended is told that it has ended. Idle
// spaces of one cell cost nothing but their share of the reports and of the balance.
//
// # When the manager starts anew
//
// Apps outlive their manager. A manager of a term above 1 may find a running world, and acts only
// when it knows that world:
//
//	         term 1, or no window                        an app knows a manager
//	start -----------------------------> running ---------------------------> superseded
//	  |                                   ^   ^         of a higher term
//	  | term above 1                      |   |
//	  v       the first joins             |   | late: one by one
//	waiting -----------------> window ----+---+
//	                             |   ^  no app of an earlier term has come back for
//	                             +---+  RecoveryWindow, or five of them are over
//	                         one comes back
//
// An app that was welcomed by another start joins with that start's term and says in a Rejoin what
// it has (package wire). Within the window nobody is welcomed and nothing is placed, moved or
// judged; the cells run on in the meantime. At its end:
//
//   - Of each space the geometry of the newest (term, version) wins whole. Whoever has it is told
//     the first geometry of the new term as a delta.
//   - A cell that an app has, and that the geometry has too, is created. A cell that only an app
//     has is removed like a retired one. A cell that only the geometry has is ordered again, if its
//     app came back.
//   - A space that some app was told has ended is ended on all apps.
//   - A CellApp with a leaf that did not come back is dead, and so is one without a leaf that
//     others count on. A BaseApp that others count on has AppTimeout to come back.
//   - The apps tell the rules of the BaseApps' copies, those of dead ones included (RejoinRule). Of each
//     the newest version wins. A BaseApp that others hold copies of has AppTimeout to come back, too.
//   - An app whose death any app was told of is dead for all, and is dismissed if it comes back.
//   - Of each key of the space data the newest entry wins. Numbers go on above all that a manager
//     of a lower term can have given. What apps said to the earlier manager, and it told no one, is
//     lost with it.
//   - Spaces of which no CellApp has come back are made anew, with the data that their keepers have.
//     Who was in them comes back from the backups; if nobody does in a minute, a created one ends.
//   - Apps keep their number and allocator; new ones get numbers above the highest. Game time goes
//     on from that of the CellApp which is furthest ahead. The world stands still if any app says
//     that it does.
//   - The balance begins without memory of its lines; retirements go on, since the leaves record
//     them.
//
// A CellApp that comes back after the window is dismissed if it had a leaf; any other app becomes a
// member again. Created spaces that only the late app tells of are ended on it. What it alone knows
// of the data of other spaces is set anew.
//
// A manager that was only stalled while another took its place is obeyed by no one: apps heed a
// manager only after a Welcome, and accept no Welcome of a lower term than they know. The first app
// that joins it again tells the stalled manager of the higher term; then it is silent until its
// operator ends it (Superseded).
//
// Only processes of one version of the messages and with the same definitions share a cluster. The first
// message says both (wire.Join, wire.LeaseAsk), and who differs is refused before anything else of it is
// read. Apps of an earlier term that differ have another manager's world. If the window ends and nobody else
// has come back, this is the manager that is wrong, and its Seat ends with a Fault. So does a Seat that so
// many others refuse that the rest is no majority.
//
// # Who leads
//
// A Seat is a process in which a CellAppMgr may lead. There can be several, at places that all
// processes know; a Lease lets one of them lead, in a term that nobody has led in before:
//
//	               the lease is granted
//	standing by ──────────────────────────▶ leading, a CellAppMgr of that term ──┐ while it hears what
//	     ▲                                    │                     ▲            │ there is, an app
//	     │ made anew,    another may lead, or │                     └────────────┘ shows a term as high:
//	     └─ with a new ── it could not renew ─┘                                    it takes a higher one
//	        salt          the lease
//
// Each time it is a new CellAppMgr, which hears from the apps what there is, as below. A start of the
// process gives orders in one term only, so the salt tells apps whether it knows them. Without another
// place the lease is granted at once, and the apps give the term away: so a manager that is killed and
// started again as it was takes the next term by itself. What one app alone claims is believed in small
// steps (claims), so one that lies does not use up the terms. It holds up new processes until it has heard
// whether there are old ones (SeatConfig.Fresh).
//
// Among several, the managers vote (election): whoever has the votes of a majority leads. So three
// places bear the loss of one, and five of two; the world goes on without a manager, but for new logins,
// new cells and the healing of deaths. These hold whatever is lost, late, paused or cut off:
//
//   - Never two lead at one time. Every input first asks whether the lease is over; then the manager
//     ends before it does anything. A leader that was paused finds out so when it wakes up.
//   - What a paused process had already said, and what comes late, is of a lower term, and no app takes
//     that after the Welcome of a higher one.
//   - Whoever joins at a place where nobody leads is sent away, and goes to the next place (package app,
//     Member). A leader tells the others whom it knows; who leads after it dials them, and they come at
//     once.
//
// A leader is replaced about two seconds after its last sign (LeaseTime), and the next one needs
// Config.RecoveryWindow to hear the world.
//
// # Contract
//
//   - The geometry of a space has a version (term, n). It rises with every change that is told, and
//     only then: at the end of the input with which a line moved or a cell was added, removed or
//     created, and at most once a balance period if nothing but loads has changed.
//   - The CellApps with a cell of the space are told each version once, in order, as a delta from
//     the version that they were told before, where that is shorter than the whole tree. They are
//     told again if they ask, or if their reports show for a second that they do not have it; then
//     as a delta from the version that they say they have. An AddCell always carries the whole
//     tree. Two trees of one version never exist.
//   - A cell counts as created only after its CellApp has said so; Locate and the balance use no
//     other.
//   - A cell of a space with Geometry is told as loading, so that nobody is handed over to it,
//     until it has reported that it has loaded what lies in its rectangle. Locate names a cell that
//     has loaded the land at the position, be it the cell there or another.
//   - A verdict of death is final for that start of the process. It reaches a CellApp before the
//     geometry that follows from it, on the same channel. A process that comes back from the dead
//     is Dismissed, whatever it says.
//   - The game time of a space is one function of the manager's time, with numbered changes of its
//     rate, each of which goes on where the one before ended. It runs as slowly as the slowest of
//     its cells wants, and is told ahead of time.
//   - The manager's time is told in each Welcome. A CellApp whose reports show that it is more than
//     100 ms behind is welcomed again. The manager goes on to the time of one that is ahead, by at
//     most 15 s and the difference of real clocks; anything beyond is left out.
//   - Logins are refused while the CellApps have too much to do or no BaseApp has room for a player
//     (LoginConfig), and in any case while a CellApp saves on what its players see.
//   - A request for a space makes one space, however often it is repeated. A space that ends is no
//     longer in any geometry or balance; its CellApps are told to destroy what is left until they
//     have done so.
//   - Changes of the data of a space have rising numbers, from 1 in term 1, and reach every CellApp
//     of the space in that order. No number is given twice, in any term.
//   - The same inputs give the same outputs: members are visited in the order in which they joined,
//     spaces and cells in the order in which they were made.
//
// # The end of a world
//
// An operator's order (Shutdown, or EndWorld of an observer) stops the whole world. The manager leads all
// processes through the steps; nobody goes on before the others have answered:
//
//	closing   logins are refused, those under way are answered             closeMost, 5 s
//	settling  clients are told why, and their sessions end; timers,        settleMost, 5 s, and anew
//	          controllers and the balance stand still; calls under way      after each death
//	          are handled, until twice in a row nothing is under way
//	writing   no script is called any more; cell parts are backed up to    writeMost, 10 s
//	          their bases, bases and spaces are written to the store
//	saved     all know that all is written: nobody's death changes         savedMost, 2 s
//	          anything
//	ended     the processes end, and the manager last                      endMost, 3 s
//
// After its bound a step is left in any case, and the report (status.Stop) says what was not settled, not
// written, or written without the last state of a cell part. What it calls written is in the store with the
// very last state, and no script has run since.
//
//   - A process that dies in settling or writing is healed as at any time, and the world settles again.
//   - When the manager dies, the apps stay in their steps until another one leads: the same,
//     started again by its supervisor, or one that stood by. It hears of the stop by their Rejoins
//     and goes on with it: with saved if most apps were told so, and else from closing. A world in
//     which most have heard of the stop never opens again; if only a few have, they are told that
//     it has not begun, and the order is given again. No app ends before all know that all is
//     saved, so the next manager never takes one that has ended for one that has died with unsaved
//     entities.
//   - New CellApps and BaseApps are not let in any more. A process that was declared dead, and had
//     heard of the stop, ends; another one waits to be ended by its operator.
//   - Entities without a base, and those of types that no store keeps, end with the world, as do their calls.
//
// # The start from a store
//
// With Config.Stores a world begins when the DBApp has said which spaces the store has kept: as
// they were at the stop or, after a crash of all processes, a few seconds before it (storing draws
// that). Spaces of the Config have their data again, and created ones come back under their ids;
// one that is not to be kept (SpaceConfig.Keep, KeepFor) ends if nobody has come to it within a minute.
// Until then no space is made or created; bringMost, 15 s, after the first BaseApp has come, the world
// begins without them. A manager that finds a running world does not wait.
//
// # Silence
//
// A process is dead when its channel ended in a way that proves it, when looks at its place show it
// (Config.Lookout; inquiry draws the states), or when it was silent for too long (silence draws them):
//
//	what is seen                                  by whom                     when it is known
//	its port is closed: the process was killed    the manager, and one        at once
//	                                              other that it has asked
//	nothing answers: the machine is down,         the manager, and both       after 0.4 to 0.9 s
//	or no way leads there                         others that it has asked
//	nobody was there to ask, or the others        the manager                 after AppTimeout, 3 s
//	reach it and the manager does not
//	its port is open: it is stopped, or lacks     the manager                 after HangTimeout, 9 s
//	a processor, or hangs for ever
//
// Nobody is dead for what another app says of it: the manager itself must have found no open port.
// So an app that lies kills nobody, and beside an honest witness it saves nobody. A witness is a
// CellApp or BaseApp that is heard itself, on another machine than the manager's if there is one;
// without a witness silence decides alone. The looks are connections to the inner address of the
// process. Whoever can answer in its place, on its machine or on the way to it, can have it
// declared dead, as they could by cutting that way; anybody else would have to guess the numbers of
// two connections that live for a millisecond. And a verdict that is wrong does no harm: all refuse
// the start that it names, which begins anew.
//
// A process lives although it is silent while others have the processor that it wants: on a machine with far
// too much to do for many seconds. A verdict would only add to that, by all that it moves. But its kernel
// goes on, and takes connections at its port: that is told from death, and has HangTimeout to be heard.
// Looks that this machine itself was too late to end prove nothing, and excuse the silence as an open port
// does. A process that has never taken a line, as behind a firewall, is judged by its silence alone, after
// AppTimeout.
//
// Only time during which the manager itself was awake counts: a manager that was stalled hears the
// reports that piled up before it judges anyone, and does not count it as a death if others have
// given up their channels to it during the stall. The leases of managers are no verdicts: one that
// is stopped for longer than LeaseTime leads no more, and another one does, which costs nobody
// anything.
//
// # Concurrency
//
// A CellAppMgr is a state machine without a goroutine, clock or socket. All its methods are called
// on the goroutine that runs it.
//
// # Caller's duties
//
// Pass Opened, Message and Closed on from the Transport of the Config, and call Tick when it is due.
// Run it by a Seat, or give every start of the manager a higher Term than the one before: cells,
// versions and entity ids of two terms never meet. To restart a manager under a running world, start it
// at the same address; apps find it by themselves.
package cellappmgr
