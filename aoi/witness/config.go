package witness

import (
	"cmp"
	"math"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/faults"
)

// Defaults of Config.
const (
	// DefaultBytesPerTick is 400 kbit/s at 10 ticks a second: the places of a thousand entities that
	// all move, three bytes each, and some 2000 bytes of changes, calls and enters. It is a limit: 75
	// entities that all move take 240 bytes. A household line today carries twenty times as much;
	// BigWorld's default, 20 kbit/s (222 bytes a tick), was meant for modems.
	DefaultBytesPerTick = 5000
	// DefaultLeastBytesPerTick is 20 kbit/s at 10 ticks a second: BigWorld's whole default budget,
	// and the places of 75 entities.
	DefaultLeastBytesPerTick = 250
	// DefaultMaxRadius is the usual largest radius of an area of interest, in metres.
	DefaultMaxRadius = 500
	// DefaultMaxWait is 30 s at 10 ticks a second, the longest wait for a turn that seed S4
	// §6.1.5.1 reckons with.
	DefaultMaxWait = 300
)

// Limits and fixed times.
const (
	// MinPacket is room for one place in a Positions packet. DefaultPacket is the size of packets
	// until SetMaxPacket says what the channel to the client takes; every channel takes more.
	MinPacket     = protocol.MaxPacketHead + protocol.MaxEntry
	DefaultPacket = 512
	// MaxDirect bounds the direct messages of one Update, in bytes, to half a bundle. The other
	// half is room for one entity of MaxEntity.
	MaxDirect = protocol.MaxBundle / 2
	// MaxEntity bounds what one turn of one entity may need, in bytes: three values of
	// protocol.MaxValue.
	MaxEntity = 3 * protocol.MaxValue
	// MaxCall bounds the arguments of a call to all who see an entity, in bytes: of MaxEntity half is
	// left for state, which must arrive.
	MaxCall = MaxEntity / 2
	// MaxEntries bounds the entities of one witness, to what an audit can hold.
	MaxEntries = protocol.MaxAudited
	// RestTicks is how many ticks an entity must have stood still to be at rest. A walker whose
	// input is a packet late has one tick without a move; two in a row usually mean that it has
	// stopped.
	RestTicks = 2
	// RelinkGrace is how many Updates an entry waits after Read for its Enter. The ghost of a
	// watched entity may arrive at the new cell a moment after the watcher; without the grace the
	// client would see the entity vanish and come back. Ten ticks are one second: several round
	// trips between cells.
	RelinkGrace = 10

	// minStep and maxStep are the steps of virtual time of an entity at 0 m and at MaxRadius. Between
	// them a step grows with the square of the distance: it doubles at seven metres of five hundred.
	// BigWorld's go from 1 to 101 in a straight line. In a crowd of 2,000 on 300 by 300 m, with 20
	// kbit/s, that tells of the nearest twenty after half a second, and two at worst; the square tells
	// of them in 0.1 and 0.3 s, and of the farthest in 30 instead of 17.
	minStep, maxStep = 1, 5001
	// farthest bounds the distance that a step goes by, in MaxRadius: virtual time has a bound.
	farthest = 16
	// maxBudget keeps sums of bytes far from overflow on 32-bit machines.
	maxBudget = 1 << 28
)

// Config says how much a client is told. The zero value is usable.
type Config struct {
	// BytesPerTick is the budget for the bundle and the packets together, in bytes of payload per
	// Update. Direct messages count, headers of the transport do not (0: DefaultBytesPerTick).
	BytesPerTick int
	// LeastBytesPerTick is how far the budget shrinks for a client whose path carries less; see
	// SetAllowance (0: DefaultLeastBytesPerTick, or BytesPerTick if that is less). At BytesPerTick it
	// does not shrink. A cell that has too much work goes below it.
	LeastBytesPerTick int
	// MaxDeficit bounds, in bytes, how much of what one Update sent beyond the budget the next ones
	// must save (0: twice BytesPerTick, so that a large enter silences the rest for at most two
	// ticks).
	MaxDeficit int
	// MaxRadius is the distance in metres at which the step of virtual time is 5001 times the step
	// at 0 m; it grows with the square of the distance. Types may have another property.UpdateScheme.
	// Take the largest radius of an area of interest (0: DefaultMaxRadius).
	MaxRadius float32
	// MaxWait is the number of Updates within which a waiting entity gets its turn, however far away
	// it is (0: DefaultMaxWait).
	MaxWait int
	// DetailFactor, above 0 and at most 1, shrinks the distances of detail levels and of broadcast
	// calls for a new witness; see SetDetailFactor (0: 1, as defined).
	DetailFactor float32
}

// Validate reports all faults at once.
func (c Config) Validate() error {
	all := faults.In("witness: ")
	fault := all.If
	fault(c.BytesPerTick < 0 || c.BytesPerTick > maxBudget,
		"BytesPerTick is %d: take 1 to %d bytes, or 0 for %d", c.BytesPerTick, maxBudget, DefaultBytesPerTick)
	most := c.withDefaults().BytesPerTick
	fault(c.LeastBytesPerTick < 0 || c.LeastBytesPerTick > most,
		"LeastBytesPerTick is %d: take 1 to BytesPerTick, %d, or 0 for at most %d", c.LeastBytesPerTick, most, DefaultLeastBytesPerTick)
	fault(c.MaxDeficit < 0 || c.MaxDeficit > 2*maxBudget,
		"MaxDeficit is %d: take 1 to %d bytes, or 0 for twice BytesPerTick", c.MaxDeficit, 2*maxBudget)
	fault(!(c.MaxRadius >= 0) || math.IsInf(float64(c.MaxRadius), 0),
		"MaxRadius is %v: take the largest radius of an area of interest in metres, or 0 for %d", c.MaxRadius, DefaultMaxRadius)
	fault(c.MaxWait < 0 || c.MaxWait > math.MaxInt32,
		"MaxWait is %d: take 1 to %d ticks, or 0 for %d", c.MaxWait, math.MaxInt32, DefaultMaxWait)
	fault(!(c.DetailFactor >= 0 && c.DetailFactor <= 1),
		"DetailFactor is %v: take a number above 0 and at most 1, or 0 for 1", c.DetailFactor)
	return all.Err()
}

func (c Config) withDefaults() Config {
	c.BytesPerTick = cmp.Or(c.BytesPerTick, DefaultBytesPerTick)
	if c.LeastBytesPerTick == 0 {
		c.LeastBytesPerTick = min(DefaultLeastBytesPerTick, c.BytesPerTick)
	}
	c.MaxDeficit = cmp.Or(c.MaxDeficit, 2*c.BytesPerTick)
	c.MaxRadius = cmp.Or(c.MaxRadius, DefaultMaxRadius)
	c.MaxWait = cmp.Or(c.MaxWait, DefaultMaxWait)
	c.DetailFactor = cmp.Or(c.DetailFactor, 1)
	return c
}
