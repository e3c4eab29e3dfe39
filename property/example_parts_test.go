package property_test

import (
	"fmt"
	"testing/fstest"

	"github.com/cellscape/cellscape/property"
)

// Item is an element of a bag: handles for the fields of a FIXED_DICT.
type Item struct {
	property.Dict
	Kind  property.Uint16
	Count property.Int32
}

// Avatar is the script of a cell part, as a game writes it (it would embed *space.Real, too).
type Avatar struct {
	Health property.Int16
	Bag    property.Array[Item]
	Ranks  property.Map[string, int32]
}

// teller prints what the entity hears of.
type teller struct{}

func (teller) PropertyChanged(c *property.Change) {
	if c.Op == property.Splice {
		fmt.Println("property", c.Index, "at", c.Path, "from", c.Start, "to", c.End, "was", c.Old, "is", c.New)
		return
	}
	fmt.Println("property", c.Index, "at", c.Path, "was", c.Old, "is", c.New)
}

// Each change of a part, however deep, is one change, and travels as just that.
func Example_parts() {
	schema, err := property.Load(fstest.MapFS{
		"entities.xml": {Data: []byte(`<root> <Avatar/> </root>`)},
		"alias.xml": {Data: []byte(`<root>
			<ITEM> FIXED_DICT <Properties>
				<kind> <Type> UINT16 </Type> </kind>
				<count> <Type> INT32 </Type> <Default> 1 </Default> </count>
			</Properties> </ITEM>
		</root>`)},
		"entity_defs/Avatar.def": {Data: []byte(`<root>
			<Properties>
				<health> <Type> INT16 </Type>                 <Flags> ALL_CLIENTS </Flags>  <Default> 100 </Default> </health>
				<bag>    <Type> ARRAY <of> ITEM </of> </Type> <Flags> OWN_CLIENT </Flags> </bag>
				<ranks>  <Type> MAP <key> STRING </key> <of> INT32 </of> </Type> <Flags> CELL_PRIVATE </Flags> </ranks>
			</Properties>
		</root>`)},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	var avatar Avatar
	property.BindFields(&avatar, property.NewValues(schema.Type("Avatar"), property.CellSide, teller{}))

	avatar.Health.Set(70)
	_ = avatar.Bag.Append(property.List(property.Uint(7), property.Int(1)), property.List(property.Uint(9), property.Int(5)))
	avatar.Bag.At(1).Count.Set(4)
	_ = avatar.Bag.Delete(0, 1)
	_ = avatar.Ranks.Set("archer", 3)
	fmt.Println("first item:", avatar.Bag.At(0).Kind.Get(), "×", avatar.Bag.At(0).Count.Get())
	// Output:
	// property 0 at [] was 100 is 70
	// property 1 at [] from 0 to 0 was [] is [[7 1] [9 5]]
	// property 1 at [1 1] was 5 is 4
	// property 1 at [] from 0 to 1 was [[7 1]] is []
	// property 2 at [] from 0 to 0 was [] is ["archer" 3]
	// first item: 9 × 4
}
