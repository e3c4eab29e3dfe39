package sim

import (
	"math/rand/v2"

	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
)

// Wild says what makes a world wilder than the plain one. In the zero value everything is off, and
// a run is what it was before there was any of this. Whatever draws chance has a stream of its own.
type Wild struct {
	// Clocks is how many entities live by timers of every kind; see clockwork.go.
	Clocks int
	// Heralds is how many entities set entries of the space's data under many keys; see herald.go.
	Heralds int
	// Stones is how many entities do nothing for a long time; each comes with one that has no base
	// and never does anything.
	Stones int
	// Rocks is how many entities do nothing at all; a test lays them.
	Rocks int
	// Brittle is how many entities panic, in every hook that a script has.
	Brittle int
	// Bursts says that they are also called with what they panic at each time.
	Bursts bool
	// Cracks says that bases of every kind panic now and then; see cracks.go.
	Cracks bool
	// Travellers is how many entities are teleported all the time, in every way. With any, players
	// and rovers are, too; see travellers.go.
	Travellers int
	// Twins is how many clients log in under one name at once, again and again.
	Twins int
	// Relogins says that a twin who logs in while another plays takes the proxy over, is refused,
	// or waits for its end, and that proxies are kept without a client; else it is refused.
	Relogins bool
	// Namers is how many bases take names that only one may have, and have others made elsewhere.
	Namers int
	// Beacons is how many entities each BaseApp ensures; see beacons.go.
	Beacons int
	// Ledgers is how many bases have themselves written; with any, the cluster has a store.
	Ledgers int
	// Savers is how many entities have their cell parts backed up all the time; see savers.go.
	Savers int
	// Loans says that ledgers end, and are loaded again by others.
	Loans bool
	// Surveys says that ledgers ask the store for all of them, by their counts.
	Surveys bool
	// Vaults is how many entities with both parts the store keeps; with any, the cluster has a store.
	Vaults int
	// Gossips is how many entities call each other's parts.
	Gossips int
	// Settlers is how many entities have their cell parts, and others, made near somebody.
	Settlers int
	// Views says that players see, and are seen, in changing ways; see views.go.
	Views bool
	// Idols is how many entities the scripts of players show to their clients; see idols.go.
	Idols int
	// Towers is how many entities are seen from afar; see towers.go.
	Towers int
	// Sentries is how many have traps, and run after whom they meet; see sentries.go.
	Sentries int
	// Carriages is how many drive about, with whom they meet; see riders.go.
	Carriages int
	// Kicks says that bases kick their clients; see kicks.go.
	Kicks bool
	// Walls says that players go where they may not; see walls.go.
	Walls bool
	// Ranges says that scripts ask who is near, and compare; see ranges.go.
	Ranges bool
	// Leases says that the world shows in its store that it lives, as all worlds do but those of
	// runs kept from before.
	Leases bool
	// Hold holds back moves and messages of flows, in front of CellApps, across handoffs.
	Hold bool
	// Breaks breaks channels between living apps, each at a message of a drawn kind.
	Breaks bool
	// Dooms kills CellApps at a message of a drawn kind: its receiver, its sender, or both.
	Dooms bool
	// Tight gives clients, ghosts and handoffs budgets that do not suffice. Before the world is
	// frozen, which lifts the budgets, it falls silent, and everyone must be told everything
	// nevertheless.
	Tight bool
}

func (w Wild) any() bool { return w != Wild{} }

// stores reports whether the cluster has a store.
func (w Wild) stores() bool { return w.Ledgers > 0 || w.Vaults > 0 }

// streams holds the chances of the wild world, each for one feature alone.
type streams struct {
	game   *rand.Rand // drawn by bases of wild entities
	twins  *rand.Rand
	hold   *rand.Rand
	breaks *rand.Rand
	dooms  *rand.Rand
	names  *rand.Rand
	gossip *rand.Rand
	travel *rand.Rand
	settle *rand.Rand
	logons *rand.Rand
	kicks  *rand.Rand
	walls  *rand.Rand
	cracks *rand.Rand
	rides  *rand.Rand
}

func newStreams(seed uint64) streams {
	of := func(n uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x317d<<16|n)) }
	return streams{of(1), of(2), of(3), of(4), of(5), of(6), of(7), of(8), of(9), of(10), of(11), of(12), of(13), of(14)}
}

