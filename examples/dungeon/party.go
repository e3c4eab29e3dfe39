package main

import "github.com/cellscape/cellscape/entity"

// Ready is called by the bases of a party when their heroes stand by this one, its leader. When all do, all
// go to the dungeon, or none: if one has walked over a border or is tired, they stay in town.
// A leader that crosses one itself forgets who is there.
func (h *Hero) Ready(dungeon uint32, hero entity.ID) {
	if h.dungeon != dungeon {
		h.dungeon, h.party = dungeon, nil
	}
	if h.party = append(h.party, hero); len(h.party) < partySize-1 {
		return
	}
	if err := h.TeleportTogether(entity.Destination{Space: entity.SpaceID(dungeon)}, 0, h.party...); err != nil {
		h.log.Info("a party stays in town", "error", err)
	}
}

// OnTeleported is called for each of them, and for who gathers or comes home.
func (h *Hero) OnTeleported(int64) {
	if h.Space() != town {
		h.check(h.Base().Call("arrived"))
	}
}
