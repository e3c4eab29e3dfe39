// Package cellappmgr is the manager of a cluster: the one address that every
// process joins, and the owner of how each space is divided into cells.
//
// # Purpose
//
// A CellAppMgr steers and carries no traffic. It numbers the processes and gives
// them their entity id allocators; it makes the cells of every space and places
// them on CellApps; it moves the lines between cells after the load (package
// balance decides, this package acts); it declares silent processes dead and
// heals the spaces that they leave; it tells observers how the world is.
//
//	CellApp, BaseApp,        Join  ------------------------>
//	LoginApp, BaseAppMgr,    <------------ Welcome | Refused   CellAppMgr
//	observer                 Report, CellsReport ---------->
//	                         <---- AddCell, Geometry, SpaceData, AppDead, Freeze,
//	                               RemoveCell, CellGoing, SpaceRate, Logins
//	                         CellCreated, CellRemoved, GeometryLacked, Locate,
//	                         SetSpaceData ---->
//	                         <---------------------- Located, Status
//	                         CreateSpace, DestroySpace ---->
//	                         <---------------------- SpaceCreated, SpaceDestroyed
//
// A cell's life:
//
//	            AddCell             CellCreated           app declared dead
//	(chosen) ------------> placed ---------------> created -----------------> gone
//	             every second                                its sibling takes over, or, if it was the
//	             until confirmed                             space's last, another app gets a new cell
//
// # Spaces
//
// Those of the Config live as long as the manager. BaseApps ask for others, by the
// thousand: each is placed whole on the least loaded CellApp, and divided later if its
// load asks for it. It ends when someone asks for that, or 10 s after its last entity
// has left, unless it is to be kept; a minute after, if a CellApp died with a cell of
// it. One that nobody has used yet does not end, but when the BaseApp dies that asked
// for it: so an answer that is lost with its asker does not leave a space for ever. When
// there are MaxSpaces, further ones are refused. The id of a space is never used again.
//
// Whoever asks where to make an entity in a space that has ended is told so. Idle
// spaces of one cell cost nothing but their share of the reports and of the balance.
//
// # Contract
//
//   - The geometry of a space has a version (term, n). It rises with every change
//     that is told, and only then: at the end of the input with which a line moved
//     or a cell was added, removed or created, and at most once a balance period if
//     nothing but loads has changed.
//   - The CellApps with a cell of the space are told each version once, in order, as
//     a delta from the one that they were told before, where that is shorter than
//     the whole tree. They are told again if they ask, or if their reports show for
//     a second that they do not have it; then from the version that they say they
//     have. An AddCell always carries the whole tree. Two trees of one version never
//     exist.
//   - A cell counts as created only after its CellApp has said so; Locate and the
//     balance use no other.
//   - A verdict of death is final for that start of the process. It reaches a
//     CellApp before the geometry that follows from it, on the same channel. A
//     process that comes back from the dead is Dismissed, whatever it says.
//   - The game time of a space is one function of the manager's time, with numbered
//     changes of its rate, each of which goes on where the one before was. It runs
//     as slowly as the slowest of its cells wants, and is told ahead of time.
//   - Logins are refused while the CellApps have too much to do (LoginConfig), in any
//     case while one of them saves at what its players see.
//   - A request for a space is one space, however often it is repeated. A space that
//     ends is in no geometry and no balance any more; its CellApps are told to destroy
//     what is left until they have.
//   - Changes of space data are numbered from 1 in each space, and reach every
//     CellApp of the space in that order.
//   - The same inputs give the same outputs: members are visited in the order in
//     which they joined, spaces and cells in the order in which they were made.
//
// # Silence
//
// A process is dead when it was silent for Config.AppTimeout, or when its channel
// ended in a way that proves it. Only time counts during which the manager itself
// was awake: a manager that was stalled hears the reports that piled up before it
// judges anyone, and does not take it for a death if the others have given up
// their channels to it meanwhile.
//
// # Concurrency
//
// A CellAppMgr is a state machine without goroutine, clock or socket. All its
// methods are called on the goroutine that runs it.
//
// # Caller's duties
//
// Pass Opened, Message and Closed on from the Transport of the Config, call Tick
// when it is due, and give every start of the manager a higher Term than the one
// before: cells, versions and entity ids of two terms never meet.
package cellappmgr
