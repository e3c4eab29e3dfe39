// Package cellscape is documentation only: it says what the library is, and
// where each thing lives.
//
// Cellscape is a library for seamless game worlds that are too big, or too
// crowded, for one process. A space is cut into cells by a BSP tree; every cell
// runs in a CellApp; the cut moves with the crowd; an entity walks from cell to
// cell without its player noticing. It does the job of BigWorld's server side as
// packages that a Go team composes into its own binaries.
//
// # The words
//
//   - A space is one continuous world with its own coordinates, in metres.
//   - A cell is the rectangle of a space that one CellApp runs.
//   - An entity has a cell part that moves about, a base part that stays where it
//     was made, and a client part at a player's program.
//   - The real is the one authoritative copy of a cell part; ghosts are its
//     read-only copies on neighbouring cells, and the apps that hold them its
//     haunts.
//   - To offload is to hand a real to the cell that it has walked into.
//   - A proxy is a base with a client; a witness is the part of its real that
//     decides what the client is told, most important first, within its bytes.
//   - A mailbox calls a method of an entity's part wherever it is; a flow is what
//     brings the calls there once, in order, while both ends move.
//
// # The packages
//
// Useful on their own, importing nothing of the library:
//
//   - [github.com/cellscape/cellscape/bsp]: the partition tree and its codec
//   - [github.com/cellscape/cellscape/property]: entity definitions, typed values, detail levels
//   - [github.com/cellscape/cellscape/mercury]: reliable UDP as a state machine
//   - [github.com/cellscape/cellscape/aoi]: who is near whom
//   - [github.com/cellscape/cellscape/balance/load]: meters and load profiles
//
// The world:
//
//   - [github.com/cellscape/cellscape/balance]: figures in, a plan of cuts out
//   - [github.com/cellscape/cellscape/entity]: ids, mailboxes, methods, flows, bases
//   - [github.com/cellscape/cellscape/ghost]: haunts and the life of a ghost
//   - [github.com/cellscape/cellscape/migrate]: offload and restore as one handoff machine
//   - [github.com/cellscape/cellscape/aoi/witness]: what a client is told
//   - [github.com/cellscape/cellscape/space]: cells, their tick, and what a game's cell scripts embed
//
// The processes, as structs without goroutine, socket or clock:
//
//   - [github.com/cellscape/cellscape/space/cellapp] and [github.com/cellscape/cellscape/space/cellappmgr]
//   - [github.com/cellscape/cellscape/entity/baseapp] and [github.com/cellscape/cellscape/entity/baseappmgr]
//   - [github.com/cellscape/cellscape/entity/loginapp]
//   - [github.com/cellscape/cellscape/entity/client], and what it says in
//     [github.com/cellscape/cellscape/entity/client/protocol]
//
// What keeps entities, for a game's own jobs:
//
//   - [github.com/cellscape/cellscape/entity/store]: the contract, and in its sub-packages the
//     stores and accounts
//
// What runs them:
//
//   - [github.com/cellscape/cellscape/mercury/host]: sockets, clock and goroutines for any number
//     of processes
//   - [github.com/cellscape/cellscape/mercury/udp]: the socket
//   - [github.com/cellscape/cellscape/mercury/mercurytest]: a fake network, and the suite for transports
//   - [github.com/cellscape/cellscape/space/cluster]: all roles in one process, a world in a few lines
//
// # What it promises
//
// Each promise is a checker in internal/sim, which runs whole clusters with
// faults on one goroutine from one seed.
//
//  1. One real that its base acknowledges, or one handoff in flight; never two.
//  2. The leaves of a version of a geometry tile the space.
//  3. Messages of a flow are handled exactly once and in order, whatever moves,
//     is lost, doubled or reordered.
//  4. Ghosts follow their real in the order it acted; at rest they equal it.
//  5. At rest a client holds exactly what it is entitled to see.
//
// Start with examples/quickstart, then examples/arena; the README says how.
package cellscape
