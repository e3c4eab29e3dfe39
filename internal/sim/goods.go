package sim

import (
	"fmt"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
)

// These properties change in depth and have every shape that the definitions know: a list of
// records that hold lists and records, a map, a free value, and a list of which only the latest
// value is sent. Each of them has flags of its own.
const goodsDef = `
		<chest>  <Type> ARRAY <of> FIXED_DICT <Properties>
				<count> <Type> INT32 </Type> </count>
				<tags> <Type> ARRAY <of> UINT32 </of> </Type> </tags>
				<gem> <Type> FIXED_DICT <AllowNone> true </AllowNone> <Properties> <cut> <Type> UINT8 </Type> </cut> </Properties> </Type> </gem>
			</Properties> </of> </Type> <Flags> ALL_CLIENTS </Flags> </chest>
		<ranks>  <Type> MAP <key> STRING </key> <of> INT32 </of> </Type> <Flags> OTHER_CLIENTS </Flags> <DetailLevel> NEAR </DetailLevel> </ranks>
		<debts>  <Type> MAP <key> UINT32 </key> <of> INT32 </of> </Type> <Flags> CELL_PUBLIC_AND_OWN </Flags> </debts>
		<latest> <Type> ARRAY <of> UINT32 </of> </Type> <Flags> ALL_CLIENTS </Flags> <SendLatestOnly> true </SendLatestOnly> </latest>
		<free>   <Type> ANY </Type> <Flags> ALL_CLIENTS </Flags> </free>`

// item is an element of a chest.
type item struct {
	property.Dict
	Count property.Int32
	Tags  property.Slice[uint32]
	Gem   gem
}

type gem struct {
	property.Dict
	Cut property.Uint8
}

// goods are handles of the properties of goodsDef.
type goods struct {
	chest  *property.Array[item]
	ranks  *property.Map[string, int32]
	debts  *property.Map[uint32, int32]
	latest *property.Slice[uint32]
	free   *property.Field[property.Value]
}

// deal changes a little of everything, most of the time in the middle.
func (g goods) deal(n uint32) {
	fiddle(n, g.latest)
	g.dealChest(n)
	key := fmt.Sprint("clan ", n%5)
	if rank, ok := g.ranks.Get(key); ok && n%4 == 0 {
		_ = g.ranks.Delete(key)
	} else {
		_ = g.ranks.Set(key, rank+1)
	}
	if n%9 == 0 {
		_ = g.debts.Delete(n % 7)
	} else {
		_ = g.debts.Set(n%7, int32(n))
	}
	if v, err := property.AnyValue([]any{n, map[string]any{"at": n % 3, "by": "me"}}); err == nil && n%2 == 0 {
		g.free.Set(v)
	}
}

func (g goods) dealChest(n uint32) {
	size := g.chest.Len()
	if size < 3 {
		_ = g.chest.Insert(size/2, property.List(property.Int(int64(n)), property.List(), property.Value{}))
		return
	}
	at := g.chest.At(int(n) % size)
	switch n % 8 {
	case 0:
		_ = g.chest.Delete(size/2, size/2+1)
	case 1:
		_ = at.Gem.SetValue(property.List(property.Uint(uint64(n % 200))))
	case 2:
		_ = at.Gem.Clear()
	case 3:
		at.Count.Set(int32(n))
	case 4:
		_ = at.Gem.Cut.TrySet(uint8(n % 200)) // an error if there is none
	default:
		fiddle(n, &at.Tags)
	}
}

// beastDef defines a type that clients take for a Critter: they know neither its spots, nor its
// temper, nor that it growls.
const beastDef = `
<root>
	<Parent> Critter </Parent>
	<ClientName> Critter </ClientName>
	<Properties>
		<spots>  <Type> ARRAY <of> UINT32 </of> </Type> <Flags> OTHER_CLIENTS </Flags> </spots>
		<temper> <Type> INT32 </Type> <Flags> ALL_CLIENTS </Flags> <DetailLevel> NEAR </DetailLevel> </temper>
	</Properties>
	<ClientMethods>
		<growl/>
	</ClientMethods>
</root>`

// baseless is how many entities without a base each rover makes: a critter and a beast.
const baseless = 2

// beastCell is a critter that lives on.
type beastCell struct {
	*space.Real
	Hat     property.Int32
	Mood    property.Int32
	Steps   property.Uint32
	Greeted property.Uint32
	Temper  property.Int32
	Spots   property.Slice[uint32]
}

// OnCreated starts the beat and the walk.
func (s *beastCell) OnCreated() {
	_, _ = s.AddTimer(beat, beat, "OnBeat", 0)
	s.OnThere(entity.Callback{})
}

// Greet does the same as that of critterCell.
func (s *beastCell) Greet(_ entity.ID, _ string) {
	s.Greeted.Set(s.Greeted.Get() + 1)
	s.Mood.Set(s.Mood.Get() + 1)
}

// OnBeat changes both what clients know and what they do not.
func (s *beastCell) OnBeat(entity.Callback) {
	if settles(s.Real) {
		return
	}
	s.Steps.Set(s.Steps.Get() + 1)
	fiddle(s.Steps.Get(), &s.Spots)
	s.Temper.Set(s.Temper.Get() + 1)
	if s.Steps.Get()%3 == 0 {
		s.Hat.Set(s.Chance().Int32N(100))
	}
	_ = s.OtherClients().Call("growl")
}

// OnThere walks on.
func (s *beastCell) OnThere(entity.Callback) { wander(s.Real, 40) }
