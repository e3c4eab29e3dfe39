package entity_test

import (
	"fmt"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
)

// Party is the base part of a group of players that goes into a dungeon of its own.
type Party struct {
	*entity.Base
	dungeon entity.SpaceID `cellscape:"local"`
}

// OnCreated asks for the dungeon: 100 m by 100 m, never divided.
func (p *Party) OnCreated() {
	info := entity.SpaceInfo{Bounds: bsp.Rect{MaxX: 100, MaxZ: 100}, MaxCells: 1}
	if err := p.CreateSpace(info, "OnDungeon", 0); err != nil {
		p.Log().Error("no dungeon", "error", err)
	}
}

// OnDungeon goes in, when there is one.
func (p *Party) OnDungeon(r entity.SpaceReply) {
	if r.Err != nil {
		p.Log().Error("no dungeon", "error", r.Err)
		return
	}
	p.dungeon = r.Space
	_ = p.CreateCell(r.Space, property.Vector3{X: 50, Z: 50}, property.Vector3{}, nil)
}

// Beaten closes the dungeon, with everything that is left in it.
func (p *Party) Beaten() { _ = p.DestroySpace(p.dungeon) }

// A dungeon of its own for each party: the script registers with its BaseApp as any other
// (baseapp.Register), and the rest happens in its callbacks.
func ExampleBase_CreateSpace() {
	var script any = new(Party)
	_, hears := script.(interface{ OnDungeon(entity.SpaceReply) })
	fmt.Println("the script can be told of its dungeon:", hears)
	// Output: the script can be told of its dungeon: true
}
