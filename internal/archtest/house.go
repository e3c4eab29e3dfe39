package archtest

// House returns the rules of this module.
func House() Rules {
	return Rules{Edges: houseEdges, Impure: houseImpure, Variables: houseVariables, Surfaces: houseSurfaces, Shown: houseShown}
}

// houseEdges is the house from its first floor up. Whoever wants only a reliable UDP, an AoI index,
// definitions or a balancing BSP takes one package of the first floor and nothing else of the
// library.
const houseEdges = `
# Documentation only.
.:

# Floor 0: how fields stand in messages, whether promises are checked, what is wrong with a configuration, names of
# values.
internal/codec:
internal/invariant:
internal/faults:
internal/enum:

# Floor 1: nothing of the library but that, not even each other. What mercury keeps inside stands before it.
mercury/internal/congestion:
mercury/internal/wheel:
bsp: internal/codec internal/invariant internal/enum
property/internal/bits:
property/internal/literal:
property/internal/mpack: internal/enum github.com/vmihailenco/msgpack/v5
property: internal/codec internal/enum property/internal/bits property/internal/literal property/internal/mpack
mercury: internal/codec internal/invariant internal/enum mercury/internal/congestion mercury/internal/wheel
mercury/call: mercury mercury/internal/wheel
mercury/download: internal/codec internal/faults mercury
aoi:
balance/load: internal/codec
internal/spacekey:
internal/argument: property
internal/logs:
internal/gametime:
internal/tail:
internal/leases: internal/invariant

# What scripts say and hear beside entities: leaves, so that entity can use them.
entity/limits:
entity/daytime:
entity/placement: internal/enum
entity/shared:
entity/stored: property
space/ending: internal/enum
FLOOR1 = internal/codec internal/invariant internal/faults internal/enum bsp property mercury mercury/call mercury/download aoi balance/load internal/spacekey internal/argument entity/limits entity/daytime entity/placement entity/shared entity/stored space/ending

# Floor 2.
balance: internal/faults bsp balance/load
entity: FLOOR1 github.com/vmihailenco/msgpack/v5
entity/presence: FLOOR1 entity
internal/fields: FLOOR1 entity entity/presence
entity/flow: FLOOR1 entity internal/fields
internal/script: FLOOR1 entity entity/flow internal/fields internal/gametime
ENTITY = entity entity/presence internal/fields internal/script entity/flow internal/gametime
mercury/secure: internal/codec internal/faults internal/enum mercury github.com/flynn/noise golang.org/x/crypto/chacha20poly1305
space/cluster/status: bsp
space/cluster/watch: space/cluster/status
internal/trace: entity space/cluster/watch
space/overload: internal/faults balance/load internal/gametime
space/recording: FLOOR1 ENTITY
FLOOR2 = FLOOR1 balance ENTITY mercury/secure space/cluster/status space/cluster/watch internal/trace space/overload space/recording
space/internal/hosting: FLOOR2
space/internal/gait: internal/codec

# Floor 3: who may use entity may use what entity speaks in.
entity/client/protocol: FLOOR1 ENTITY
entity/store: FLOOR1 ENTITY
aoi/witness: FLOOR1 ENTITY entity/client/protocol
ghost: FLOOR1 ENTITY internal/leases
migrate: FLOOR1 ENTITY
FLOOR3 = FLOOR2 entity/client/protocol entity/store aoi/witness ghost migrate

# Floor 4: the tick that joins them.
space: FLOOR3 internal/logs internal/leases space/internal/hosting space/internal/gait github.com/vmihailenco/msgpack/v5

# Beside it: what a script may use or leave.
space/navigation: internal/codec internal/faults entity property space space/internal/gait

# Floor 5: control messages between processes.
internal/wire: FLOOR3 internal/logs space
internal/app: FLOOR3 internal/logs space internal/wire
FLOOR5 = FLOOR3 space internal/logs internal/wire internal/app

# Floor 6: the processes, never each other; the client, which takes nothing of the server.
space/cellapp: FLOOR5 space/internal/hosting
space/cellappmgr: FLOOR5
entity/baseapp/internal/allowance: internal/invariant mercury
entity/baseapp: FLOOR5 entity/baseapp/internal/allowance internal/tail
entity/baseappmgr: FLOOR5
entity/loginapp: FLOOR5
entity/dbapp: FLOOR5
entity/client: FLOOR1 ENTITY mercury/secure entity/client/protocol internal/tail
property/defgen: property
property/defgen/internal/...: property entity entity/client internal/script
APPS = space/cellapp space/cellappmgr entity/baseapp entity/baseappmgr entity/loginapp entity/dbapp entity/client

# Floor 7: adapters, the only places that meet the outside, and the runner over them.
mercury/udp: mercury golang.org/x/sys/unix
mercury/stream: internal/faults mercury golang.org/x/sys/unix
mercury/tcp: mercury mercury/stream golang.org/x/sys/unix
mercury/quic: mercury mercury/stream github.com/quic-go/quic-go
mercury/websocket: mercury mercury/stream github.com/coder/websocket
entity/store/memory: FLOOR1 entity entity/store
entity/store/storetest: FLOOR1 entity entity/store entity/store/memory
entity/store/internal/relational: FLOOR1 entity entity/store
entity/store/sqlite: FLOOR1 entity entity/store entity/store/internal/relational modernc.org/sqlite modernc.org/sqlite/lib
entity/store/postgres: FLOOR1 entity entity/store entity/store/internal/relational github.com/jackc/pgx/v5 github.com/jackc/pgx/v5/...
entity/store/accounts: entity/store property entity/loginapp entity/client/protocol golang.org/x/crypto/argon2 golang.org/x/sync/semaphore
entity/store/...: FLOOR1 entity entity/store
mercury/mercurytest: internal/enum mercury mercury/udp golang.org/x/sys/unix
mercury/host: golang.org/x/sys/unix mercury mercury/secure mercury/udp
mercury/stream/streamtest: mercury mercury/stream mercury/mercurytest mercury/host
entity/client/session: FLOOR1 ENTITY mercury/secure entity/client/protocol entity/client mercury/host mercury/udp mercury/stream mercury/tcp mercury/quic mercury/websocket
space/recording/keep: entity space/recording github.com/klauspost/compress/zstd
entity/client/bots: FLOOR1 ENTITY mercury/secure entity/client/protocol entity/client mercury/udp
space/replay: FLOOR1 ENTITY entity/client space/recording
mercury/peer: internal/codec internal/faults mercury mercury/secure mercury/call mercury/host
ADAPTERS = mercury/udp mercury/stream mercury/tcp mercury/quic mercury/websocket entity/store/... mercury/mercurytest mercury/host mercury/peer entity/client/session entity/client/bots space/recording/keep space/replay

# Floor 8: all roles at once, in production and in simulation. The simulation meets no socket and no runner.
space/cluster: FLOOR5 APPS ADAPTERS
# It plays back what it has recorded.
internal/sim: FLOOR5 APPS entity/store/... mercury/mercurytest space/replay
internal/sim/plants:

# Floor 9.
space/spacetest: FLOOR5 APPS ADAPTERS space/cluster
space/cluster/metrics: space/cluster/status github.com/prometheus/client_golang/prometheus

# Floor 10: what a reader copies, so public packages only.
examples/...: golang.org/x/sys/unix FLOOR3 space APPS ADAPTERS space/cluster space/cluster/metrics space/navigation space/spacetest examples/... github.com/prometheus/client_golang/prometheus github.com/prometheus/client_golang/prometheus/promhttp

# Tools, each with the noun it serves: public packages only, too.
mercury/netprobe: golang.org/x/sys/unix mercury mercury/secure ADAPTERS
balance/balancelab: bsp balance balance/load
property/model: property
property/defcheck: property property/model

# The house's own inspector.
internal/archtest: golang.org/x/tools/go/packages
`

