package main

import (
	"slices"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
)

const (
	// partySize is how many heroes go to a dungeon together.
	partySize = 4
	// dungeonWaits is how long a dungeon waits for them. Nobody ever comes to one if the matchmaker was
	// restored meanwhile and has forgotten who wanted it, or if a hero of the party stays in town.
	dungeonWaits = 15 * time.Second
)

// Matchmaker is a base that makes parties and dungeons.
type Matchmaker struct {
	*entity.Base
	*game   `cellscape:"local"`
	waiting []property.Mailbox `cellscape:"local"`
}

// OnCreated takes its name.
func (m *Matchmaker) OnCreated() { m.check(m.RegisterName("matchmaker", "OnName", 0)) }

// Seek is called by a hero that wants an adventure, again and again until it has one. There is a dungeon
// for each party that is complete.
func (m *Matchmaker) Seek(hero property.Mailbox) {
	if slices.Contains(m.waiting, hero) {
		return
	}
	if m.waiting = append(m.waiting, hero); len(m.waiting)%partySize == 0 {
		level := []byte{byte(1 + len(m.waiting)/partySize%3)}
		m.check(m.CreateSpace(entity.SpaceInfo{
			Bounds: bsp.Rect{MinX: -50, MinZ: -50, MaxX: 50, MaxZ: 50}, MaxCells: 1, KeepFor: dungeonWaits,
			Data: []entity.SpaceDatum{{Key: levelKey, Value: level}},
		}, "OnDungeon", 0))
	}
}

// OnDungeon sends a party in. Each buys from the one before it.
func (m *Matchmaker) OnDungeon(r entity.SpaceReply) {
	if r.Err != nil || len(m.waiting) < partySize {
		m.log.Warn("no party for a dungeon, or no dungeon", "error", r.Err)
		m.waiting = nil // they seek again, as those do who waited before this base was restored
		return
	}
	party := m.waiting[:partySize]
	m.waiting = slices.Clone(m.waiting[partySize:])
	for i, hero := range party {
		m.check(m.Mailbox(hero).Call("enter", uint32(r.Space), party[(i+1)%partySize], party[0]))
	}
	m.dungeons.Add(1)
}
