package main

import "time"

// What things cost, in nanoseconds of work per tick of a CellApp (10 Hz). The figures follow what
// examples/arena measures: about 45 to 56 µs of server CPU per client and tick with some hundred
// neighbours, a ghost 1 to 2 µs.
const (
	ticksPerSecond = 10

	// baseCost is an entity's own work: controllers, timers, its share of the tick.
	baseCost = 10_000
	// neighbourCost is what each entity in its area of interest adds.
	neighbourCost = 400
	// mostWitnessed is how many neighbours cost anything. A client's byte budget bounds what it is
	// sent in a tick, so a crowd of thousands does not cost more than one of this size.
	mostWitnessed = 150
	// ghostCost is paid by the cell that holds the ghost; hauntCost is paid by the real, for
	// telling one ghost.
	ghostCost = 1_000
	hauntCost = 500

	// spread is the sigma of the lognormal factor by which entities of one kind differ; leastFactor
	// and mostFactor bound it. A trader in a town is not a fighter, and load must not be mistaken
	// for heads.
	spread      = 0.35
	leastFactor = 0.5
	mostFactor  = 2.0
)

// How a CellApp behaves. The figures are the defaults of package space.
const (
	aoiRadius     = 500.0 // metres, half the side of a square
	ghostDistance = 550.0
	borderBand    = 10.0
	checkPeriod   = 200 * time.Millisecond
	offloadBudget = 100 // reals per cell and check
	reportPeriod  = 250 * time.Millisecond

	// smoothing is the weight, in thousandths, of a second's load in an entity's meter: ten ticks
	// of a twentieth each in one, 1 - 0.95^10.
	smoothing = 401
)

// These say how long messages take. A plan is made from reports that are figureAge old; the
// geometry reaches the cells geometryDelay after it was published; a CellApp confirms a new cell
// creationDelay after the plan.
const (
	figureAge     = 250 * time.Millisecond
	geometryDelay = 100 * time.Millisecond
	creationDelay = 300 * time.Millisecond

	// pulse is the step of the lab's time. All periods and delays are multiples of it.
	pulse = 50 * time.Millisecond
)

// keptVersions is how many versions of the geometry the manager can make a delta from.
const keptVersions = 16