// houseImpure names the packages, and files, in which goroutines, clocks, sockets and the rest of
// the outside live.
const houseImpure = `
mercury/host: the runner owns goroutines, sockets and the clock
mercury/peer: looks up names, starts the runner, and is asked from any goroutine
mercury/udp: sockets
space/navigation: called from any goroutine, so it has a lock
mercury/mercurytest/link.go: carries datagrams of real sockets in real time
mercury/mercurytest/nap_linux.go: the clock of that link
mercury/mercurytest/nap_other.go: the clock of that link
mercury/mercurytest/udprig.go: endpoints on real sockets over that link
mercury/stream: the goroutines of connections
mercury/stream/streamtest: runs transports over connections in real time
mercury/tcp: sockets
mercury/quic: sockets, and the goroutines of its library
mercury/websocket: sockets, and the goroutines of its library
entity/store/memory: called from any goroutine, so it has a lock
entity/store/storetest: calls a store from many goroutines
entity/store/internal/relational: called from any goroutine
entity/store/sqlite: a file, and the locks around it
entity/store/postgres: sockets, and the goroutines of its library
entity/store/accounts: draws salts, and bounds how many goroutines hash at once
entity/client/session: looks up names, starts the runner, and is asked from any goroutine
entity/client/bots: turns thousands of clients on a few goroutines of its own, and is asked from any other
space/recording/keep: files, the goroutines that write them, and locks
space/cluster: starts the runner
space/cluster/metrics: asked from any goroutine, and answers by a channel
internal/archtest: runs the Go command
internal/sim/plants: a program that runs the Go command
property/defgen: a program
property/defcheck: a program
mercury/netprobe: a program
balance/balancelab: a program
examples/...: programs
`