// wildTypes are the types that a wild world has in addition to the plain ones, and their
// definitions.
const wildTypes = `<Clock hasClient="false"/><Herald hasClient="false"/><Stone/><Pebble hasBase="false"/><Brittle hasClient="false"/><Rock/><Grain hasBase="false"/><Traveller/><Namer hasCell="false" hasClient="false"/><Gossip hasClient="false"/><Waif hasBase="false" hasClient="false"/><Settler hasClient="false"/><Seedling hasBase="false" hasClient="false"/>`

func wildDefs() map[string]string {
	return map[string]string{
		"entity_defs/Clock.def": clockDef, "entity_defs/Herald.def": heraldDef,
		"entity_defs/Stone.def": stoneDef, "entity_defs/Pebble.def": pebbleDef, "entity_defs/Brittle.def": brittleDef,
		"services.xml": `<root><Oracle/></root>`, "service_defs/Oracle.def": oracleDef,
		"entity_defs/Rock.def": rockDef, "entity_defs/Grain.def": grainDef, "entity_defs/Namer.def": namerDef, "entity_defs/Gossip.def": gossipDef, "entity_defs/Waif.def": waifDef,
		"entity_defs/Traveller.def": travellerDef, "entity_defs/Settler.def": settlerDef, "entity_defs/Seedling.def": seedlingDef,
	}
}

func (w *world) registerWild(cells *space.Scripts) {
	space.Register(cells, "Gossip", func() *gossipCell { return &gossipCell{w: w} })
	space.Register(cells, "Waif", func() *gossipCell { return &gossipCell{w: w} })
	space.Register[clockCell](cells, "Clock")
	space.Register(cells, "Herald", func() *heraldCell { return &heraldCell{w: w} })
	space.Register[stoneCell](cells, "Stone")
	space.Register[pebbleCell](cells, "Pebble")
	space.Register[brittleCell](cells, "Brittle")
	space.Register[rockCell](cells, "Rock")
	space.Register[grainCell](cells, "Grain")
	space.Register(cells, "Traveller", func() *travellerCell { return &travellerCell{w: w} })
	space.Register(cells, "Settler", func() *settlerCell { return &settlerCell{w: w} })
	space.Register[seedlingCell](cells, "Seedling")
	space.RegisterController[metronome](cells, "metronome")
}

func (w *world) registerWildBases(s *baseapp.Scripts, p *Process) {
	baseapp.Register[clockBase](s, "Clock")
	baseapp.Register(s, "Herald", func() *heraldBase { return &heraldBase{w: w} })
	if w.heralds { // who ask it
		baseapp.Register[oracle](s, "Oracle")
	}
	baseapp.Register(s, "Stone", func() *stoneBase { return &stoneBase{past: past{w: w, on: p}} })
	baseapp.Register(s, "Brittle", func() *brittleBase { return &brittleBase{past: past{w: w, on: p}} })
	baseapp.Register(s, "Rock", func() *rockBase { return &rockBase{w: w} })
	baseapp.Register(s, "Gossip", func() *gossipBase { return &gossipBase{w: w} })
	baseapp.Register(s, "Namer", func() *namer { return &namer{w: w} })
	baseapp.Register(s, "Settler", func() *settlerBase { return &settlerBase{w: w} })
	baseapp.Register(s, "Traveller", func() *travellerBase { return &travellerBase{w: w} })
}

// population is what a BaseApp makes at its first start, by type.
func (c *Cluster) population() []struct {
	typeName string
	n        int
} {
	o := c.opts
	if o.Kept != nil {
		o.Wild.Vaults = 0
	}
	return []struct {
		typeName string
		n        int
	}{
		{"Rover", o.Rovers}, {"Lodger", o.Lodgers},
		{"Clock", o.Wild.Clocks}, {"Herald", o.Wild.Heralds}, {"Stone", o.Wild.Stones}, {"Brittle", o.Wild.Brittle},
		{"Rock", o.Wild.Rocks}, {"Namer", o.Wild.Namers}, {"Ledger", o.Wild.Ledgers}, {"Saver", o.Wild.Savers}, {"Gossip", o.Wild.Gossips}, {"Traveller", o.Wild.Travellers}, {"Settler", o.Wild.Settlers},
		{"Idol", o.Wild.Idols}, {"Tower", o.Wild.Towers}, {"Sentry", o.Wild.Sentries}, {"Carriage", o.Wild.Carriages},
		{"Figure", o.figures()},
		{"Vault", o.Wild.Vaults},
	}
}

func (o *Options) figures() int {
	if o.Gateway {
		return figures
	}
	return 0
}

// somewhere is the place in the square that an id stands for.
func somewhere(id uint64) property.Vector3 {
	return property.Vector3{X: float32(id*137%(2*half)) - half, Z: float32(id*89%(2*half)) - half}
}