// houseVariables names the package-level variables of pure packages that are never written.
const houseVariables = `
internal/wire.table: table of the messages, made once and only looked up
internal/script.goTypes: table of parameter types, only looked up
mercury.castagnoli: table of the checksum, which the standard library makes once
property.aliasFiles: list of file names
property.dictType: a type, which Go cannot hold in a constant
property.streamTable: table of who takes part in each stream
property.flagNames: table of flag names
property.handleType: a type, which Go cannot hold in a constant
property.kindTable: table of the kinds
property.replayNames: table of exposure names
property.scalars: table of the data types without parameters, which are immutable
property.setterType: a type, which Go cannot hold in a constant
`

// houseSurfaces bounds what a reader of go doc meets. A package that needs more has two ideas.
const houseSurfaces = `
entity: 59
# A Stage and how it is made: what plays recordings needs replicas, scripts and filters without a session.
entity/client: 51
entity/baseapp: 68
mercury: 99
space: 84
space/cluster: 34
entity.Base: 50
space.Cell: 29
# Watch, by which a CellApp shows what is in its cells.
space.Population: 48
# CellLocal, the way from a script to what the game keeps for its cell.
space.Real: 85
`

// houseShown names what shows a type of an internal package, though whoever imports the library cannot name
// it: encodings that the house's own decoders are made of, and what the processes host cells with.
const houseShown = `
mercury.ReadAddress: for the decoders of messages that name an app
entity/flow.ReadDestination: for the decoders of messages that contain it
entity/flow.ReadRequestID: for the decoders of messages that contain it
entity/flow.Sender.Read: for the decoders of what is handed over, and of copies
entity/flow.Receiver.Read: for the decoders of what is handed over, and of copies
entity/flow.ClientRest.Read: for the decoders of what is handed over
entity/flow.Session.Read: for the decoders of what is handed over, and of copies
entity/flow.Culprit.Code: for the messages that contain it
entity/flow.Steer.Read: for the decoder of what a CellApp is told to steer
entity/client/protocol.Seen.Read: for the decoders of what is handed over
entity/client/protocol.ReadDoors: for the decoders of messages about BaseApps
ghost.Haunts.Read: for the decoders of what is handed over
aoi/witness.Witness.Read: for the decoders of what is handed over
aoi/witness.Witness.ReadSaid: for the decoders of backups
migrate.Rule.Code: for the messages that contain a rule
migrate.Part.Code: for the messages that contain a part
space.NewPopulation: for package space/cellapp, which hosts it
space.Population.ClientMove: for package space/cellapp, which passes moves on
space.Population.Steer: for package space/cellapp, which passes orders on
space.Hosted.Clock: for package space/cellapp, which keeps the clocks of cells
space.Hosted.SetClock: for package space/cellapp, which keeps the clocks of cells
space/cellapp.CellApp.Backlog: for the simulator, which judges it
entity/baseapp.BaseApp.Backlog: for the simulator, which judges it
`
